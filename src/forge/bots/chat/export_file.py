"""Saves a conversation in a file of this machine."""

from pathlib import Path

from forge.errors import Conflict, Invalid
from forge.terminal.client import Client


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
