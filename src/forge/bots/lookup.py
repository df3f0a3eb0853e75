"""Which bot a person means at the command line."""

import re

from forge.bots.models import Bot, BotStatus, BotView
from forge.errors import NotFound
from forge.terminal.client import Client
from forge.terminal.lookup import choose, is_id

_REF = re.compile(r"[A-Za-z0-9-]{1,64}")


def find_bot(client: Client, given: str) -> BotView:
    """By its slug, its id or the beginning of its id."""
    if _REF.fullmatch(given):
        try:
            return client.get(f"/bots/{given}", BotView)
        except NotFound:
            if is_id(given):
                raise
    found = client.get("/bots", list[BotView], {"status": [status.value for status in BotStatus]})
    return choose(given, "bot", found, _id)


def find_deleted(client: Client, given: str) -> BotView:
    """The same among those that can still be restored."""
    found = client.get("/bots", list[BotView], {"deleted": "true"})
    named = [bot for bot in found if given in (bot.slug, bot.id)]
    return named[0] if named else choose(given, "bot", found, _id)


def _id(bot: Bot) -> str:
    return bot.id
