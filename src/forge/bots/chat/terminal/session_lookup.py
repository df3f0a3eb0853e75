"""Find and export the conversations of a bot over HTTP."""

from collections.abc import Iterable
from pathlib import Path

from forge.bots.chat.models import Session, SessionDetail
from forge.bots.models import BotView
from forge.errors import Conflict
from forge.terminal.client import Client
from forge.terminal.inputs import write_file
from forge.terminal.lookup import SEARCHED, choose, is_id


def find_session(client: Client, bot: BotView, ref: str) -> Session:
    """Find a conversation by its id or an id prefix."""
    sessions: Iterable[Session]
    if is_id(ref):
        found = client.get(f"/sessions/{ref}", SessionDetail)
        sessions = [found] if found.bot_id == bot.id else []
    else:
        sessions = client.pages(f"/bots/{bot.slug}/sessions", Session, SEARCHED)
    listed_by = f"bots sessions list {bot.slug}"
    return choose(ref, "conversation", sessions, lambda session: session.id, listed_by=listed_by)


def latest_sessions(client: Client, bot: BotView, limit: int) -> list[Session]:
    return list(client.pages(f"/bots/{bot.slug}/sessions", Session, limit))


def fetch_export(client: Client, session_id: str, *, as_json: bool) -> str:
    kind = "json" if as_json else "markdown"
    return client.get_text(f"/sessions/{session_id}/export", {"format": kind})


def save_export(path: Path, text: str) -> None:
    """Write a new file. Raises Conflict if it exists."""
    if path.exists():
        raise Conflict(f"{path} already exists.", hint="Choose another file name.")
    write_file(path, text)
