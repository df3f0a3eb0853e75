"""A bot with skills on the real engine, with a scripted model and fake skills."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import JsonValue
from tests.support.engine import ACCOUNT
from tests.support.gateway import open_gateway
from tests.support.models import ModelServer
from tests.support.timeouts import PATIENCE_S

from forge.agents.steps import AgentSteps
from forge.bots.chat.branches import session_stream
from forge.bots.chat.models import Message, NewTurn
from forge.bots.component import BotComponent, BotServices
from forge.bots.management.skill_access import LibrarySkill, SkillAccess
from forge.bots.memory.service import Memories
from forge.bots.models import MessageStatus, NewBot, NewBotSkill
from forge.errors import ForgeError, NotFound
from forge.events.log import EventLog
from forge.events.models import Event
from forge.kernel.clock import now
from forge.llm.models import ProviderKind, Role
from forge.runs.component import open_runs
from forge.runs.kinds import RunKinds
from forge.sandbox.sandboxes import Sandboxes
from forge.skills.execution import RunEnd
from forge.skills.invocations.runner import RunRequest
from forge.skills.models import SkillKind, Tier
from forge.skills.views import SkillRan, SkillState
from forge.store.database import Store
from forge.telemetry import Metrics, NoTracing

SkillFunction = Callable[[RunRequest], Awaitable[SkillRan]]


def library_skill(name: str, kind: SkillKind = SkillKind.PROMPT, **more: object) -> LibrarySkill:
    values: dict[str, object] = {
        "name": name,
        "description": f"Use it for {name}.",
        "kind": kind,
        "version": "1.0.0",
        "tier": Tier.UNTRUSTED,
        "state": SkillState.READY,
        "problem": None,
        "body": f"This is how {name} is done.",
        **more,
    }
    return LibrarySkill(**values)  # pyright: ignore[reportArgumentType]


def skill_result(name: str, output: JsonValue = None, end: RunEnd = RunEnd.DONE, error: str = "") -> SkillRan:
    return SkillRan(
        id="1",
        skill=name,
        version="1.0.0",
        folder_hash="",
        kind=SkillKind.SCRIPT,
        tier=Tier.UNTRUSTED,
        purpose="chat",
        end=end,
        error=error,
        input_hash="",
        duration_ms=1.0,
        at=now(),
        output=output,
    )


@dataclass
class FakeSkills(SkillAccess):
    skills: dict[str, LibrarySkill] = field(default_factory=dict[str, LibrarySkill])
    files: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    functions: dict[str, SkillFunction] = field(default_factory=dict[str, SkillFunction])
    calls: list[tuple[str, RunRequest]] = field(default_factory=list[tuple[str, RunRequest]])

    def add(self, *skills: LibrarySkill) -> None:
        self.skills |= {skill.name: skill for skill in skills}

    async def find(self, account_id: str, names: Iterable[str]) -> dict[str, LibrarySkill | ForgeError]:
        return {name: self.skills.get(name) or NotFound(f"There is no {name}.") for name in names}

    async def read(self, account_id: str, name: str, path: str) -> str:
        if (name, path) not in self.files:
            raise NotFound(f"The skill {name} has no file {path}.")
        return self.files[name, path]

    async def run(self, name: str, request: RunRequest) -> SkillRan:
        self.calls.append((name, request))
        return await self.functions[name](request)

    async def check_together(self, names: Iterable[str]) -> None:
        """Report no conflicts."""

    async def add_to_library(self, account_id: str, name: str) -> None:
        if name not in self.skills:
            raise NotFound(f"There is no {name}.")


@dataclass
class SkillChat:
    services: BotServices
    events: EventLog
    store: Store
    server: ModelServer

    async def create(self, *skills: str) -> None:
        await self.services.bots.create(ACCOUNT, NewBot(name="Ada"), by="me")
        for name in skills:
            await self.services.bots.attach(ACCOUNT, "ada", NewBotSkill(skill_name=name), by="me")

    async def ask(self, text: str, session_id: str | None = None) -> str:
        bot = await self.services.bots.find(ACCOUNT, "ada")
        turn = await self.services.chats.ask(ACCOUNT, bot, NewTurn(text=text, session_id=session_id))
        return turn.session.id

    async def last(self, session_id: str) -> Message:
        return (await self.services.sessions.messages(ACCOUNT, session_id))[-1]

    async def wait_for_answer(self, session_id: str) -> Message:
        return await self.wait_until(session_id, lambda message: message.status is not MessageStatus.WRITING)

    async def wait_until(self, session_id: str, condition: Callable[[Message], bool]) -> Message:
        async with asyncio.timeout(PATIENCE_S):
            while not condition(message := await self.last(session_id)):
                await asyncio.sleep(0.02)
        return message

    async def say(self, text: str, session_id: str | None = None) -> Message:
        return await self.wait_for_answer(await self.ask(text, session_id))

    async def events_of(self, session_id: str, kind: str) -> list[Event]:
        async with self.store.read() as tx:
            events = await self.events.read(tx, session_stream(session_id), limit=1000)
        return [event for event in events if event.type == kind]

    def sent(self) -> list[dict[str, object]]:
        """Return the requests of the bot to the model, in order."""
        return [entry.body for entry in self.server.requests() if "<soul>" in str(entry.body)]


@asynccontextmanager
async def open_skill_chat(
    store: Store,
    server: ModelServer,
    data_dir: Path,
    skills: FakeSkills,
    provider: ProviderKind = ProviderKind.ANTHROPIC,
) -> AsyncGenerator[SkillChat]:
    metrics = Metrics(version="test")
    events = EventLog(store, metrics)
    async with open_gateway(store) as models:
        await models.add("scripted", server.url, kind=provider)
        for role in (Role.BOT, Role.UTILITY):
            await models.choose("scripted:scripted", role=role)
        agent_steps = AgentSteps(models.gateway, events, store, Sandboxes())
        component = BotComponent(data_dir, agent_steps, models.catalog, skills, Memories(store, events, None))
        kinds = RunKinds(*component.kinds())
        async with (
            open_runs(store, events, kinds, metrics, NoTracing(), keep_days=1) as runs,
            component.open(runs, is_server=False) as services,
        ):
            yield SkillChat(services, events, store, server)
