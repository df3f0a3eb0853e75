"""Interviews answered at random: they always end, and always in something that can be made."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bots.files.words import NASTY
from tests.interview.guide.offers import ATLAS, DESCRIPTIONS, EDITED_SKILL, FACTS, KEYLESS, REMEMBERED
from tests.interview.walking import say, started, take, written_plainly

from forge.interview import engine
from forge.interview.answers import Answer, Chosen, Confirmed, Said, WentBack
from forge.interview.budget import budget_of
from forge.interview.completing import preview_of
from forge.interview.phases import Mode
from forge.interview.state import Basis, Due, Facts, State
from forge.interview.turns import (
    FEWEST_OPTIONS,
    MAX_OPTIONS,
    AskQuestion,
    Clarify,
    ReadyToAssemble,
    ReadyToCreateSkill,
    ShowPreview,
    Turn,
)

HOUSES = (FACTS, FACTS.model_copy(update={"remembered": [REMEMBERED]}), Facts(models=[KEYLESS]), Facts())
CASES: tuple[dict[str, Any], ...] = (
    {"mode": Mode.BOT},
    {"mode": Mode.BATCH, "basis": Basis(variants=3)},
    {"mode": Mode.RECONFIGURE, "basis": ATLAS},
    {"mode": Mode.SKILL},
    {"mode": Mode.SKILL, "basis": EDITED_SKILL},
)
SAYINGS = (*NASTY, "You choose", "none", "0.5", "opus", "the skills", "for children, and adults", "done")
MAX_CAPABILITIES = 10


def answer_to(turn: Turn, data: st.DataObject) -> Answer:
    if isinstance(turn, ShowPreview):
        return Confirmed(yes=True)
    said = st.sampled_from([text for text in SAYINGS if text.strip() and "\x00" not in text])
    if isinstance(turn, AskQuestion):
        chosen = st.integers(0, len(turn.options) - 1).map(lambda index: Chosen(index=index))
        words = said.map(lambda text: Said(text=text))
        return data.draw(st.one_of(chosen, chosen, words) if turn.allow_free_text else chosen)
    return Said(text=data.draw(said))


def check(state: State) -> None:
    assert state.asked is not None
    turn = state.asked.turn
    assert (
        type(turn).model_validate(turn.model_dump(exclude={"options": {"__all__": {"description"}}})) == turn
    )
    if isinstance(turn, AskQuestion):
        assert FEWEST_OPTIONS <= len(turn.options) <= MAX_OPTIONS
        assert len({option.id for option in turn.options}) == len(turn.options)
        assert len(state.asked.patches) == len(turn.options)
    assert preview_of(state).fields == state.config


@settings(max_examples=80)
@given(
    data=st.data(),
    case=st.sampled_from(CASES),
    house=st.sampled_from(HOUSES),
    description=st.sampled_from([*DESCRIPTIONS.values(), "", "hi", "---\na: b", "翻译", "word " * 1000]),
)
def test_every_interview_ends_well(data: st.DataObject, case: dict[str, Any], house: Facts, description: str):
    state = started(description, facts=house, **case)
    unclear = 0
    for _ in range(120):
        if state.due is Due.WRITE:
            state = engine.wrote(state, written_plainly(state))
        check(state)
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
    assert state.question_count <= budget_of(state).most + MAX_CAPABILITIES


def _plain_answer(state: State) -> str:
    """To get a walk on that has said too much nonsense."""
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
def test_going_back_and_answering_the_same_leads_to_the_same_turn(steps: int, case: dict[str, Any]):
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
