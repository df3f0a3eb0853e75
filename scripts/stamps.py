"""Record what a step was made from, so that it is skipped while nothing has changed.

A stamp is removed before its step begins and written after it ends: an interrupted step is simply repeated.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


def digest(files: Iterable[Path]) -> str:
    """Hash absolute paths and contents, so that a moved checkout is rebuilt."""
    total = hashlib.sha256()
    for file in sorted(files):
        total.update(f"\0{file}\0".encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


@dataclass(frozen=True)
class Stamp:
    path: Path

    def matches(self, wanted: str) -> bool:
        return self.path.is_file() and self.path.read_text().strip() == wanted

    @contextmanager
    def renewed(self, made_from: str) -> Iterator[None]:
        """Remove the stamp during the work; write it again only if the work succeeds."""
        self.path.unlink(missing_ok=True)
        yield
        self.path.parent.mkdir(parents=True, exist_ok=True)
        partial = self.path.with_suffix(".partial")
        partial.write_text(made_from + "\n")
        partial.replace(self.path)
