"""Any file content is parsed or reported, and a change affects one key."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bots.files.strategies import NASTY

from forge.bots.files.identity import change_identity
from forge.bots.files.problems import find_problems
from forge.bots.models import BotFile
from forge.documents.frontmatter import read_front_matter
from forge.errors import Invalid

MORE = settings(max_examples=300, deadline=None)

WORDS = [
    "name",
    "display_name",
    "model",
    "tags",
    "a",
    "1.0",
    "null",
    "~",
    "é",
    "😀",
    ":",
    "-",
    "?",
    "[",
    "]",
    "{",
    "}",
    ",",
    "*x",
    "|",
    ">-",
    "|+",
    "'",
    "#",
    "---",
    "...",
    "%",
    "\\",
]
SPACED = [": ", "- ", "? ", "&x ", "!t ", " # c", " ", '"', "\t", "\n", "\n  ", "\n\n", "\r\n"]
ODD = ["\u2028", "\ufeff", "\x85", "\x00", "\ud800"]
TOML = [
    "[skills.a]",
    "[skills",
    "]",
    "[[",
    "skills",
    "a",
    ".",
    "=",
    "true",
    "1",
    "'",
    "#",
    "{",
    "}",
    ",",
    "\\",
    "enabled",
    "version",
    "2024-01-01",
    "é",
]
QUOTES = ['"', '"""', "'''", "\n", "\r\n", "\r"]

yaml_pieces = st.sampled_from([*WORDS, *SPACED, *ODD])
toml_pieces = st.sampled_from([*TOML, *QUOTES, *ODD])
blocks = st.lists(yaml_pieces, max_size=25).map("".join)
wild = st.one_of(
    st.text(),
    st.sampled_from(NASTY),
    blocks,
    blocks.map(lambda yaml: f"---\n{yaml}\n---\nbody"),
    st.lists(toml_pieces, max_size=25).map("".join),
)


@MORE
@given(st.sampled_from(BotFile), wild)
def test_any_text_is_parsed_with_problems_inside_the_text(file: BotFile, text: str):
    lines = text.count("\n") + text.count("\r") + 1
    for problem in find_problems(file, text):
        assert problem.file is file and problem.message
        assert problem.line and 1 <= problem.line <= lines and problem.column and problem.column >= 1


@MORE
@given(blocks, st.sampled_from(["new", "a: b", None]))
def test_change_of_any_front_matter_is_applied_or_rejected(yaml: str, value: str | None):
    text = f"---\n{yaml}\n---\nbody"
    try:
        changed = change_identity(text, {"model": value})
    except Invalid:
        return
    before = read_front_matter(text).root.plain()
    after = read_front_matter(changed).root.plain()
    assert after == {key: old for key, old in before.items() if key != "model"} | (
        {"model": value} if value else {}
    )
    assert changed.endswith("---\nbody")
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in changed.splitlines() if line.startswith("#")] == comments
