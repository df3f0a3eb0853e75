"""Workspaces: named directories Forge may work in, each with its files and its history."""

import asyncio
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakValueDictionary

from forge.errors import Conflict, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.kernel.removing import clear_away
from forge.store.engine import Store
from forge.workspace import store
from forge.workspace.adoption import check_adoptable
from forge.workspace.errors import NoSuchPath
from forge.workspace.files import Files
from forge.workspace.git import Git
from forge.workspace.models import WorkspaceInfo
from forge.workspace.store import WorkspaceRow

KEPT_OPEN = 32
GONE = ".gone-"
"""Before the id of a workspace: its directory, from when it is to be removed until all of it is."""


@dataclass(frozen=True, eq=False)
class Workspace:
    """An open workspace: there is one of each in a process, so that its writes and commands take turns."""

    info: WorkspaceInfo
    files: Files
    git: Git
    git_dir: Path
    """Where the history is kept, outside of the files."""
    root: tuple[int, int]
    """Which directory it was when it was opened."""


class Workspaces:
    def __init__(self, store: Store, data_dir: Path) -> None:
        self._store = store
        self._data_dir = data_dir
        self._open: WeakValueDictionary[str, Workspace] = WeakValueDictionary()
        self._recent: OrderedDict[str, Workspace] = OrderedDict()

    async def create(self, account_id: str, name: str, *, path: Path | None = None) -> WorkspaceInfo:
        """With a path that directory is adopted; the caller must be one who may do that."""
        adopted = await asyncio.to_thread(check_adoptable, path, self._data_dir) if path else None
        row = WorkspaceRow(new_id(), account_id, name, str(adopted) if adopted else None, now())
        info = self._info(row)
        await self._check_free(row)
        await asyncio.to_thread(self._make, row)
        try:
            await Git(Path(info.path), self._git_dir(row.id)).init()
            async with self._store.begin() as tx:
                if not await store.insert(tx, row):
                    raise _taken(name)
        except BaseException:
            await asyncio.to_thread(self._discard, row.id)
            raise
        return info

    async def get(self, account_id: str, workspace_id: str) -> WorkspaceInfo:
        async with self._store.read() as tx:
            row = await store.find(tx, account_id, workspace_id)
        if row is None:
            raise NotFound("There is no such workspace.", hint="List them: forge workspaces list")
        return self._info(row)

    async def list(self, account_id: str) -> list[WorkspaceInfo]:
        async with self._store.read() as tx:
            return [self._info(row) for row in await store.list_all(tx, account_id)]

    async def remove(self, account_id: str, workspace_id: str) -> WorkspaceInfo:
        """Forge's own directory goes with all that is in it; an adopted one stays as it is, without its history."""
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
        """What a process that was killed has left of them. For whoever has the data directory to itself."""
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
            found = Workspace(info, Files(path), Git(path, git_dir), git_dir, root)
            self._open[workspace_id] = found
        self._recent[workspace_id] = found
        self._recent.move_to_end(workspace_id)
        while len(self._recent) > KEPT_OPEN:
            self._recent.popitem(last=False)
        return found

    async def _check_free(self, row: WorkspaceRow) -> None:
        async with self._store.read() as tx:
            names = [own.name for own in await store.list_all(tx, row.account_id)]
            user = await store.find_path(tx, row.path) if row.path else None
        if row.name in names:
            raise _taken(row.name)
        if user is not None:
            raise Conflict(f"That directory is the workspace {user!r} already.")

    def _make(self, row: WorkspaceRow) -> None:
        self._place(row.id).mkdir(mode=0o700, parents=True)
        if row.path is None:
            (self._place(row.id) / "tree").mkdir(mode=0o700)

    def _discard(self, workspace_id: str) -> None:
        self._set_aside(workspace_id)
        self._clear(workspace_id)

    def _set_aside(self, workspace_id: str) -> None:
        with suppress(FileNotFoundError):
            self._place(workspace_id).rename(self._place(GONE + workspace_id))

    def _put_back(self, workspace_id: str) -> None:
        with suppress(FileNotFoundError):
            self._place(GONE + workspace_id).rename(self._place(workspace_id))

    def _clear(self, workspace_id: str) -> None:
        gone = self._place(GONE + workspace_id)
        if gone.exists():
            clear_away(gone, f"what is left of a workspace ({gone})")

    def _set_aside_ids(self) -> tuple[str, ...]:
        return tuple(path.name.removeprefix(GONE) for path in self._place("").glob(f"{GONE}*"))

    def _forget(self, workspace_id: str) -> None:
        self._open.pop(workspace_id, None)
        self._recent.pop(workspace_id, None)

    def _info(self, row: WorkspaceRow) -> WorkspaceInfo:
        return WorkspaceInfo(
            id=row.id,
            name=row.name,
            path=row.path or str(self._place(row.id) / "tree"),
            is_adopted=row.path is not None,
            created_at=row.created_at,
        )

    def _place(self, workspace_id: str) -> Path:
        return self._data_dir / "workspaces" / workspace_id

    def _git_dir(self, workspace_id: str) -> Path:
        return self._place(workspace_id) / "git"


def _identify(info: WorkspaceInfo) -> tuple[int, int]:
    """Refused when the directory is gone, or a link stands in its place now."""
    path = Path(info.path)
    try:
        status = path.stat()
        if not info.is_adopted or path.resolve() == path:
            return status.st_dev, status.st_ino
    except OSError:
        pass
    raise NoSuchPath(
        f"The directory of the workspace {info.name!r} is not there any more: {info.path}",
        hint="Put it back, or remove the workspace: forge workspaces remove NAME",
    )


def _taken(name: str) -> Conflict:
    return Conflict(f"There is a workspace called {name!r} already.", hint="Choose another name.")
