from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

from forge.kernel.spelling import Spelling
from forge.kernel.text import NOT_BLANK

NAME: TypeAdapter[str] = TypeAdapter(Annotated[str, Spelling("^[a-z]{1,3}$", "must have 1 to 3 letters")])


def test_what_fits_is_taken_as_it_is():
    assert NAME.validate_python("abc") == "abc"


@pytest.mark.parametrize("text", ["", "ab1", "abcd", "ab\n"])
def test_what_does_not_fit_is_told_the_rule_in_words(text: str):
    with pytest.raises(ValidationError) as refused:
        NAME.validate_python(text)
    assert refused.value.errors()[0]["msg"] == "Value error, must have 1 to 3 letters"


def test_machines_are_told_the_pattern():
    assert NAME.json_schema() == {"type": "string", "pattern": "^[a-z]{1,3}$"}


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u00a0"])
def test_a_text_without_words_is_told_to_say_something(text: str):
    said = TypeAdapter(Annotated[str, NOT_BLANK])
    with pytest.raises(ValidationError, match="must say something"):
        said.validate_python(text)
    assert said.validate_python(" a\n") == " a\n"
    assert said.json_schema()["pattern"] == r"\S"
