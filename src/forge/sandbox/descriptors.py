"""Files that exist only as numbers, handed to a child process and closed with it."""

import io
import os
from contextlib import suppress
from typing import BinaryIO


class Descriptors:
    def __init__(self) -> None:
        self.passed: list[int] = []
        self._kept: list[BinaryIO] = []

    def data(self, content: str | bytes) -> str:
        """A file in memory for the child to read."""
        fd = os.memfd_create("forge")
        self.passed.append(fd)
        os.write(fd, os.fsencode(content) if isinstance(content, str) else content)
        os.lseek(fd, 0, os.SEEK_SET)
        return str(fd)

    def given(self, fd: int) -> str:
        """One that is open already."""
        self.passed.append(fd)
        return str(fd)

    def from_child(self) -> tuple[BinaryIO, int]:
        """Our end for reading, and the child's number for writing."""
        reader, writer = os.pipe()
        self.passed.append(writer)
        return self._keep(os.fdopen(reader, "rb")), writer

    def to_child(self) -> tuple[int, BinaryIO]:
        reader, writer = os.pipe()
        self.passed.append(reader)
        return reader, self._keep(io.FileIO(writer, "wb"))

    def process(self, pid: int) -> int | None:
        """Stands for a process whatever becomes of its number; readable when it is dead. None when it is by now."""
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            self._keep(os.fdopen(handle, "rb", buffering=0))
            return handle
        return None

    def close_passed(self) -> None:
        """The child has its own by now; a pipe ends when nobody else holds it."""
        while self.passed:
            os.close(self.passed.pop())

    def close(self) -> None:
        self.close_passed()
        for file in self._kept:
            file.close()

    def _keep(self, file: BinaryIO) -> BinaryIO:
        self._kept.append(file)
        return file
