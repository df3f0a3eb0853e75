"""write_file and edit_file as used by a model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agents.tools.conftest import Use

from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import ToolContext
from forge.agents.tools.text_edits import Document, EditRefused, Replacement
from forge.agents.tools.toolset import builder_tools
from forge.kernel.hashing import hash_bytes
from forge.llm.messages import ToolCall


def told(path: str, verb: str, data: bytes, *, more: str = "") -> ToolOutcome:
    return ToolOutcome(
        text=f"{path}: {verb}, {len(data):,} bytes, base_hash {hash_bytes(data)[:12]}{more}",
        summary=f"{path}, {verb}, {len(data):,} bytes",
        detail=ToolDetail(path=path, bytes=len(data), changed=verb != "unchanged"),
    )


def edit(old: str, new: str) -> dict[str, str]:
    return {"old_text": old, "new_text": new}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


async def test_write_file_creates_replaces_or_leaves_unchanged(use: Use, root: Path):
    assert await use("write_file", path="a/b/c.txt", content="one\n") == told(
        "a/b/c.txt", "created", b"one\n"
    )
    assert await use("write_file", path="a/b/c.txt", content="one\n") == told(
        "a/b/c.txt", "unchanged", b"one\n"
    )
    assert await use("write_file", path="a/b/c.txt", content="zwölf") == told(
        "a/b/c.txt", "replaced", "zwölf".encode()
    )
    assert (root / "a/b/c.txt").read_text() == "zwölf"


@pytest.mark.parametrize(
    ("path", "content", "problem"),
    [
        ("a.py", "def f(:\n", "line 1, column 7: invalid syntax"),
        ("b.py", "return 1\n", "line 1, column 1: 'return' outside function"),
        ("c.json", '{"a": }', "line 1, column 7: Expecting value"),
        ("d.toml", "a = \n", "Invalid value (at line 1, column 5)"),
    ],
)
async def test_unparsable_file_is_written_with_warning(
    use: Use, root: Path, path: str, content: str, problem: str
):
    outcome = await use("write_file", path=path, content=content)
    assert outcome == told(path, "created", content.encode(), more=f"\nBut it cannot be parsed: {problem}")
    assert (root / path).read_text() == content


async def test_failed_write_is_explained(use: Use, root: Path, outside: Path):
    (root / "link").symlink_to(outside)
    (root / "dir").mkdir()
    for path in ("../x", "/tmp/x", "link/x", ".git/hooks/x", "dir", "a\nb", ".", ""):
        assert (await use("write_file", path=path, content="x")).is_error
    assert (await use("write_file", path="big", content="x" * 500_001)).is_error
    assert (await use("write_file", path="half", content="\ud800")).is_error
    assert names(root) == ["dir", "link"] and names(outside) == ["secret.txt"]
    assert not (await use("write_file", path="big", content="x" * 500_000)).is_error


async def test_passages_are_replaced_in_order(use: Use, root: Path):
    (root / "a.py").write_text("one = 1\ntwo = 2\n")
    edits = [edit("one = 1", "one = 10"), edit("one = 10\ntwo", "both = 12\ntwo")]
    outcome = await use("edit_file", path="a.py", edits=edits)
    assert outcome == told("a.py", "2 edits applied", b"both = 12\ntwo = 2\n")
    assert (root / "a.py").read_text() == "both = 12\ntwo = 2\n"


async def test_large_file_gets_no_line_hint(use: Use, root: Path):
    """Searching for the line would block everything else."""
    for size, hint in ((990_000, "Its first line is like line 1:"), (1_000_001, "Read the file again")):
        (root / "a.txt").write_text("y = 2\n" + "x" * size)
        outcome = await use("edit_file", path="a.txt", edits=[edit("y  =  2", "z")])
        assert f"old_text does not occur in the file. {hint}" in outcome.text


@pytest.mark.parametrize(
    ("old", "reason"),
    [
        ("x = 1", "the edit: old_text occurs 2 times (lines 1, 3). Include more of the surrounding lines"),
        ("z", "the edit: old_text does not occur in the file. Read the file again"),
        ("    y  =  2", "the edit: old_text does not occur in the file. Its first line is like line 2:"),
        ("aa", "the edit: old_text occurs 2 times (lines 4, 4)."),
    ],
)
async def test_edit_requires_exactly_one_occurrence(use: Use, root: Path, old: str, reason: str):
    data = b"x = 1\ny = 2\nx = 1\naaa\n"
    (root / "a.txt").write_bytes(data)
    outcome = await use("edit_file", path="a.txt", edits=[edit(old, "new")])
    assert outcome.is_error and outcome.text.startswith(f"Error: Nothing was written. a.txt, {reason}")
    assert (root / "a.txt").read_bytes() == data


async def test_edits_are_applied_all_or_none(use: Use, root: Path):
    (root / "a.txt").write_text("one two")
    outcome = await use("edit_file", path="a.txt", edits=[edit("one", "1"), edit("three", "3")])
    assert "edit 2: old_text does not occur" in outcome.text
    assert (root / "a.txt").read_text() == "one two"


async def test_edit_with_stale_base_hash_is_refused(use: Use, root: Path):
    (root / "a.txt").write_text("one")
    read = await use("read_file", path="a.txt")
    seen = read.text.partition("base_hash ")[2].partition("]")[0]
    (root / "a.txt").write_text("one, changed")
    refused = await use("edit_file", path="a.txt", edits=[edit("one", "two")], base_hash=seen)
    now = hash_bytes(b"one, changed")
    assert refused.is_error and f"its base_hash is now {now[:12]}" in refused.text
    assert not (await use("edit_file", path="a.txt", edits=[edit("one", "two")], base_hash=now)).is_error
    assert (await use("edit_file", path="a.txt", edits=[edit("two", "x")], base_hash="zz")).is_error


async def test_edit_that_breaks_syntax_is_rejected(use: Use, root: Path):
    for path, data, old, new in (
        ("a.py", b"x = (1)\n", ")", ""),
        ("a.json", b'{"a": 1}', "1", ""),
        ("a.toml", b"a = 1\n", "1", ""),
    ):
        (root / path).write_bytes(data)
        outcome = await use("edit_file", path=path, edits=[edit(old, new)])
        assert f"Nothing was written: after the edit {path} cannot be parsed" in outcome.text
        assert (root / path).read_bytes() == data


async def test_broken_file_can_be_repaired_in_steps(use: Use, root: Path):
    (root / "a.py").write_text("x = (\ny = )\n")
    first = await use("edit_file", path="a.py", edits=[edit("x = (", "x = 1")])
    assert not first.is_error and "still cannot be: line 2" in first.text
    second = await use("edit_file", path="a.py", edits=[edit("y = )", "y = 2")])
    assert second == told("a.py", "1 edit applied", b"x = 1\ny = 2\n")


async def test_edit_changes_only_the_passage(use: Use, root: Path):
    for name, data, after in (
        ("dos.txt", b"one\r\ntwo\r\nend", b"one\r\n2\r\n3\r\nend"),
        ("mixed.txt", b"one\r\ntwo\nend", b"one\r\n2\n3\nend"),
        ("latin.txt", b"caf\xe9 two\n", b"caf\xe9 2\n3\n"),
        ("bom.txt", b"\xef\xbb\xbftwo", b"\xef\xbb\xbf2\n3"),
    ):
        (root / name).write_bytes(data)
        (root / name).chmod(0o750)
        assert not (await use("edit_file", path=name, edits=[edit("two", "2\n3")])).is_error
        assert (root / name).read_bytes() == after
        assert (root / name).stat().st_mode & 0o777 == 0o750


async def test_multiline_passages_match_crlf_files(use: Use, root: Path):
    (root / "dos.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    await use("edit_file", path="dos.txt", edits=[edit("one\ntwo", "1\n2"), edit("2\r\nthree", "2\r\n3")])
    assert (root / "dos.txt").read_bytes() == b"1\r\n2\r\n3\r\n"


async def test_edit_without_difference_reports_unchanged(use: Use, root: Path):
    (root / "a.txt").write_text("one")
    assert await use("edit_file", path="a.txt", edits=[edit("one", "one")]) == told(
        "a.txt", "unchanged", b"one"
    )


async def test_failed_edit_is_explained(use: Use, root: Path):
    (root / "a.txt").write_text("one")
    (root / "link.txt").symlink_to("a.txt")
    (root / "huge.txt").write_bytes(b"x" * ((16 << 20) + 1))
    for arguments in (
        {"path": "missing.txt", "edits": [edit("a", "b")]},
        {"path": "link.txt", "edits": [edit("one", "b")]},
        {"path": "huge.txt", "edits": [edit("a", "b")]},
        {"path": "a.txt", "edits": []},
        {"path": "a.txt", "edits": [edit("", "b")]},
        {"path": "a.txt", "edits": [edit("one", "\udcff")]},
        {"path": "a.txt", "edits": "one"},
        {"path": "a.txt", "edits": [{"old_text": "one"}]},
    ):
        assert (await use("edit_file", **arguments)).is_error
    assert (root / "a.txt").read_text() == "one"


class Remembered:
    """An intent that outlives the call, like those in the journal."""

    def __init__(self) -> None:
        self.meant: Any = None

    async def recall(self) -> Any:
        return self.meant

    async def declare(self, meant: Any) -> None:
        self.meant = meant


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write_file", '{"path": "new.py", "content": "x = 1\\n"}'),
        ("edit_file", '{"path": "a.py", "edits": [{"old_text": "1", "new_text": "11"}]}'),
    ],
)
async def test_repeated_call_has_same_result(context: ToolContext, root: Path, name: str, arguments: str):
    (root / "a.py").write_text("x = 1\n")
    again = replace(context, intent=Remembered())
    call = ToolCall(id="1", name=name, arguments=arguments)
    first = await builder_tools().use(call, again)
    files = contents(root)
    assert first.detail.changed and await builder_tools().use(call, again) == first
    assert contents(root) == files


@pytest.mark.parametrize("name", ["write_file", "edit_file"])
async def test_recorded_intent_without_write_is_executed(context: ToolContext, root: Path, name: str):
    (root / "a.txt").write_text("one")
    intent = Remembered()
    intent.meant = {"after": hash_bytes(b"two"), "verb": "replaced"}
    arguments = {
        "write_file": '{"path": "a.txt", "content": "two"}',
        "edit_file": '{"path": "a.txt", "edits": [{"old_text": "one", "new_text": "two"}]}',
    }[name]
    call = ToolCall(id="1", name=name, arguments=arguments)
    await builder_tools().use(call, replace(context, intent=intent))
    assert (root / "a.txt").read_text() == "two"


PIECES = st.text(alphabet=st.sampled_from("ab\n\r é"), max_size=6)
CONTENT = st.one_of(
    st.binary(max_size=60),
    PIECES.map(lambda text: (text * 3).encode()),
    PIECES.map(lambda text: (text * 2).replace("\r", "").replace("\n", "\r\n").encode()),
)


@given(CONTENT, st.lists(st.tuples(PIECES, PIECES), min_size=1, max_size=4))
def test_edits_equal_manual_replacement_or_are_refused(data: bytes, edits: list[tuple[str, str]]):
    """The oracle works on bytes: it searches for the only occurrence by trying every position."""
    document = Document.read(data)
    expected = by_hand(data, edits, windows=document.is_crlf)
    try:
        got = document.bytes_of(document.apply([Replacement(old, new) for old, new in edits]))
    except EditRefused:
        got = None
    assert got == expected


def by_hand(data: bytes, edits: list[tuple[str, str]], *, windows: bool) -> bytes | None:
    for pair in edits:
        old, new = (text.encode() for text in pair)
        if windows:
            old, new = (text.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n") for text in (old, new))
        places = [at for at in range(len(data)) if old and data.startswith(old, at)]
        if len(places) != 1:
            return None
        data = data[: places[0]] + new + data[places[0] + len(old) :]
    return data


@given(CONTENT)
def test_unedited_document_keeps_every_byte(data: bytes):
    document = Document.read(data)
    assert document.bytes_of(document.text) == data
