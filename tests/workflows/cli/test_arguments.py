"""Parsing of workflow inputs and samples given as command line arguments."""

import pytest
from pydantic import JsonValue

from forge.errors import Invalid
from forge.workflows.cli.arguments import declared_inputs, read_inputs, read_samples
from forge.workflows.definition.models import Input, InputType

INPUTS = {kind.value: Input(type=kind) for kind in InputType}


@pytest.mark.parametrize(
    ("argument", "value"),
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
def test_input_is_parsed_as_its_declared_type(argument: str, value: JsonValue):
    name = argument.partition("=")[0].strip()
    assert read_inputs([argument], INPUTS) == {name: value}


@pytest.mark.parametrize(
    "argument",
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
def test_input_of_another_type_is_rejected_with_an_example(argument: str):
    name = argument.partition("=")[0]
    with pytest.raises(Invalid, match=f"^The input {name} must be ") as caught:
        read_inputs([argument], INPUTS)
    assert caught.value.hint is not None
    assert caught.value.hint.startswith(f"Write it like {name}=")


@pytest.mark.parametrize("argument", ["topic", "=x", " =x", ""])
def test_input_must_have_the_form_name_equals_value(argument: str):
    with pytest.raises(Invalid, match="is not of the form NAME=VALUE"):
        read_inputs([argument], {})


def test_unknown_input_is_rejected_with_the_declared_names():
    with pytest.raises(Invalid, match="The workflow has no input 'topc'") as caught:
        read_inputs(["topc=x"], {"topic": Input(), "count": Input()})
    assert caught.value.hint == "Inputs: topic, count."


def test_workflow_without_declared_inputs_accepts_any_input():
    assert read_inputs(["a=1", "b=x", "a=2"], {}) == {"a": 2, "b": "x"}


def test_inputs_are_read_from_a_definition():
    assert declared_inputs({"inputs": {"n": {"type": "integer", "required": True}}}) == {
        "n": Input(type=InputType.INTEGER, required=True)
    }
    assert declared_inputs({}) == {}


def test_samples_are_parsed_as_json_or_text():
    assert read_samples(['fetch={"status": 200}', "ask=yes indeed"]) == {
        "fetch": {"status": 200},
        "ask": "yes indeed",
    }
