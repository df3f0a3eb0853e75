"""The run kind `interview`: ask the model for a turn, write a soul or a skill, and try the skill.

These take longer than a request should, and must not be lost or paid for twice. Each is a step of a durable
run, which continues after the last finished step when the process dies.
"""

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.interview.assembly.skill_assembly import skill_text
from forge.interview.domain.config_builder import current_config, skill_hash, soul_hash, to_skill_request
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Due, InterviewSpeaker, State, Written
from forge.interview.drafts import Draft, Drafts, interview_stream
from forge.interview.engine import apply_model_turn, apply_written, example_reply, fall_back_to_guide
from forge.interview.interviewer.model_reply import ModelReply
from forge.interview.interviewer.skill_writer import write_skill
from forge.interview.interviewer.soul_writer import write_soul
from forge.interview.interviewer.turn_request import request_turn
from forge.interview.models import InterviewDelta
from forge.llm.budgets import Spender
from forge.llm.gateway import Gateway
from forge.runs.attempt import Retry, StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.kinds import RunKind
from forge.skills.format.skill_writer import template_skill
from forge.skills.invocations.skill_tests import SkillTrial
from forge.skills.models import SkillFiles, TrialReport
from forge.store.database import Tx

KIND = "interview"
RETRY = Retry(attempts=2, first_delay_s=1.0, longest_delay_s=20.0)
"""After two failures the guide takes over from the model."""
STEP_TIMEOUT_S = 180.0


class InterviewInput(BaseModel):
    model_config = ConfigDict(frozen=True)

    session_id: str
    title: str


class InterviewSteps:
    def __init__(self, drafts: Drafts, gateway: Gateway, trial: SkillTrial) -> None:
        self._drafts = drafts
        self._gateway = gateway
        self._trial = trial

    async def ask(self, step: StepInfo, session_id: str) -> dict[str, Any]:
        """Ask the model for its next turn, publishing its text as ephemeral events while it is written."""
        state = await self._state(step, session_id)

        async def on_delta(text: str) -> None:
            await self._drafts.events.publish_ephemeral(
                interview_stream(session_id), InterviewDelta(text=text)
            )

        answer = await request_turn(
            self._gateway, _spender(step), state, on_delta, example=example_reply(state)
        )
        reply = answer.value.model_dump(mode="json")
        return {"turn": reply, "model": answer.model, "cost_micros": answer.cost_micros}

    async def write(self, step: StepInfo, session_id: str) -> dict[str, Any]:
        """Write a soul, or the files of a skill."""
        state = await self._state(step, session_id)
        if state.speaker is InterviewSpeaker.GUIDE:
            return _write_from_template(state)
        spender = _spender(step)
        if state.mode is Mode.SKILL:
            request = to_skill_request(state)
            files, cost = await write_skill(self._gateway, spender, state, request)
            written = Written(
                of=skill_hash(state, request), by=InterviewSpeaker.MODEL, skill=files, cost_micros=cost
            )
        else:
            config = current_config(state)
            body, cost = await write_soul(self._gateway, spender, state, config)
            written = Written(of=soul_hash(config), by=InterviewSpeaker.MODEL, soul=body, cost_micros=cost)
        return written.model_dump(mode="json")

    async def write_from_template(self, step: StepInfo, session_id: str) -> dict[str, Any]:
        """Write from a template, without a model."""
        return _write_from_template(await self._state(step, session_id))

    async def try_skill(self, step: StepInfo, skill: dict[str, Any]) -> dict[str, Any]:
        report = await self._trial.run(SkillFiles.model_validate(skill))
        return report.model_dump(mode="json")

    async def _state(self, step: StepInfo, session_id: str) -> State:
        return (await self._drafts.find(step.account_id, session_id)).state


def _spender(step: StepInfo) -> Spender:
    return Spender(step.account_id, step.key, step.run_id)


def _write_from_template(state: State) -> dict[str, Any]:
    """Write from a template. A soul has no text yet: its template is filled on assembly."""
    if state.mode is Mode.SKILL:
        request = to_skill_request(state)
        files = template_skill(skill_text(state, request), state.basis.skill_files)
        written = Written(of=skill_hash(state, request), by=InterviewSpeaker.GUIDE, skill=files)
    else:
        written = Written(of=soul_hash(current_config(state)), by=InterviewSpeaker.GUIDE)
    return written.model_dump(mode="json")


class InterviewKind:
    def __init__(self, drafts: Drafts, steps: InterviewSteps) -> None:
        self._drafts = drafts
        self._steps = steps

    def kind(self) -> RunKind[InterviewInput]:
        return RunKind(KIND, InterviewInput, self.run, title=lambda inputs: inputs.title)

    async def run(self, context: RunContext, inputs: InterviewInput) -> dict[str, Any]:
        due = await context.transact("read", lambda tx: self._due(tx, context, inputs))
        if due == Due.ASK:
            due = await self._ask(context, inputs)
        if due == Due.WRITE:
            await self._write(context, inputs)
        return {"session_id": inputs.session_id}

    async def _ask(self, context: RunContext, inputs: InterviewInput) -> str | None:
        try:
            answer = await context.step(
                "ask", self._steps.ask, inputs.session_id, retry=RETRY, timeout_s=STEP_TIMEOUT_S
            )
        except StepFailed as failed:
            why = failed.problem.message
            return await context.transact(
                "gave up",
                lambda tx: self._change(tx, context, inputs, lambda state: fall_back_to_guide(state, why)),
            )
        reply = ModelReply.model_validate(answer["turn"])
        model, cost = str(answer["model"]), int(answer["cost_micros"])
        return await context.transact(
            "heard",
            lambda tx: self._change(
                tx,
                context,
                inputs,
                lambda state: apply_model_turn(state, reply, model=model, cost_micros=cost),
            ),
        )

    async def _write(self, context: RunContext, inputs: InterviewInput) -> None:
        try:
            text = await context.step(
                "write", self._steps.write, inputs.session_id, retry=RETRY, timeout_s=STEP_TIMEOUT_S
            )
        except StepFailed:
            text = await context.step(
                "write from a template", self._steps.write_from_template, inputs.session_id
            )
        written = Written.model_validate(text)
        if written.skill is not None:
            written = written.model_copy(update={"trial": await self._try(context, written.skill)})
        await context.transact(
            "written",
            lambda tx: self._change(tx, context, inputs, lambda state: apply_written(state, written)),
        )

    async def _try(self, context: RunContext, skill: SkillFiles) -> TrialReport:
        """Run the skill's own tests; a report says why when that is impossible."""
        try:
            trial = await context.step("try", self._steps.try_skill, skill.model_dump(mode="json"))
        except StepFailed as failed:
            return TrialReport(ran=False, passed=False, output=failed.problem.message)
        return TrialReport.model_validate(trial)

    async def _due(self, tx: Tx, context: RunContext, inputs: InterviewInput) -> str | None:
        draft = await self._own_draft(tx, context, inputs)
        return draft.state.due if draft else None

    async def _own_draft(self, tx: Tx, context: RunContext, inputs: InterviewInput) -> Draft | None:
        """Return None when the draft no longer waits for this run."""
        draft = await self._drafts.lock(tx, context.account_id, inputs.session_id)
        return draft if draft.row.run_id == context.run_id else None

    async def _change(
        self, tx: Tx, context: RunContext, inputs: InterviewInput, change: Callable[[State], State]
    ) -> str | None:
        """Apply a change to the draft and return what is due next, which this run continues with."""
        draft = await self._own_draft(tx, context, inputs)
        if draft is None:
            return None
        state = change(draft.state)
        await self._drafts.save(tx, draft, state, run_id=context.run_id if state.due else None)
        return state.due
