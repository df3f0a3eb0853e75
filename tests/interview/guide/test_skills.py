import pytest
from tests.interview.guide.offers import EDITED_SKILL, FACTS
from tests.interview.walking import (
    choose,
    on_to,
    question_of,
    say,
    started,
    take,
    to_the_end,
    topic,
    written_plainly,
)

from forge.interview import engine
from forge.interview.answers import WentBack
from forge.interview.completing import preview_of, to_skill_request
from forge.interview.config import SkillBuildRequest
from forge.interview.phases import Mode, Phase
from forge.interview.state import Due, State
from forge.interview.turns import AskQuestion, Clarify
from forge.skills.models import Capability, SkillKind

RATES = "Fetch exchange rates from the web and convert prices in a csv file"


def about(description: str, **more: object) -> State:
    return started(description, mode=Mode.SKILL, **{"facts": FACTS, **more})


def pick(state: State, wanted: str) -> State:
    return choose(state, [option.id for option in question_of(state).options].index(wanted))


def test_instructions_need_no_capabilities():
    state = to_the_end(about("Summarize the minutes of our meetings"))
    assert [(one.asked.topic, one.asked.turn.phase) for one in state.exchanges] == [
        ("name", Phase.BASICS),
        ("steps", Phase.BASICS),
        ("trigger", Phase.PERSONALITY),
        ("kind", Phase.MODEL),
    ]
    assert to_skill_request(state) == SkillBuildRequest(
        name="summarize-minutes-meetings",
        description="Summarize the minutes of our meetings. Use it when somebody asks for exactly this.",
        capabilities=[],
    )


def test_each_capability_is_confirmed_by_itself_when_the_skill_is_written():
    state = on_to(about(RATES), "capabilities")
    assert question_of(state).options[0].label == "Read files and fetch from the web"
    state = choose(state)
    assert state.due is Due.WRITE
    state = engine.wrote(state, written_plainly(state))
    assert topic(state) == "capability:read_file"
    assert not question_of(state).allow_free_text
    assert "“file”" in question_of(state).options[0].reason
    state = pick(state, "deny")
    assert topic(state) == "capability:http_get"
    state = pick(state, "allow")
    assert topic(state) == "ready"
    assert to_skill_request(state).capabilities == [Capability.HTTP_GET]


def test_the_options_of_a_capability_are_to_allow_it_or_not():
    state = choose(on_to(about(RATES), "capabilities"))
    state = engine.wrote(state, written_plainly(state))
    turn = question_of(state)
    assert [option.id for option in turn.options] == ["allow", "deny"]
    assert turn.phase is Phase.SKILLS
    assert state.asked is not None and state.asked.extras == {}


def test_one_can_go_back_on_a_capability():
    state = choose(on_to(about(RATES), "capabilities"))
    state = pick(engine.wrote(state, written_plainly(state)), "deny")
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
def test_the_kind_that_suits_the_description_comes_first(description: str, kind: SkillKind):
    state = on_to(about(description), "kind")
    assert question_of(state).options[0].id == kind
    assert len(question_of(state).options) == len(SkillKind)


def test_a_name_in_words_becomes_one_a_folder_can_have():
    assert say(about(RATES), "../../Währungen & Kurse!").config.name == "wahrungen-kurse"


def test_names_of_the_library_are_not_suggested():
    state = about("Summarize texts", facts=FACTS)
    assert "summarize" not in [option.id for option in question_of(state).options]


@pytest.mark.parametrize("description", ["", "hi", "a skill"])
def test_a_description_that_says_nothing_is_asked_for(description: str):
    state = about(description)
    assert state.asked is not None and isinstance(state.asked.turn, Clarify)
    state = say(state, "Counts words")
    assert (topic(state), state.config.description) == ("name", "Counts words")


def test_the_steps_may_be_told_in_words():
    state = say(on_to(about(RATES), "steps"), "Take the rates of the day.\nMultiply.\nGive a table.")
    assert state.config.steps == "Take the rates of the day.\nMultiply.\nGive a table."
    assert state.config.description == RATES


def test_nothing_can_be_skipped_in_a_skill():
    state = to_the_end(about(RATES))
    assert all(one.asked.extras == {} for one in state.exchanges)
    assert all(isinstance(one.asked.turn, AskQuestion) for one in state.exchanges)


def test_its_preview_says_how_it_works_and_when():
    state = on_to(about(RATES), "capabilities")
    preview = preview_of(state)
    assert preview.personality_summary == "A script: Use it when somebody asks for exactly this."
    assert preview.model is None


def test_an_existing_skill_is_changed_in_what_somebody_says():
    state = about("answer as a table", basis=EDITED_SKILL)
    assert question_of(state).options[0].label == "What you said: “answer as a table”"
    state = pick(choose(state), "trigger")
    state = pick(pick(state, "named"), "done")
    assert state.due is Due.WRITE
    assert (state.config.steps, state.config.name) == ("answer as a table", "summarize")
    assert to_skill_request(state).description == (
        "Summarizes long texts. Use it only when somebody asks for it by its name."
    )


def test_an_existing_skill_that_nobody_changes_stays_as_it_is():
    state = pick(about("", basis=EDITED_SKILL), "done")
    assert state.config == EDITED_SKILL.fields
    assert to_skill_request(state) == SkillBuildRequest(
        name="summarize", description="Summarizes long texts", capabilities=[]
    )


def test_a_change_in_words_is_taken_as_what_it_should_do():
    state = say(about("", basis=EDITED_SKILL), "Three sentences at most")
    assert topic(state) == "what:2"
    assert state.config.steps == "Three sentences at most"


def test_instructions_that_become_a_script_are_asked_what_they_may_do():
    state = pick(pick(about("", basis=EDITED_SKILL), "kind"), "script")
    assert topic(state) == "capabilities"
