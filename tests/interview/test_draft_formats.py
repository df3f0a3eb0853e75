import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.interview.walk import advance_to, started, topic, walk_to_end

from forge.interview import engine
from forge.interview.domain.categories import CustomPurpose
from forge.interview.domain.dialogue import Phase
from forge.interview.domain.state import SCHEMA_VERSION, InterviewSpeaker
from forge.interview.drafts import draft_summary, read_state
from forge.interview.errors import BrokenDraft, NewerDraft
from forge.interview.store import DraftRow

FORMAT_1: dict[str, Any] = {
    "session_id": "0198c0de-0000-7000-8000-000000000009",
    "phase": "personality",
    "initial_description": "A helper that plans my garden",
    "purpose_category": {"custom": "garden planner"},
    "conversation": [
        {"question": "What is it called?", "answer": "Fern", "phase": "basics"},
        {"question": "(previous question)", "answer": "", "phase": "basics"},
        {"question": "How warm?", "answer": "very", "phase": "tundra"},
    ],
    "config": {"name": "Fern", "tone": "warm", "temperature": 9, "traits": None, "unknown": 1},
    "phase_history": ["basics"],
}


def row(state_json: str, version: int) -> DraftRow:
    at = datetime(2026, 1, 2, tzinfo=UTC)
    return DraftRow(
        session_id=FORMAT_1["session_id"],
        account_id="a",
        state_json=state_json,
        schema_version=version,
        revision=3,
        run_id=None,
        created_at=at,
        updated_at=at,
        finished_at=None,
    )


def test_draft_round_trips():
    state = advance_to(started(), "tone")
    assert read_state(row(state.model_dump_json(), SCHEMA_VERSION)) == state


def test_draft_of_format_1_can_be_continued():
    state = read_state(row(json.dumps(FORMAT_1), 1))
    assert state.found_purpose == CustomPurpose(custom="garden planner")
    assert (state.config.name, state.config.tone, state.config.temperature) == ("Fern", "warm", None)
    assert [(one.label, one.asked.turn.phase) for one in state.exchanges] == [
        ("Fern", Phase.BASICS),
        ("very", Phase.BASICS),
    ]
    continued = engine.begin(state)
    assert continued.speaker is InterviewSpeaker.GUIDE
    assert topic(continued) not in ("name", "tone")
    assert walk_to_end(continued).config.name == "Fern"


def test_draft_of_a_newer_format_is_rejected_and_listed():
    saved = row('{"something": "else"}', 99)
    with pytest.raises(NewerDraft, match="newer Forge") as error:
        read_state(saved)
    assert "kept" in (error.value.hint or "")
    assert draft_summary(saved).problem == error.value.message


@pytest.mark.parametrize("broken", ["", "[]", "{", '{"mode": 1}', '{"conversation": 7}'])
@pytest.mark.parametrize("version", [1, 2])
def test_damaged_draft_is_rejected(broken: str, version: int):
    with pytest.raises(BrokenDraft, match="cannot be read"):
        read_state(row(broken, version))
