"""Randomly answered interviews always end with something that can be created."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bots.files.strategies import NASTY
from tests.interview.guide.facts import ATLAS, DESCRIPTIONS, EDITED_SKILL, FACTS, KEYLESS, REMEMBERED
from tests.interview.walk import say, started, take, written_from_template

from forge.interview import engine
from forge.interview.domain.config_builder import build_preview
from forge.interview.domain.dialogue import (
    MAX_OPTIONS,
    MIN_OPTIONS,
    Answer,
    AskQuestion,
    Chosen,
    Clarify,
    Confirmed,
    Mode,
    ReadyToAssemble,
    ReadyToCreateSkill,
    Said,
    ShowPreview,
    Turn,
    WentBack,
)
from forge.interview.domain.state import Basis, Due, Facts, State, question_budget

FACTS_CASES = (FACTS, FACTS.model_copy(update={"remembered": [REMEMBERED]}), Facts(models=[KEYLESS]), Facts())
CASES: tuple[dict[str, Any], ...] = (
    {"mode": Mode.BOT},
    {"mode": Mode.BATCH, "basis": Basis(variants=3)},
    {"mode": Mode.RECONFIGURE, "basis": ATLAS},
    {"mode": Mode.SKILL},
    {"mode": Mode.SKILL, "basis": EDITED_SKILL},
)
FREE_TEXTS = (*NASTY, "You choose", "none", "0.5", "opus", "the skills", "for children, and adults", "done")
MAX_CAPABILITIES = 10


def answer_to(turn: Turn, data: st.DataObject) -> Answer:
    if isinstance(turn, ShowPreview):
        return Confirmed(yes=True)
    texts = st.sampled_from([text for text in FREE_TEXTS if text.strip() and "\x00" not in text])
    if isinstance(turn, AskQuestion):
        chosen = st.integers(0, len(turn.options) - 1).map(lambda index: Chosen(index=index))
        free_texts = texts.map(lambda text: Said(text=text))
        return data.draw(st.one_of(chosen, chosen, free_texts) if turn.allow_free_text else chosen)
    return Said(text=data.draw(texts))


def check_state(state: State) -> None:
    assert state.asked is not None
    turn = state.asked.turn
    assert (
        type(turn).model_validate(turn.model_dump(exclude={"options": {"__all__": {"description"}}})) == turn
    )
    if isinstance(turn, AskQuestion):
        assert MIN_OPTIONS <= len(turn.options) <= MAX_OPTIONS
        assert len({option.id for option in turn.options}) == len(turn.options)
        assert len(state.asked.patches) == len(turn.options)
    assert build_preview(state).fields == state.config


@settings(max_examples=80)
@given(
    data=st.data(),
    case=st.sampled_from(CASES),
    facts=st.sampled_from(FACTS_CASES),
    description=st.sampled_from([*DESCRIPTIONS.values(), "", "hi", "---\na: b", "翻译", "word " * 1000]),
)
def test_every_walk_reaches_the_end(
    data: st.DataObject, case: dict[str, Any], facts: Facts, description: str
):
    state = started(description, facts=facts, **case)
    unclear = 0
    for _ in range(120):
        if state.due is Due.WRITE:
            state = engine.apply_written(state, written_from_template(state))
        check_state(state)
        assert state.asked is not None
        if isinstance(state.asked.turn, ReadyToAssemble | ReadyToCreateSkill):
            break
        before = len(state.exchanges)
        state = take(state, answer_to(state.asked.turn, data))
        unclear += len(state.exchanges) == before
        if unclear > 5 and state.due is None and state.asked and isinstance(state.asked.turn, Clarify):
            state = say(state, _plain_answer(state))
    assert state.asked is not None
    assert isinstance(state.asked.turn, ReadyToAssemble | ReadyToCreateSkill)
    assert state.question_count <= question_budget(state).maximum + MAX_CAPABILITIES


def _plain_answer(state: State) -> str:
    """Give a sensible answer, to continue a walk that gave too many meaningless ones."""
    assert state.asked is not None
    plain = {
        "model": "default",
        "temperature": "0.5",
        "max_tokens": "100",
        "kind": "instructions",
        "what": "done",
    }
    return plain.get(state.asked.free or "", "Plans gardens")


@settings(max_examples=30)
@given(steps=st.integers(1, 6), case=st.sampled_from(CASES))
def test_repeating_an_answer_after_going_back_restores_the_turn(steps: int, case: dict[str, Any]):
    state = started(DESCRIPTIONS[None], facts=FACTS, **case)
    for _ in range(steps):
        assert state.asked is not None
        turn = state.asked.turn
        answer = Confirmed(yes=True) if isinstance(turn, ShowPreview) else Chosen(index=0)
        after = take(state, answer)
        if after.due is None and not isinstance(turn, ShowPreview):
            assert take(take(after, WentBack()), answer).asked == after.asked
        if after.due is not None or (after.asked and after.asked.topic == "ready"):
            break
        state = after
