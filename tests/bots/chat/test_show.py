"""Answers on a screen: Markdown that is printed piece by piece, and text that cannot do more than be read."""

import io
from contextlib import redirect_stderr
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from forge.bots.chat.markdown import ModelMarkdown, split_settled
from forge.bots.chat.models import SkillUse, UseState
from forge.bots.chat.show import AGAIN, LiveView, PlainView, marked
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


def rendered(*texts: str) -> str:
    out = Console(file=io.StringIO(), width=80, color_system=None, force_terminal=False)
    for text in texts:
        out.print(ModelMarkdown(text))
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@given(st.lists(st.sampled_from(LINES), max_size=30))
def test_what_is_printed_for_good_is_what_it_would_be_in_the_whole(lines: list[str]):
    text = "\n".join(lines)
    printed, rest = [""], ""
    for character in text:
        settled, rest = split_settled(rest + character)
        printed.append(settled)
    assert "".join(printed) + rest == text
    assert [kind for piece in [*printed, rest] for kind in blocks(piece)] == blocks(text)


def written(text: str, *pieces: str) -> str:
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=True)
    view = LiveView(out)
    view.begin("")
    for piece in pieces:
        view.text(piece)
    view.end(text)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@given(st.text(alphabet="ab \n*#`-", max_size=60), st.integers(1, 7))
def test_everything_that_was_written_is_on_the_screen_in_the_end(text: str, size: int):
    pieces = [text[place : place + size] for place in range(0, len(text), size)]
    letters = [letter for letter in written(text, *pieces).rpartition("\x1b[?25h")[2] if letter in "ab"]
    whole = [letter for letter in rendered(text) if letter in "ab"]
    assert whole[len(whole) - len(letters) :] == letters


def test_an_answer_whose_beginning_was_missed_is_whole_in_the_end():
    assert "all of it" in written("all of it")


def test_a_list_begins_at_once():
    seen = written("so:\n\n- a\n- b\n", "so:\n\n- a\n", "- b\n").rpartition("\x1b[2K")[2]
    assert seen.startswith(" • a")


def test_that_the_server_is_away_is_said_in_place_and_once():
    """Whatever else is written while the answer moves leaves lines behind."""
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=True)
    view = LiveView(out)
    view.begin("")
    view.text("one\ntwo")
    with redirect_stderr(io.StringIO()) as beside:
        view.lost("The server does not answer. Trying again …")
        view.lost("The server does not answer. Trying again …")
    view.end("one\ntwo")
    assert not beside.getvalue()
    assert isinstance(out.file, io.StringIO)
    assert "Trying again" in out.file.getvalue()
    assert out.file.getvalue().rpartition("\x1b[2K")[2].split() == ["one", "two"]


def test_links_show_where_they_lead_and_html_is_text():
    seen = rendered(
        "[my bank](https://evil.example) <b>bold</b>\n\n<script>alert(1)</script>\n\n\x1b]0;x\x07"
    )
    assert "my bank (https://evil.example)" in seen
    assert "<b>bold</b>" in seen and "<script>alert(1)</script>" in seen
    assert "\x1b" not in seen and "\x07" not in seen


@pytest.mark.parametrize(
    "text", ["[" * 3000, ">" * 3000, "- " * 3000, "*a " * 2000, "`" * 3000, "![(" * 1000]
)
def test_hostile_markdown_is_printed(text: str):
    assert "end" in rendered(f"{text}\n\nend")


def test_plain_text_is_whole_whatever_was_missed(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    view.begin("")
    view.text("one ")
    view.end("one two")
    assert capsys.readouterr().out == "one two\n"
    view.begin("one ")
    view.end("one two\n")
    assert capsys.readouterr().out == "two\n"


def test_a_pipe_gets_nothing_of_a_try_that_broke_off(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    view.begin("")
    view.text("A try that")
    view.again("The")
    view.text(" answer.")
    view.end("The answer.")
    assert capsys.readouterr().out == "The answer.\n"


def test_what_moves_is_drawn_anew_when_the_model_is_asked_again():
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=True)
    view = LiveView(out)
    view.begin("")
    view.text("A try that")
    view.again("The answer.")
    view.end("The answer.")
    assert isinstance(out.file, io.StringIO)
    assert out.file.getvalue().rpartition("\x1b[2K")[2].split() == ["The", "answer."]


@pytest.mark.parametrize("is_heard", [True, False])
def test_what_was_printed_of_a_try_that_broke_off_is_said_not_to_count(is_heard: bool):
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=False)
    view = LiveView(out)
    view.begin("")
    view.text("A try\n\nthat\n")
    if is_heard:
        view.again("The\n\nanswer.")
    view.end("The\n\nanswer.")
    assert isinstance(out.file, io.StringIO)
    lines = [line.strip() for line in out.file.getvalue().splitlines() if line.strip()]
    assert lines == ["A try", AGAIN, "The", "answer."]


def test_the_words_of_a_search_stand_out():
    text = marked("where do ⟦pelicans⟧ and ⟦gulls⟧ nest")
    assert text.plain == "where do pelicans and gulls nest"
    assert [text.plain[span.start : span.end] for span in text.spans if span.style] == ["pelicans", "gulls"]


@given(st.text(max_size=700))
def test_descriptions_are_one_visible_line(text: str):
    line = visible_line(text)
    assert len(line) <= 500 and line == " ".join(line.split())
    assert line.isprintable() or "\u200d" in line


def use(state: UseState, **more: Any) -> SkillUse:
    values: dict[str, Any] = {"skill": "weather", "how": "ran", "duration_ms": 1234, **more}
    return SkillUse(id="1", state=state, started_at=datetime(2026, 3, 1, tzinfo=UTC), **values)


def test_skills_are_a_line_each_between_what_was_said():
    out = Console(file=io.StringIO(), width=60, height=20, color_system=None, force_terminal=False)
    view = LiveView(out)
    view.begin("")
    view.text("I look.")
    view.skill(use(UseState.RUNNING))
    view.skill(use(UseState.DONE))
    view.text("\n\nCold.")
    view.end("I look.\n\nCold.")
    assert isinstance(out.file, io.StringIO)
    lines = [line.rstrip() for line in out.file.getvalue().splitlines() if line.strip()]
    assert lines == ["I look.", "✓ ran weather, 1,234 ms", "Cold."]


def test_a_pipe_gets_the_answer_and_nothing_of_skills(capsys: pytest.CaptureFixture[str]):
    view = PlainView()
    view.begin("")
    view.text("I look.")
    view.skill(use(UseState.RUNNING))
    view.skill(use(UseState.FAILED, output="No network.\x1b[2J\nAnd more."))
    view.skill(use(UseState.DONE, how="read", path="notes.md", duration_ms=None))
    view.end("I look.\n\nNo.")
    said = capsys.readouterr()
    assert said.out == "I look.\n\nNo.\n"
    assert said.err.splitlines() == [
        "✗ ran weather, 1,234 ms: No network.�[2J",
        "✓ read notes.md of weather",
    ]
