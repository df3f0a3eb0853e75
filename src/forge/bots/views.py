"""Bots as they are shown: with the state of their files, the model they ask and their numbers.

Many at once cost a handful of queries and one thread: a page with all bots reads all of their files.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from forge.bots import store
from forge.bots.files.checking import check
from forge.bots.folder import Folders
from forge.bots.models import Bot, BotFile, BotStatus, BotView, FileProblem
from forge.bots.problems import errors_of, said
from forge.bots.readiness import Readiness, bot_scope
from forge.bots.store import Newest, Numbers
from forge.bots.versions.service import Versions
from forge.errors import ForgeError
from forge.kernel.hashing import hash_text
from forge.llm.catalog import Resolved
from forge.llm.models import Used
from forge.llm.money import used_by_scope
from forge.store.engine import Store

REMEMBERED = 4000
"""Texts whose problems are known."""

_STATUS = {
    BotStatus.DISABLED: "It is disabled.",
    BotStatus.ARCHIVED: "It is archived.",
}

NO_VERSION = Newest(0, "")
Versioned = Mapping[tuple[str, BotFile], Newest]


@dataclass(frozen=True)
class State:
    """What its files say."""

    problems: list[FileProblem] = field(default_factory=list[FileProblem])
    blocked: str | None = None


class Views:
    def __init__(self, database: Store, folders: Folders, versions: Versions, readiness: Readiness) -> None:
        self._database = database
        self._folders = folders
        self._versions = versions
        self._readiness = readiness
        self._checked: OrderedDict[tuple[BotFile, str], list[FileProblem]] = OrderedDict()
        self._remembering = Lock()

    async def of(self, account_id: str, bots: Sequence[Bot]) -> list[BotView]:
        """In the order given."""
        states = await self._states([bot for bot in bots if bot.deleted_at is None])
        ids = [bot.id for bot in bots]
        async with self._database.read() as tx:
            # Once more: looking at the files may have changed what is known of them.
            now = {bot.id: bot for bot in await store.list_some(tx, ids)}
            newest = await store.newest_versions(tx, ids)
            talk = await store.count_talk(tx, ids)
            used = await used_by_scope(tx, account_id, [bot_scope(bot_id) for bot_id in ids])
        bots = [now[bot.id] for bot in bots if bot.id in now]
        models = await self._readiness.models(account_id, bots)
        return [
            self._view(
                bot,
                states.get(bot.id, State()),
                models[bot.id],
                soul=newest.get((bot.id, BotFile.SOUL), NO_VERSION),
                numbers=talk.get(bot.id, Numbers()),
                used=used.get(bot_scope(bot.id), Used()),
            )
            for bot in bots
        ]

    def _view(
        self, bot: Bot, state: State, model: Resolved, *, soul: Newest, numbers: Numbers, used: Used
    ) -> BotView:
        return BotView(
            **dict(bot),
            folder=str(self._folders.path(bot.slug)),
            model=model.ref,
            problems=[*state.problems, *_unusable(bot, model)],
            blocked=_blocked(bot, state, model),
            soul_version=soul.number,
            sessions=numbers.sessions,
            answering=numbers.answering,
            messages=numbers.messages,
            tokens=used.tokens,
            spent_micros=used.cost_micros,
        )

    async def _states(self, bots: Sequence[Bot]) -> dict[str, State]:
        async with self._database.read() as tx:
            newest = await store.newest_versions(tx, [bot.id for bot in bots])
        states = await asyncio.to_thread(self._look, bots, newest)
        for bot in bots:
            if bot.id not in states:
                states[bot.id] = State(*await self._versions.problems(bot))
        return states

    def _look(self, bots: Iterable[Bot], newest: Versioned) -> dict[str, State]:
        """Those whose files are their newest versions; what was edited or is gone is for `Versions` to judge."""
        found: dict[str, State] = {}
        for bot in bots:
            read = ((file, self._unchanged(bot, file, newest)) for file in BotFile)
            texts = {file: text for file, text in read if text is not None}
            if len(texts) == len(BotFile):
                found[bot.id] = self._judge(texts)
        return found

    def _judge(self, texts: Mapping[BotFile, str]) -> State:
        problems = [problem for file, text in texts.items() for problem in self._check(file, text)]
        errors = errors_of(problems)
        return State(problems, said(errors[0]) if errors else None)

    def _unchanged(self, bot: Bot, file: BotFile, newest: Versioned) -> str | None:
        try:
            text = self._folders.read(bot.slug, file)
        except ForgeError:
            return None
        version = newest.get((bot.id, file))
        return text if text is not None and version and hash_text(text) == version.hash else None

    def _check(self, file: BotFile, text: str) -> list[FileProblem]:
        """Remembered: files change seldom, and reading YAML takes a while."""
        key = (file, hash_text(text))
        found = self._checked.get(key)
        if found is None:
            found = check(file, text)
        with self._remembering:
            self._checked[key] = found
            self._checked.move_to_end(key)
            if len(self._checked) > REMEMBERED:
                self._checked.popitem(last=False)
        return found


def _unusable(bot: Bot, model: Resolved) -> list[FileProblem]:
    """A model that IDENTITY.md names and nobody can call."""
    if model.problem is None or bot.identity.ref is None:
        return []
    return [FileProblem(file=BotFile.IDENTITY, message=model.problem.message, hint=model.problem.hint)]


def _blocked(bot: Bot, state: State, model: Resolved) -> str | None:
    if bot.deleted_at is not None:
        return "It is deleted."
    return _STATUS.get(bot.status) or state.blocked or (model.problem.message if model.problem else None)
