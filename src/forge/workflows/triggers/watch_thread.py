"""Watch the files of one trigger in a thread, because watching blocks."""

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import Path

import watchfiles

from forge.errors import ForgeError, Invalid
from forge.workspace.filesystem.allowed_roots import ROOTS_SETTING, AllowedRoots

QUIET_S = 0.5
MAX_DELAY_S = 10.0
"""A file that is written to continuously is reported this often."""


class Change(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass
class ChangeDebouncer:
    """Collect changes until a file is quiet, and classify them by whether the file was known before.

    The kind of notification is ignored, because programs often save a file by replacing it.
    """

    known: set[str]
    """The files that exist, as far as reported."""
    _first: dict[str, float] = field(default_factory=dict[str, float], init=False)
    _last: dict[str, float] = field(default_factory=dict[str, float], init=False)

    def note(self, path: str, at: float) -> None:
        """Record a notification for a path."""
        self._first.setdefault(path, at)
        self._last[path] = at

    def settled(self, at: float) -> list[str]:
        """Remove and return the paths to report now, in the order they were first recorded."""
        found = [
            path
            for path, first in self._first.items()
            if at - self._last[path] >= QUIET_S or at - first >= MAX_DELAY_S
        ]
        for path in found:
            del self._first[path], self._last[path]
        return found

    def classify(self, path: str, *, exists: bool) -> Change | None:
        """Return the change, or None if the file was created and deleted in between."""
        was_known = path in self.known
        if not exists:
            self.known.discard(path)
            return Change.DELETED if was_known else None
        self.known.add(path)
        return Change.MODIFIED if was_known else Change.ADDED


_REFUSED = frozenset({"/proc", "/sys", "/dev"})
MAX_FILES = 50_000


@dataclass(frozen=True)
class Root:
    """A watched path. Device and inode show when another folder takes its place."""

    path: Path
    device: int
    inode: int


@dataclass(frozen=True)
class ResolvedRoots:
    roots: tuple[Root, ...]
    problem: str | None


def resolve_roots(paths: Sequence[str], allowed_roots: AllowedRoots) -> ResolvedRoots:
    """Return the paths that can be watched now, and why the others cannot."""
    roots: list[Root] = []
    problems: list[str] = []
    for text in paths:
        try:
            roots.append(_root_of(text, allowed_roots))
        except ForgeError as error:
            problems.append(f"{error.message} {error.hint}" if error.hint else error.message)
    return ResolvedRoots(tuple(roots), " ".join(problems) or None)


def resolve_path(text: str, allowed_roots: AllowedRoots) -> Path:
    """Return a path with its links resolved, whether it exists or not. Raises Invalid if it may not be watched."""
    if not text.startswith(("/", "~")):
        raise Invalid(
            f"{text!r} cannot be watched: it is a relative path.",
            hint="Write the absolute path on the server.",
        )
    try:
        path = Path(text).expanduser().resolve()
    except (OSError, RuntimeError, ValueError):  # a symlink loop, an unknown user or an invalid name
        raise Invalid(f"{text!r} cannot be watched: it is not a valid path.") from None
    if not _is_allowed(path, allowed_roots):
        raise Invalid(
            f"{text!r} cannot be watched: it is outside the folders that may be watched, or links outside them.",
            hint=f"The operator of the server can allow more folders in the setting {ROOTS_SETTING}.",
        )
    return path


def files_in(folder: Path, limit: int, allowed_roots: AllowedRoots) -> list[Path]:
    """List up to `limit` files below a folder. Links are followed inside the allowed roots, each folder once."""
    found: list[Path] = []
    seen: set[tuple[int, int]] = set()
    pending = [folder]
    while pending and len(found) < limit:
        for entry in _entries(pending.pop()):
            folder_id = _folder_id(entry)
            may_lead_outside = folder_id is not None or entry.is_symlink()
            if may_lead_outside and _leads_outside(entry.path, allowed_roots):
                continue
            if folder_id is None:
                found.append(Path(entry.path))
            elif folder_id not in seen:
                seen.add(folder_id)
                pending.append(Path(entry.path))
    return found[:limit]


def _folder_id(entry: "os.DirEntry[str]") -> tuple[int, int] | None:
    """Return the device and inode of a folder; None for files and for entries that cannot be read."""
    try:
        status = entry.stat() if entry.is_dir() else None
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if status else None


def _entries(folder: Path) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # deleted in the meantime or not readable


def _is_allowed(path: Path, allowed_roots: AllowedRoots) -> bool:
    """Return whether a path may be watched: the root directory and virtual file systems never."""
    is_refused = len(path.parts) == 1 or f"/{path.parts[1]}" in _REFUSED
    return not is_refused and allowed_roots.allows(path)


def _leads_outside(path: str, allowed_roots: AllowedRoots) -> bool:
    return not _is_allowed(Path(os.path.realpath(path)), allowed_roots)


def _root_of(text: str, allowed_roots: AllowedRoots) -> Root:
    path = resolve_path(text, allowed_roots)
    try:
        status = path.stat()
    except FileNotFoundError:
        raise Invalid(f"{text} does not exist on this server.") from None
    except OSError as error:
        raise Invalid(f"{text} cannot be watched: {error}.") from None
    return Root(path, status.st_dev, status.st_ino)


NAME = "file trigger"
POLL_MS = 250
DEBOUNCE_MS = 400


@dataclass(frozen=True)
class FileChange:
    path: str
    change: Change
    stamp: str | None
    """Identifies the version of the file; None if it was deleted."""


@dataclass(frozen=True)
class FilesChanged:
    files: Sequence[FileChange]


@dataclass(frozen=True)
class WatchFailed:
    reason: str


@dataclass(frozen=True)
class WatchStarted:
    """The watch is active; no change is missed from now on."""


WatchMessage = FilesChanged | WatchFailed | WatchStarted


@dataclass
class WatchThread:
    """Watches the roots of one trigger. `notify` is called in the watching thread."""

    roots: tuple[Root, ...]
    patterns: Sequence[str]
    allowed_roots: AllowedRoots
    """Changes elsewhere, behind links, are ignored. So are those in Forge's data directory, which every run changes."""
    notify: Callable[[WatchMessage], None]
    before: frozenset[str] | None = None
    """The files that existed when the same trigger was watched before."""
    known: set[str] = field(default_factory=set[str], init=False)
    _debouncer: ChangeDebouncer | None = field(default=None, init=False)
    """Set once the watch is active."""
    _stop: threading.Event = field(default_factory=threading.Event, init=False)

    def begin(self) -> None:
        threading.Thread(target=self._run, name=NAME, daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        try:
            self._watch()
        except (OSError, RuntimeError) as error:  # watchfiles raises either
            self.notify(WatchFailed(f"Files cannot be watched: {error}."))

    def _watch(self) -> None:
        if not self._find():  # checks the number of files before the library adds watches
            return
        for changes in watchfiles.watch(
            *(root.path for root in self.roots),
            watch_filter=self._is_allowed,
            debounce=DEBOUNCE_MS,
            rust_timeout=POLL_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            if (
                self._debouncer is None
            ):  # list files after the watch became active, so that no change is missed
                self._debouncer = self._list_files()
                if self._debouncer is not None:
                    self.notify(WatchStarted())
            if (debouncer := self._debouncer) is None:
                return
            at = time.monotonic()
            for _, path in changes:
                self._note(debouncer, path, at)
            if found := self._settled(debouncer, at):
                self.notify(FilesChanged(found))

    def _find(self) -> bool:
        """List all files. Return False, after reporting it, if there are too many."""
        for root in self.roots:
            if root.path.is_file():
                self.known.add(str(root.path))
            self.known.update(str(path) for path in files_in(root.path, MAX_FILES + 1, self.allowed_roots))
            if len(self.known) > MAX_FILES:
                self.notify(
                    WatchFailed(f"{root.path} has more than {MAX_FILES:,} files, which is the maximum.")
                )
                return False
        return True

    def _list_files(self) -> ChangeDebouncer | None:
        self.known.clear()
        if not self._find():
            return None
        debouncer = ChangeDebouncer(self.known if self.before is None else set(self.before))
        if self.before is not None:
            for path in sorted(self.known ^ self.before):
                debouncer.note(path, time.monotonic())
        self.known = debouncer.known
        return debouncer

    def _note(self, debouncer: ChangeDebouncer, path: str, at: float) -> None:
        """Record a change. For a new folder, record the files that were created before it was watched."""
        if not os.path.isdir(path):  # noqa: PTH112  (called often; avoids creating Path objects)
            debouncer.note(path, at)
            return
        for found in files_in(Path(path), MAX_FILES, self.allowed_roots):
            if str(found) not in debouncer.known:
                debouncer.note(str(found), at)

    def _settled(self, debouncer: ChangeDebouncer, at: float) -> list[FileChange]:
        found: list[FileChange] = []
        for path in debouncer.settled(at):
            stamp = _stamp(path)
            change = debouncer.classify(path, exists=stamp is not None)
            if change is not None and self._is_wanted(path):
                found.append(FileChange(path, change, stamp))
        return found

    def _is_allowed(self, _: watchfiles.Change, path: str) -> bool:
        return not _leads_outside(path, self.allowed_roots)

    def _is_wanted(self, path: str) -> bool:
        return not self.patterns or any(fits(pattern, path, self.roots) for pattern in self.patterns)


def fits(pattern: str, path: str, roots: Sequence[Root]) -> bool:
    """Match a pattern against the file name, the path below a root, or the whole path."""
    below = [str(Path(path).relative_to(root.path)) for root in roots if Path(path).is_relative_to(root.path)]
    return any(fnmatchcase(text, pattern) for text in (Path(path).name, path, *below))


def _stamp(path: str) -> str | None:
    try:
        status = os.stat(path)  # noqa: PTH116
    except OSError:
        return None
    if stat.S_ISDIR(status.st_mode):
        return None
    return f"{status.st_ino}:{status.st_ctime_ns}"
