"""Which conversation a person means at the command line."""

from pathlib import Path

from forge.bots.chat.models import Session, SessionDetail
from forge.bots.models import BotView
from forge.errors import Conflict, Invalid, NotFound
from forge.terminal.client import Client
from forge.terminal.lookup import SEARCHED, is_id, only


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


def fetch_export(client: Client, session_id: str, *, as_json: bool) -> str:
    kind = "json" if as_json else "markdown"
    return client.get_text(f"/sessions/{session_id}/export", {"format": kind})


def save_export(path: Path, text: str) -> None:
    """Never over a file that is there."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise Conflict(f"{path} is there already.", hint="Choose another name.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}") from error
