"""Compare the files of a bot with their newest versions, and read them if they may be used."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from forge.bots.errors import BotBlocked
from forge.bots.files.folders import BotFolders, Unreadable
from forge.bots.files.identity import parse_identity
from forge.bots.files.parsed import Parsed
from forge.bots.files.problems import describe_problem, errors_of, find_problems
from forge.bots.files.skills_toml import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, FileProblem, Identity, SkillEntry, Soul
from forge.bots.versions.models import file_arguments
from forge.bots.versions.store import Head
from forge.errors import Internal
from forge.kernel.hashing import hash_text


@dataclass(frozen=True)
class DiskFile:
    """A file as it is on disk."""

    text: str | None
    unreadable: FileProblem | None = None
    """Why it is not a usable text: a directory, binary data, a NUL character, too long."""

    @property
    def is_gone(self) -> bool:
        return self.text is None and self.unreadable is None

    @cached_property
    def hash(self) -> str | None:
        return None if self.text is None else hash_text(self.text)


@dataclass(frozen=True)
class FileStatus:
    file: BotFile
    head: Head
    disk: DiskFile

    @property
    def is_accepted(self) -> bool:
        """The file equals its newest version."""
        return self.disk.hash == self.head.hash

    @property
    def is_settled(self) -> bool:
        """The file equals its newest version, and that is recorded as written."""
        return self.is_accepted and self.head.is_written

    @cached_property
    def problems(self) -> list[FileProblem]:
        if self.disk.unreadable is not None:
            return [self.disk.unreadable]
        if self.disk.text is None:
            return [
                FileProblem(
                    file=self.file, message="The file is missing.", hint="Roll back to an earlier version."
                )
            ]
        return find_problems(self.file, self.disk.text)

    @property
    def errors(self) -> list[FileProblem]:
        return errors_of(self.problems)


def read_disk_files(folders: BotFolders, slug: str, files: Collection[BotFile]) -> dict[BotFile, DiskFile]:
    """Read files from disk. Blocking."""
    return {file: _read(folders, slug, file) for file in files}


def _read(folders: BotFolders, slug: str, file: BotFile) -> DiskFile:
    try:
        return DiskFile(folders.read(slug, file))
    except Unreadable as error:
        return DiskFile(None, error.problem)


T = TypeVar("T")

NOT_ACCEPTED = "SOUL.md was changed outside of Forge and the change was not accepted."


@dataclass(frozen=True)
class BotFiles:
    soul: Soul
    soul_text: str
    soul_version: int
    identity: Identity
    user: str
    skills: list[SkillEntry]


@dataclass(frozen=True)
class Block:
    """Why a bot cannot answer, and how to fix it."""

    reason: str
    hint: str


def find_block(slug: str, statuses: Iterable[FileStatus]) -> Block | None:
    return next((block for status in statuses if (block := _block(slug, status))), None)


def accepted_texts(slug: str, statuses: Mapping[BotFile, FileStatus]) -> dict[BotFile, str]:
    """Return the texts of the files that were checked. Raises BotBlocked."""
    if block := find_block(slug, statuses.values()):
        raise BotBlocked(block.reason, hint=block.hint)
    return {file: status.disk.text or "" for file, status in statuses.items()}


def read_bot_files(slug: str, statuses: Mapping[BotFile, FileStatus]) -> BotFiles:
    text = accepted_texts(slug, statuses)
    return BotFiles(
        soul=_parsed_value(parse_soul(text[BotFile.SOUL])),
        soul_text=text[BotFile.SOUL],
        soul_version=statuses[BotFile.SOUL].head.number,
        identity=_parsed_value(parse_identity(text[BotFile.IDENTITY])),
        user=_parsed_value(parse_user(text[BotFile.USER])),
        skills=_parsed_value(parse_skills(text[BotFile.SKILLS])),
    )


def _block(slug: str, status: FileStatus) -> Block | None:
    arguments = file_arguments(slug, status.file)
    if status.disk.text is None:
        return Block(
            describe_problem(status.problems[0]), f"Restore it: forge bots files rollback {arguments}"
        )
    if status.file is BotFile.SOUL and not status.is_accepted:
        return Block(
            NOT_ACCEPTED,
            f"Review the change: forge bots files diff {arguments}. "
            f"Then accept it: forge bots files accept {arguments}, or undo it: forge bots files rollback {arguments}",
        )
    if status.errors:
        return Block(
            describe_problem(status.errors[0]),
            f"Fix it: forge bots files edit {arguments}. Or roll back: forge bots files rollback {arguments}",
        )
    return None


def _parsed_value(parsed: Parsed[T]) -> T:
    if parsed.value is None:
        raise Internal("A valid file could not be parsed.")
    return parsed.value
