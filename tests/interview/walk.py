"""Helpers to walk through an interview with the pure engine."""

from datetime import UTC, datetime
from typing import Any

from forge.interview import engine
from forge.interview.domain.categories import classify
from forge.interview.domain.config_builder import current_config, initial_fields, skill_hash, soul_hash
from forge.interview.domain.dialogue import (
    Answer,
    AskQuestion,
    Chosen,
    Clarify,
    Confirmed,
    Mode,
    Said,
    ShowPreview,
)
from forge.interview.domain.state import Basis, Due, Facts, InterviewSpeaker, State, Written
from forge.interview.interviewer.model_reply import ModelReply

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
        speaker=more.pop("speaker", InterviewSpeaker.GUIDE),
        basis=basis,
        facts=more.pop("facts", Facts()),
        opening=initial_fields(mode, description, purpose, basis),
        **more,
    )


def started(description: str = "Write release notes for our users", **more: Any) -> State:
    return engine.begin(new_state(description, **more))


def take(state: State, answer: Answer) -> State:
    return engine.apply_answer(state, answer, AT)


def choose(state: State, index: int = 0) -> State:
    return take(state, Chosen(index=index))


def say(state: State, text: str) -> State:
    return take(state, Said(text=text))


def model_says(state: State, **turn: Any) -> State:
    """Apply a model turn in the form providers return it."""
    return engine.apply_model_turn(state, ModelReply.model_validate(turn), model=MODEL, cost_micros=7)


def question_of(state: State) -> AskQuestion:
    assert state.asked is not None
    assert isinstance(state.asked.turn, AskQuestion), state.asked.turn
    return state.asked.turn


def topic(state: State) -> str:
    assert state.asked is not None
    return state.asked.topic


def advance_to(state: State, topic_name: str) -> State:
    """Choose first options until this topic is asked about."""
    for _ in range(40):
        if topic(state) == topic_name:
            return state
        state = advance(state)
    raise AssertionError(f"{topic_name} was not asked about")


def advance(state: State) -> State:
    assert state.asked is not None
    match state.asked.turn:
        case ShowPreview():
            return take(state, Confirmed(yes=True))
        case Clarify():
            return say(state, "It turns merged changes into notes people want to read")
        case _:
            return choose(state)


def walk_to_end(state: State) -> State:
    """Choose first options to the end, writing texts from templates."""
    for _ in range(60):
        if state.due is Due.WRITE:
            state = engine.apply_written(state, written_from_template(state))
        if topic(state) == "ready":
            return state
        state = advance(state)
    raise AssertionError("the interview did not reach the end")


def written_from_template(state: State) -> Written:
    from forge.interview.domain.config_builder import to_skill_request
    from forge.skills.models import SkillFiles

    if state.mode is Mode.SKILL:
        request = to_skill_request(state)
        files = SkillFiles(name=request.name, files={"SKILL.md": "---\n---\n"})
        return Written(of=skill_hash(state, request), by=InterviewSpeaker.GUIDE, skill=files)
    return Written(of=soul_hash(current_config(state)), by=InterviewSpeaker.MODEL, soul="# Personality\n")
