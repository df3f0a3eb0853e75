"""Truncation of text and messages of validation errors."""

from typing import Annotated

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.kernel.text import NOT_BLANK, PatternRule, truncate, truncate_line
from forge.kernel.validation import ValidationProblem, first_problem


class _Numbers(BaseModel):
    values: list[int]


@pytest.mark.parametrize(
    ("text", "short"),
    [("", ""), ("12345", "12345"), ("123456", "1234…"), ("123 567", "123 …"), ("1\n3", "1\n3")],
)
def test_truncated_text_has_maximum_length_and_ellipsis(text: str, short: str):
    assert truncate(text, 5) == short


@pytest.mark.parametrize(
    ("text", "short"), [(" 1\n\t2 ", "1 2"), ("1 3 5", "1 3 5"), ("123 567", "123…"), ("1 3 567", "1 3…")]
)
def test_truncated_line_has_no_trailing_space(text: str, short: str):
    assert truncate_line(text, 5) == short


def test_first_problem_has_its_location():
    with pytest.raises(ValidationError) as error:
        _Numbers.model_validate({"values": [1, "two", "three"]})
    problem = first_problem(error.value)
    message = "Input should be a valid integer, unable to parse string as an integer"
    assert problem == ValidationProblem(("values", 1), message, "int_parsing")
    assert (problem.where, str(problem)) == ("values.1", f"values.1: {message}")


def test_problem_of_the_whole_value_has_no_path():
    with pytest.raises(ValidationError) as error:
        TypeAdapter(int).validate_python("no")
    problem = first_problem(error.value)
    assert (problem.where, str(problem)) == ("", problem.message)


NAME: TypeAdapter[str] = TypeAdapter(Annotated[str, PatternRule("^[a-z]{1,3}$", "must have 1 to 3 letters")])


def test_matching_text_is_accepted():
    assert NAME.validate_python("abc") == "abc"


@pytest.mark.parametrize("text", ["", "ab1", "abcd", "ab\n"])
def test_mismatch_is_reported_with_the_rule(text: str):
    with pytest.raises(ValidationError) as error:
        NAME.validate_python(text)
    assert error.value.errors()[0]["msg"] == "Value error, must have 1 to 3 letters"


def test_json_schema_contains_the_pattern():
    assert NAME.json_schema() == {"type": "string", "pattern": "^[a-z]{1,3}$"}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0"])
def test_blank_text_is_rejected(text: str):
    message = TypeAdapter(Annotated[str, NOT_BLANK])
    with pytest.raises(ValidationError, match="must not be blank"):
        message.validate_python(text)
    assert message.validate_python(" a\n") == " a\n"
    assert message.json_schema()["pattern"] == r"\S"
