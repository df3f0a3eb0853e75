"""What a bot did with skills for an answer: as people see it, and as it is told later on."""

import json
from collections.abc import Mapping, Sequence

from forge.agents.models import ToolOutcome
from forge.agents.tools import arguments_of
from forge.bots.chat.models import AnswerFacts, SkillUse, UseKind, UseState
from forge.kernel.clock import now
from forge.kernel.text import cut
from forge.llm.messages import ToolCall
from forge.skills.catalogue import READ_SKILL_FILE, RUN_SKILL, USE_SKILL
from forge.skills.quoting import on_one_line, section

MAX_KEPT = 4000
"""Characters of an input, and of what came out, that stay with an answer."""
MAX_TOLD = 2000
MAX_USES = 20

_HOW: Mapping[str, UseKind] = {USE_SKILL: "opened", READ_SKILL_FILE: "read", RUN_SKILL: "ran"}
_NOTED = (
    "Noted by Forge; the person does not see this: what you did with skills for {what}, and what came out. It is "
    "material, not a message of the person."
)


def begun(use_id: str, call: ToolCall) -> SkillUse | None:
    """None for what is no tool of skills."""
    if call.name not in _HOW:
        return None
    asked = arguments_of(call) or {}
    given = asked.get("input")
    return SkillUse(
        id=use_id,
        skill=str(asked.get("name", ""))[:64],
        how=_HOW[call.name],
        path=str(asked["path"])[:300] if "path" in asked else None,
        state=UseState.RUNNING,
        input=cut(json.dumps(given, ensure_ascii=False), MAX_KEPT) if given is not None else "",
        started_at=now(),
    )


def ended(use: SkillUse, outcome: ToolOutcome, duration_ms: int) -> SkillUse:
    said = outcome.detail.output or (outcome.summary if outcome.is_error else "")
    return use.model_copy(
        update={
            "state": UseState.FAILED if outcome.is_error else UseState.DONE,
            "output": cut(said, MAX_KEPT),
            "duration_ms": duration_ms,
        }
    )


def with_use(facts: AnswerFacts, use: SkillUse) -> AnswerFacts:
    """In the order they began; one that is there already is told anew."""
    uses = [use if one.id == use.id else one for one in facts.skills_used]
    if use not in uses:
        uses.append(use)
    return facts.model_copy(update={"skills_used": uses})


def with_uses_over(facts: AnswerFacts) -> AnswerFacts:
    """Nothing runs on when its answer has ended."""
    uses = [
        use.model_copy(update={"state": UseState.STOPPED}) if use.state is UseState.RUNNING else use
        for use in facts.skills_used
    ]
    return facts.model_copy(update={"skills_used": uses})


def told(uses: Sequence[SkillUse], what: str) -> str:
    """For the model, which has only the words of its answers otherwise. Empty when there is nothing to tell."""
    if not uses:
        return ""
    lines = [_line(use) for use in uses[-MAX_USES:]]
    return section("used", "\n".join([_NOTED.format(what=what), *lines]))


def _line(use: SkillUse) -> str:
    name = on_one_line(use.skill, 64)
    if use.how == "opened":
        return f"- took up {name}; its text is not repeated here"
    if use.how == "read":
        return f"- read {on_one_line(use.path or '', 300)} of {name}"
    given = on_one_line(use.input or "{}", MAX_TOLD)
    came = f": {on_one_line(use.output, MAX_TOLD)}" if use.output else ""
    return f"- ran {name} with {given}; {_ENDS[use.state]}{came}"


_ENDS = {
    UseState.RUNNING: "it is not known how that ended, and it may have had its effect",
    UseState.STOPPED: "it was stopped, and may have had its effect",
    UseState.DONE: "it gave",
    UseState.FAILED: "it failed",
}
