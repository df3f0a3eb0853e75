"""The explicit end of an agent: the tool `finish`, and what speaks against accepting it.

Prose is no end: a model that did nothing says that it is done, too. The decision uses only what the tools returned.
"""

from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from forge.agents.models import AgentEnd, ToolOutcome
from forge.agents.tool import Effect, Tool, ToolBox, ToolContext, arguments_of, failure
from forge.llm.messages import ToolCall

FINISH = "finish"
MAX_SUMMARY = 20_000


class Reason(StrEnum):
    """Why an agent is pushed back, at most once each."""

    NAMED_TOOL = "named_tool"
    PROSE = "prose"
    IDLE = "idle"
    UNCHECKED = "unchecked"
    TESTS = "tests"


@dataclass(frozen=True)
class Objection:
    """Why an end is not accepted. If the agent insists, it ends with `end`."""

    reason: Reason
    text: str
    end: AgentEnd


IDLE = Objection(
    Reason.IDLE,
    "You have not run anything yet: no tool call has succeeded, so nothing is done. Use the tools to do the task, then "
    "call finish.",
    AgentEnd.UNVERIFIED,
)
UNCHECKED = Objection(
    Reason.UNCHECKED,
    "You say that it is verified, but no test or command has succeeded since your last change. Run the check now, or "
    "call finish with verified: false.",
    AgentEnd.UNVERIFIED,
)
PROSE = Objection(
    Reason.PROSE,
    "You answered without calling a tool, which does not end the task. If it is done, call finish; if not, go on with "
    "the next tool call.",
    AgentEnd.UNFINISHED,
)
IDLE_PROSE = Objection(
    Reason.PROSE,
    "You have not run anything yet: no tool call has succeeded, so nothing is done. Call a tool now. Only finish ends "
    "the task.",
    AgentEnd.UNFINISHED,
)


def tests_failed(result: str) -> Objection:
    """Object because the last test run failed, with this result."""
    text = f"The last test run failed: {result}\nFix the cause, run the tests again, then call finish."
    return Objection(Reason.TESTS, text, AgentEnd.UNFINISHED)


class FinishInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    summary: str = Field(
        min_length=1, max_length=MAX_SUMMARY, description="What you did, or why it cannot be done."
    )
    verified: bool = Field(
        description="true only if tests or a command have shown the result since your last change."
    )


class Finish(Tool[FinishInput]):
    name = FINISH
    description = "End the task and report the result. Nothing else ends it."
    effect = Effect.READS
    input = FinishInput

    def __init__(self, objection: Objection | None = None) -> None:
        self._objection = objection

    async def use(self, arguments: FinishInput, context: ToolContext) -> ToolOutcome:
        if self._objection is not None:
            return failure(self._objection.text)
        return ToolOutcome(text="Accepted.", summary=arguments.summary.partition("\n")[0][:200])


def finish_input(call: ToolCall) -> FinishInput | None:
    """Return what a call of `finish` says; None if its arguments are invalid, which its result reports."""
    try:
        return FinishInput.model_validate(arguments_of(call))
    except ValueError:
        return None


class WorkRecord:
    """What the tools of an agent have shown so far."""

    def __init__(self, tools: ToolBox) -> None:
        self._tools = tools
        self.has_worked = False
        self._is_checked = False
        """A command has succeeded since the last change."""
        self._failed_tests: str | None = None
        """Summary of the last test run, if it failed."""

    def add(self, call: ToolCall, outcome: ToolOutcome) -> None:
        self.has_worked = self.has_worked or not outcome.is_error or outcome.detail.end is not None
        if outcome.detail.changed:
            self._is_checked = False
        if outcome.detail.end is None:  # no command was run
            return
        if not self._tools.only_reads(call.name):
            self._is_checked = not outcome.is_error
        if self._tools.is_test(call.name):
            self._failed_tests = outcome.summary if outcome.is_error else None

    def objection(self, *, verified: bool) -> Objection | None:
        """Return what speaks against the end, given what the agent claims."""
        if not self.has_worked:
            return IDLE
        if self._failed_tests is not None:
            return tests_failed(self._failed_tests)
        return UNCHECKED if verified and not self._is_checked else None
