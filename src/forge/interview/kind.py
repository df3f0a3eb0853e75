"""The run kind `interview`: what takes longer than a request should, and must not be lost or paid for twice.

A model is asked for its next turn; a soul or a skill is written; a skill is tried. Each is a step: a process that dies
goes on behind the last one that was finished.
"""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.interview.drafts import Draft, Drafts
from forge.interview.engine import give_up, hear, wrote
from forge.interview.speaking.reply import ModelTurn
from forge.interview.state import Due, State, Written
from forge.interview.thinking import Thinking
from forge.runs.context import Retry, RunContext, StepFailed
from forge.runs.kinds import RunKind
from forge.skills.models import SkillFiles, TrialReport
from forge.store.engine import Tx

KIND = "interview"
RETRY = Retry(attempts=2, first_delay_s=1.0, longest_delay_s=20.0)
"""A model that fails twice is given up on; the guide goes on."""
STEP_TIMEOUT_S = 180.0


class InterviewInput(BaseModel):
    model_config = ConfigDict(frozen=True)

    session_id: str
    title: str


class InterviewKind:
    def __init__(self, drafts: Drafts, thinking: Thinking) -> None:
        self._drafts = drafts
        self._thinking = thinking

    def kind(self) -> RunKind[InterviewInput]:
        return RunKind(KIND, InterviewInput, self.run, title=lambda given: given.title)

    async def run(self, context: RunContext, given: InterviewInput) -> dict[str, Any]:
        due = await context.transact("read", lambda tx: self._due(tx, context, given))
        if due == Due.ASK:
            due = await self._ask(context, given)
        if due == Due.WRITE:
            await self._write(context, given)
        return {"session_id": given.session_id}

    async def _ask(self, context: RunContext, given: InterviewInput) -> str | None:
        try:
            said = await context.step(
                "ask", self._thinking.ask, given.session_id, retry=RETRY, timeout_s=STEP_TIMEOUT_S
            )
        except StepFailed as failed:
            why = failed.problem.message
            return await context.transact(
                "gave up", lambda tx: self._change(tx, context, given, lambda state: give_up(state, why))
            )
        turn = ModelTurn.model_validate(said["turn"])
        model, cost = str(said["model"]), int(said["cost_micros"])
        return await context.transact(
            "heard",
            lambda tx: self._change(
                tx, context, given, lambda state: hear(state, turn, model=model, cost_micros=cost)
            ),
        )

    async def _write(self, context: RunContext, given: InterviewInput) -> None:
        try:
            text = await context.step(
                "write", self._thinking.write, given.session_id, retry=RETRY, timeout_s=STEP_TIMEOUT_S
            )
        except StepFailed:
            text = await context.step("write from a template", self._thinking.write_plainly, given.session_id)
        written = Written.model_validate(text)
        if written.skill is not None:
            written = written.model_copy(update={"trial": await self._try(context, written.skill)})
        await context.transact(
            "written", lambda tx: self._change(tx, context, given, lambda state: wrote(state, written))
        )

    async def _try(self, context: RunContext, skill: SkillFiles) -> TrialReport:
        """One that cannot be tried is written all the same, and the report says why."""
        try:
            trial = await context.step("try", self._thinking.try_out, skill.model_dump(mode="json"))
        except StepFailed as failed:
            return TrialReport(ran=False, passed=False, output=failed.problem.message)
        return TrialReport.model_validate(trial)

    async def _due(self, tx: Tx, context: RunContext, given: InterviewInput) -> str | None:
        draft = await self._mine(tx, context, given)
        return draft.state.due if draft else None

    async def _mine(self, tx: Tx, context: RunContext, given: InterviewInput) -> Draft | None:
        """None when nobody waits for this run any more."""
        draft = await self._drafts.lock(tx, context.account_id, given.session_id)
        return draft if draft.row.run_id == context.run_id else None

    async def _change(
        self, tx: Tx, context: RunContext, given: InterviewInput, change: Callable[[State], State]
    ) -> str | None:
        """What is due after it; the run that began it goes on with that."""
        draft = await self._mine(tx, context, given)
        if draft is None:
            return None
        state = change(draft.state)
        await self._drafts.save(tx, draft, state, run_id=context.run_id if state.due else None)
        return state.due
