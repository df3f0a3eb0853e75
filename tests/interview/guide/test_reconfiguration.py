import pytest
from tests.interview.guide.facts import ATLAS, FACTS
from tests.interview.walk import advance, choose, question_of, say, started, take, topic

from forge.interview.domain.config_builder import to_config
from forge.interview.domain.dialogue import Confirmed, Mode, Phase, ReadyToAssemble, ShowPreview
from forge.interview.domain.state import State
from forge.interview.guide.questions import MAX_ROUNDS


def start_change(change_request: str = "") -> State:
    """Return the state after the preview, at the question what to change."""
    state = started(change_request, mode=Mode.RECONFIGURE, basis=ATLAS, facts=FACTS)
    assert state.asked is not None
    assert isinstance(state.asked.turn, ShowPreview)
    assert state.asked.turn.preview.name == "Atlas"
    return take(state, Confirmed(yes=True))


def pick(state: State, option_id: str) -> State:
    return choose(state, [option.id for option in question_of(state).options].index(option_id))


def test_asks_what_to_change_and_shows_current_settings():
    turn = question_of(start_change())
    assert [option.id for option in turn.options] == [
        *("personality", "identity", "skills", "model", "boundaries", "done"),
    ]
    reasons = {option.id: option.reason for option in turn.options}
    assert reasons["personality"] == "Now: friendly and calm."
    assert reasons["skills"] == "Now: summarize."
    assert "Never book anything." in reasons["boundaries"]


@pytest.mark.parametrize(
    ("change_request", "part"),
    [
        ("it should talk more formally", "personality"),
        ("give it another skill", "skills"),
        ("rename it", "identity"),
        ("use a cheaper model", "model"),
        ("it must never mention prices", "boundaries"),
    ],
)
def test_requested_change_is_offered_first(change_request: str, part: str):
    assert question_of(start_change(change_request)).options[0].id == part


def test_change_request_does_not_become_the_description():
    assert to_config(start_change("it should talk more formally")).description == "Plans trips"


def test_current_setting_can_be_kept():
    state = pick(start_change(), "personality")
    first = question_of(state).options[0]
    assert (first.id, first.label) == ("keep", "Keep it: friendly")
    assert "friendly" not in [option.id for option in question_of(state).options]
    assert choose(state).config == ATLAS.fields


def test_only_chosen_settings_change():
    state = pick(pick(pick(start_change(), "personality"), "formal"), "keep")
    assert topic(state) == "what:2"
    assert question_of(state).phase is Phase.REVIEW
    state = pick(state, "done")
    assert state.asked is not None
    assert isinstance(state.asked.turn, ReadyToAssemble)
    assert state.config == ATLAS.fields.model_copy(update={"tone": "formal"})


def test_several_parts_can_be_changed_in_turn():
    state = pick(start_change(), "boundaries")
    state = pick(state, "facts")
    state = pick(pick(state, "model"), "anthropic:claude-opus-5")
    assert topic(state) == "creativity@2"
    state = pick(pick(state, "precise"), "boundaries")
    assert topic(state) == "boundaries@3"
    assert "Keep it: - Never invent facts" in question_of(state).options[0].label
    assert (state.config.model, state.config.temperature) == ("anthropic:claude-opus-5", 0.2)


def test_part_can_be_named_in_words():
    assert topic(say(start_change(), "its tone")) == "tone"
    assert topic(say(start_change(), "nothing")) == "ready"


def test_unknown_part_is_asked_about():
    first = start_change()
    state = say(first, "blue bananas")
    assert question_of(state).options == question_of(first).options
    assert question_of(state).question != question_of(first).question
    assert topic(say(state, "the skills")) == "skills"


def test_additional_skills_are_suggested():
    state = pick(start_change(), "skills")
    assert [option.id for option in question_of(state).options] == [
        *("keep", "editing", "code-review", "plan-tasks", "none"),
    ]
    assert [one.name for one in pick(state, "editing").config.skills or []] == ["summarize", "editing"]
    assert pick(state, "none").config.skills == []


@pytest.mark.parametrize(
    ("text", "skills"),
    [
        ("add editing and Translate Letters", ["summarize", "editing", "translate-letters"]),
        ("remove summarize", []),
        ("plan-tasks", ["summarize", "plan-tasks"]),
        ("none", []),
    ],
)
def test_skills_can_be_added_and_removed_in_words(text: str, skills: list[str]):
    state = say(pick(start_change(), "skills"), text)
    assert [one.name for one in state.config.skills or []] == skills


def test_new_purpose_in_words_also_changes_the_description():
    state = say(pick(pick(start_change(), "identity"), "keep"), "Plans weddings, down to the flowers")
    assert state.config.purpose == "Plans weddings, down to the flowers."
    assert state.config.description == "Plans weddings, down to the flowers"
    assert state.config.name == "Atlas"


def test_endless_changes_end_in_the_review():
    state = start_change()
    for _ in range(60):
        if topic(state) == "ready":
            break
        state = pick(state, "personality") if topic(state).startswith("what") else advance(state)
    assert topic(state) == "ready"
    rounds = [one for one in state.exchanges if one.asked.topic.startswith("what")]
    assert len(rounds) <= MAX_ROUNDS
