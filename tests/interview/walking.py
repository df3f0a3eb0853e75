"""Walks through an interview without a server: what the engine does is pure."""

from datetime import UTC, datetime
from typing import Any

from forge.interview import engine
from forge.interview.answers import Answer, Chosen, Confirmed, Said
from forge.interview.categories import classify
from forge.interview.completing import opening_of
from forge.interview.phases import Mode
from forge.interview.speaking.reply import ModelTurn
from forge.interview.state import Basis, Due, Facts, Speaker, State, Written
from forge.interview.turns import AskQuestion, Clarify, ShowPreview
from forge.interview.writing import settings_of, skill_hash, soul_hash

AT = datetime(2026, 1, 2, tzinfo=UTC)
MODEL = "scripted:scripted"


def new_state(description: str = "Write release notes for our users", **more: Any) -> State:
    mode: Mode = more.pop("mode", Mode.BOT)
    basis: Basis = more.pop("basis", Basis())
    purpose = classify(description)
    return State(
        session_id="0198c0de-0000-7000-8000-000000000001",
        mode=mode,
        description=description,
        found_purpose=purpose,
        speaker=more.pop("speaker", Speaker.GUIDE),
        basis=basis,
        facts=more.pop("facts", Facts()),
        opening=opening_of(mode, description, purpose, basis),
        **more,
    )


def started(description: str = "Write release notes for our users", **more: Any) -> State:
    return engine.begin(new_state(description, **more))


def take(state: State, answer: Answer) -> State:
    return engine.take(state, answer, AT)


def choose(state: State, index: int = 0) -> State:
    return take(state, Chosen(index=index))


def say(state: State, text: str) -> State:
    return take(state, Said(text=text))


def hear(state: State, **turn: Any) -> State:
    """The model's next turn, as it would come from its provider."""
    return engine.hear(state, ModelTurn.model_validate(turn), model=MODEL, cost_micros=7)


def question_of(state: State) -> AskQuestion:
    assert state.asked is not None
    assert isinstance(state.asked.turn, AskQuestion), state.asked.turn
    return state.asked.turn


def topic(state: State) -> str:
    assert state.asked is not None
    return state.asked.topic


def on_to(state: State, wanted: str) -> State:
    """By first options, until that question."""
    for _ in range(40):
        if topic(state) == wanted:
            return state
        state = one_on(state)
    raise AssertionError(f"{wanted} was never asked")


def one_on(state: State) -> State:
    assert state.asked is not None
    match state.asked.turn:
        case ShowPreview():
            return take(state, Confirmed(yes=True))
        case Clarify():
            return say(state, "It turns merged changes into notes people want to read")
        case _:
            return choose(state)


def to_the_end(state: State) -> State:
    """By first options, with the writing done from templates."""
    for _ in range(60):
        if state.due is Due.WRITE:
            state = engine.wrote(state, written_plainly(state))
        if topic(state) == "ready":
            return state
        state = one_on(state)
    raise AssertionError("it never ended")


def written_plainly(state: State) -> Written:
    from forge.interview.completing import to_skill_request
    from forge.skills.models import SkillFiles

    if state.mode is Mode.SKILL:
        request = to_skill_request(state)
        files = SkillFiles(name=request.name, files={"SKILL.md": "---\n---\n"})
        return Written(of=skill_hash(state, request), by=Speaker.GUIDE, skill=files)
    return Written(of=soul_hash(settings_of(state)), by=Speaker.MODEL, soul="# Personality\n")
