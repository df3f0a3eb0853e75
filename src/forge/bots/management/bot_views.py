"""Build API views of bots: the state of their files, their model and their statistics.

Many bots are built with a few queries and one thread, because a page that lists all bots reads all of their files.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from forge.bots import store
from forge.bots.files.folders import BotFolders
from forge.bots.files.problems import describe_problem, errors_of, find_problems
from forge.bots.models import Bot, BotFile, BotStatus, BotView, FileProblem
from forge.bots.readiness import ModelReadiness, bot_scope
from forge.bots.store import ChatCounts, NewestVersion
from forge.bots.versions.service import Versions
from forge.errors import ForgeError
from forge.kernel.hashing import hash_text
from forge.llm.budgets import used_by_scope
from forge.llm.catalog import Resolved
from forge.llm.models import Used
from forge.store.database import Store

MAX_CACHED = 4000
"""Number of texts whose problems are cached."""

_STATUS = {
    BotStatus.DISABLED: "The bot is disabled.",
    BotStatus.ARCHIVED: "The bot is archived.",
}

NO_VERSION = NewestVersion(0, "")
Versioned = Mapping[tuple[str, BotFile], NewestVersion]


@dataclass(frozen=True)
class FilesState:
    """The problems of a bot's files."""

    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    blocked: str | None = None


class BotViews:
    def __init__(
        self, database: Store, folders: BotFolders, versions: Versions, readiness: ModelReadiness
    ) -> None:
        self._database = database
        self._folders = folders
        self._versions = versions
        self._readiness = readiness
        self._cache: OrderedDict[tuple[BotFile, str], list[FileProblem]] = OrderedDict()
        self._cache_lock = Lock()

    async def build(self, account_id: str, bots: Sequence[Bot]) -> list[BotView]:
        """Build views in the given order."""
        states = await self._states([bot for bot in bots if bot.deleted_at is None])
        ids = [bot.id for bot in bots]
        async with self._database.read() as tx:
            # Read the bots again: checking their files may have accepted an edit of IDENTITY.md.
            current = {bot.id: bot for bot in await store.find_many(tx, ids)}
            newest = await store.newest_versions(tx, ids)
            chats = await store.count_chats(tx, ids)
            used = await used_by_scope(tx, account_id, [bot_scope(bot_id) for bot_id in ids])
        bots = [current[bot.id] for bot in bots if bot.id in current]
        models = await self._readiness.models(account_id, bots)
        return [
            self._view(
                bot,
                states.get(bot.id, FilesState()),
                models[bot.id],
                soul=newest.get((bot.id, BotFile.SOUL), NO_VERSION),
                numbers=chats.get(bot.id, ChatCounts()),
                used=used.get(bot_scope(bot.id), Used()),
            )
            for bot in bots
        ]

    def _view(
        self,
        bot: Bot,
        state: FilesState,
        model: Resolved,
        *,
        soul: NewestVersion,
        numbers: ChatCounts,
        used: Used,
    ) -> BotView:
        return BotView(
            **dict(bot),
            folder=str(self._folders.path(bot.slug)),
            model=model.ref,
            problems=[*state.problems, *_model_problems(bot, model)],
            blocked=_block_reason(bot, state, model),
            soul_version=soul.number,
            sessions=numbers.sessions,
            answering=numbers.answering,
            messages=numbers.messages,
            tokens=used.tokens,
            spent_micros=used.cost_micros,
        )

    async def _states(self, bots: Sequence[Bot]) -> dict[str, FilesState]:
        async with self._database.read() as tx:
            newest = await store.newest_versions(tx, [bot.id for bot in bots])
        states = await asyncio.to_thread(self._read_unchanged, bots, newest)
        for bot in bots:
            if bot.id not in states:
                states[bot.id] = FilesState(*await self._versions.problems(bot))
        return states

    def _read_unchanged(self, bots: Iterable[Bot], newest: Versioned) -> dict[str, FilesState]:
        """Return the state of bots whose files equal their newest versions; `Versions` handles the others."""
        found: dict[str, FilesState] = {}
        for bot in bots:
            read = ((file, self._unchanged_text(bot, file, newest)) for file in BotFile)
            texts = {file: text for file, text in read if text is not None}
            if len(texts) == len(BotFile):
                found[bot.id] = self._files_state(texts)
        return found

    def _files_state(self, texts: Mapping[BotFile, str]) -> FilesState:
        problems = [problem for file, text in texts.items() for problem in self._problems(file, text)]
        errors = errors_of(problems)
        return FilesState(problems, describe_problem(errors[0]) if errors else None)

    def _unchanged_text(self, bot: Bot, file: BotFile, newest: Versioned) -> str | None:
        try:
            text = self._folders.read(bot.slug, file)
        except ForgeError:
            return None
        version = newest.get((bot.id, file))
        return text if text is not None and version and hash_text(text) == version.hash else None

    def _problems(self, file: BotFile, text: str) -> list[FileProblem]:
        """Return the problems of a text, cached because parsing YAML is slow."""
        key = (file, hash_text(text))
        found = self._cache.get(key)
        if found is None:
            found = find_problems(file, text)
        with self._cache_lock:
            self._cache[key] = found
            self._cache.move_to_end(key)
            if len(self._cache) > MAX_CACHED:
                self._cache.popitem(last=False)
        return found


def _model_problems(bot: Bot, model: Resolved) -> list[FileProblem]:
    """Return a problem if IDENTITY.md names a model that cannot be called."""
    if model.problem is None or bot.identity.ref is None:
        return []
    return [FileProblem(file=BotFile.IDENTITY, message=model.problem.message, hint=model.problem.hint)]


def _block_reason(bot: Bot, state: FilesState, model: Resolved) -> str | None:
    if bot.deleted_at is not None:
        return "The bot is deleted."
    return _STATUS.get(bot.status) or state.blocked or (model.problem.message if model.problem else None)
