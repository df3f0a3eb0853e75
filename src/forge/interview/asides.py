"""Turns that Forge puts in between: it did not understand, or somebody wants to change what was agreed on."""

from forge.interview.phases import Phase, phase_label
from forge.interview.state import Asked, State
from forge.interview.turns import FEWEST_OPTIONS, AskQuestion, Clarify, QuestionOption
from forge.interview.wording import shortened

MAX_ANSWERS = 200


def asks_again(asked: Asked, message: str) -> Asked:
    """The same question with the same options, behind what was wrong with the answer."""
    match asked.turn:
        case AskQuestion(question=question) as turn:
            plain = asked.plain or question
            said = turn.model_copy(update={"question": f"{message}\n\n{plain}"})
            return asked.model_copy(update={"turn": said, "plain": plain})
        case turn:
            return waits_for_words(asked, turn.phase, message)


def as_first_asked(asked: Asked) -> Asked:
    if asked.plain is None or not isinstance(asked.turn, AskQuestion):
        return asked
    turn = asked.turn.model_copy(update={"question": asked.plain})
    return asked.model_copy(update={"turn": turn, "plain": None})


def waits_for_words(asked: Asked, phase: Phase, message: str) -> Asked:
    return Asked(
        turn=Clarify(phase=phase, message=message), topic=asked.topic, speaker=asked.speaker, free=asked.free
    )


def phases_of(state: State) -> list[Phase]:
    """That one can go back to."""
    gone = {exchange.asked.turn.phase for exchange in state.exchanges}
    return [phase for phase in Phase if phase in gone]


def revision_of(state: State) -> Asked | None:
    """Which part to look at again; the turn as it is when there is only one."""
    phases = phases_of(state)
    options = [
        QuestionOption(
            id=phase.value,
            label=phase_label(state.mode, phase),
            reason=f"You said: {_answers(state, phase)}.",
        )
        for phase in phases
    ]
    if len(options) < FEWEST_OPTIONS:
        return state.asked
    turn = AskQuestion(
        phase=Phase.REVIEW,
        question="Which part shall we look at again?",
        options=options,
        allow_free_text=False,
        phase_label=phase_label(state.mode, Phase.REVIEW),
    )
    return Asked(turn=turn, topic="revise", speaker=state.speaker)


def _answers(state: State, phase: Phase) -> str:
    said = [exchange.label for exchange in state.exchanges if exchange.asked.turn.phase is phase]
    return shortened("; ".join(" ".join(one.split()) for one in said), MAX_ANSWERS)
