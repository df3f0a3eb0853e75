import time

import pytest
from tests.bots.files.problem_lines import problem_lines

from forge.bots.files.parsed import Parsed
from forge.bots.files.user import parse_user, render_user
from forge.bots.models import MAX_CONTENT


@pytest.mark.parametrize("name", ["Ada", "-->", "a\n# b", "{name}", "<!--"])
def test_new_user_file_is_empty_for_the_bot(name: str):
    assert parse_user(render_user(name)) == Parsed("")


def test_user_text_is_read_without_comments():
    text = render_user("Ada").replace(
        "# Standing instructions\n", "# Standing instructions\n\nMetric units.\n"
    )
    value = parse_user(text).value
    assert value and "Metric units." in value and "<!--" not in value


@pytest.mark.parametrize(
    ("text", "expected"),
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
def test_comments_are_removed(text: str, expected: str):
    assert parse_user(text) == Parsed(expected)


def test_unclosed_comment_is_kept_with_warning():
    result = parse_user("a\nb <!-- one --> <!-- two\nc\n")
    assert result.value == "a\nb  <!-- two\nc"
    assert problem_lines(result) == ["2:16 warning: The comment is not closed. Close it with `-->`."]


def test_nul_is_rejected():
    result = parse_user("a\n\x00")
    assert result.value is None
    assert problem_lines(result) == ["2:1 error: The text contains a NUL character. Remove it."]


@pytest.mark.parametrize("piece", ["<!--", "<!-- -->", "```\n", "# ", "# #", "#  ", "<!--\n", "-->"])
def test_long_file_of_only_markup_is_parsed(piece: str):
    assert parse_user(piece * (190_000 // len(piece))).value is not None


@pytest.mark.parametrize("blanks", [" ", "\t", " #", "#"])
def test_heading_is_parsed_in_linear_time(blanks: str):
    text = f"# a{blanks * (MAX_CONTENT // 2 - 10)}b"
    started = time.process_time()
    assert parse_user(text).value == ""
    assert time.process_time() - started < 5  # a backtracking pattern would take minutes


def test_purpose_is_written_on_one_line():
    result = parse_user(render_user("Ada", "To sail\n# the <!-- seas"))
    assert result.problems == []
    assert (result.value or "").splitlines()[-1] == "I made Ada for this: To sail # the ! seas"
