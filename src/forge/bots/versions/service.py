"""What people can do with a bot's files: read, check, save, compare, roll back, accept."""

from forge.bots.models import Bot, BotFile, FileProblem
from forge.bots.versions.models import (
    FileDiff,
    FileState,
    FileVersion,
    FileVersionDetail,
    NewAcceptance,
    NewContent,
    NewRollback,
)
from forge.store.paging import Cursor, Page


class Versions:
    async def state(self, bot: Bot, file: BotFile) -> FileState:
        raise NotImplementedError

    async def check(self, bot: Bot, file: BotFile, content: str) -> list[FileProblem]:
        raise NotImplementedError

    async def save(self, bot: Bot, file: BotFile, new: NewContent, *, by: str) -> FileState:
        raise NotImplementedError

    async def history(
        self, bot: Bot, file: BotFile, *, cursor: Cursor | None, limit: int
    ) -> Page[FileVersion]:
        raise NotImplementedError

    async def get(self, bot: Bot, file: BotFile, number: int) -> FileVersionDetail:
        raise NotImplementedError

    async def diff(self, bot: Bot, file: BotFile, left: int, right: int | None) -> FileDiff:
        """Between two versions, or from one to the file on disk."""
        raise NotImplementedError

    async def rollback(self, bot: Bot, file: BotFile, new: NewRollback, *, by: str) -> FileState:
        raise NotImplementedError

    async def accept(self, bot: Bot, file: BotFile, new: NewAcceptance, *, by: str) -> FileState:
        raise NotImplementedError
