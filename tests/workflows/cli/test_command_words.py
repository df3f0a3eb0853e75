"""What people write about workflows at the command line, and what is understood."""

import pytest
from pydantic import JsonValue

from forge.errors import Invalid
from forge.workflows.cli.arguments import declared_inputs, read_inputs, read_samples
from forge.workflows.definition.models import Input, InputType

DECLARED = {kind.value: Input(type=kind) for kind in InputType}


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("string=3", "3"),
        ("string= a=b ", " a=b "),
        ("string=", ""),
        ("integer=3", 3),
        ("number=3", 3),
        ("number=-2.5e3", -2500.0),
        ("boolean=true", True),
        ("boolean=False", False),
        ('array=["a", 1]', ["a", 1]),
        ('object={"a": {"b": null}}', {"a": {"b": None}}),
        ("any=3", 3),
        ("any=[1]", [1]),
        ("any=three words", "three words"),
        ("any=NaN", "NaN"),
        ("any=" + "[" * 100_000, "[" * 100_000),
        (" integer =3", 3),
    ],
)
def test_an_input_has_the_type_that_is_declared(given: str, value: JsonValue):
    name = given.partition("=")[0].strip()
    assert read_inputs([given], DECLARED) == {name: value}


@pytest.mark.parametrize(
    "given",
    [
        "integer=three",
        "integer=2.5",
        "integer=",
        "number=NaN",
        "number=Infinity",
        "number=1,5",
        "boolean=maybe",
        "array=a,b",
        'array={"a": 1}',
        "object=[1]",
        "object=",
        "array=" + "[" * 100_000,
    ],
)
def test_what_is_not_of_that_type_is_refused_with_an_example(given: str):
    name = given.partition("=")[0]
    with pytest.raises(Invalid, match=f"^The input {name} is ") as caught:
        read_inputs([given], DECLARED)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(f"Such as {name}=")


@pytest.mark.parametrize("given", ["topic", "=x", " =x", ""])
def test_an_input_without_a_name_or_value_is_refused(given: str):
    with pytest.raises(Invalid, match="is no name with a value"):
        read_inputs([given], {})


def test_a_misspelt_input_is_noticed_and_the_right_ones_are_named():
    with pytest.raises(Invalid, match="It has no input 'topc'") as caught:
        read_inputs(["topc=x"], {"topic": Input(), "count": Input()})
    assert caught.value.hint == "It has: topic, count."


def test_a_workflow_that_declares_nothing_takes_anything():
    assert read_inputs(["a=1", "b=x", "a=2"], {}) == {"a": 2, "b": "x"}


def test_inputs_are_read_from_a_definition():
    assert declared_inputs({"inputs": {"n": {"type": "integer", "required": True}}}) == {
        "n": Input(type=InputType.INTEGER, required=True)
    }
    assert declared_inputs({}) == {}


def test_samples_are_json_and_what_is_none_is_text():
    assert read_samples(['fetch={"status": 200}', "ask=yes indeed"]) == {
        "fetch": {"status": 200},
        "ask": "yes indeed",
    }
