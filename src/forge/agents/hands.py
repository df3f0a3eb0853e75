"""The steps of an agent: the two things it does that have an effect, each journaled once it is done."""

import asyncio
import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.agents.compaction import BYTES_PER_TOKEN
from forge.agents.models import (
    AgentDelta,
    AgentStarted,
    AgentToolAsked,
    AgentToolUsed,
    AgentTurn,
    NearbySkill,
)
from forge.agents.spec import AgentSpec
from forge.agents.tools import arguments_of
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.text import whole_characters
from forge.llm.errors import BudgetExceeded, ContextFull
from forge.llm.gateway import Gateway
from forge.llm.listening import DeltaKind, OnDelta
from forge.llm.messages import Thinking, ToolCall
from forge.llm.models import Prompt, Reply, Shortfall
from forge.llm.money import Spender
from forge.runs.attempt import StepInfo
from forge.runs.intents import StepIntent
from forge.runs.journal import Told, run_stream
from forge.sandbox.choice import Sandboxes
from forge.store.engine import Store

SHOWN = 4000
"""Characters of a result or a thought that go into the log; the conversation has them whole."""
FLUSH_S = 0.05
LONGEST_WHISPER = 1000


class Thought(BaseModel):
    """What came of asking a model: its answer, or why there is none."""

    model_config = ConfigDict(frozen=True)

    reply: Reply | None = None
    at: datetime | None = None
    budget: Shortfall | None = None
    too_long: bool = False
    interrupted: bool = False


class Voice:
    """Passes an answer on while it is written, a few times a second."""

    def __init__(self, events: EventLog, step: StepInfo, turn: int) -> None:
        self._events = events
        self._step = step
        self._turn = turn
        self._kind: DeltaKind = "text"
        self._pieces: list[str] = []
        self._offset = 0
        self._flushed = 0.0

    async def say(self, kind: DeltaKind, text: str) -> None:
        if kind != self._kind:
            await self._flush()
            self._kind, self._offset = kind, 0
        self._pieces.append(text)
        if time.monotonic() - self._flushed >= FLUSH_S:
            await self._flush()

    async def _flush(self) -> None:
        if not self._pieces:
            return
        text = whole_characters("".join(self._pieces))
        self._pieces.clear()
        self._flushed = time.monotonic()
        for start in range(0, len(text), LONGEST_WHISPER):
            piece = text[start : start + LONGEST_WHISPER]
            delta = AgentDelta(
                turn=self._turn, attempt=self._step.attempt, kind=self._kind, offset=self._offset, text=piece
            )
            self._offset += len(piece)
            await self._events.whisper(run_stream(self._step.run_id), delta)


@dataclass(frozen=True)
class Hands:
    gateway: Gateway
    events: EventLog
    database: Store
    sandboxes: Sandboxes

    async def begin(self, step: StepInfo, spec: AgentSpec) -> Told:
        report = await self.sandboxes.open()
        skills: list[NearbySkill] = []
        if spec.nearby is not None:
            skills = await asyncio.to_thread(spec.nearby.find, (await spec.place()).files)
        started = AgentStarted(
            role=spec.role,
            tools=spec.equipped(skills).tools.names,
            limits=spec.limits,
            sandbox=report.level,
            skills=skills,
        )
        found = [skill.model_dump(mode="json") for skill in skills]
        return Told({"at": now().isoformat(), "skills": found}, (started,))

    def overhead_tokens(self, prompt: Prompt) -> int:
        """What goes along with every conversation: instructions, tools, and room for the answer."""
        tools = sum(len(tool.model_dump_json()) for tool in prompt.tools)
        return (len(prompt.system.encode()) + tools) // BYTES_PER_TOKEN + prompt.max_output

    async def think(
        self, step: StepInfo, turn: int, spec: AgentSpec, prompt: Prompt, spoken: str
    ) -> Told | dict[str, Any]:
        """`spoken` is what it said in the turns before."""
        return await self.ask(step, turn, spec, prompt, Voice(self.events, step, turn).say)

    async def ask(
        self, step: StepInfo, turn: int, spec: AgentSpec, prompt: Prompt, on_delta: OnDelta
    ) -> Told | dict[str, Any]:
        """One answer. No money and no room are answers of their own: the loop knows what to do about them."""
        spender = Spender(step.account_id, step.key, step.run_id, spec.scope)
        try:
            reply = await self.gateway.call(spender, spec.role, prompt, model=spec.model, on_delta=on_delta)
        except BudgetExceeded as error:
            return Thought(budget=error.shortfall).model_dump(mode="json")
        except ContextFull:
            return Thought(too_long=True).model_dump(mode="json")
        return Told(Thought(reply=reply, at=now()).model_dump(mode="json"), (_turn(turn, reply),))

    async def use(self, step: StepInfo, turn: int, spec: AgentSpec, call: ToolCall) -> Told:
        began = time.perf_counter()
        place = await spec.place()
        outcome = await spec.tools.use(call, replace(place, intent=StepIntent(self.database, step)))
        used = AgentToolUsed(
            turn=turn,
            call_id=call.id,
            name=call.name,
            is_error=outcome.is_error,
            summary=outcome.summary,
            text=_ends(outcome.text),
            duration_ms=round((time.perf_counter() - began) * 1000),
            detail=outcome.detail,
        )
        return Told({"outcome": outcome.model_dump(mode="json"), "at": now().isoformat()}, (used,))


def _turn(turn: int, reply: Reply) -> AgentTurn:
    message = reply.message
    thinking = "\n".join(part.text for part in message.parts if isinstance(part, Thinking))
    return AgentTurn(
        turn=turn,
        model=f"{reply.provider}:{reply.model}",
        text=message.text,
        thinking=_ends(thinking),
        tools=[
            AgentToolAsked(id=call.id, name=call.name, input=_shown_input(call))
            for call in message.tool_calls
        ],
        stop=reply.stop,
        usage=reply.usage,
        cost_micros=reply.cost_micros,
        context_used=round((reply.usage.sent + reply.usage.output) / reply.context_window, 4),
    )


def _shown_input(call: ToolCall) -> dict[str, Any] | None:
    """A whole file that is written need not be in the log as well."""
    asked = arguments_of(call)
    if asked is None:
        return None
    return {name: _ends(value) if isinstance(value, str) else value for name, value in asked.items()}


def _ends(text: str) -> str:
    """Beginning and end, when it is long."""
    if len(text) <= SHOWN:
        return text
    half = SHOWN // 2
    return f"{text[:half]}\n[… {len(text) - SHOWN:,} characters …]\n{text[-half:]}"
