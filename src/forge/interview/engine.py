"""The interview as pure functions from a state and an answer to the next state: no clock, model or database.

The guide's turns are computed here at once. A model's turn is marked `due` until the run has asked the model,
and comes back through `apply_model_turn`. The known settings are always the sum of the patches of all answers, so a
person can go back to any question, and later answers are asked again only if they no longer fit.
"""

from datetime import datetime

from forge.errors import Conflict
from forge.interview.domain.answer_parser import UnclearAnswer, parse_answer, require_free_name
from forge.interview.domain.build_config import NOTHING, Fields
from forge.interview.domain.categories import KnownPurpose, Purpose, classify
from forge.interview.domain.config_builder import is_written, to_config, to_skill_request
from forge.interview.domain.dialogue import (
    MIN_OPTIONS,
    Answer,
    AskQuestion,
    Chosen,
    Clarify,
    Confirmed,
    Mode,
    Phase,
    QuestionOption,
    ReadyToAssemble,
    ReadyToCreateSkill,
    Said,
    ShowPreview,
    WentBack,
    phase_label,
)
from forge.interview.domain.names import to_skill_name
from forge.interview.domain.state import (
    Asked,
    Due,
    Exchange,
    InterviewSpeaker,
    State,
    Written,
    answered_phases,
    question_budget,
)
from forge.interview.domain.text_analysis import shorten
from forge.interview.errors import BadAnswer, ReadyToCreate
from forge.interview.extra_options import add_extra_options
from forge.interview.guide.bot_interview import next_batch_question, next_bot_question, next_change_question
from forge.interview.guide.skill_interview import next_skill_question
from forge.interview.interviewer.model_reply import (
    MAX_MODEL_OPTIONS,
    ModelClarification,
    ModelOption,
    ModelPatch,
    ModelPreview,
    ModelQuestion,
    ModelReady,
    ModelReply,
    ModelTurn,
)
from forge.interview.interviewer.reply_parser import parse_reply
from forge.skills.format.manifest import read_skill_md
from forge.skills.models import SKILL_MD

MAX_ANSWERS = 200
"""Characters of the answers shown for a phase that can be revised."""


def begin(state: State) -> State:
    """Return the state with its first turn, or with a model turn due."""
    return state.replace(due=Due.ASK) if state.speaker is InterviewSpeaker.MODEL else _advance(state)


def apply_answer(state: State, answer: Answer, at: datetime) -> State:
    """Apply an answer. Raise `BadAnswer` when it does not fit the current turn."""
    if state.made is not None:
        raise Conflict("This interview is finished.")
    if state.due is not None or state.asked is None:
        raise Conflict("Forge is still thinking.", hint="Wait for the next turn, or cancel.")
    if isinstance(answer, WentBack):
        return go_back(state, answer.phase)
    if isinstance(state.asked.turn, ReadyToAssemble | ReadyToCreateSkill):
        return _answer_ready_turn(state, state.asked, answer, at)
    answer = _as_option(state.asked, answer)
    if state.left_at is not None and state.set_aside and _is_unchanged(state, answer):
        return _restore_set_aside(state)
    return _record_answer(state, state.asked, answer, at)


def _record_answer(state: State, asked: Asked, answer: Answer, at: datetime) -> State:
    label = _label(asked, answer)
    extra = asked.extras.get(answer.index) if isinstance(answer, Chosen) else None
    if extra == "setup":
        return state.replace(asked=_clarify(asked, asked.turn.phase, _SETUP))
    if asked.topic == "revise" and isinstance(answer, Chosen) and isinstance(asked.turn, AskQuestion):
        return go_back(state, Phase(asked.turn.options[answer.index].id))
    try:
        patch = _patch(state, asked, answer, label)
    except UnclearAnswer as unclear:
        return state.replace(asked=_repeat_question(asked, str(unclear)))
    exchange = Exchange(
        number=_next_number(state),
        asked=_without_error(asked),
        answer=answer,
        label=label,
        patch=patch,
        purpose=_purpose(asked, answer),
        answered_at=at,
    )
    aside = state.set_aside[1:] if state.left_at is not None else state.set_aside
    state = state.replace(
        exchanges=[*state.exchanges, exchange], set_aside=aside, left_at=None, edited=None, requested=None
    )
    if extra == "skip":
        return _finish(state.replace(set_aside=[]))
    if state.speaker is InterviewSpeaker.MODEL and not _is_guide_only(asked):
        return state.replace(due=Due.ASK)
    return _advance(state)


_SETUP = (
    "Add a key for a provider: in Settings, Models, or with `forge secrets set ANTHROPIC_API_KEY`. "
    "Reply when it is saved, and I will ask again."
)


def _is_guide_only(asked: Asked) -> bool:
    """Check for questions that the guide asks even when a model speaks."""
    return asked.topic.startswith("capability:")


def _as_option(asked: Asked, answer: Answer) -> Answer:
    """Treat text that repeats the label of an option as choosing it."""
    if isinstance(answer, Said) and isinstance(asked.turn, AskQuestion):
        wanted = answer.text.strip().casefold()
        for index, option in enumerate(asked.turn.options):
            if option.label.strip().casefold() == wanted:
                return Chosen(index=index)
    return answer


def _label(asked: Asked, answer: Answer) -> str:
    """Return the answer in words; raise `BadAnswer` when the turn does not accept it."""
    match asked.turn, answer:
        case AskQuestion(options=options), Chosen(index=index):
            if index >= len(options):
                raise BadAnswer(
                    f"There is no option {index}; options are numbered 0 to {len(options) - 1}.",
                    field="answer",
                )
            return options[index].label
        case AskQuestion(allow_free_text=True) | Clarify() | ShowPreview(), Said(text=text):
            return text
        case ShowPreview(), Confirmed(yes=yes):
            return "Yes" if yes else "No"
        case AskQuestion(), _:
            raise BadAnswer(
                "Choose one of the options.", hint='For example {"OptionIndex": 0}.', field="answer"
            )
        case Clarify(), _:
            raise BadAnswer("Answer in words.", hint='For example {"FreeText": "…"}.', field="answer")
        case _:
            raise BadAnswer("Answer with yes or no.", hint='For example {"Confirm": true}.', field="answer")


def _patch(state: State, asked: Asked, answer: Answer, label: str) -> Fields:
    if isinstance(answer, Chosen):
        patch = asked.patches[answer.index] if answer.index < len(asked.patches) else NOTHING
        name = patch.name or (to_skill_name(label) if asked.free == "name" else None)
        require_free_name(state, name or "")
        return patch
    if isinstance(answer, Said) and asked.free is not None:
        return parse_answer(state, asked, answer.text)
    return NOTHING


def _purpose(asked: Asked, answer: Answer) -> Purpose | None:
    """Return the purpose that the answer implies, if any."""
    match answer:
        case Chosen(index=index) if asked.topic == "category" and isinstance(asked.turn, AskQuestion):
            chosen = asked.turn.options[index].id
            return KnownPurpose(chosen) if chosen in set(KnownPurpose) else None
        case Said(text=text) if asked.topic in ("category", "purpose"):
            found = classify(text)
            return found if isinstance(found, KnownPurpose) else None
        case _:
            return None


def _next_number(state: State) -> int:
    return 1 + max((exchange.number for exchange in [*state.exchanges, *state.set_aside]), default=0)


# Back


def go_back(state: State, phase: Phase | None) -> State:
    """Return to the previous question, or to the first one of a phase, and ask it again unchanged."""
    if not state.exchanges:
        raise BadAnswer("This is the first question; there is nothing to go back to.")
    index = _previous_index(state) if phase is None else _first_index_of(state, phase)
    back = state.exchanges[index]
    return state.replace(
        exchanges=state.exchanges[:index],
        set_aside=[*state.exchanges[index:], *state.set_aside],
        left_at=state.left_at or state.asked,
        asked=back.asked,
        edited=None,
        requested=None,
    )


def _previous_index(state: State) -> int:
    for index in reversed(range(len(state.exchanges))):
        if isinstance(state.exchanges[index].asked.turn, AskQuestion | Clarify):
            return index
    return 0


def _first_index_of(state: State, phase: Phase) -> int:
    for index, exchange in enumerate(state.exchanges):
        if exchange.asked.turn.phase is phase:
            return index
    raise BadAnswer(
        f"Phase {phase.value} has no answered question yet.", hint="You can only go back to an earlier phase."
    )


def _is_unchanged(state: State, answer: Answer) -> bool:
    return state.asked == state.set_aside[0].asked and answer == state.set_aside[0].answer


def _restore_set_aside(state: State) -> State:
    """Restore the answers that were set aside, since this one did not change."""
    return state.replace(
        exchanges=[*state.exchanges, *state.set_aside], set_aside=[], asked=state.left_at, left_at=None
    )


# The guide's turns, and the end


def _advance(state: State) -> State:
    """Advance to the guide's next turn, reusing set-aside answers to identical questions."""
    while True:
        asked = None if _is_budget_spent(state) else next_question(state)
        if asked is None:
            return _finish(state)
        asked = add_extra_options(state, asked)
        kept = next((one for one in state.set_aside if one.asked == asked), None)
        if kept is None:
            return state.replace(asked=asked, due=None)
        left = [one for one in state.set_aside if one is not kept]
        state = state.replace(exchanges=[*state.exchanges, kept], set_aside=left)


def _is_budget_spent(state: State) -> bool:
    """Check the question budget. Capabilities are confirmed one by one regardless of it."""
    return state.question_count >= question_budget(state).maximum and not _is_confirming_capabilities(state)


def _is_confirming_capabilities(state: State) -> bool:
    """Check whether the skill is written and only its capabilities are left to confirm."""
    return state.mode is Mode.SKILL and is_written(state)


def _finish(state: State) -> State:
    """Return the ready turn, or mark the text as due if it is not written yet."""
    if not is_written(state):
        return state.replace(due=Due.WRITE, set_aside=[], left_at=None)
    turn = (
        ReadyToCreateSkill(skill_request=to_skill_request(state))
        if state.mode is Mode.SKILL
        else ReadyToAssemble(config=to_config(state))
    )
    asked = Asked(turn=turn, topic="ready", speaker=state.speaker)
    return state.replace(asked=asked, due=None, set_aside=[], left_at=None)


def _answer_ready_turn(state: State, asked: Asked, answer: Answer, at: datetime) -> State:
    """Handle an answer to the ready turn. It never creates anything: that takes a separate request."""
    match answer:
        case Confirmed(yes=True):
            if isinstance(asked.turn, ReadyToCreateSkill):
                raise ReadyToCreate()
            return state
        case Confirmed(yes=False):
            return go_back(state, None)
        case Said(text=text):
            if state.speaker is InterviewSpeaker.GUIDE:
                return state.replace(asked=_ask_what_to_revise(state))
            exchange = Exchange(
                number=_next_number(state), asked=asked, answer=answer, label=text, answered_at=at
            )
            return state.replace(
                exchanges=[*state.exchanges, exchange], due=Due.ASK, edited=None, requested=None
            )
        case _:
            raise BadAnswer("Answer with yes or no, or say what to change.", field="answer")


# Results of the model and the run


def apply_model_turn(state: State, reply: ModelReply, *, model: str, cost_micros: int) -> State:
    """Apply a model turn, with the patch it derived from the last answer."""
    parsed = parse_reply(state, reply)
    if state.exchanges:
        last = state.exchanges[-1]
        updated = last.model_copy(
            update={
                "patch": last.patch.merged(parsed.patch),
                "purpose": parsed.purpose or last.purpose,
                "model": model,
                "cost_micros": last.cost_micros + cost_micros,
            }
        )
        kept = [one for one in state.set_aside if one.number in parsed.keeps]
        state = state.replace(exchanges=[*state.exchanges[:-1], updated, *kept])
    else:
        state = state.replace(
            opening=state.opening.merged(parsed.patch),
            found_purpose=parsed.purpose or state.found_purpose,
            opening_model=model,
            opening_cost_micros=state.opening_cost_micros + cost_micros,
        )
    state = state.replace(set_aside=[], left_at=None, due=None)
    if parsed.asked is not None and not parsed.is_ready and not _is_budget_spent(state):
        return state.replace(asked=add_extra_options(state, parsed.asked))
    return (
        _advance(state) if _lacks_essentials(state) or _is_confirming_capabilities(state) else _finish(state)
    )


def example_reply(state: State) -> ModelReply:
    """Return the guide's next turn as a reply of a model. A model that copies it asks a sensible question."""
    asked = next_question(state)
    return ModelReply(turn=_model_turn(asked) if asked else ModelReady(action="ready"))


def _model_turn(asked: Asked) -> ModelTurn:
    field = asked.free if asked.free in ModelPatch.model_fields else None
    match asked.turn:
        case AskQuestion(phase=phase, question=question, options=options):
            return ModelQuestion(
                action="ask_question",
                phase=phase,
                field=field,
                question=question,
                options=[
                    ModelOption(label=one.label, reason=one.reason) for one in options[:MAX_MODEL_OPTIONS]
                ],
            )
        case Clarify(phase=phase, message=message):
            return ModelClarification(action="clarify", phase=phase, field=field, message=message)
        case ShowPreview(phase=phase):
            return ModelPreview(action="show_preview", phase=phase)
        case _:
            return ModelReady(action="ready")


def _lacks_essentials(state: State) -> bool:
    """Check for settings without a default. The guide asks for them when a model stops too early."""
    known = state.config
    is_few = len(known.variants or []) < state.basis.variants
    return not known.name or not (known.description or known.purpose or known.steps) or is_few


def fall_back_to_guide(state: State, why: str) -> State:
    """Let the guide take over from a model that does not answer."""
    return _advance(state.replace(speaker=InterviewSpeaker.GUIDE, why_guide=why, due=None))


def switch_speaker(state: State, speaker: InterviewSpeaker, why: str | None) -> State:
    """Change the speaker from the next turn on; the current turn stays."""
    state = state.replace(speaker=speaker, why_guide=why)
    return state if state.asked is not None or state.due is not None else begin(state)


def apply_written(state: State, written: Written) -> State:
    """Store the written text. Capabilities that the skill declares are then confirmed one by one."""
    if written.skill is not None and state.config.capabilities is None:
        manifest = read_skill_md(written.skill.files.get(SKILL_MD, ""), written.skill.name).manifest
        needed = manifest.capabilities if manifest else []
        state = state.replace(opening=state.opening.merged(Fields(capabilities=needed)))
    state = state.replace(written=written, due=None)
    if state.edited is not None or state.requested is not None:
        return state
    return _advance(state) if state.mode is Mode.SKILL else _finish(state)


def request_rewrite(state: State) -> State:
    """Mark the text as due again, for other settings than those the interview led to."""
    return state.replace(due=Due.WRITE)


def cancel_pending(state: State) -> State:
    """Stop waiting for the model and take back the answer it was to process."""
    if state.due is None:
        raise Conflict("There is nothing to cancel: Forge is not thinking.")
    if state.edited is not None or state.requested is not None:
        return state.replace(due=None, edited=None, requested=None)  # there is no answer to take back
    if not state.exchanges:
        return fall_back_to_guide(state, "You stopped waiting for the model.")
    last = state.exchanges[-1]
    return state.replace(exchanges=state.exchanges[:-1], asked=last.asked, due=None)


def next_question(state: State) -> Asked | None:
    """Return the guide's next question; None when there is nothing left to ask."""
    match state.mode:
        case Mode.BOT:
            return next_bot_question(state)
        case Mode.BATCH:
            return next_batch_question(state)
        case Mode.RECONFIGURE:
            return next_change_question(state)
        case Mode.SKILL:
            return next_skill_question(state)


# Inserted turns: a question repeated with an error, or what to revise


def _repeat_question(asked: Asked, message: str) -> Asked:
    """Repeat the question with its options, preceded by the problem with the answer."""
    match asked.turn:
        case AskQuestion(question=question) as turn:
            plain = asked.plain or question
            repeated = turn.model_copy(update={"question": f"{message}\n\n{plain}"})
            return asked.model_copy(update={"turn": repeated, "plain": plain})
        case turn:
            return _clarify(asked, turn.phase, message)


def _without_error(asked: Asked) -> Asked:
    if asked.plain is None or not isinstance(asked.turn, AskQuestion):
        return asked
    turn = asked.turn.model_copy(update={"question": asked.plain})
    return asked.model_copy(update={"turn": turn, "plain": None})


def _clarify(asked: Asked, phase: Phase, message: str) -> Asked:
    return Asked(
        turn=Clarify(phase=phase, message=message), topic=asked.topic, speaker=asked.speaker, free=asked.free
    )


def _ask_what_to_revise(state: State) -> Asked | None:
    """Ask which phase to revise; return the current turn when there is only one."""
    phases = answered_phases(state)
    options = [
        QuestionOption(
            id=phase.value,
            label=phase_label(state.mode, phase),
            reason=f"You said: {_summarize_answers(state, phase)}.",
        )
        for phase in phases
    ]
    if len(options) < MIN_OPTIONS:
        return state.asked
    turn = AskQuestion(
        phase=Phase.REVIEW,
        question="Which part would you like to change?",
        options=options,
        allow_free_text=False,
        phase_label=phase_label(state.mode, Phase.REVIEW),
    )
    return Asked(turn=turn, topic="revise", speaker=state.speaker)


def _summarize_answers(state: State, phase: Phase) -> str:
    answers = [exchange.label for exchange in state.exchanges if exchange.asked.turn.phase is phase]
    return shorten("; ".join(" ".join(one.split()) for one in answers), MAX_ANSWERS)
