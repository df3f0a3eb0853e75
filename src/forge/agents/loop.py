"""The loop of every agent: hear, think, use tools, again, until there is an answer or a limit.

This is run code: after a crash it is played again from the start, and every model call, tool call and message comes
out of the journal. So it may only look at what its steps returned: no clock, no files, no random order.
"""

from datetime import UTC, datetime
from typing import Any

from forge.agents import store
from forge.agents.compaction import compact, estimate
from forge.agents.hands import Hands, Thought
from forge.agents.models import (
    AgentCompacted,
    AgentEnd,
    AgentEnded,
    AgentHeard,
    AgentResult,
    Interjection,
    NearbySkill,
    ToolOutcome,
)
from forge.agents.prompts import CUT_OFF_CALL, CUT_OFF_TEXT, EMPTY, FAILED_BEFORE, HEARD, NOT_CARRIED_OUT
from forge.agents.spec import AgentSpec
from forge.agents.spending import ask_for_money
from forge.agents.tools import ToolBox, failure
from forge.kernel.hashing import hash_json
from forge.llm.messages import (
    AssistantMessage,
    StopReason,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    said,
)
from forge.llm.models import Prompt, Reply, Usage
from forge.runs.attempt import Call, Outcome
from forge.runs.context import RunContext
from forge.runs.journal import run_stream
from forge.store.engine import Tx

TOOL_TIMEOUT_S = 900.0
"""Above every tool's own limit: only for one that hangs."""
JOINT = "\n\n"
"""Between what was said before a tool was used and after it."""
MAX_STUMBLES = 3
"""Empty or cut-off answers in a row."""


class Agent:
    """One agent at work in one run."""

    def __init__(self, context: RunContext, spec: AgentSpec, hands: Hands) -> None:
        self._context = context
        self._spec = spec
        self._hands = hands
        self._history: list[UserMessage | AssistantMessage] = [said(spec.directive, pinned=True)]
        self._result = AgentResult(
            end=AgentEnd.DONE, text="", turns=0, tool_calls=0, usage=Usage(), cost_micros=0
        )
        self._spoken = ""
        self._failures: dict[str, int] = {}
        self._stumbles = 0
        self._settled = [0]
        self._window = 0
        self._began = self._last_seen = datetime.min.replace(tzinfo=UTC)
        self._is_too_long = False

    async def work(self) -> AgentResult:
        """The whole of a run: told from its beginning to its end."""
        begun = await self._context.step("begin", self._hands.begin, self._spec)
        skills = [NearbySkill.model_validate(one) for one in begun.get("skills", [])]
        self._spec = self._spec.equipped(skills)
        result = await self.answer(datetime.fromisoformat(begun["at"]))
        await self._tell("agent.ended", AgentEnded(result=result))
        return result

    async def answer(self, began: datetime) -> AgentResult:
        """A part of a run that tells of itself what it is about."""
        self._began = self._last_seen = began
        end: AgentEnd | None = None
        while end is None:
            end = await self._turn()
        self._result = self._result.model_copy(update={"end": end})
        return self._result

    @property
    def spoken(self) -> str:
        """All it said, from turn to turn; the result has its last words only."""
        return self._spoken

    def _limit(self) -> AgentEnd | None:
        limits, usage = self._spec.limits, self._result.usage
        if self._result.turns >= limits.turns:
            return AgentEnd.TURNS
        if usage.sent + usage.output >= limits.tokens:
            return AgentEnd.TOKENS
        if (self._last_seen - self._began).total_seconds() >= limits.seconds:
            return AgentEnd.TIME
        return AgentEnd.STUCK if self._stumbles >= MAX_STUMBLES else None

    async def _turn(self) -> AgentEnd | None:
        """One answer of the model and what it asks for; None to go on."""
        turn = self._result.turns + 1
        if (end := self._limit()) is not None:
            return end
        await self._listen(turn)
        thought = await self._think(turn)
        if not isinstance(thought, Reply):
            return thought
        self._take(thought)
        match thought.stop:
            case StopReason.REFUSED:
                return AgentEnd.REFUSED
            case StopReason.LENGTH if self._spec.takes_cut_off and _is_text(thought.message):
                return AgentEnd.DONE
            case StopReason.LENGTH:
                self._answer_cut_off(thought.message)
            case StopReason.CONTEXT_FULL:
                self._is_too_long = True
                self._answer_cut_off(thought.message)
            case _ if thought.message.tool_calls:
                return await self._use_tools(turn, thought.message.tool_calls)
            case _ if not thought.message.text.strip():
                self._stumble(EMPTY)
            case _:
                return await self._finish(turn)
        return None

    async def _listen(self, turn: int) -> bool:
        """What people said meanwhile goes in before the model is asked, in order and as one message."""
        compacted = self._make_room(turn)
        if not self._spec.hears and compacted is None:
            return False

        async def hear(tx: Tx) -> list[Any]:
            messages = await store.take_messages(tx, self._context.run_id, turn)
            facts = [AgentHeard(turn=turn, messages=messages)] if messages else []
            if compacted or facts:
                told = [compacted, *facts] if compacted else facts
                await self._hands.events.append(tx, run_stream(self._context.run_id), *told)
            return [message.model_dump() for message in messages]

        heard = [Interjection.model_validate(one) for one in await self._context.transact("hear", hear)]
        if heard:
            text = "\n\n".join(HEARD.format(text=message.text) for message in heard)
            self._history.append(said(text, pinned=True))
        return bool(heard)

    def _make_room(self, turn: int) -> AgentCompacted | None:
        if not self._window:
            return None
        overhead = self._hands.overhead_tokens(self._prompt())
        found = compact(
            self._history, overhead_tokens=overhead, window=self._window, forced=self._is_too_long
        )
        self._is_too_long = False
        if found is None:
            return None
        self._history = found.history
        before = 0 if found.messages_dropped else self._settled[-1]
        self._settled = [before, found.settled]  # the older one is where the provider finds what it kept
        return AgentCompacted(
            turn=turn,
            tokens_before=found.tokens_before,
            tokens_after=found.tokens_after,
            results_shortened=found.results_shortened,
            messages_dropped=found.messages_dropped,
        )

    async def _think(self, turn: int) -> Reply | AgentEnd | None:
        """The model's answer; None to try again with a shorter conversation; or the end, when the money is."""
        while True:
            journaled = await self._context.step(
                f"model {turn}",
                self._hands.think,
                turn,
                self._spec,
                self._prompt(),
                self._spoken,
                retry=self._spec.retry,
            )
            thought = Thought.model_validate(journaled)
            if thought.reply:
                self._last_seen = thought.at or self._last_seen
                return thought.reply
            if thought.interrupted:
                return AgentEnd.INTERRUPTED
            if thought.budget is None:
                self._note_too_long()
                return None
            waited = await ask_for_money(self._context, self._hands.gateway.money, thought.budget)
            if waited is None:
                return AgentEnd.MONEY
            self._began += waited  # a person's time is not the agent's

    def _note_too_long(self) -> None:
        """The window is smaller than we thought: at most what we just sent."""
        self._is_too_long = True
        self._stumbles += 1
        sent = self._hands.overhead_tokens(self._prompt()) + estimate(self._history)
        self._window = min(self._window or sent, sent)

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

    def _take(self, reply: Reply) -> None:
        result = self._result
        self._window = min(self._window or reply.context_window, reply.context_window)
        self._history.append(reply.message)
        self._spoken = JOINT.join(text for text in (self._spoken, reply.message.text) if text)
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

    async def _finish(self, turn: int) -> AgentEnd | None:
        """Done, unless somebody said something while the answer was being written."""
        return None if await self._listen(turn + 1) else AgentEnd.DONE

    def _answer_cut_off(self, message: AssistantMessage) -> None:
        """Nothing of a cut-off answer is carried out, and every tool call in it gets a result all the same."""
        calls = message.tool_calls
        if not calls:
            self._stumble(CUT_OFF_TEXT if message.text.strip() else EMPTY)
            return
        self._stumbles += 1
        whys = [NOT_CARRIED_OUT] * (len(calls) - 1) + [CUT_OFF_CALL]
        self._history.append(_results([(call, failure(why)) for call, why in zip(calls, whys, strict=True)]))

    def _stumble(self, told: str) -> None:
        self._stumbles += 1
        if not self._history or isinstance(self._history[-1], AssistantMessage):
            self._drop_empty_answer()
            self._history.append(said(told))

    def _drop_empty_answer(self) -> None:
        """Providers refuse an assistant's message without content, and one that only thinks."""
        last = self._history[-1]
        if isinstance(last, AssistantMessage) and not last.text and not last.tool_calls:
            self._history.pop()

    async def _use_tools(self, turn: int, calls: list[ToolCall]) -> AgentEnd | None:
        self._stumbles = 0
        used: list[tuple[ToolCall, ToolOutcome]] = []
        for group in _groups(calls, self._spec.tools):
            outcomes = await self._context.parallel(
                [
                    Call(call.name, self._hands.use, (turn, self._spec, call), timeout_s=TOOL_TIMEOUT_S)
                    for call in group
                ]
            )
            used += zip(group, map(self._outcome, outcomes), strict=True)
        self._result = self._result.model_copy(update={"tool_calls": self._result.tool_calls + len(used)})
        limit = self._spec.limits.same_failure
        self._count_failures(used)
        counts = [self._failures.get(_signature(call), 0) for call, _ in used]
        warned = [(call, _warn(outcome, n, limit)) for (call, outcome), n in zip(used, counts, strict=True)]
        is_lasting = any(self._spec.tools.is_lasting(call.name) for call, _ in used)
        self._history.append(_results(warned, pinned=is_lasting))
        return AgentEnd.LOOP if max(counts) >= limit else None

    def _count_failures(self, used: list[tuple[ToolCall, ToolOutcome]]) -> None:
        """How often the very same call has failed since anything changed; once for each answer."""
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

    def _outcome(self, outcome: Outcome) -> ToolOutcome:
        if outcome.error is not None:
            return failure(outcome.error.message)
        self._last_seen = max(self._last_seen, datetime.fromisoformat(outcome.value["at"]))
        return ToolOutcome.model_validate(outcome.value["outcome"])

    async def _tell(self, name: str, fact: AgentEnded) -> None:
        async def tell(tx: Tx) -> None:
            await self._hands.events.append(tx, run_stream(self._context.run_id), fact)

        await self._context.transact(name, tell)


def _is_text(message: AssistantMessage) -> bool:
    return bool(message.text.strip()) and not message.tool_calls


def _groups(calls: list[ToolCall], tools: ToolBox) -> list[list[ToolCall]]:
    """In the order asked for; only neighbours that merely read go side by side."""
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
