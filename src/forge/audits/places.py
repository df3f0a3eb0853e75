"""Where an audit may look: a workspace of the caller, or a folder inside one of the roots the settings allow."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from forge.audits.models import AuditRoots
from forge.audits.paths import shown
from forge.errors import Denied, Invalid
from forge.workspace.observed_place import find_place
from forge.workspace.service import Workspaces

_SETTING = "FORGE_AUDIT_ROOTS"
MAX_LOOKED_AT = 2000
MAX_PROJECTS = 200


@dataclass(frozen=True)
class Place:
    path: Path
    """The top of a project."""
    git_dir: Path | None
    """Where its history is, when that is not in the project itself."""
    name: str


class Places:
    def __init__(
        self, workspaces: Workspaces, data_dir: Path, start: Path, roots: Sequence[Path] | None
    ) -> None:
        """Without roots only the folder that Forge was started in may be audited, unless that is a whole home."""
        self._workspaces = workspaces
        self._data_dir = data_dir.resolve()
        self._start = start.resolve()
        chosen = usual_roots(self._start) if roots is None else roots
        self._roots = tuple(root.resolve() for root in chosen)

    async def find(self, account_id: str, *, workspace_id: str | None, path: str | None) -> Place:
        if workspace_id is not None:
            if path is not None:
                raise Invalid("Name a workspace or a path, not both.", field="path")
            return await self._workspace(account_id, workspace_id)
        return await asyncio.to_thread(self._folder, path)

    async def roots(self) -> AuditRoots:
        return await asyncio.to_thread(self._offered)

    def _offered(self) -> AuditRoots:
        projects = sorted({str(folder) for root in self._roots for folder in self._projects(root)})
        return AuditRoots(
            roots=[shown(str(root)) for root in self._roots],
            projects=[path for path in projects if path == shown(path)][:MAX_PROJECTS],
            start=shown(str(self._start)) if self._is_allowed(self._start) else None,
        )

    def _projects(self, root: Path) -> Iterator[Path]:
        """A root that is a repository, or those directly in it."""
        if _is_repository(root):
            yield root
            return
        with suppress(OSError):  # a root that is not there, or that Forge may not read
            for folder in islice(root.iterdir(), MAX_LOOKED_AT):
                if _is_repository(folder) and self._is_allowed(_resolved(folder)):
                    yield folder

    async def _workspace(self, account_id: str, workspace_id: str) -> Place:
        workspace = await self._workspaces.open(account_id, workspace_id)
        return Place(Path(workspace.info.path), workspace.git_dir, workspace.info.name)

    def _folder(self, path: str | None) -> Place:
        if path is None and not self._is_allowed(self._start):
            raise Invalid(
                "Say what to audit: a workspace or a path.",
                hint=f"Folders that may be audited are in the setting {_SETTING}.",
                field="path",
            )
        real = _resolved(self._start / (path or ""))
        asked = path or str(self._start)
        self._check_allowed(real, asked)
        found = find_place(real)
        for folder in (found.root, found.git_dir, found.common_dir):
            self._check_allowed(folder, asked)
        return Place(found.root, None, shown(found.root.name))

    def _check_allowed(self, folder: Path, asked: str) -> None:
        """Told in the words of whoever asks: where a link leads is not theirs to know."""
        if not self._is_allowed(folder):
            raise Denied(
                f"{asked[:200]!r} is outside of the folders that may be audited, or leads out of them.",
                hint=f"Whoever runs this server allows more in the setting {_SETTING}; "
                "or make it a workspace and audit that.",
                field="path",
            )

    def _is_allowed(self, folder: Path) -> bool:
        """Forge's own data is nobody's project: workspaces in it are audited as such, by those they belong to."""
        is_inside = any(folder.is_relative_to(root) for root in self._roots)
        return is_inside and not folder.is_relative_to(self._data_dir)


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False


def usual_roots(start: Path) -> tuple[Path, ...]:
    """The folder Forge was started in. A home or the whole machine is not a project."""
    try:
        home = Path.home().resolve()
    except RuntimeError:
        home = start
    return () if home.is_relative_to(start) else (start,)


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a circle of links, or a name no file can have
        raise Invalid(f"{str(path)[:200]!r} is no folder of the server.", field="path") from None
