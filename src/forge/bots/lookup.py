"""Find the bot that a command-line argument refers to."""

import re

from forge.bots.models import Bot, BotStatus, BotView
from forge.errors import NotFound
from forge.terminal.client import Client
from forge.terminal.lookup import choose, is_id

_REF = re.compile(r"[A-Za-z0-9-]{1,64}")


def find_bot(client: Client, ref: str) -> BotView:
    """Find a bot by its slug, its id or an id prefix."""
    if _REF.fullmatch(ref):
        try:
            return client.get(f"/bots/{ref}", BotView)
        except NotFound:
            if is_id(ref):
                raise
    found = client.get("/bots", list[BotView], {"status": [status.value for status in BotStatus]})
    return choose(ref, "bot", found, _id)


def find_deleted(client: Client, ref: str) -> BotView:
    """Find a deleted bot that can still be restored."""
    found = client.get("/bots", list[BotView], {"deleted": "true"})
    named = [bot for bot in found if ref in (bot.slug, bot.id)]
    return named[0] if named else choose(ref, "bot", found, _id)


def _id(bot: Bot) -> str:
    return bot.id
