"""Create, open and remove workspaces: named directories with files and a history."""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from forge.errors import Conflict, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.kernel.tree_removal import try_remove_tree
from forge.store.database import Store
from forge.workspace import store
from forge.workspace.adoption import check_adoptable
from forge.workspace.filesystem.errors import NoSuchPath
from forge.workspace.filesystem.files import Files
from forge.workspace.git.workspace_history import WorkspaceHistory
from forge.workspace.models import WorkspaceInfo
from forge.workspace.store import WorkspaceRow

MAX_OPEN = 32
REMOVED_PREFIX = ".gone-"
"""Prefix of the directory of a workspace while it is being removed."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """An open workspace. There is one per process, so that its writes and git commands are serialized."""

    info: WorkspaceInfo
    files: Files
    git: WorkspaceHistory
    git_dir: Path
    """Directory of the history, outside the files."""
    root: tuple[int, int]
    """Device and inode of the directory when it was opened."""


class Workspaces:
    def __init__(self, store: Store, data_dir: Path) -> None:
        self._store = store
        self._data_dir = data_dir
        self._open: WeakValueDictionary[str, Workspace] = WeakValueDictionary()
        self._recent: OrderedDict[str, Workspace] = OrderedDict()

    async def create(self, account_id: str, name: str, *, path: Path | None = None) -> WorkspaceInfo:
        """Create a workspace, or adopt `path`; the caller must check the permission to adopt."""
        adopted = await asyncio.to_thread(check_adoptable, path, self._data_dir) if path else None
        row = WorkspaceRow(new_id(), account_id, name, str(adopted) if adopted else None, now())
        info = self._info(row)
        await self._check_free(row)
        await asyncio.to_thread(self._make, row)
        try:
            await WorkspaceHistory(Path(info.path), self._git_dir(row.id)).init()
            async with self._store.begin() as tx:
                if not await store.insert(tx, row):
                    raise _name_conflict(name)
        except BaseException:
            await asyncio.to_thread(self._discard, row.id)
            raise
        return info

    async def get(self, account_id: str, workspace_id: str) -> WorkspaceInfo:
        async with self._store.read() as tx:
            row = await store.find(tx, account_id, workspace_id)
        if row is None:
            raise NotFound("Workspace not found.", hint="List them: forge workspaces list")
        return self._info(row)

    async def list(self, account_id: str) -> list[WorkspaceInfo]:
        async with self._store.read() as tx:
            return [self._info(row) for row in await store.list_all(tx, account_id)]

    async def remove(self, account_id: str, workspace_id: str) -> WorkspaceInfo:
        """Remove a workspace. Delete its directory if Forge created it; of an adopted one delete only the
        history."""
        info = await self.get(account_id, workspace_id)
        await asyncio.to_thread(self._set_aside, workspace_id)
        try:
            async with self._store.begin() as tx:
                await store.delete(tx, account_id, workspace_id)
        except BaseException:
            await asyncio.to_thread(self._put_back, workspace_id)
            raise
        self._forget(workspace_id)
        await asyncio.to_thread(self._clear, workspace_id)
        return info

    async def finish_removals(self) -> None:
        """Finish removals that a killed process left behind. Requires exclusive use of the data directory."""
        for workspace_id in await asyncio.to_thread(self._set_aside_ids):
            async with self._store.read() as tx:
                is_there = await store.exists(tx, workspace_id)
            await asyncio.to_thread(self._put_back if is_there else self._clear, workspace_id)

    async def open(self, account_id: str, workspace_id: str) -> Workspace:
        info = await self.get(account_id, workspace_id)
        root = await asyncio.to_thread(_identify, info)
        found = self._open.get(workspace_id)
        if found is None or found.root != root:
            path, git_dir = Path(info.path), self._git_dir(workspace_id)
            found = Workspace(info, Files(path), WorkspaceHistory(path, git_dir), git_dir, root)
            self._open[workspace_id] = found
        self._recent[workspace_id] = found
        self._recent.move_to_end(workspace_id)
        while len(self._recent) > MAX_OPEN:
            self._recent.popitem(last=False)
        return found

    async def _check_free(self, row: WorkspaceRow) -> None:
        async with self._store.read() as tx:
            names = [own.name for own in await store.list_all(tx, row.account_id)]
            user = await store.find_path(tx, row.path) if row.path else None
        if row.name in names:
            raise _name_conflict(row.name)
        if user is not None:
            raise Conflict(f"That directory is already the workspace {user!r}.")

    def _make(self, row: WorkspaceRow) -> None:
        self._directory(row.id).mkdir(mode=0o700, parents=True)
        if row.path is None:
            (self._directory(row.id) / "tree").mkdir(mode=0o700)

    def _discard(self, workspace_id: str) -> None:
        self._set_aside(workspace_id)
        self._clear(workspace_id)

    def _set_aside(self, workspace_id: str) -> None:
        with suppress(FileNotFoundError):
            self._directory(workspace_id).rename(self._directory(REMOVED_PREFIX + workspace_id))

    def _put_back(self, workspace_id: str) -> None:
        with suppress(FileNotFoundError):
            self._directory(REMOVED_PREFIX + workspace_id).rename(self._directory(workspace_id))

    def _clear(self, workspace_id: str) -> None:
        gone = self._directory(REMOVED_PREFIX + workspace_id)
        if gone.exists():
            try_remove_tree(gone, f"what is left of a workspace ({gone})")

    def _set_aside_ids(self) -> tuple[str, ...]:
        return tuple(
            path.name.removeprefix(REMOVED_PREFIX) for path in self._directory("").glob(f"{REMOVED_PREFIX}*")
        )

    def _forget(self, workspace_id: str) -> None:
        self._open.pop(workspace_id, None)
        self._recent.pop(workspace_id, None)

    def _info(self, row: WorkspaceRow) -> WorkspaceInfo:
        return WorkspaceInfo(
            id=row.id,
            name=row.name,
            path=row.path or str(self._directory(row.id) / "tree"),
            is_adopted=row.path is not None,
            created_at=row.created_at,
        )

    def _directory(self, workspace_id: str) -> Path:
        return self._data_dir / "workspaces" / workspace_id

    def _git_dir(self, workspace_id: str) -> Path:
        return self._directory(workspace_id) / "git"


def _identify(info: WorkspaceInfo) -> tuple[int, int]:
    """Return device and inode; raise if the directory is gone or was replaced by a link."""
    path = Path(info.path)
    try:
        status = path.stat()
        if not info.is_adopted or path.resolve() == path:
            return status.st_dev, status.st_ino
    except OSError:
        pass
    raise NoSuchPath(
        f"The directory of the workspace {info.name!r} no longer exists: {info.path}",
        hint="Restore it, or remove the workspace: forge workspaces remove NAME",
    )


def _name_conflict(name: str) -> Conflict:
    return Conflict(f"A workspace named {name!r} already exists.", hint="Choose another name.")
