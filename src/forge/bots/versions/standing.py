"""How a file on disk stands to its newest version: the same, edited by hand, broken, gone."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from forge.bots.files.checking import check
from forge.bots.folder import Folders, Unreadable
from forge.bots.models import BotFile, FileProblem
from forge.bots.problems import errors_of
from forge.bots.versions.store import Head
from forge.kernel.hashing import hash_text


@dataclass(frozen=True)
class Disk:
    """What is on disk under a file's name."""

    text: str | None
    unreadable: FileProblem | None = None
    """Something is there, but no text: a directory, a picture, a NUL character, more than a file may
    hold."""

    @property
    def is_gone(self) -> bool:
        return self.text is None and self.unreadable is None

    @cached_property
    def hash(self) -> str | None:
        return None if self.text is None else hash_text(self.text)


@dataclass(frozen=True)
class Standing:
    file: BotFile
    head: Head
    disk: Disk

    @property
    def is_accepted(self) -> bool:
        """The file is its newest version."""
        return self.disk.hash == self.head.hash

    @property
    def is_settled(self) -> bool:
        """There is nothing to do for anybody."""
        return self.is_accepted and self.head.is_written

    @cached_property
    def problems(self) -> list[FileProblem]:
        if self.disk.unreadable is not None:
            return [self.disk.unreadable]
        if self.disk.text is None:
            return [
                FileProblem(file=self.file, message="The file is gone.", hint="Roll back to a version of it.")
            ]
        return check(self.file, self.disk.text)

    @property
    def errors(self) -> list[FileProblem]:
        return errors_of(self.problems)


def read_disk(folders: Folders, slug: str, files: Collection[BotFile]) -> dict[BotFile, Disk]:
    """Blocks."""
    return {file: _read(folders, slug, file) for file in files}


def _read(folders: Folders, slug: str, file: BotFile) -> Disk:
    try:
        return Disk(folders.read(slug, file))
    except Unreadable as error:
        return Disk(None, error.problem)
