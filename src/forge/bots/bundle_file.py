"""Where the command line finds a bot to import: an exported file, standard input, or a folder with its files."""

import json
from pathlib import Path
from typing import Any

from forge.bots.models import MAX_SLUG, BotFile
from forge.errors import Invalid
from forge.kernel.clock import now
from forge.terminal.given import read_file, read_source


def read_bundle(source: str) -> dict[str, Any]:
    """As the server takes it, which also checks it."""
    path = Path(source)
    if source != "-" and path.is_dir():
        return _from_folder(path)
    text = read_source(source)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Invalid(
            f"{source} is not an exported bot: {error}", hint="Make one: forge bots export BOT"
        ) from error
    if not isinstance(found, dict):
        raise Invalid(f"{source} is not an exported bot.", hint="Make one: forge bots export BOT")
    return found  # pyright: ignore[reportUnknownVariableType]


def _from_folder(folder: Path) -> dict[str, Any]:
    """Only what a bot has: a folder may hold other things, too."""
    paths = {file.file_name: folder / file.file_name for file in BotFile}
    files = {name: read_file(path) for name, path in paths.items() if path.exists()}
    slug = folder.resolve().name[:MAX_SLUG]
    return {"forge_bot": 1, "slug": slug, "exported_at": now().isoformat(), "files": files}
