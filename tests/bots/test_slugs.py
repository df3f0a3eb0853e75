import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.bots.management.creation import slug_candidates, slug_of
from forge.bots.models import MAX_SLUG, SLUG_PATTERN
from forge.errors import Invalid


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Ada", "ada"),
        ("  Ada Lovelace  ", "ada-lovelace"),
        ("Ada -- the (2nd)!", "ada-the-2nd"),
        ("Zoë Straße", "zoe-strasse"),
        ("ﬁne ② Ⅳ", "fine-2-iv"),
        ("İstanbul", "istanbul"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\nb: 'c'\x00", "a-b-c"),
        ("Привет", "bot"),
        ("日本", "bot"),
        ("٣", "bot"),
        ("Ada 日本", "ada"),
        ("🤖 R2", "r2"),
        ("CON", "con-bot"),
        ("lpt1", "lpt1-bot"),
        ("con fused", "con-fused"),
        ("Import", "import-bot"),
        ("0197a1b2-0000-7000-8000-00000000000a", "0197a1b2-0000-7000-8000-00000000000a-bot"),
        ("x" * 10_000, "x" * 64),
        ("x" * 63 + " y", "x" * 63),
    ],
)
def test_slug_is_derived_from_the_name(name: str, slug: str):
    assert slug_of(name) == slug


@pytest.mark.parametrize("name", ["", "   ", "!!!", "---", "🤖", "../..", "\x00"])
def test_name_without_letter_or_digit_is_rejected(name: str):
    with pytest.raises(Invalid, match="letter or a digit"):
        slug_of(name)


@given(st.text().filter(lambda name: any(character.isalnum() for character in name)))
def test_slug_of_any_name_is_valid(name: str):
    for slug in slug_candidates(slug_of(name)):
        assert re.fullmatch(SLUG_PATTERN, slug) and len(slug) <= MAX_SLUG


def test_taken_slug_gets_a_number_up_to_100():
    assert list(slug_candidates("ada")) == ["ada", *(f"ada-{number}" for number in range(2, 101))]


def test_long_slug_is_shortened_for_its_number():
    long = "a" * 61 + "-bc"
    assert list(slug_candidates(long))[:2] == [long, "a" * 61 + "-2"]
    assert len(set(slug_candidates(long))) == 100
