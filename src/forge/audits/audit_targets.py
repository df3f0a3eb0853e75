"""Resolve what may be audited: a workspace of the caller, or a folder inside an allowed root."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from forge.accounts.models import is_owner
from forge.audits.display_text import escape_path
from forge.audits.models import AuditRoots
from forge.errors import Denied, Invalid
from forge.workspace.filesystem.allowed_roots import ROOTS_SETTING, AllowedRoots
from forge.workspace.observed.location import find_repository
from forge.workspace.service import Workspaces

MAX_SCANNED = 2000
MAX_PROJECTS = 200


@dataclass(frozen=True)
class AuditTarget:
    path: Path
    """The top folder of the project."""
    git_dir: Path | None
    """The git directory, if it is outside the project."""
    name: str


class AuditTargets:
    def __init__(
        self, workspaces: Workspaces, data_dir: Path, start: Path, roots: Sequence[Path] | None
    ) -> None:
        """If `roots` is None, only the start folder may be audited, unless it contains a home directory."""
        self._workspaces = workspaces
        self._start = start.resolve()
        self.allowed_roots = AllowedRoots.of(roots, start, data_dir)
        """Workspaces inside the data directory are audited as workspaces, by their owners."""

    async def find(self, account_id: str, *, workspace_id: str | None, path: str | None) -> AuditTarget:
        if workspace_id is not None:
            if path is not None:
                raise Invalid("Name a workspace or a path, not both.", field="path")
            return await self._workspace(account_id, workspace_id)
        if not is_owner(account_id):
            raise Denied(
                "Only the owner of this server may audit its folders.",
                hint="Audit a workspace, or run forge audit on your own machine.",
            )
        return await asyncio.to_thread(self._folder, path)

    async def roots(self, account_id: str) -> AuditRoots:
        if not is_owner(account_id):
            return AuditRoots(roots=[], projects=[], start=None)
        return await asyncio.to_thread(self._offered)

    def _offered(self) -> AuditRoots:
        roots = self.allowed_roots.roots
        projects = sorted({str(folder) for root in roots for folder in self._projects(root)})
        return AuditRoots(
            roots=[escape_path(str(root)) for root in roots],
            projects=[path for path in projects if path == escape_path(path)][:MAX_PROJECTS],
            start=escape_path(str(self._start)) if self.allowed_roots.allows(self._start) else None,
        )

    def _projects(self, root: Path) -> Iterator[Path]:
        """Yield the root if it is a repository, else the repositories directly inside it."""
        if _is_repository(root):
            yield root
            return
        with suppress(OSError):  # the root does not exist or is not readable
            for folder in islice(root.iterdir(), MAX_SCANNED):
                if _is_repository(folder) and self.allowed_roots.allows(_resolved(folder)):
                    yield folder

    async def _workspace(self, account_id: str, workspace_id: str) -> AuditTarget:
        workspace = await self._workspaces.open(account_id, workspace_id)
        return AuditTarget(Path(workspace.info.path), workspace.git_dir, workspace.info.name)

    def _folder(self, path: str | None) -> AuditTarget:
        if path is None and not self.allowed_roots.allows(self._start):
            raise Invalid(
                "Specify a workspace or a path to audit.",
                hint=f"The setting {ROOTS_SETTING} lists the folders that may be audited.",
                field="path",
            )
        real = _resolved(self._start / (path or ""))
        asked = path or str(self._start)
        self._check_allowed(real, asked)
        found = find_repository(real)
        for folder in (found.root, found.git_dir, found.common_dir):
            self._check_allowed(folder, asked)
        return AuditTarget(found.root, None, escape_path(found.root.name))

    def _check_allowed(self, folder: Path, asked: str) -> None:
        """Raise Denied with the path as requested, so that the target of a link is not disclosed."""
        if not self.allowed_roots.allows(folder):
            raise Denied(
                f"{asked[:200]!r} is outside the folders that may be audited, or links outside them.",
                hint=f"The operator of the server can allow more folders in the setting {ROOTS_SETTING}; "
                "or create a workspace and audit that.",
                field="path",
            )


def _is_repository(folder: Path) -> bool:
    try:
        return (folder / ".git").exists()
    except OSError:
        return False


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):  # a symlink loop or an invalid name
        raise Invalid(f"{str(path)[:200]!r} is not a folder of the server.", field="path") from None
