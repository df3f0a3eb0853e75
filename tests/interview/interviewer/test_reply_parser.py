"""Parsing model replies: invalid values are repaired or dropped one by one."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.support.interview_scripts import (
    FACTS,
    STORIES,
    ask,
    clarify,
    make_exchange,
    make_state,
    option,
    ready,
    show_preview,
)

from forge.interview.domain.build_config import NOTHING, Fields, SkillRequest, VariantFields
from forge.interview.domain.categories import CustomPurpose, KnownPurpose
from forge.interview.domain.dialogue import AskQuestion, Clarify, Mode, Phase, ShowPreview
from forge.interview.domain.state import Basis, Exchange, State
from forge.interview.interviewer.model_reply import ModelQuestion, ModelReady, ModelReply
from forge.interview.interviewer.reply_parser import ParsedReply, parse_reply
from forge.skills.models import Capability, SkillKind


def parse(turn: dict[str, Any], state: State | None = None) -> ParsedReply:
    return parse_reply(state or make_state(), ModelReply.model_validate(turn))


def question(turn: dict[str, Any], state: State | None = None) -> AskQuestion:
    asked = parse(turn, state).asked
    assert asked is not None and isinstance(asked.turn, AskQuestion)
    return asked.turn


def labels(turn: AskQuestion) -> list[str]:
    return [one.label for one in turn.options]


def test_each_option_has_its_patch():
    reply = parse(
        ask("How shall it sound?", option("Warm and calm", "warm, calm"), "Sly", field="tone")
    ).asked
    assert reply is not None
    assert reply.turn == AskQuestion(
        phase=Phase.PERSONALITY,
        question="How shall it sound?",
        options=reply.turn.options,  # type: ignore[union-attr]
        phase_label="Defining personality",
    )
    assert reply.patches == [Fields(tone="Warm and calm"), Fields(tone="Sly")]
    assert (reply.free, reply.topic) == ("tone", "model:0")


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
    reply = parse(ask("Which colour?", *options, field="tone")).asked
    assert reply is not None
    assert reply.turn == Clarify(phase=Phase.PERSONALITY, message="Which colour?")
    assert reply.free == "tone"


def test_field_of_another_mode_is_ignored():
    reply = parse(ask("When?", "Always", "Never", field="trigger")).asked
    assert reply is not None
    assert (reply.free, reply.patches) == (None, [NOTHING, NOTHING])


def test_option_with_invalid_value_has_an_empty_patch():
    reply = parse(
        ask("Which model?", option("Nonsense", "no:such"), option("The usual", "default"), field="model")
    )
    assert reply.asked is not None
    assert reply.asked.patches == [NOTHING, Fields(model="default")]


@pytest.mark.parametrize(
    ("field", "label", "value", "shown", "stored"),
    [
        ("name", "Call it Quill", "Quill", "Call it Quill", Fields(name="Quill")),
        ("name", "Chef", "Kitchen Bot", "Chef", Fields(name="Chef")),
        ("tone", "Warm", "cold", "Warm", Fields(tone="Warm")),
        ("tone", "Like a grandmother", "warm", "Like a grandmother", Fields(tone="Like a grandmother")),
        ("boundaries", "No advice", "advice", "No advice", Fields(boundaries="No advice")),
        (
            "traits",
            "It is kind and clear",
            "kind, clear",
            "It is kind and clear",
            Fields(traits=["kind", "clear"]),
        ),
        ("traits", "Kind", "strict, harsh", "Kind", Fields(traits=["Kind"])),
        ("temperature", "Precise", "0.2", "Precise", Fields(temperature=0.2)),
        ("temperature", "Precise", "1.5", "Precise", Fields(temperature=0.2)),
        ("temperature", "A little freer", "0.7", "A little freer (0.7)", Fields(temperature=0.7)),
        ("model", "The usual", "default", "The usual (default)", Fields(model="default")),
        ("model", "Scripted", "default", "Scripted", Fields(model="demo:scripted")),
        ("skills", "None for now", "none", "None for now", Fields(skills=[])),
        ("skills", "Keep it simple", "none", "Keep it simple (none)", Fields(skills=[])),
        (
            "skills",
            "editing",
            "text-generation",
            "editing",
            Fields(skills=[SkillRequest.of(FACTS.skills[1])]),
        ),
        (
            *("skills", "Polish drafts", "editing", "Polish drafts (editing)"),
            Fields(skills=[SkillRequest.of(FACTS.skills[1])]),
        ),
    ],
)
def test_label_says_what_is_stored(field: str, label: str, value: str, shown: str, stored: Fields):
    reply = parse(ask("Which?", option(label, value), option("Zebra", None), field=field)).asked
    assert reply is not None and isinstance(reply.turn, AskQuestion)
    assert (reply.turn.options[0].label, reply.patches[0]) == (shown, stored)


def test_names_in_use_are_not_offered():
    facts = FACTS.model_copy(update={"bot_names": ["Quill", "Atlas"], "skill_names": ["count-words"]})
    turn = ask("Its name?", option("Call it quill", "quill"), "ATLAS", "Luna", "Owl", field="name")
    assert labels(question(turn, make_state(facts=facts))) == ["Luna", "Owl"]
    own = make_state(mode=Mode.RECONFIGURE, basis=Basis(fields=Fields(name="Atlas")), facts=facts)
    assert labels(question(turn, own)) == ["ATLAS", "Luna", "Owl"]
    names = ask("Its name?", "Count words", option("Words", "count-words"), "tally", field="name")
    skill = make_state("Count words", mode=Mode.SKILL, facts=facts)
    assert labels(question(names, skill)) == ["Words", "tally"]


def test_question_with_only_names_in_use_is_asked_without_options():
    facts = FACTS.model_copy(update={"bot_names": ["Quill", "Atlas"]})
    reply = parse(ask("Its name?", "Quill", "Atlas", field="name"), make_state(facts=facts)).asked
    assert reply is not None and reply.turn == Clarify(phase=Phase.BASICS, message="Its name?")


def test_model_cannot_go_back_to_an_earlier_phase():
    state = make_state(exchanges=[make_exchange(1, "Which model?", "A", "B", phase=Phase.MODEL)])
    assert question(ask("Name?", "A", "B", field="name"), state).phase is Phase.MODEL
    assert question(ask("Which?", "A", "B"), state).phase is Phase.MODEL
    assert question(ask("Skills?", "A", "B", phase="skills"), state).phase is Phase.SKILLS
    changed = state.replace(mode=Mode.RECONFIGURE)
    assert question(ask("Name?", "A", "B", field="name"), changed).phase is Phase.BASICS


@pytest.mark.parametrize("turn", [ready(), ask("All good?", "Yes", "No", phase="review")])
def test_review_phase_means_ready(turn: dict[str, Any]):
    reply = parse(turn)
    assert (reply.asked, reply.is_ready) == (None, True)


def test_preview_includes_the_patch_of_the_turn():
    reply = parse(show_preview(patch={"name": "Quill"}), make_state(f"{STORIES} named Quill"))
    assert reply.asked is not None and isinstance(reply.asked.turn, ShowPreview)
    assert reply.asked.turn.preview.name == "Quill"
    assert not reply.is_ready


@pytest.mark.parametrize(("label", "is_ready"), [("Yes", True), ("No", False)])
def test_preview_is_not_shown_twice_in_a_row(label: str, is_ready: bool):
    shown = parse(show_preview()).asked
    assert shown is not None
    before = make_exchange(1, "x", "Yes", "No")
    state = make_state(exchanges=[before.model_copy(update={"asked": shown, "label": label})])
    reply = parse(show_preview(), state)
    assert reply.is_ready is is_ready
    assert is_ready or isinstance(reply.asked and reply.asked.turn, Clarify)


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
        "favorite_colour": "red",
    }
    assert parse(ready(**patch), make_state(f"{STORIES} named Quill")).patch == Fields(
        name="Quill",
        max_tokens=2048,
        tags=["stories", "children"],
        skills=[
            SkillRequest(name="editing", description=FACTS.skills[1].description),
            SkillRequest(name="rhyme-finder"),
        ],
    )


@pytest.mark.parametrize(
    "patch",
    [
        {"name": "Quill"},
        {"purpose": "It tells stories to Anna."},
        {"purpose": "It tells stories to children of 5."},
        {"purpose": "What do you mean?"},
        {"description": "I don't know."},
        {"boundaries": "Never later than 8 o'clock."},
        {"traits": ["kind", "raised in Vienna"]},
        {"tone": "like Hemingway, but shorter"},
    ],
)
def test_values_that_the_person_did_not_say_are_dropped(patch: dict[str, Any]):
    assert parse(ready(**patch)).patch == NOTHING


def test_values_may_use_all_that_the_person_said_or_was_offered():
    state = make_state(
        f"{STORIES} named Anna and Ben",
        basis=Basis(old_soul="# Purpose\nStories before 8 o'clock."),
        exchanges=[
            make_exchange(1, "For what age?", "Five", "Six", answer="she is 5, he is 7"),
            make_exchange(2, "Its name?", "Quill", "Owl", answer="the second one"),
        ],
    )
    patch = {
        "name": "Owl",
        "purpose": "Owl tells stories to Anna, aged five, and Ben, aged 7.",
        "boundaries": "Never after 8 o'clock.",
    }
    assert parse(ready(**patch), state).patch == Fields.model_validate(patch)


def test_choice_of_the_person_is_not_replaced_by_the_model():
    chosen = make_exchange(1, "Tone?", "Warm", "Sly", patch=Fields(tone="Warm"))
    said = make_exchange(1, "Tone?", "Warm", "Sly", answer="warm I think", patch=Fields(tone="warm I think"))
    reply = ready(tone="cold", traits=["kind"])
    assert parse(reply, make_state(exchanges=[chosen])).patch == Fields(traits=["kind"])
    assert parse(reply, make_state(exchanges=[said])).patch == Fields(tone="cold", traits=["kind"])


def test_empty_skills_differ_from_unset_skills():
    assert parse(ready(skills=[])).patch.skills == []
    assert parse(ready(skills=None)).patch.skills is None


def test_long_texts_are_cut_and_invalid_names_dropped():
    patch = parse(ready(name="!!!", description="word " * 1000)).patch
    assert patch.name is None
    assert patch.description is not None and len(patch.description) <= 1000


def test_patch_of_a_skill_has_skill_fields():
    state = make_state("Convert units", mode=Mode.SKILL)
    patch = ready(name="Unit Converter!", kind="Script", capabilities=["log", "fly"], tone="warm")
    assert parse(patch, state).patch == Fields(
        name="unit-converter", kind=SkillKind.SCRIPT, capabilities=[Capability.LOG]
    )
    assert parse(ready(capabilities=["fly"]), state).patch.capabilities is None
    assert parse(ready(capabilities=[]), state).patch.capabilities == []


def test_variants_are_distinct_and_limited():
    state = make_state(mode=Mode.BATCH, basis=Basis(variants=2))
    variants = [{"name": "Quill"}, {"name": "Quill", "difference": "rhymes"}, {"name": "Third"}]
    found = parse(ready(variants=[*variants, "nonsense"]), state).patch.variants
    assert found == [VariantFields(name="Quill"), VariantFields(name="Quill 2", difference="rhymes")]


@pytest.mark.parametrize(
    ("category", "purpose"),
    [
        ("coding", KnownPurpose.CODING),
        ("Customer Service", KnownPurpose.CUSTOMER_SERVICE),
        ("bedtime stories", CustomPurpose(custom="bedtime stories")),
        ("creative", None),
        (None, None),
        ("x" * 90, CustomPurpose(custom="x" * 50)),
    ],
)
def test_purpose_is_returned_only_when_it_changes(category: str | None, purpose: Any):
    assert parse(ask("?", "A", "B", purpose_category=category)).purpose == purpose


def test_keeps_is_limited_to_set_aside_answers():
    aside: list[Exchange] = [make_exchange(3, "Tone?", "A", "B"), make_exchange(4, "Model?", "A", "B")]
    reply = parse(ready() | {"keeps": [4, 4, "3", 9, "x", None]}, make_state(set_aside=aside))
    assert reply.keeps == [3, 4]


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
        ModelReply.model_validate(turn)


def test_minor_errors_are_tolerated():
    reply = ModelReply.model_validate(
        {"turn": {"action": "Ready_To_Assemble", "phase": "elsewhere"}, "patch": None, "keeps": None}
    )
    assert reply == ModelReply(turn=ModelReady(action="ready"))
    options = ["A", {"label": "B"}, {"name": "C"}, 4]
    asked = ModelReply.model_validate({"turn": {"action": "ask_question", "question": 7, "options": options}})
    assert isinstance(asked.turn, ModelQuestion)
    assert asked.turn.question == "7"
    assert [one.label for one in asked.turn.options] == ["A", "B"]
    assert ModelReply.model_validate_json(asked.model_dump_json()) == asked


def test_turn_beside_the_patch_is_accepted():
    """Without constrained decoding, models leave out the nesting."""
    nested = ask("Which?", "A", "B", field="tone", patch={"name": "Quill"})
    flat = {"patch": nested["patch"], **nested["turn"]}
    assert ModelReply.model_validate(flat) == ModelReply.model_validate(nested)


def test_text_is_found_in_either_field():
    assert (
        parse({"turn": {"action": "clarify", "question": "What do you mean?"}}).asked
        == parse(clarify("What do you mean?")).asked
    )


def test_schema_requires_the_fields_of_each_action():
    """A model whose decoding follows the schema cannot leave out the question."""
    schema = ModelReply.model_json_schema()
    turns = [schema["$defs"][one["$ref"].rpartition("/")[2]] for one in schema["properties"]["turn"]["anyOf"]]
    assert schema["required"] == ["turn"]
    assert {one["properties"]["action"]["const"]: one["required"] for one in turns} == {
        "ask_question": ["action", "question", "options"],
        "clarify": ["action", "message"],
        "show_preview": ["action"],
        "ready": ["action"],
    }
    assert all(next(iter(one["properties"])) == "action" for one in turns)


def test_schema_is_supported_by_every_provider():
    schema = ModelReply.model_json_schema()
    assert schema["type"] == "object" and not {"anyOf", "oneOf"} & set(schema)
    assert "oneOf" not in str(schema) and "discriminator" not in str(schema)
    assert len(str(schema)) < 8000


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
field_names = list(ModelReply.model_json_schema()["$defs"]["ModelPatch"]["properties"])


@given(
    action=st.sampled_from(["ask_question", "clarify", "show_preview", "ready"]),
    mode=st.sampled_from(list(Mode)),
    field=st.sampled_from([*field_names, "x"]),
    patch=st.dictionaries(st.sampled_from(field_names), json_values),
    options=st.lists(st.fixed_dictionaries({"label": json_values, "value": json_values}), max_size=8),
    rest=st.fixed_dictionaries({"phase": json_values, "keeps": json_values, "purpose_category": json_values}),
)
def test_any_reply_becomes_a_turn_or_ready(
    action: str, mode: Mode, field: str, patch: dict[str, Any], options: list[Any], rest: dict[str, Any]
):
    turn = {
        "action": action,
        "question": "Which?",
        "field": field,
        "patch": patch,
        "options": options,
        **rest,
    }
    reply = parse(turn, make_state(mode=mode))
    assert reply.is_ready is (reply.asked is None)
    if reply.asked is not None and isinstance(reply.asked.turn, AskQuestion):
        assert (
            len(reply.asked.patches)
            == len(reply.asked.turn.options)
            == len({o.id for o in reply.asked.turn.options})
        )
