"""What is too long, and what does not fit, as people are told."""

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.kernel.misfit import Misfit, first_misfit
from forge.kernel.text import cut, cut_line


class _Shelf(BaseModel):
    books: list[int]


@pytest.mark.parametrize(
    ("text", "short"),
    [("", ""), ("12345", "12345"), ("123456", "1234…"), ("123 567", "123 …"), ("1\n3", "1\n3")],
)
def test_what_is_cut_is_as_long_as_it_may_be_and_says_so(text: str, short: str):
    assert cut(text, 5) == short


@pytest.mark.parametrize(
    ("text", "short"), [(" 1\n\t2 ", "1 2"), ("1 3 5", "1 3 5"), ("123 567", "123…"), ("1 3 567", "1 3…")]
)
def test_a_cut_line_is_one_line_without_a_blank_at_its_end(text: str, short: str):
    assert cut_line(text, 5) == short


def test_the_first_of_many_mistakes_is_told_with_its_place():
    with pytest.raises(ValidationError) as refused:
        _Shelf.model_validate({"books": [1, "two", "three"]})
    misfit = first_misfit(refused.value)
    said = "Input should be a valid integer, unable to parse string as an integer"
    assert misfit == Misfit(("books", 1), said, "int_parsing")
    assert (misfit.where, str(misfit)) == ("books.1", f"books.1: {said}")


def test_a_mistake_about_the_whole_has_no_place():
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(int).validate_python("no")
    misfit = first_misfit(refused.value)
    assert (misfit.where, str(misfit)) == ("", misfit.message)
