"""Steps of an agent: start, model calls and tool calls, each journaled once it is done."""

import asyncio
import json
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
    AgentVerified,
    NearbySkill,
    ToolOutcome,
    Verification,
)
from forge.agents.spec import AgentSpec, Beginning
from forge.agents.text_calls import named_tool, with_text_calls
from forge.agents.tool import ToolBox, arguments_of
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.text import repair_surrogates
from forge.llm.budgets import Spender
from forge.llm.errors import BudgetExceeded, ContextFull
from forge.llm.gateway import Gateway
from forge.llm.messages import DeltaKind, OnDelta, StopReason, Thinking, ToolCall
from forge.llm.models import Prompt, Reply, Shortfall
from forge.runs.attempt import StepInfo, StepIntent
from forge.runs.journal import StepResult, run_stream
from forge.runs.models import Problem
from forge.sandbox.sandboxes import Sandboxes
from forge.store.database import Store

MAX_SHOWN_CHARS = 4000
"""Characters of a result or of thinking in events; the conversation has the whole text."""
MAX_COMPACT_WINDOW = 16_384
"""Context windows up to this size, in tokens, get the compact tools."""
MAY_END_WITH_CALLS = (StopReason.END, StopReason.TOOLS, StopReason.LENGTH, StopReason.REPEATED)
"""A cut-off text may contain complete calls; models that write calls as text often repeat them."""
VERIFY_TOOL = "run_tests"
VERIFY_TIMEOUT_S = 300
FLUSH_S = 0.05
MAX_DELTA_CHARS = 1000


class ModelAnswer(BaseModel):
    """Result of a model call: its answer, or the reason why there is none."""

    model_config = ConfigDict(frozen=True)

    reply: Reply | None = None
    named_tool: str | None = None
    """The tool that the answer talks about without calling it, if the model may not know how to."""
    at: datetime | None = None
    budget: Shortfall | None = None
    too_long: bool = False
    window: int | None = None
    """The context window that the request exceeded, if it is known."""
    problem: Problem | None = None
    """Says how it exceeded the window."""
    interrupted: bool = False


class AnswerSink:
    """Publishes an answer as ephemeral events while it is generated, a few times per second."""

    def __init__(self, events: EventLog, step: StepInfo, turn: int) -> None:
        self._events = events
        self._step = step
        self._turn = turn
        self._kind: DeltaKind = "text"
        self._pieces: list[str] = []
        self._offset = 0
        self._flushed = 0.0

    async def add(self, kind: DeltaKind, text: str) -> None:
        if kind != self._kind:
            await self._flush()
            self._kind, self._offset = kind, 0
        self._pieces.append(text)
        if time.monotonic() - self._flushed >= FLUSH_S:
            await self._flush()

    async def _flush(self) -> None:
        if not self._pieces:
            return
        text = repair_surrogates("".join(self._pieces))
        self._pieces.clear()
        self._flushed = time.monotonic()
        for start in range(0, len(text), MAX_DELTA_CHARS):
            piece = text[start : start + MAX_DELTA_CHARS]
            delta = AgentDelta(
                turn=self._turn, attempt=self._step.attempt, kind=self._kind, offset=self._offset, text=piece
            )
            self._offset += len(piece)
            await self._events.publish_ephemeral(run_stream(self._step.run_id), delta)


@dataclass(frozen=True)
class AgentSteps:
    gateway: Gateway
    events: EventLog
    database: Store
    sandboxes: Sandboxes

    async def begin(self, step: StepInfo, spec: AgentSpec) -> StepResult:
        report = await self.sandboxes.open()
        skills: list[NearbySkill] = []
        if spec.workspace_skills is not None:
            skills = await asyncio.to_thread(spec.workspace_skills.find, (await spec.open_context()).files)
        beginning = Beginning(at=now(), skills=skills, compact=await self._is_compact(step.account_id, spec))
        started = AgentStarted(
            role=spec.role,
            tools=spec.begun(beginning).tools.names,
            limits=spec.limits,
            sandbox=report.level,
            compact=bool(beginning.compact),
            skills=skills,
        )
        return StepResult(beginning.model_dump(mode="json"), (started,))

    async def _is_compact(self, account_id: str, spec: AgentSpec) -> bool:
        """Return whether the context window is too small for the full description of the tools."""
        if spec.compact_tools is None:
            return False
        window = await self.gateway.context_window(account_id, spec.scope, spec.role, spec.model)
        return window <= MAX_COMPACT_WINDOW

    def overhead_tokens(self, prompt: Prompt) -> int:
        """Estimate tokens besides the conversation: instructions, tools and the reserved output."""
        tools = sum(len(tool.model_dump_json()) for tool in prompt.tools)
        return (len(prompt.system.encode()) + tools) // BYTES_PER_TOKEN + prompt.max_output

    async def think(
        self, step: StepInfo, turn: int, spec: AgentSpec, prompt: Prompt, spoken: str
    ) -> StepResult | dict[str, Any]:
        """Call the model and publish its answer while it is generated. `spoken` is the text of previous
        turns."""
        return await self.ask(step, turn, spec, prompt, AnswerSink(self.events, step, turn).add)

    async def ask(
        self, step: StepInfo, turn: int, spec: AgentSpec, prompt: Prompt, on_delta: OnDelta
    ) -> StepResult | dict[str, Any]:
        """Call the model. An exhausted budget and a full context are results, which the loop handles."""
        spender = Spender(step.account_id, step.key, step.run_id, spec.scope)
        try:
            reply = await self.gateway.call(spender, spec.role, prompt, model=spec.model, on_delta=on_delta)
        except BudgetExceeded as error:
            return ModelAnswer(budget=error.shortfall).model_dump(mode="json")
        except ContextFull as full:
            answer = ModelAnswer(too_long=True, window=full.window, problem=Problem.of(full))
            return answer.model_dump(mode="json")
        understood = await asyncio.to_thread(_understood, reply, spec.tools)
        answer = ModelAnswer(reply=understood, named_tool=_named_tool(understood, spec.tools), at=now())
        as_text = bool(understood.message.tool_calls) and not reply.message.tool_calls
        return StepResult(answer.model_dump(mode="json"), (_turn(turn, understood, as_text=as_text),))

    async def use(self, step: StepInfo, turn: int, spec: AgentSpec, call: ToolCall) -> StepResult:
        began = time.perf_counter()
        outcome = await self._outcome(step, spec, call)
        used = AgentToolUsed(
            turn=turn,
            call_id=call.id,
            name=call.name,
            is_error=outcome.is_error,
            summary=outcome.summary,
            text=shorten_middle(outcome.text),
            duration_ms=round((time.perf_counter() - began) * 1000),
            detail=outcome.detail,
        )
        return StepResult({"outcome": outcome.model_dump(mode="json"), "at": now().isoformat()}, (used,))

    async def verify(self, step: StepInfo, turn: int, spec: AgentSpec, command: str) -> StepResult:
        """Run the tests of the workspace, whatever the agent says about them."""
        began = time.perf_counter()
        arguments = json.dumps({"command": command, "timeout": VERIFY_TIMEOUT_S})
        outcome = await self._outcome(
            step, spec, ToolCall(id="verify", name=VERIFY_TOOL, arguments=arguments)
        )
        verification = Verification(
            command=command,
            passed=not outcome.is_error,
            summary=outcome.summary,
            text=shorten_middle(outcome.text),
            duration_ms=round((time.perf_counter() - began) * 1000),
            detail=outcome.detail,
        )
        fact = AgentVerified(turn=turn, verification=verification)
        return StepResult(
            {"verification": verification.model_dump(mode="json"), "at": now().isoformat()}, (fact,)
        )

    async def _outcome(self, step: StepInfo, spec: AgentSpec, call: ToolCall) -> ToolOutcome:
        context = replace(
            await spec.open_context(),
            intent=StepIntent(self.database, step),
            max_result_bytes=spec.tools.max_result_bytes,
        )
        return await spec.tools.use(call, context)


def _understood(reply: Reply, tools: ToolBox) -> Reply:
    """Read tool calls that were written as text, if the model may do that, and calls by another name."""
    message = reply.message
    if reply.text_tool_calls and reply.stop in MAY_END_WITH_CALLS:
        message = with_text_calls(message, tools)
    parts = [tools.resolve(part) or part if isinstance(part, ToolCall) else part for part in message.parts]
    stop = StopReason.TOOLS if message is not reply.message else reply.stop
    return reply.model_copy(update={"message": message.model_copy(update={"parts": parts}), "stop": stop})


def _named_tool(reply: Reply, tools: ToolBox) -> str | None:
    if not reply.text_tool_calls or reply.message.tool_calls:
        return None
    return named_tool(reply.message.text, tools.names)


def _turn(turn: int, reply: Reply, *, as_text: bool) -> AgentTurn:
    message = reply.message
    thinking = "\n".join(part.text for part in message.parts if isinstance(part, Thinking))
    return AgentTurn(
        turn=turn,
        model=f"{reply.provider}:{reply.model}",
        text=message.text,
        thinking=shorten_middle(thinking),
        tools=[
            AgentToolAsked(id=call.id, name=call.name, input=_shown_input(call), as_text=as_text)
            for call in message.tool_calls
        ],
        stop=reply.stop,
        usage=reply.usage,
        cost_micros=reply.cost_micros,
        context_used=round((reply.usage.sent + reply.usage.output) / reply.context_window, 4),
    )


def _shown_input(call: ToolCall) -> dict[str, Any] | None:
    """Shorten long arguments, such as whole files, for the event log."""
    arguments = arguments_of(call)
    if arguments is None:
        return None
    return {
        name: shorten_middle(value) if isinstance(value, str) else value for name, value in arguments.items()
    }


def shorten_middle(text: str) -> str:
    """Keep the beginning and the end of a long text."""
    if len(text) <= MAX_SHOWN_CHARS:
        return text
    half = MAX_SHOWN_CHARS // 2
    return f"{text[:half]}\n[… {len(text) - MAX_SHOWN_CHARS:,} characters …]\n{text[-half:]}"
