"""How conversations and answers are printed: incremental Markdown, plain text, and hostile content."""

import io
from contextlib import redirect_stderr
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from forge.bots.chat.models import SkillUse, UseState
from forge.bots.chat.terminal.chat_output import (
    RETRIED,
    LiveView,
    ModelMarkdown,
    PlainView,
    highlighted,
    split_complete_blocks,
)
from forge.bots.mcp.bot_tools import visible_line

LINES = [
    "# Head",
    "word",
    "word",
    "",
    "",
    "```py",
    "x = 1",
    "```",
    "- a",
    "1. b",
    "> q",
    "    code",
    "<div>",
    "</div>",
    "---",
    "===",
    "  more\u2028",
]


def blocks(text: str) -> list[str]:
    return [token.type for token in ModelMarkdown(text).parsed if token.level == 0]


def plain_output(*texts: str) -> str:
    out = Console(file=io.StringIO(), width=80, color_system=None, force_terminal=False)
    for text in texts:
        out.print(ModelMarkdown(text))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_incremental_markdown_has_the_same_blocks_as_the_whole_text(lines: list[str]):
    text = "\n".join(lines)
    printed, rest = [""], ""
    for character in text:
        settled, rest = split_complete_blocks(rest + character)
        printed.append(settled)
    assert "".join(printed) + rest == text
    assert [kind for piece in [*printed, rest] for kind in blocks(piece)] == blocks(text)


def live_output(text: str, *pieces: str) -> str:
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=True)
    view = LiveView(out)
    view.begin("")
    for text_so_far in accumulate(pieces):
        view.write(text_so_far)
    view.end(text)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@given(st.text(alphabet="ab \n*#`-", max_size=60), st.integers(1, 7))
def test_live_view_ends_with_the_whole_answer(text: str, size: int):
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    letters = [letter for letter in live_output(text, *pieces).rpartition("\x1b[?25h")[2] if letter in "ab"]
    whole = [letter for letter in plain_output(text) if letter in "ab"]
    assert whole[len(whole) - len(letters) :] == letters


def test_missed_pieces_are_printed_at_the_end():
    assert "all of it" in live_output("all of it")


def test_list_is_rendered_without_a_leading_blank_line():
    seen = live_output("so:\n\n- a\n- b\n", "so:\n\n- a\n", "- b\n").rpartition("\x1b[2K")[2]
    assert seen.startswith(" • a")


def test_lost_connection_is_shown_once_inside_the_live_area():
    """Other output during a live update would leave stray lines on the screen."""
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=True)
    view = LiveView(out)
    view.begin("")
    view.write("one\ntwo")
    with redirect_stderr(io.StringIO()) as beside:
        view.disconnected("The server does not answer. Trying again …")
        view.disconnected("The server does not answer. Trying again …")
    view.end("one\ntwo")
    assert not beside.getvalue()
    assert isinstance(out.file, io.StringIO)
    assert "Trying again" in out.file.getvalue()
    assert out.file.getvalue().rpartition("\x1b[2K")[2].split() == ["one", "two"]


def test_links_show_their_urls_and_html_is_text():
    seen = plain_output(
        "[my bank](https://evil.example) <b>bold</b>\n\n<script>alert(1)</script>\n\n\x1b]0;x\x07"
    )
    assert "my bank (https://evil.example)" in seen
    assert "<b>bold</b>" in seen and "<script>alert(1)</script>" in seen
    assert "\x1b" not in seen and "\x07" not in seen


@pytest.mark.parametrize(
    "text", ["[" * 3000, ">" * 3000, "- " * 3000, "*a " * 2000, "`" * 3000, "![(" * 1000]
)
def test_hostile_markdown_is_printed(text: str):
    assert "end" in plain_output(f"{text}\n\nend")


def test_plain_view_prints_the_complete_answer(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    view.begin("")
    view.write("one ")
    view.end("one two")
    assert capsys.readouterr().out == "one two\n"
    view.begin("one ")
    view.end("one two\n")
    assert capsys.readouterr().out == "two\n"


def test_plain_view_prints_nothing_of_a_failed_attempt(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    view.begin("")
    view.write("An attempt that")
    view.write("The")
    view.write("The answer.")
    view.end("The answer.")
    assert capsys.readouterr().out == "The answer.\n"


def test_live_view_redraws_after_a_retry():
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=True)
    view = LiveView(out)
    view.begin("")
    view.write("An attempt that")
    view.write("The answer.")
    view.end("The answer.")
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue().rpartition("\x1b[2K")[2].split() == ["The", "answer."]


@pytest.mark.parametrize("is_retry_seen", [True, False])
def test_live_view_marks_blocks_of_a_failed_attempt(is_retry_seen: bool):
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=False)
    view = LiveView(out)
    view.begin("")
    view.write("An attempt\n\nthat\n")
    if is_retry_seen:
        view.write("The\n\nanswer.")
    view.end("The\n\nanswer.")
    assert isinstance(out.file, io.StringIO)
    lines = [line.strip() for line in out.file.getvalue().splitlines() if line.strip()]
    assert lines == ["An attempt", RETRIED, "The", "answer."]


def test_search_matches_are_highlighted():
    text = highlighted("where do ⟦pelicans⟧ and ⟦gulls⟧ nest")
    assert text.plain == "where do pelicans and gulls nest"
    assert [text.plain[span.start : span.end] for span in text.spans if span.style] == ["pelicans", "gulls"]


@given(st.text(max_size=700))
def test_tool_description_is_one_visible_line(text: str):
    line = visible_line(text)
    assert len(line) <= 500 and line == " ".join(line.split())
    assert line.isprintable() or "\u200d" in line


def use(state: UseState, **more: Any) -> SkillUse:
    values: dict[str, Any] = {"skill": "weather", "how": "ran", "duration_ms": 1234, **more}
    return SkillUse(id="1", state=state, started_at=datetime(2026, 3, 1, tzinfo=UTC), **values)


def test_live_view_prints_one_line_per_skill_use():
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=False)
    view = LiveView(out)
    view.begin("")
    view.write("I look.")
    view.skill(use(UseState.RUNNING))
    view.skill(use(UseState.DONE))
    view.write("I look.\n\nCold.")
    view.end("I look.\n\nCold.")
    assert isinstance(out.file, io.StringIO)
    lines = [line.rstrip() for line in out.file.getvalue().splitlines() if line.strip()]
    assert lines == ["I look.", "✓ ran weather, 1,234 ms", "Cold."]


def test_plain_view_writes_skill_uses_to_stderr(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    view.begin("")
    view.write("I look.")
    view.skill(use(UseState.RUNNING))
    view.skill(use(UseState.FAILED, output="No network.\x1b[2J\nAnd more."))
    view.skill(use(UseState.DONE, how="read", path="notes.md", duration_ms=None))
    view.end("I look.\n\nNo.")
    output = capsys.readouterr()
    assert output.out == "I look.\n\nNo.\n"
    assert output.err.splitlines() == [
        "✗ ran weather, 1,234 ms: No network.�[2J",
        "✓ read notes.md of weather",
    ]
