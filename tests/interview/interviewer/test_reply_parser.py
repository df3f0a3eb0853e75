"""Parsing model replies: invalid values are repaired or dropped one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.interview_scripts import (
    FACTS,
    a_state,
    an_exchange,
    ask,
    clarify,
    option,
    ready,
    show_preview,
)

from forge.interview.domain.build_config import NOTHING, Fields, SkillRequest, VariantFields
from forge.interview.domain.categories import CustomPurpose, KnownPurpose
from forge.interview.domain.dialogue import AskQuestion, Clarify, Mode, Phase, ShowPreview
from forge.interview.domain.state import Basis, Exchange, State
from forge.interview.interviewer.model_reply import Action, ModelTurn
from forge.interview.interviewer.reply_parser import ParsedReply, parse_reply
from forge.skills.models import Capability, SkillKind


def hear(turn: dict[str, Any], state: State | None = None) -> ParsedReply:
    return parse_reply(state or a_state(), ModelTurn.model_validate(turn))


def question(turn: dict[str, Any], state: State | None = None) -> AskQuestion:
    asked = hear(turn, state).asked
    assert asked is not None and isinstance(asked.turn, AskQuestion)
    return asked.turn


def labels(turn: AskQuestion) -> list[str]:
    return [one.label for one in turn.options]


def test_each_option_has_its_patch():
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
def test_other_and_custom_options_are_removed(label: str):
    turn = question(ask("Which?", "Red", "Blue", label, allow_free_text=False))
    assert labels(turn) == ["Red", "Blue"]
    assert turn.allow_free_text


def test_label_that_only_begins_like_other_is_kept():
    assert labels(question(ask("Which?", "Other people's stories", "Custom rhymes"))) == [
        "Other people's stories",
        "Custom rhymes",
    ]


def test_at_most_five_distinct_options_are_kept():
    turn = question(ask("Which?", "Red", "red", *(f"Shade {number}" for number in range(9))))
    assert labels(turn) == ["Red", "Shade 0", "Shade 1", "Shade 2", "Shade 3"]
    assert len({one.id for one in turn.options}) == 5


def test_option_ids_come_from_labels_and_avoid_reserved_ones():
    turn = question(ask("Which?", "Skip", "日本語", "Très bien!"))
    assert [one.id for one in turn.options] == ["skip-1", "option-2", "tres-bien"]


def test_option_without_a_reason_gets_one():
    turn = question(
        ask("Which skills?", {"label": "Edit", "value": "editing"}, {"label": "Nothing"}, field="skills")
    )
    assert [one.reason for one in turn.options] == [
        FACTS.skills[1].reason,
        "It decides what it can do beyond talking.",
    ]


@pytest.mark.parametrize("options", [[], ["Red"], ["Red", "Other"], ["Red", "RED"]])
def test_question_with_fewer_than_two_options_becomes_clarify(options: list[str]):
    said = hear(ask("Which colour?", *options, field="tone")).asked
    assert said is not None
    assert said.turn == Clarify(phase=Phase.PERSONALITY, message="Which colour?")
    assert said.free == "tone"


def test_field_of_another_mode_is_ignored():
    said = hear(ask("When?", "Always", "Never", field="trigger")).asked
    assert said is not None
    assert (said.free, said.patches) == (None, [NOTHING, NOTHING])


def test_option_with_invalid_value_has_an_empty_patch():
    said = hear(
        ask("Which model?", option("Nonsense", "no:such"), option("The usual", "default"), field="model")
    )
    assert said.asked is not None
    assert said.asked.patches == [NOTHING, Fields(model="default")]


def test_model_cannot_go_back_to_an_earlier_phase():
    state = a_state(exchanges=[an_exchange(1, "Which model?", "A", "B", phase=Phase.MODEL)])
    assert question(ask("Name?", "A", "B", field="name"), state).phase is Phase.MODEL
    assert question(ask("Which?", "A", "B"), state).phase is Phase.MODEL
    assert question(ask("Skills?", "A", "B", phase="skills"), state).phase is Phase.SKILLS
    changed = state.replace(mode=Mode.RECONFIGURE)
    assert question(ask("Name?", "A", "B", field="name"), changed).phase is Phase.BASICS


@pytest.mark.parametrize("turn", [ready(), ask("All good?", "Yes", "No", phase="review")])
def test_review_phase_means_ready(turn: dict[str, Any]):
    said = hear(turn)
    assert (said.asked, said.is_ready) == (None, True)


def test_preview_includes_the_patch_of_the_turn():
    said = hear(show_preview(patch={"name": "Quill"}))
    assert said.asked is not None and isinstance(said.asked.turn, ShowPreview)
    assert said.asked.turn.preview.name == "Quill"
    assert not said.is_ready


@pytest.mark.parametrize(("label", "is_ready"), [("Yes", True), ("No", False)])
def test_preview_is_not_shown_twice_in_a_row(label: str, is_ready: bool):
    shown = hear(show_preview()).asked
    assert shown is not None
    before = an_exchange(1, "x", "Yes", "No")
    state = a_state(exchanges=[before.model_copy(update={"asked": shown, "label": label})])
    said = hear(show_preview(), state)
    assert said.is_ready is is_ready
    assert is_ready or isinstance(said.asked and said.asked.turn, Clarify)


def test_patch_values_are_validated_separately():
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


def test_empty_skills_differ_from_unset_skills():
    assert hear(ready(skills=[])).patch.skills == []
    assert hear(ready(skills=None)).patch.skills is None


def test_long_texts_are_cut_and_invalid_names_dropped():
    patch = hear(ready(name="!!!", description="word " * 1000)).patch
    assert patch.name is None
    assert patch.description is not None and len(patch.description) <= 1000


def test_patch_of_a_skill_has_skill_fields():
    state = a_state("Convert units", mode=Mode.SKILL)
    patch = ready(name="Unit Converter!", kind="Script", capabilities=["log", "fly"], tone="warm")
    assert hear(patch, state).patch == Fields(
        name="unit-converter", kind=SkillKind.SCRIPT, capabilities=[Capability.LOG]
    )
    assert hear(ready(capabilities=["fly"]), state).patch.capabilities is None
    assert hear(ready(capabilities=[]), state).patch.capabilities == []


def test_variants_are_distinct_and_limited():
    state = a_state(mode=Mode.BATCH, basis=Basis(variants=2))
    said = [{"name": "Quill"}, {"name": "Quill", "difference": "rhymes"}, {"name": "Third"}]
    found = hear(ready(variants=[*said, "nonsense"]), state).patch.variants
    assert found == [VariantFields(name="Quill"), VariantFields(name="Quill 2", difference="rhymes")]


@pytest.mark.parametrize(
    ("said", "purpose"),
    [
        ("coding", KnownPurpose.CODING),
        ("Customer Service", KnownPurpose.CUSTOMER_SERVICE),
        ("bedtime stories", CustomPurpose(custom="bedtime stories")),
        ("creative", None),
        (None, None),
        ("x" * 90, CustomPurpose(custom="x" * 50)),
    ],
)
def test_purpose_is_returned_only_when_it_changes(said: str | None, purpose: Any):
    assert hear(ask("?", "A", "B", purpose_category=said)).purpose == purpose


def test_keeps_is_limited_to_set_aside_answers():
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
def test_invalid_turn_raises_an_error_for_the_model(turn: dict[str, Any]):
    with pytest.raises(ValidationError):
        ModelTurn.model_validate(turn)


def test_minor_errors_are_tolerated():
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


def test_text_is_found_in_either_field():
    assert (
        hear({"action": "clarify", "question": "What do you mean?"}).asked
        == hear(clarify("What do you mean?")).asked
    )


def test_schema_is_supported_by_every_provider():
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
def test_any_reply_becomes_a_turn_or_ready(
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
