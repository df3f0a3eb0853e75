"""Files of a skill: texts in its own folder, and in the folders somebody opened to it."""

import asyncio
import math
from pathlib import PurePosixPath

from pydantic import JsonValue

from forge.skills.execution import HostError
from forge.skills.host.advice import how_to_grant
from forge.skills.host.arguments import ListFiles, ReadFile, WriteFile
from forge.skills.host.own_folder import MAX_TEXT, open_root
from forge.skills.host.parts import Running
from forge.skills.models import Scope
from forge.workspace.entries import EntryKind
from forge.workspace.files import Files
from forge.workspace.quota import Quota

MAX_NAMES = 5000
_ROOT_QUOTA = Quota(files=math.inf, total_bytes=math.inf, file_bytes=MAX_TEXT)
"""How much a folder of somebody else holds is not for us to say."""


async def read(running: Running, scope: Scope, given: ReadFile) -> JsonValue:
    return await asyncio.to_thread(_read, running, scope, given)


async def write(running: Running, scope: Scope, given: WriteFile) -> JsonValue:
    def work() -> None:
        files, path = _find(running, scope, given)
        files.write(path, given.text.encode())

    await asyncio.to_thread(work)
    return None


async def list_names(running: Running, scope: Scope, given: ListFiles) -> JsonValue:
    """A folder's name ends with a slash."""

    def work() -> list[JsonValue]:
        files, path = _find(running, scope, given)
        found = files.list(path)
        if len(found) > MAX_NAMES:
            raise HostError(f"There are more than {MAX_NAMES:,} names in {given.path!r}.")
        return [f"{entry.name}/" if entry.kind is EntryKind.DIR else entry.name for entry in found]

    return await asyncio.to_thread(work)


def _read(running: Running, scope: Scope, given: ReadFile) -> str:
    files, path = _find(running, scope, given)
    content = files.read(path, limit=MAX_TEXT)
    if content.hash is None:
        raise HostError(f"{given.path!r} has more than {MAX_TEXT >> 20} MB.")
    try:
        return content.data.decode()
    except UnicodeDecodeError as error:
        raise HostError(f"{given.path!r} is no text in UTF-8.") from error


def _find(running: Running, scope: Scope, given: ReadFile) -> tuple[Files, str]:
    """The folder it lies in, opened so that no link leads out of it, and the path inside."""
    if not given.path.startswith("/"):
        return running.own.files, given.path
    path = PurePosixPath(given.path)
    for root in sorted(scope.roots, key=len, reverse=True):
        if path.is_relative_to(root):
            real = open_root(root, running.parts.files_dir.parent)
            return Files(real, quota=_ROOT_QUOTA), str(path.relative_to(root))
    raise HostError(
        f"{given.path!r} is in no folder that was granted. To allow one: "
        + how_to_grant(running.invocation.skill, given.needs, [*scope.roots, "/the/folder"])
    )
