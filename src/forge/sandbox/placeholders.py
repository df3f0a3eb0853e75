"""Keeps protected names absent that are absent: something has to be mounted there, so an empty folder is put there
while commands run, and taken away after the last one."""

import threading
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.errors import Invalid


class Placeholders:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Counter[Path] = Counter()

    @contextmanager
    def put(self, workdir: Path, names: Iterable[str]) -> Generator[None]:
        held = [path for name in names if self._hold(path := workdir / name)]
        try:
            yield
        finally:
            for path in held:
                self._release(path)

    def _hold(self, path: Path) -> bool:
        with self._lock:
            if path not in self._held and (path.exists() or not path.parent.is_dir()):
                return False
            try:
                path.mkdir(exist_ok=True)
            except OSError as error:
                raise Invalid(
                    f"{path.parent} cannot be written, so {path.name} in it cannot be protected: {error.strerror}",
                    field="workdir",
                ) from error
            self._held[path] += 1
            return True

    def _release(self, path: Path) -> None:
        with self._lock:
            self._held[path] -= 1
            if not self._held[path]:
                del self._held[path]
                with suppress(OSError):
                    path.rmdir()
