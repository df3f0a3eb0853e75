"""Which conversation a person means at the command line."""

from forge.bots.chat.models import Session, SessionDetail
from forge.bots.models import BotView
from forge.errors import NotFound
from forge.terminal.choice import SEARCHED, is_id, only
from forge.terminal.client import Client


def find_session(client: Client, bot: BotView, given: str) -> Session:
    """By its id or the beginning of it."""
    if is_id(given):
        found = client.get(f"/sessions/{given}", SessionDetail)
        fitting: list[Session] = [found] if found.bot_id == bot.id else []
    else:
        listed = client.pages(f"/bots/{bot.slug}/sessions", Session, SEARCHED)
        fitting = [session for session in listed if given and session.id.startswith(given)]
    if not fitting:
        raise NotFound(
            f"There is no conversation {given!r} with {bot.slug}.",
            hint=f"List them: forge bots sessions list {bot.slug}",
        )
    return only(fitting, given, "conversation", lambda session: session.id)


def latest_sessions(client: Client, bot: BotView, limit: int) -> list[Session]:
    return list(client.pages(f"/bots/{bot.slug}/sessions", Session, limit))
