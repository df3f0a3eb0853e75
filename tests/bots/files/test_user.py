import time

import pytest
from tests.bots.files.told import told

from forge.bots.files.parsed import Parsed
from forge.bots.files.user import parse_user, render_user
from forge.bots.versions.models import MAX_CONTENT


@pytest.mark.parametrize("name", ["Ada", "-->", "a\n# b", "{name}", "<!--"])
def test_a_new_briefing_says_nothing_yet(name: str):
    assert parse_user(render_user(name)) == Parsed("")


def test_what_a_person_adds_is_read_without_the_comments():
    text = render_user("Ada").replace(
        "# Standing instructions\n", "# Standing instructions\n\nMetric units.\n"
    )
    value = parse_user(text).value
    assert value and "Metric units." in value and "<!--" not in value


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        ("\ufeffhello\r\n", "hello"),
        ("a <!-- x --> b <!-- y --> c", "a  b  c"),
        ("a\n<!-- x\ny\nz -->\nb", "a\nb"),
        ("a\n<!-- x\n```\ny -->\nb", "a\nb"),
        ("```html\n<!-- kept -->\n```\n", "```html\n<!-- kept -->\n```"),
        ("~~~\n```\n<!-- kept -->\n~~~\n<!-- gone -->\n", "~~~\n```\n<!-- kept -->\n~~~"),
        ("# Only\n\n## headings\n", ""),
        ("---\nname: no front matter here\n---\n", "---\nname: no front matter here\n---"),
    ],
)
def test_comments_are_for_people(text: str, said: str):
    assert parse_user(text) == Parsed(said)


def test_a_comment_that_does_not_end_hides_nothing():
    result = parse_user("a\nb <!-- one --> <!-- two\nc\n")
    assert result.value == "a\nb  <!-- two\nc"
    assert told(result) == ["2:16 warning: A comment begins here and does not end. Close it with `-->`."]


def test_a_nul_is_refused():
    result = parse_user("a\n\x00")
    assert result.value is None
    assert told(result) == ["2:1 error: There is a NUL character here. Remove it."]


@pytest.mark.parametrize("piece", ["<!--", "<!-- -->", "```\n", "# ", "# #", "#  ", "<!--\n", "-->"])
def test_a_long_file_of_nothing_but_marks_is_read(piece: str):
    assert parse_user(piece * (190_000 // len(piece))).value is not None


@pytest.mark.parametrize("blanks", [" ", "\t", " #", "#"])
def test_no_heading_takes_long_to_read(blanks: str):
    text = f"# a{blanks * (MAX_CONTENT // 2 - 10)}b"
    began = time.process_time()
    assert parse_user(text).value == ""
    assert time.process_time() - began < 5  # a pattern that goes back and forth takes minutes


def test_what_a_bot_was_made_for_is_told_in_one_line_and_hides_nothing():
    said = parse_user(render_user("Ada", "To sail\n# the <!-- seas"))
    assert said.problems == []
    assert (said.value or "").splitlines()[-1] == "I made Ada for this: To sail # the ! seas"
