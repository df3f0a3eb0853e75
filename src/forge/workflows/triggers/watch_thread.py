"""Watches folders for one trigger, in a thread of its own: waiting for files is nothing an event loop can do."""

import os
import stat
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import watchfiles

from forge.workflows.triggers.bursts import Bursts, Change
from forge.workflows.triggers.roots import MAX_FILES, Root, files_in

NAME = "file trigger"
LOOK_MS = 250
GROUP_MS = 400


@dataclass(frozen=True)
class FileChange:
    path: str
    change: Change
    stamp: str | None
    """Another one after every change; None when it is gone."""


@dataclass(frozen=True)
class Changed:
    files: Sequence[FileChange]


@dataclass(frozen=True)
class Failed:
    reason: str


@dataclass(frozen=True)
class Watching:
    """Nothing is missed from now on."""


Heard = Changed | Failed | Watching
Tell = Callable[[Heard], None]


@dataclass
class WatchThread:
    """Tells from its own thread; whoever listens takes it to theirs."""

    roots: tuple[Root, ...]
    patterns: Sequence[str]
    own_dir: Path
    """Forge's own files: they change because of what is started here."""
    tell: Tell
    before: frozenset[str] | None = None
    """What was there when the same folders were watched before."""
    known: set[str] = field(default_factory=set[str], init=False)
    _bursts: Bursts | None = field(default=None, init=False)
    """Once it watches."""
    _stop: threading.Event = field(default_factory=threading.Event, init=False)

    def begin(self) -> None:
        threading.Thread(target=self._run, name=NAME, daemon=True).start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        try:
            self._watch()
        except (OSError, RuntimeError) as error:  # the library raises either
            self.tell(Failed(f"Files cannot be watched: {error}."))

    def _watch(self) -> None:
        if not self._find():  # before all there is gets watched, by way of a link
            return
        for changes in watchfiles.watch(
            *(root.path for root in self.roots),
            watch_filter=self._is_foreign,
            debounce=GROUP_MS,
            rust_timeout=LOOK_MS,
            yield_on_timeout=True,
            stop_event=self._stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            if self._bursts is None:  # it watches now, so that nothing is missed between looking and watching
                self._bursts = self._look()
                if self._bursts is not None:
                    self.tell(Watching())
            if (bursts := self._bursts) is None:
                return
            at = time.monotonic()
            for _, path in changes:
                self._note(bursts, path, at)
            if found := self._settled(bursts, at):
                self.tell(Changed(found))

    def _find(self) -> bool:
        """All files there are; says so when those are too many."""
        for root in self.roots:
            if root.path.is_file():
                self.known.add(str(root.path))
            self.known.update(str(path) for path in files_in(root.path, MAX_FILES + 1, but=self.own_dir))
            if len(self.known) > MAX_FILES:
                self.tell(Failed(f"{root.path} has too many files to watch: {MAX_FILES:,} is the most."))
                return False
        return True

    def _look(self) -> Bursts | None:
        self.known.clear()
        if not self._find():
            return None
        bursts = Bursts(self.known if self.before is None else set(self.before))
        if self.before is not None:
            for path in sorted(self.known ^ self.before):
                bursts.note(path, time.monotonic())
        self.known = bursts.known
        return bursts

    def _note(self, bursts: Bursts, path: str, at: float) -> None:
        """Of a folder that is new, what was in it before it was watched."""
        if not os.path.isdir(path):  # noqa: PTH112  (often, and without making objects)
            bursts.note(path, at)
            return
        for found in files_in(Path(path), MAX_FILES, but=self.own_dir):
            if str(found) not in bursts.known:
                bursts.note(str(found), at)

    def _settled(self, bursts: Bursts, at: float) -> list[FileChange]:
        found: list[FileChange] = []
        for path in bursts.settled(at):
            stamp = _stamp(path)
            change = bursts.tell(path, exists=stamp is not None)
            if change is not None and self._is_wanted(path):
                found.append(FileChange(path, change, stamp))
        return found

    def _is_foreign(self, _: watchfiles.Change, path: str) -> bool:
        return not Path(os.path.realpath(path)).is_relative_to(self.own_dir)

    def _is_wanted(self, path: str) -> bool:
        return not self.patterns or any(fits(pattern, path, self.roots) for pattern in self.patterns)


def fits(pattern: str, path: str, roots: Sequence[Root]) -> bool:
    """By its name, its whole path, or its path below what is watched."""
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
