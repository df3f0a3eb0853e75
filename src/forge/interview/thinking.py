"""What the steps of an interview's run do: ask the model, write, try out."""

from typing import Any

from forge.interview.assembly.skill_files import text_of
from forge.interview.completing import to_skill_request
from forge.interview.drafts import Drafts, interview_stream
from forge.interview.models import InterviewDelta
from forge.interview.phases import Mode
from forge.interview.speaking.asking import ask
from forge.interview.speaking.skills import write_skill
from forge.interview.speaking.souls import write_soul
from forge.interview.state import Speaker, State, Written
from forge.interview.writing import settings_of, skill_hash, soul_hash
from forge.llm.gateway import Gateway
from forge.llm.money import Spender
from forge.runs.attempt import StepInfo
from forge.skills.models import SkillFiles
from forge.skills.trial import Trial
from forge.skills.writing import template_skill


class Thinking:
    def __init__(self, drafts: Drafts, gateway: Gateway, trial: Trial) -> None:
        self._drafts = drafts
        self._gateway = gateway
        self._trial = trial

    async def ask(self, step: StepInfo, session_id: str) -> dict[str, Any]:
        """The model's next turn; what it writes is whispered meanwhile."""
        state = await self._state(step, session_id)

        async def on_delta(text: str) -> None:
            await self._drafts.events.whisper(interview_stream(session_id), InterviewDelta(text=text))

        said = await ask(self._gateway, _spender(step), state, on_delta)
        turn = said.turn.model_dump(mode="json")
        return {"turn": turn, "model": said.model, "cost_micros": said.cost_micros}

    async def write(self, step: StepInfo, session_id: str) -> dict[str, Any]:
        """A soul, or the files of a skill."""
        state = await self._state(step, session_id)
        if state.speaker is Speaker.GUIDE:
            return _plain(state)
        spender = _spender(step)
        if state.mode is Mode.SKILL:
            request = to_skill_request(state)
            files, cost = await write_skill(self._gateway, spender, state, request)
            written = Written(of=skill_hash(state, request), by=Speaker.MODEL, skill=files, cost_micros=cost)
        else:
            config = settings_of(state)
            body, cost = await write_soul(self._gateway, spender, state, config)
            written = Written(of=soul_hash(config), by=Speaker.MODEL, soul=body, cost_micros=cost)
        return written.model_dump(mode="json")

    async def write_plainly(self, step: StepInfo, session_id: str) -> dict[str, Any]:
        """As well as it goes without a model."""
        return _plain(await self._state(step, session_id))

    async def try_out(self, step: StepInfo, skill: dict[str, Any]) -> dict[str, Any]:
        report = await self._trial.run(SkillFiles.model_validate(skill))
        return report.model_dump(mode="json")

    async def _state(self, step: StepInfo, session_id: str) -> State:
        return (await self._drafts.find(step.account_id, session_id)).state


def _spender(step: StepInfo) -> Spender:
    return Spender(step.account_id, step.key, step.run_id)


def _plain(state: State) -> dict[str, Any]:
    """A soul needs no text of its own: the template is filled when the files are made."""
    if state.mode is Mode.SKILL:
        request = to_skill_request(state)
        files = template_skill(text_of(state, request), state.basis.skill_files)
        written = Written(of=skill_hash(state, request), by=Speaker.GUIDE, skill=files)
    else:
        written = Written(of=soul_hash(settings_of(state)), by=Speaker.GUIDE)
    return written.model_dump(mode="json")
