"""Agent loop: receive messages, call the model, use tools, until there is an end or a limit.

This is run code: after a crash it is replayed from the start, and every model call, tool call and message
comes from the journal. So it may only use the results of its steps: no clock, no files, no random order.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from forge.agents import store
from forge.agents.compaction import compact, estimate
from forge.agents.finish import (
    FINISH,
    IDLE_PROSE,
    PROSE,
    Finish,
    Objection,
    Reason,
    WorkRecord,
    finish_input,
    tests_failed,
)
from forge.agents.models import (
    AgentCompacted,
    AgentEnd,
    AgentEnded,
    AgentHeard,
    AgentReminded,
    AgentResult,
    Interjection,
    ToolOutcome,
    Verification,
)
from forge.agents.prompts import (
    CUT_OFF_CALL,
    CUT_OFF_TEXT,
    EMPTY,
    FAILED_BEFORE,
    HEARD,
    NAMED_TOOL,
    NOT_CARRIED_OUT,
    REPEATED_CALL,
    REPEATED_TEXT,
    TWICE,
)
from forge.agents.spec import AgentSpec, Beginning
from forge.agents.steps import AgentSteps, ModelAnswer
from forge.agents.text_calls import example_call
from forge.agents.tool import ToolBox, failure
from forge.events.models import EventData
from forge.kernel.hashing import hash_json
from forge.llm.budgets import Budgets
from forge.llm.errors import BUDGET_NAMES
from forge.llm.messages import (
    AssistantMessage,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    user_message,
)
from forge.llm.models import MICROS, Prompt, Reply, Shortfall, Usage, dollars
from forge.runs.attempt import Call, Outcome
from forge.runs.context import RunContext, StepFailed
from forge.runs.journal import run_stream
from forge.runs.models import GateOption, GateStatus, Question
from forge.store.database import Tx

MIN_INCREASE_MICROS = 1 * MICROS
MORE = "more"


async def request_budget(context: RunContext, budgets: Budgets, short: Shortfall) -> timedelta | None:
    """Ask a person to raise an exhausted budget. Return the waiting time, or None to stop."""
    more = max(short.limit_micros // 2, 2 * short.needed_micros, MIN_INCREASE_MICROS)
    gate = await context.ask(_question(short, more))
    if gate.status is not GateStatus.ANSWERED or gate.answer is None or gate.answer.option == "stop":
        return None

    async def allow(tx: Tx) -> None:
        if gate.answer and gate.answer.option == MORE:
            await budgets.raise_limit(tx, short.ledger, more)

    await context.transact("raise budget", allow)
    return gate.answer.answered_at - gate.opened_at


def _question(short: Shortfall, more: int) -> Question:
    budget = short.budget
    proceed = (
        GateOption(id="again", label="Try again")
        if budget in ("server", "shared")
        else GateOption(id=MORE, label=f"Allow {dollars(more)} more", tone="positive")
    )
    return Question(
        kind="budget",
        title=f"The {BUDGET_NAMES[budget]} is used up",
        body=f"{dollars(short.spent_micros)} of {dollars(short.limit_micros)} is spent or reserved, and the "
        f"next model call may cost up to {dollars(short.needed_micros)}. It was not started."
        + (
            " This budget can only be raised in the settings of the server (FORGE_BUDGET_SERVER_USD)."
            if budget == "server"
            else ""
        ),
        payload={**short.model_dump(), "more_micros": more},
        options=[proceed, GateOption(id="stop", label="Stop here", tone="negative")],
    )


TOOL_TIMEOUT_S = 900.0
"""Above the limits of all tools, so that it only ends a tool that hangs."""
TEXT_SEPARATOR = "\n\n"
"""Separates the texts of successive turns."""
MAX_UNUSABLE_ANSWERS = 3
"""Consecutive empty or truncated answers."""


class Agent:
    """Runs one agent in one run."""

    def __init__(self, context: RunContext, spec: AgentSpec, steps: AgentSteps) -> None:
        self._context = context
        self._spec = spec
        self._steps = steps
        self._history: list[UserMessage | AssistantMessage] = [user_message(spec.directive, pinned=True)]
        self._result = AgentResult(
            end=AgentEnd.DONE, text="", turns=0, tool_calls=0, usage=Usage(), cost_micros=0
        )
        self._spoken = ""
        self._failures: dict[str, int] = {}
        self._record = WorkRecord(spec.tools)
        self._pushed_back: set[Reason] = set()
        self._reminder: str | None = None
        """Text of a push back that is not in the event log yet."""
        self._unusable_answers = 0
        self._settled = [0]
        self._window = 0
        self._began = self._last_seen = datetime.min.replace(tzinfo=UTC)
        self._is_too_long = False

    async def work(self) -> AgentResult:
        """Run the agent as a whole run, with its start and end events."""
        journaled = await self._context.step("begin", self._steps.begin, self._spec)
        beginning = Beginning.model_validate(journaled)
        self._spec = self._spec.begun(beginning)
        self._record = WorkRecord(self._spec.tools)
        result = await self.answer(beginning.at)
        await self._append_event("agent.ended", AgentEnded(result=result))
        return result

    async def answer(self, began: datetime) -> AgentResult:
        """Run the loop as part of a run that has its own events."""
        self._began = self._last_seen = began
        end: AgentEnd | None = None
        while end is None:
            end = await self._turn()
        self._result = self._result.model_copy(update={"end": end})
        return self._result

    @property
    def spoken(self) -> str:
        """The text of all turns; the result has only the last one."""
        return self._spoken

    def _limit(self) -> AgentEnd | None:
        limits, usage = self._spec.limits, self._result.usage
        if self._result.turns >= limits.turns:
            return AgentEnd.TURNS
        if usage.sent + usage.output >= limits.tokens:
            return AgentEnd.TOKENS
        if (self._last_seen - self._began).total_seconds() >= limits.seconds:
            return AgentEnd.TIME
        return AgentEnd.STUCK if self._unusable_answers >= MAX_UNUSABLE_ANSWERS else None

    async def _turn(self) -> AgentEnd | None:
        """Run one turn; return None to continue."""
        turn = self._result.turns + 1
        if (end := self._limit()) is not None:
            return end
        await self._receive_messages(turn)
        thought = await self._call_model(turn)
        if not isinstance(thought, ModelAnswer) or thought.reply is None:
            return None if isinstance(thought, ModelAnswer) else thought
        reply = thought.reply
        self._add_reply(reply)
        match reply.stop:
            case StopReason.REFUSED:
                return AgentEnd.REFUSED
            case StopReason.LENGTH | StopReason.REPEATED if self._accepts(reply.message):
                return AgentEnd.DONE
            case StopReason.LENGTH | StopReason.REPEATED:
                self._answer_cut_off(reply)
            case StopReason.CONTEXT_FULL:
                self._is_too_long = True
                self._answer_cut_off(reply)
            case _ if reply.message.tool_calls:
                return await self._use_tools(turn, reply.message.tool_calls)
            case _ if not reply.message.text.strip():
                self._note_unusable_answer(EMPTY)
            case _:
                return await self._end_with_text(turn, thought.named_tool)
        return None

    async def _receive_messages(self, turn: int) -> bool:
        """Add messages from people before the model is called, in order, as one message."""
        compacted = self._make_room(turn)
        reminder, self._reminder = self._reminder, None
        if not self._spec.accepts_messages and compacted is None and reminder is None:
            return False

        async def hear(tx: Tx) -> list[Any]:
            messages = await store.take_messages(tx, self._context.run_id, turn)
            events: list[EventData] = [AgentReminded(turn=turn, text=reminder)] if reminder else []
            events += [compacted] if compacted else []
            events += [AgentHeard(turn=turn, messages=messages)] if messages else []
            if events:
                await self._steps.events.append(tx, run_stream(self._context.run_id), *events)
            return [message.model_dump() for message in messages]

        heard = [Interjection.model_validate(one) for one in await self._context.transact("hear", hear)]
        if heard:
            text = "\n\n".join(HEARD.format(text=message.text) for message in heard)
            self._history.append(user_message(text, pinned=True))
        return bool(heard)

    def _make_room(self, turn: int) -> AgentCompacted | None:
        if not self._window:
            return None
        overhead = self._steps.overhead_tokens(self._prompt())
        found = compact(
            self._history, overhead_tokens=overhead, window=self._window, forced=self._is_too_long
        )
        self._is_too_long = False
        if found is None:
            return None
        self._history = found.history
        before = 0 if found.messages_dropped else self._settled[-1]
        self._settled = [
            before,
            found.settled,
        ]  # the provider finds its cache at the previous breakpoint
        return AgentCompacted(
            turn=turn,
            tokens_before=found.tokens_before,
            tokens_after=found.tokens_after,
            results_shortened=found.results_shortened,
            messages_dropped=found.messages_dropped,
        )

    async def _call_model(self, turn: int) -> ModelAnswer | AgentEnd | None:
        """Call the model. Return None to retry with a shorter conversation, or the end if a budget is exhausted."""
        while True:
            journaled = await self._context.step(
                f"model {turn}",
                self._steps.think,
                turn,
                self._spec,
                self._prompt(),
                self._spoken,
                retry=self._spec.retry,
            )
            thought = ModelAnswer.model_validate(journaled)
            if thought.reply:
                self._last_seen = thought.at or self._last_seen
                return thought
            if thought.interrupted:
                return AgentEnd.INTERRUPTED
            if thought.budget is None:
                self._note_too_long(turn, thought)
                return None
            waited = await request_budget(self._context, self._steps.gateway.budgets, thought.budget)
            if waited is None:
                return AgentEnd.MONEY
            self._began += waited  # waiting for a person does not count as run time

    def _note_too_long(self, turn: int, answer: ModelAnswer) -> None:
        """Lower the assumed context window to what was just sent. Raise if the conversation cannot be shortened."""
        self._is_too_long = True
        overhead = self._steps.overhead_tokens(self._prompt())
        sent = overhead + estimate(self._history)
        self._window = min(self._window or sent, answer.window or sent, sent)
        compacted = compact(self._history, overhead_tokens=overhead, window=self._window, forced=True)
        if answer.problem and compacted is None:
            raise StepFailed(f"model {turn}", answer.problem)
        self._unusable_answers += 1

    def _prompt(self) -> Prompt:
        spec = self._spec
        return Prompt(
            system=spec.system,
            messages=list(self._history),
            tools=spec.tools.specs(),
            max_output=min(spec.max_output, self._window // 4) if self._window else spec.max_output,
            temperature=spec.temperature,
            settled=self._settled,
        )

    def _add_reply(self, reply: Reply) -> None:
        result = self._result
        self._window = min(self._window or reply.context_window, reply.context_window)
        self._history.append(reply.message)
        self._spoken = TEXT_SEPARATOR.join(text for text in (self._spoken, reply.message.text) if text)
        self._result = result.model_copy(
            update={
                "turns": result.turns + 1,
                "text": reply.message.text or result.text,
                "usage": result.usage + reply.usage,
                "cost_micros": result.cost_micros + reply.cost_micros,
                "model": f"{reply.provider}:{reply.model}",
                "stop": reply.stop,
                "first_token_ms": result.first_token_ms if result.turns else reply.first_token_ms,
                "model_ms": result.model_ms + reply.latency_ms,
            }
        )

    async def _end_with_text(self, turn: int, named_tool: str | None) -> AgentEnd | None:
        """End with an answer without a tool call, which is no end for an agent that must finish: push it back once."""
        if named_tool is not None and self._result.tool_calls == 0:
            text = NAMED_TOOL.format(name=named_tool, example=example_call(self._spec.tools, named_tool))
            if self._push_back(Reason.NAMED_TOOL, text):
                return None
        if not self._spec.must_finish:
            return await self._end(turn, AgentEnd.DONE)
        objection = PROSE if self._record.has_worked else IDLE_PROSE
        if self._push_back(objection.reason, objection.text):
            return None
        await self._verify(turn)
        return await self._end(turn, objection.end)

    async def _end(self, turn: int, end: AgentEnd) -> AgentEnd | None:
        """End, unless a message arrived in the meantime."""
        return None if await self._receive_messages(turn + 1) else end

    def _push_back(self, reason: Reason, text: str) -> bool:
        """Tell the model how to go on. Return False if it was told for this reason before."""
        if not self._may_push_back(reason):
            return False
        self._history.append(user_message(text))
        self._reminder = text
        return True

    def _may_push_back(self, reason: Reason) -> bool:
        is_new = reason not in self._pushed_back
        self._pushed_back.add(reason)
        return is_new

    def _accepts(self, message: AssistantMessage) -> bool:
        return self._spec.accepts_truncated and bool(message.text.strip()) and not message.tool_calls

    def _answer_cut_off(self, reply: Reply) -> None:
        """Give every tool call in a truncated answer a result without executing it."""
        is_repetition = reply.stop is StopReason.REPEATED
        calls = reply.message.tool_calls
        if not calls:
            why = REPEATED_TEXT if is_repetition else CUT_OFF_TEXT
            self._note_unusable_answer(why if reply.message.text.strip() else EMPTY)
            return
        self._unusable_answers += 1
        why = REPEATED_CALL if is_repetition else CUT_OFF_CALL
        whys = [NOT_CARRIED_OUT] * (len(calls) - 1) + [why]
        self._history.append(_results([(call, failure(why)) for call, why in zip(calls, whys, strict=True)]))

    def _note_unusable_answer(self, prompt: str) -> None:
        self._unusable_answers += 1
        if not self._history or isinstance(self._history[-1], AssistantMessage):
            self._drop_empty_answer()
            self._history.append(user_message(prompt))

    def _drop_empty_answer(self) -> None:
        """Remove an answer without content or with thinking only, which providers reject."""
        last = self._history[-1]
        if isinstance(last, AssistantMessage) and not last.text and not last.tool_calls:
            self._history.pop()

    async def _use_tools(self, turn: int, calls: list[ToolCall]) -> AgentEnd | None:
        self._unusable_answers = 0
        finishing = [call for call in calls if self._spec.must_finish and call.name == FINISH]
        used: list[tuple[ToolCall, ToolOutcome]] = []
        for group in _groups([call for call in calls if call not in finishing], self._spec.tools):
            used += zip(group, await self._use_group(turn, self._spec, group), strict=True)
        for call, outcome in used:
            self._record.add(call, outcome)
        end: AgentEnd | None = None
        if finishing:
            outcome, end = await self._try_to_finish(turn, finishing[-1])
            used += [(call, failure(TWICE)) for call in finishing[:-1]] + [(finishing[-1], outcome)]
        self._result = self._result.model_copy(update={"tool_calls": self._result.tool_calls + len(used)})
        limit = self._spec.limits.same_failure
        self._count_failures(used)
        counts = [self._failures.get(_signature(call), 0) for call, _ in used]
        warned = [(call, _warn(outcome, n, limit)) for (call, outcome), n in zip(used, counts, strict=True)]
        is_lasting = any(self._spec.tools.is_lasting(call.name) for call, _ in used)
        self._history.append(_results(warned, pinned=is_lasting))
        if end is not None:
            return await self._end(turn, end)
        return AgentEnd.LOOP if max(counts) >= limit else None

    async def _use_group(self, turn: int, spec: AgentSpec, group: list[ToolCall]) -> list[ToolOutcome]:
        use = self._steps.use
        calls = [Call(call.name, use, (turn, spec, call), timeout_s=TOOL_TIMEOUT_S) for call in group]
        return [self._outcome(outcome) for outcome in await self._context.parallel(calls)]

    async def _try_to_finish(self, turn: int, call: ToolCall) -> tuple[ToolOutcome, AgentEnd | None]:
        """Return the result of `finish`, and the end unless the agent is pushed back."""
        said = finish_input(call)
        objection, end = None, None
        if said is not None:
            self._result = self._result.model_copy(update={"text": said.summary, "verified": said.verified})
            objection = await self._objection(turn, verified=said.verified)
            if objection is None:
                end = AgentEnd.DONE
            elif not self._may_push_back(objection.reason):
                end = objection.end
        spec = replace(self._spec, tools=self._spec.tools.with_more([Finish(objection)]))
        [outcome] = await self._use_group(turn, spec, [call])
        return outcome, end

    async def _objection(self, turn: int, *, verified: bool) -> Objection | None:
        """Return what speaks against the end: the tests that Forge runs itself, else the record of the agent."""
        if self._spec.verify is None or not self._record.has_worked:
            return self._record.objection(verified=verified)
        verification = await self._verify(turn)
        if verification is None or verification.passed:
            return None
        objection = tests_failed(f"{verification.command}\n{verification.text}")
        has_run = verification.detail.end is not None
        return objection if has_run else replace(objection, end=AgentEnd.UNVERIFIED)

    async def _verify(self, turn: int) -> Verification | None:
        """Run the tests of the workspace and attach the record to the result, if the agent has them run."""
        if self._spec.verify is None:
            return None
        given = (turn, self._spec, self._spec.verify)
        done = await self._context.step("verify", self._steps.verify, *given, timeout_s=TOOL_TIMEOUT_S)
        self._last_seen = max(self._last_seen, datetime.fromisoformat(done["at"]))
        verification = Verification.model_validate(done["verification"])
        self._result = self._result.model_copy(update={"verification": verification})
        return verification

    def _count_failures(self, used: list[tuple[ToolCall, ToolOutcome]]) -> None:
        """Count identical failing calls since the last change, at most once per answer."""
        counted: set[str] = set()
        for call, outcome in used:
            signature = _signature(call)
            if outcome.is_error and signature not in counted:
                self._failures[signature] = self._failures.get(signature, 0) + 1
                counted.add(signature)
            elif not outcome.is_error and self._spec.tools.only_reads(call.name):
                self._failures.pop(signature, None)
            elif not outcome.is_error:
                self._failures.clear()
                self._pushed_back.discard(Reason.PROSE)

    def _outcome(self, outcome: Outcome) -> ToolOutcome:
        if outcome.error is not None:
            return failure(outcome.error.message)
        self._last_seen = max(self._last_seen, datetime.fromisoformat(outcome.value["at"]))
        return ToolOutcome.model_validate(outcome.value["outcome"])

    async def _append_event(self, name: str, fact: AgentEnded) -> None:
        async def append(tx: Tx) -> None:
            await self._steps.events.append(tx, run_stream(self._context.run_id), fact)

        await self._context.transact(name, append)


def _groups(calls: list[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
    """Group calls in order; adjacent calls that only read run in parallel."""
    groups: list[list[ToolCall]] = []
    for call in calls:
        reads = tools.only_reads(call.name)
        if groups and reads and tools.only_reads(groups[-1][-1].name):
            groups[-1].append(call)
        else:
            groups.append([call])
    return groups


def _signature(call: ToolCall) -> str:
    return hash_json([call.name, call.arguments])


def _warn(outcome: ToolOutcome, count: int, limit: int) -> ToolOutcome:
    if count < 2 or count != limit - 1:
        return outcome
    return outcome.model_copy(update={"text": outcome.text + FAILED_BEFORE.format(count=count)})


def _results(used: list[tuple[ToolCall, ToolOutcome]], *, pinned: bool = False) -> UserMessage:
    parts: list[Text | ToolResult] = [
        ToolResult(call_id=call.id, name=call.name, text=outcome.text, failed=outcome.is_error)
        for call, outcome in used
    ]
    return UserMessage(parts=parts, pinned=pinned)
