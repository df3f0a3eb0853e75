import pytest
from tests.interview.guide.facts import EDITED_SKILL, FACTS
from tests.interview.walk import (
    advance_to,
    choose,
    question_of,
    say,
    started,
    take,
    topic,
    walk_to_end,
    written_from_template,
)

from forge.interview import engine
from forge.interview.domain.build_config import SkillBuildRequest
from forge.interview.domain.config_builder import build_preview, to_skill_request
from forge.interview.domain.dialogue import AskQuestion, Clarify, Mode, Phase, WentBack
from forge.interview.domain.state import Due, State
from forge.skills.models import Capability, SkillKind

RATES = "Fetch exchange rates from the web and convert prices in a csv file"


def start_skill(description: str, **more: object) -> State:
    return started(description, mode=Mode.SKILL, **{"facts": FACTS, **more})


def pick(state: State, option_id: str) -> State:
    return choose(state, [option.id for option in question_of(state).options].index(option_id))


def test_instructions_skill_needs_no_capabilities():
    state = walk_to_end(start_skill("Summarize the minutes of our meetings"))
    assert [(one.asked.topic, one.asked.turn.phase) for one in state.exchanges] == [
        ("name", Phase.BASICS),
        ("steps", Phase.BASICS),
        ("trigger", Phase.PERSONALITY),
        ("kind", Phase.MODEL),
    ]
    assert to_skill_request(state) == SkillBuildRequest(
        name="summarize-minutes-meetings",
        description="Summarize the minutes of our meetings. Use it when someone asks for exactly this.",
        capabilities=[],
    )


def test_names_in_use_are_not_offered():
    taken = FACTS.model_copy(update={"skill_names": ["translate", "translate-helper-skill"]})
    state = advance_to(start_skill("Translate", facts=taken), "name")
    assert [option.label for option in question_of(state).options] == [
        "translate-helper",
        "translate-helper-skill-2",
    ]


def test_each_capability_is_confirmed_after_writing():
    state = advance_to(start_skill(RATES), "capabilities")
    assert question_of(state).options[0].label == "Read files and fetch from the web"
    state = choose(state)
    assert state.due is Due.WRITE
    state = engine.apply_written(state, written_from_template(state))
    assert topic(state) == "capability:read_file"
    assert not question_of(state).allow_free_text
    assert "“file”" in question_of(state).options[0].reason
    state = pick(state, "deny")
    assert topic(state) == "capability:http_get"
    state = pick(state, "allow")
    assert topic(state) == "ready"
    assert to_skill_request(state).capabilities == [Capability.HTTP_GET]


def test_capability_question_offers_allow_and_deny():
    state = choose(advance_to(start_skill(RATES), "capabilities"))
    state = engine.apply_written(state, written_from_template(state))
    turn = question_of(state)
    assert [option.id for option in turn.options] == ["allow", "deny"]
    assert turn.phase is Phase.SKILLS
    assert state.asked is not None and state.asked.extras == {}


def test_capability_answer_can_be_revised():
    state = choose(advance_to(start_skill(RATES), "capabilities"))
    state = pick(engine.apply_written(state, written_from_template(state)), "deny")
    state = take(state, WentBack())
    assert topic(state) == "capability:read_file"
    assert to_skill_request(pick(pick(state, "allow"), "allow")).capabilities == [
        Capability.READ_FILE,
        Capability.HTTP_GET,
    ]


@pytest.mark.parametrize(
    ("description", "kind"),
    [
        ("Write friendly birthday greetings", SkillKind.PROMPT),
        ("Count the words of a text", SkillKind.SCRIPT),
        ("Cut videos with ffmpeg", SkillKind.LOCAL),
    ],
)
def test_suitable_skill_kind_is_offered_first(description: str, kind: SkillKind):
    state = advance_to(start_skill(description), "kind")
    assert question_of(state).options[0].id == kind
    assert len(question_of(state).options) == len(SkillKind)


def test_skill_name_in_words_is_converted():
    assert say(start_skill(RATES), "../../Währungen & Kurse!").config.name == "wahrungen-kurse"


def test_existing_skill_names_are_not_suggested():
    state = start_skill("Summarize texts", facts=FACTS)
    assert "summarize" not in [option.id for option in question_of(state).options]


@pytest.mark.parametrize("description", ["", "hi", "a skill"])
def test_empty_skill_description_is_asked_for(description: str):
    state = start_skill(description)
    assert state.asked is not None and isinstance(state.asked.turn, Clarify)
    state = say(state, "Counts words")
    assert (topic(state), state.config.description) == ("name", "Counts words")


def test_steps_can_be_answered_in_words():
    state = say(
        advance_to(start_skill(RATES), "steps"), "Take the rates of the day.\nMultiply.\nGive a table."
    )
    assert state.config.steps == "Take the rates of the day.\nMultiply.\nGive a table."
    assert state.config.description == RATES


def test_skill_interview_offers_no_skip():
    state = walk_to_end(start_skill(RATES))
    assert all(one.asked.extras == {} for one in state.exchanges)
    assert all(isinstance(one.asked.turn, AskQuestion) for one in state.exchanges)


def test_skill_preview_shows_kind_and_trigger():
    state = advance_to(start_skill(RATES), "capabilities")
    preview = build_preview(state)
    assert preview.personality_summary == "A script: Use it when someone asks for exactly this."
    assert preview.model is None


def test_existing_skill_is_changed_as_requested():
    state = start_skill("answer as a table", basis=EDITED_SKILL)
    assert question_of(state).options[0].label == "What you said: “answer as a table”"
    state = pick(choose(state), "trigger")
    state = pick(pick(state, "named"), "done")
    assert state.due is Due.WRITE
    assert (state.config.steps, state.config.name) == ("answer as a table", "summarize")
    assert to_skill_request(state).description == (
        "Summarizes long texts. Use it only when someone asks for it by name."
    )


def test_existing_skill_without_changes_stays_the_same():
    state = pick(start_skill("", basis=EDITED_SKILL), "done")
    assert state.config == EDITED_SKILL.fields
    assert to_skill_request(state) == SkillBuildRequest(
        name="summarize", description="Summarizes long texts", capabilities=[]
    )


def test_change_in_words_sets_the_steps():
    state = say(start_skill("", basis=EDITED_SKILL), "Three sentences at most")
    assert topic(state) == "what:2"
    assert state.config.steps == "Three sentences at most"


def test_changing_to_a_script_asks_for_capabilities():
    state = pick(pick(start_skill("", basis=EDITED_SKILL), "kind"), "script")
    assert topic(state) == "capabilities"
