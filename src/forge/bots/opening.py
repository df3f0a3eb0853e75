"""Puts the parts of bots together: what their runs need before there are runs, and what people use after."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.agents.hands import Hands
from forge.bots.chat.aside import Aside
from forge.bots.chat.asking import Asking
from forge.bots.chat.awaiting import Answers
from forge.bots.chat.endings import Endings
from forge.bots.chat.preparing import Preparing
from forge.bots.chat.quiet import Quiet
from forge.bots.chat.scene import Scene
from forge.bots.chat.service import Chats
from forge.bots.chat.sessions import Sessions
from forge.bots.chat.settling import Settling
from forge.bots.chat.turn import ChatKind
from forge.bots.chat.upkeep import Upkeep
from forge.bots.folder import Folders
from forge.bots.memory.service import Memories
from forge.bots.purging import purge_deleted
from forge.bots.readiness import Readiness
from forge.bots.service import Bots
from forge.bots.shelf import Shelf
from forge.bots.skill_hands import SkillHands
from forge.bots.versions.service import Versions
from forge.bots.watching import watch
from forge.kernel.background import in_background
from forge.llm.catalog import Catalog
from forge.runs.kinds import RunKind
from forge.runs.service import Runs


@dataclass(frozen=True)
class BotHouse:
    """What people use."""

    bots: Bots
    versions: Versions
    memories: Memories
    chats: Chats
    sessions: Sessions
    asking: Asking
    """For features above: questions put in a transaction of theirs."""
    answers: Answers


class BotParts:
    def __init__(
        self, data_dir: Path, hands: Hands, catalog: Catalog, skills: SkillHands, memories: Memories
    ) -> None:
        self._hands = hands
        self._folders, shelf = Folders(data_dir), Shelf(skills)
        self._readiness = Readiness(catalog)
        database, events, gateway = hands.database, hands.events, hands.gateway
        versions = Versions(database, events, self._folders)
        bots = Bots(database, events, self._folders, versions, self._readiness, skills)
        self._scene = Scene(database, bots, versions, memories, shelf)
        aside = Aside(gateway)
        self._upkeep = Upkeep(gateway, events, self._scene, aside)
        preparing = Preparing(self._scene, self._readiness, aside)
        self._chat = ChatKind(hands, self._scene, skills, preparing, Endings(events), self._upkeep)

    def kinds(self) -> tuple[RunKind[Any], ...]:
        return self._chat.kind(), self._upkeep.kind()

    @asynccontextmanager
    async def open(self, runs: Runs, *, is_server: bool) -> AsyncGenerator[BotHouse]:
        """A server also looks after the folders and conversations of bots; a worker only answers."""
        database, events, scene = self._hands.database, self._hands.events, self._scene
        settling = Settling(database, events, runs)
        quiet = Quiet(database, runs, settling)
        asking = Asking(events, runs, scene.versions, self._readiness, scene.memories, quiet.remember)
        async with AsyncExitStack() as stack:
            if is_server:
                for work, name in (
                    (quiet.listen(), "quiet conversations"),
                    (watch(self._folders, scene.versions), "watch over bots"),
                    (purge_deleted(database, events, self._folders), "purge of deleted bots"),
                ):
                    await stack.enter_async_context(in_background(work, name))
            yield BotHouse(
                bots=scene.bots,
                versions=scene.versions,
                memories=scene.memories,
                chats=Chats(database, events, runs, scene.bots, asking, settling, quiet),
                sessions=Sessions(database, events, runs, settling),
                asking=asking,
                answers=Answers(database, events, runs, asking, settling),
            )
