"""A model's turn as it is shown: what is malformed is put right or left out, value by value."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.interviews import FACTS, a_state, an_exchange, ask, clarify, option, ready, show_preview

from forge.interview.categories import Custom, Known
from forge.interview.config import NOTHING, Fields, SkillRequest, VariantFields
from forge.interview.phases import Mode, Phase
from forge.interview.speaking.hearing import Heard, heard
from forge.interview.speaking.reply import Action, ModelTurn
from forge.interview.state import Basis, Exchange, State
from forge.interview.turns import AskQuestion, Clarify, ShowPreview
from forge.skills.models import Capability, SkillKind


def hear(turn: dict[str, Any], state: State | None = None) -> Heard:
    return heard(state or a_state(), ModelTurn.model_validate(turn))


def question(turn: dict[str, Any], state: State | None = None) -> AskQuestion:
    asked = hear(turn, state).asked
    assert asked is not None and isinstance(asked.turn, AskQuestion)
    return asked.turn


def labels(turn: AskQuestion) -> list[str]:
    return [one.label for one in turn.options]


def test_a_question_says_what_each_option_means():
    said = hear(
        ask("How shall it sound?", option("Like a grandmother", "warm and calm"), "Sly", field="tone")
    ).asked
    assert said is not None
    assert said.turn == AskQuestion(
        phase=Phase.PERSONALITY,
        question="How shall it sound?",
        options=said.turn.options,  # type: ignore[union-attr]
        phase_label="Defining personality",
    )
    assert said.patches == [Fields(tone="warm and calm"), Fields(tone="Sly")]
    assert (said.free, said.topic) == ("tone", "model:0")


@pytest.mark.parametrize(
    "label",
    [
        "Other",
        "other…",
        "Something else",
        "Other (please specify)",
        "None of the above",
        "Custom",
        "Etwas anderes",
    ],
)
def test_ways_out_that_forge_adds_itself_are_left_out(label: str):
    turn = question(ask("Which?", "Red", "Blue", label, allow_free_text=False))
    assert labels(turn) == ["Red", "Blue"]
    assert turn.allow_free_text


def test_a_label_that_only_begins_like_a_way_out_stays():
    assert labels(question(ask("Which?", "Other people's stories", "Custom rhymes"))) == [
        "Other people's stories",
        "Custom rhymes",
    ]


def test_there_are_never_more_than_five_options_and_each_is_another():
    turn = question(ask("Which?", "Red", "red", *(f"Shade {number}" for number in range(9))))
    assert labels(turn) == ["Red", "Shade 0", "Shade 1", "Shade 2", "Shade 3"]
    assert len({one.id for one in turn.options}) == 5


def test_ids_are_made_of_labels_and_never_those_of_forges_own_options():
    turn = question(ask("Which?", "Skip", "日本語", "Très bien!"))
    assert [one.id for one in turn.options] == ["skip-1", "option-2", "tres-bien"]


def test_an_option_without_a_reason_gets_one():
    turn = question(
        ask("Which skills?", {"label": "Edit", "value": "editing"}, {"label": "Nothing"}, field="skills")
    )
    assert [one.reason for one in turn.options] == [
        FACTS.skills[1].reason,
        "It decides what it can do beyond talking.",
    ]


@pytest.mark.parametrize("options", [[], ["Red"], ["Red", "Other"], ["Red", "RED"]])
def test_a_question_without_a_choice_wants_words(options: list[str]):
    said = hear(ask("Which colour?", *options, field="tone")).asked
    assert said is not None
    assert said.turn == Clarify(phase=Phase.PERSONALITY, message="Which colour?")
    assert said.free == "tone"


def test_a_field_of_another_mode_is_no_field():
    said = hear(ask("When?", "Always", "Never", field="trigger")).asked
    assert said is not None
    assert (said.free, said.patches) == (None, [NOTHING, NOTHING])


def test_a_choice_that_cannot_be_put_down_is_left_to_the_model():
    said = hear(
        ask("Which model?", option("Nonsense", "no:such"), option("The usual", "default"), field="model")
    )
    assert said.asked is not None
    assert said.asked.patches == [NOTHING, Fields(model="default")]


def test_a_phase_never_goes_back_by_itself():
    state = a_state(exchanges=[an_exchange(1, "Which model?", "A", "B", phase=Phase.MODEL)])
    assert question(ask("Name?", "A", "B", field="name"), state).phase is Phase.MODEL
    assert question(ask("Which?", "A", "B"), state).phase is Phase.MODEL
    assert question(ask("Skills?", "A", "B", phase="skills"), state).phase is Phase.SKILLS
    changed = state.but(mode=Mode.RECONFIGURE)
    assert question(ask("Name?", "A", "B", field="name"), changed).phase is Phase.BASICS


@pytest.mark.parametrize("turn", [ready(), ask("All good?", "Yes", "No", phase="review")])
def test_review_means_ready(turn: dict[str, Any]):
    said = hear(turn)
    assert (said.asked, said.is_ready) == (None, True)


def test_a_preview_shows_what_was_just_understood():
    said = hear(show_preview(patch={"name": "Quill"}))
    assert said.asked is not None and isinstance(said.asked.turn, ShowPreview)
    assert said.asked.turn.preview.name == "Quill"
    assert not said.is_ready


@pytest.mark.parametrize(("label", "is_ready"), [("Yes", True), ("No", False)])
def test_a_preview_is_not_shown_twice_in_a_row(label: str, is_ready: bool):
    shown = hear(show_preview()).asked
    assert shown is not None
    before = an_exchange(1, "x", "Yes", "No")
    state = a_state(exchanges=[before.model_copy(update={"asked": shown, "label": label})])
    said = hear(show_preview(), state)
    assert said.is_ready is is_ready
    assert is_ready or isinstance(said.asked and said.asked.turn, Clarify)


def test_each_value_of_a_patch_stands_for_itself():
    patch = {
        "name": "Quill",
        "temperature": 9,
        "max_tokens": "2048",
        "model": "no:such",
        "tags": "stories, children, , stories",
        "skills": ["editing", "Rhyme Finder", "none"],
        "purpose": "  ",
        "traits": {"kind": "of wrong"},
        "boundaries": ["not", "text"],
        "kind": "prompt",
        "favourite_colour": "red",
    }
    assert hear(ready(**patch)).patch == Fields(
        name="Quill",
        max_tokens=2048,
        tags=["stories", "children"],
        skills=[
            SkillRequest(name="editing", description=FACTS.skills[1].description),
            SkillRequest(name="rhyme-finder"),
        ],
    )


def test_no_skills_is_something_else_than_nothing_said_about_skills():
    assert hear(ready(skills=[])).patch.skills == []
    assert hear(ready(skills=None)).patch.skills is None


def test_texts_that_are_too_long_are_cut_and_names_that_are_none_are_left_out():
    patch = hear(ready(name="!!!", description="word " * 1000)).patch
    assert patch.name is None
    assert patch.description is not None and len(patch.description) <= 1000


def test_a_skill_has_the_settings_of_a_skill():
    state = a_state("Convert units", mode=Mode.SKILL)
    patch = ready(name="Unit Converter!", kind="Script", capabilities=["log", "fly"], tone="warm")
    assert hear(patch, state).patch == Fields(
        name="unit-converter", kind=SkillKind.SCRIPT, capabilities=[Capability.LOG]
    )
    assert hear(ready(capabilities=["fly"]), state).patch.capabilities is None
    assert hear(ready(capabilities=[]), state).patch.capabilities == []


def test_variants_have_names_of_their_own_and_are_not_more_than_wanted():
    state = a_state(mode=Mode.BATCH, basis=Basis(variants=2))
    said = [{"name": "Quill"}, {"name": "Quill", "difference": "rhymes"}, {"name": "Third"}]
    found = hear(ready(variants=[*said, "nonsense"]), state).patch.variants
    assert found == [VariantFields(name="Quill"), VariantFields(name="Quill 2", difference="rhymes")]


@pytest.mark.parametrize(
    ("said", "purpose"),
    [
        ("coding", Known.CODING),
        ("Customer Service", Known.CUSTOMER_SERVICE),
        ("bedtime stories", Custom(custom="bedtime stories")),
        ("creative", None),
        (None, None),
        ("x" * 90, Custom(custom="x" * 50)),
    ],
)
def test_a_purpose_is_told_when_it_is_another(said: str | None, purpose: Any):
    assert hear(ask("?", "A", "B", purpose_category=said)).purpose == purpose


def test_only_answers_that_were_set_aside_are_kept():
    aside: list[Exchange] = [an_exchange(3, "Tone?", "A", "B"), an_exchange(4, "Model?", "A", "B")]
    said = hear(ready() | {"keeps": [4, 4, "3", 9, "x", None]}, a_state(set_aside=aside))
    assert said.keeps == [3, 4]


@pytest.mark.parametrize(
    "turn",
    [
        {},
        {"action": "dance"},
        {"action": "ask_question", "options": ["A", "B"]},
        {"action": "clarify", "message": "   "},
        {"action": "ready", "config": {}},
    ],
)
def test_what_cannot_be_shown_is_told_to_the_model(turn: dict[str, Any]):
    with pytest.raises(ValidationError):
        ModelTurn.model_validate(turn)


def test_what_is_only_a_little_wrong_is_read_all_the_same():
    turn = ModelTurn.model_validate(
        {
            "action": "Ready_To_Assemble",
            "phase": "elsewhere",
            "patch": None,
            "options": "none",
            "keeps": None,
            "question": 7,
        }
    )
    assert (turn.action, turn.phase, turn.question, turn.options) == (Action.READY, None, "7", [])
    asked = ModelTurn.model_validate(
        {"action": "ask_question", "question": "Which?", "options": ["A", {"label": "B"}, {"name": "C"}, 4]}
    )
    assert [one.label for one in asked.options] == ["A", "B"]
    assert ModelTurn.model_validate_json(asked.model_dump_json()) == asked


def test_a_turn_may_say_its_words_in_the_other_place():
    assert (
        hear({"action": "clarify", "question": "What do you mean?"}).asked
        == hear(clarify("What do you mean?")).asked
    )


def test_the_schema_is_one_that_every_provider_takes():
    schema = str(ModelTurn.model_json_schema())
    assert "oneOf" not in schema and "discriminator" not in schema
    assert len(schema) < 8000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
field_names = list(ModelTurn.model_json_schema()["$defs"]["ModelPatch"]["properties"])


@given(
    action=st.sampled_from(list(Action)),
    mode=st.sampled_from(list(Mode)),
    field=st.sampled_from([*field_names, "x"]),
    patch=st.dictionaries(st.sampled_from(field_names), json_values),
    options=st.lists(st.fixed_dictionaries({"label": json_values, "value": json_values}), max_size=8),
    rest=st.fixed_dictionaries({"phase": json_values, "keeps": json_values, "purpose_category": json_values}),
)
def test_whatever_a_model_says_becomes_a_turn_or_an_end(
    action: Action, mode: Mode, field: str, patch: dict[str, Any], options: list[Any], rest: dict[str, Any]
):
    turn = {
        "action": action,
        "question": "Which?",
        "field": field,
        "patch": patch,
        "options": options,
        **rest,
    }
    said = hear(turn, a_state(mode=mode))
    assert said.is_ready is (said.asked is None)
    if said.asked is not None and isinstance(said.asked.turn, AskQuestion):
        assert (
            len(said.asked.patches)
            == len(said.asked.turn.options)
            == len({o.id for o in said.asked.turn.options})
        )
