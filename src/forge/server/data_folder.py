"""Notices that the data directory was taken away under a running Forge: what it goes on to write would be lost."""

import asyncio
import os
from pathlib import Path
from types import TracebackType

from forge.errors import Unavailable

LOOK_EVERY_S = 1.0


class DataFolder:
    """Holds one of its files open, so that the number of that file cannot become another's."""

    def __init__(self, path: Path) -> None:
        self._folder, self._path = path, path / "lock"
        self._descriptor = os.open(self._path, os.O_RDONLY)

    def __enter__(self) -> "DataFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    @property
    def is_gone(self) -> bool:
        """A disk that does not answer for a moment is not gone."""
        try:
            there = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return not os.path.samestat(there, os.fstat(self._descriptor))

    async def until_gone(self) -> None:
        while not self.is_gone:  # noqa: ASYNC110 (nothing tells us)
            await asyncio.sleep(LOOK_EVERY_S)

    def check(self) -> None:
        if self.is_gone:
            raise Unavailable(
                f"{self._folder} was removed, moved or replaced while Forge was running, so Forge has ended.",
                hint="What was done since then is lost. Put the folder back (forge restore, if there is a backup), "
                "and start Forge again.",
            )
