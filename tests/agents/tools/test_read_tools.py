"""read_file, list_directory and search_code as used by a model."""

from pathlib import Path

import pytest
from tests.agents.tools.conftest import SECRET, Use

from forge.agents.models import ToolDetail, ToolOutcome
from forge.kernel.hashing import hash_bytes


async def test_file_follows_header_line(use: Use, root: Path):
    data = b"def one():\n    return 1\n"
    (root / "one.py").write_bytes(data)
    assert await use("read_file", path="one.py") == ToolOutcome(
        text=f"[one.py: 24 bytes, 2 lines, base_hash {hash_bytes(data)[:12]}]\ndef one():\n    return 1\n",
        summary="one.py, 2 lines",
        detail=ToolDetail(path="one.py", bytes=24, truncated=False),
    )


@pytest.mark.parametrize(
    ("content", "about"),
    [
        ("", "0 bytes, empty"),
        ("x", "1 bytes, 1 line"),
        ("\n", "1 bytes, 1 line"),
        ("a\n\n", "3 bytes, 2 lines"),
    ],
)
async def test_content_follows_header_verbatim(use: Use, root: Path, content: str, about: str):
    (root / "f").write_text(content)
    first, _, rest = (await use("read_file", path="f")).text.partition("\n")
    assert first.startswith(f"[f: {about}, base_hash ") and rest == content


async def test_line_range_is_read(use: Use, root: Path):
    (root / "f").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    some = await use("read_file", path="f", start_line=3, end_line=4)
    assert some.text.partition("\n")[2] == "line 3\nline 4\n" and "lines 3-4 of 10" in some.text
    rest = await use("read_file", path="f", start_line=9)
    assert rest.text.partition("\n")[2] == "line 9\nline 10\n"
    beyond = await use("read_file", path="f", start_line=9, end_line=900)
    assert beyond.text.partition("\n")[2] == "line 9\nline 10\n"
    assert (
        await use("read_file", path="f", start_line=11)
    ).text == "Error: 'f' has 10 lines; there is no line 11."
    assert (await use("read_file", path="f", start_line=3, end_line=2)).is_error
    assert (await use("read_file", path="f", start_line=0)).is_error


async def test_long_file_is_cut_at_line_and_can_be_continued(use: Use, root: Path):
    lines = [f"{n:06} {'x' * 92}\n" for n in range(1, 1001)]
    (root / "long.txt").write_text("".join(lines))
    seen = ""
    start, cut = 1, True
    while cut:
        outcome = await use("read_file", path="long.txt", start_line=start)
        header, _, rest = outcome.text.partition("\n")
        cut = outcome.detail.truncated
        assert cut == header.endswith(", cut]")
        if cut:
            rest, _, note = rest.rpartition("\n")
            rest += "\n"
            assert (
                note
                == f"[cut: {100_000 - len(seen) - len(rest):,} bytes are not shown; read on with start_line={start + 500}]"
            )
            start = int(note.rpartition("=")[2].rstrip("]"))
        assert len(rest) <= 50_000
        seen += rest
    assert seen == "".join(lines)


async def test_overlong_line_is_cut(use: Use, root: Path):
    (root / "min.js").write_text("é" * 60_000)
    outcome = await use("read_file", path="min.js")
    assert len(outcome.text.encode()) < 51_000
    assert "[cut: 70,000 bytes are not shown; line 1 is too long to show" in outcome.text


async def test_invalid_utf8_is_replaced_and_binary_is_refused(use: Use, root: Path):
    (root / "latin.txt").write_bytes(b"caf\xe9\n")
    (root / "picture.png").write_bytes(b"\x89PNG\0\0")
    assert (await use("read_file", path="latin.txt")).text.endswith("\ncaf\ufffd\n")
    assert (await use("read_file", path="picture.png")).text == "Error: 'picture.png' is not text (6 bytes)."


async def test_crlf_is_reported_and_normalized(use: Use, root: Path):
    (root / "dos.txt").write_bytes(b"a\r\nb\r\n")
    (root / "mixed.txt").write_bytes(b"a\r\nb\n")
    dos, mixed = await use("read_file", path="dos.txt"), await use("read_file", path="mixed.txt")
    assert "Windows line ends" in dos.text and dos.text.endswith("\na\nb\n")
    assert "Windows line ends" not in mixed.text and mixed.text.endswith("\na\r\nb\n")


async def test_failed_read_is_explained(use: Use, root: Path, outside: Path):
    (root / "src").mkdir()
    (root / "link").symlink_to(outside / "secret.txt")
    for path in (
        "missing.py",
        "src",
        "link",
        "../outside/secret.txt",
        "/etc/passwd",
        ".git/config",
        "a\0b",
        "",
    ):
        outcome = await use("read_file", path=path)
        assert outcome.is_error and outcome.text.startswith("Error: ") and SECRET not in outcome.text
    assert (await use("read_file")).text == "Error: Invalid arguments: path: Field required"
    assert "Extra inputs are not permitted" in (await use("read_file", path="a", mode="rb")).text


async def test_listing_omits_generated_directories(use: Use, root: Path):
    for name in ("src", "node_modules", ".git", "__pycache__", ".venv", "dist"):
        (root / name).mkdir()
    for name in ("README.md", "b.py", ".env"):
        (root / name).touch()
    (root / "link").symlink_to("b.py")
    assert await use("list_directory") == ToolOutcome(
        text=".env\nREADME.md\nb.py\nlink (link)\nsrc/\n[omitted: .venv/, __pycache__/, dist/, node_modules/]",
        summary="., 5 entries",
        detail=ToolDetail(path=".", matches=5, truncated=False),
    )


async def test_omitted_directory_is_listed_when_named(use: Use, root: Path):
    (root / "node_modules" / "left-pad").mkdir(parents=True)
    assert (await use("list_directory", path="node_modules")).text == "left-pad/"
    assert (await use("list_directory", path="node_modules/left-pad")).text == "(empty)"
    assert (await use("list_directory")).text == "(nothing else)\n[omitted: node_modules/]"


async def test_large_listing_is_truncated(use: Use, root: Path):
    for n in range(1005):
        (root / f"{n:04}").touch()
    outcome = await use("list_directory")
    assert outcome.text.endswith("0999\n[5 more names are not shown]") and outcome.detail.truncated


async def test_name_with_line_break_is_escaped(use: Use, root: Path):
    (root / "a\nfake.py").touch()
    assert (await use("list_directory")).text == "a\\nfake.py (cannot be opened)"


async def test_search_supports_expression_and_text(use: Use, root: Path):
    (root / "src").mkdir()
    (root / "src" / "app.py").write_text("def start():\n    pass\n\ndef stop(x):\n    pass\n")
    (root / "notes.md").write_text("stop(x\n")
    assert await use("search_code", pattern=r"def \w+", glob="*.py") == ToolOutcome(
        text="src/app.py:1: def start():\nsrc/app.py:4: def stop(x):",
        summary=repr(r"def \w+") + ": 2 lines",
        detail=ToolDetail(path=".", matches=2, truncated=False),
    )
    literal = await use("search_code", pattern="stop(x", path="notes.md")
    assert literal.text == (
        "notes.md:1: stop(x\n[not a valid regular expression, so it was searched for as text]"
    )
    assert (await use("search_code", pattern="absent")).text == "[nothing found in 2 files]"


async def test_search_returns_at_most_fifty_lines(use: Use, root: Path):
    (root / "many.txt").write_text("hit\n" * 51)
    outcome = await use("search_code", pattern="hit")
    assert outcome.detail == ToolDetail(path=".", matches=50, truncated=True)
    assert outcome.text.endswith(
        "many.txt:50: hit\n[there may be more; use a narrower pattern, glob or path]"
    )


async def test_incomplete_search_is_reported(use: Use, root: Path):
    (root / "large.log").write_text("x" * (4 << 20) + "\nlast\n")
    outcome = await use("search_code", pattern="last", path="large.log")
    assert outcome.text == (
        "[nothing found in 1 files]\n[the search is incomplete: the file is too large, or the search took too long]"
    )


async def test_search_stays_in_the_workspace(use: Use, root: Path, outside: Path):
    (root / "link").symlink_to(outside)
    for path in (".", "link", "..", "../outside", str(outside), ".git"):
        assert SECRET not in (await use("search_code", pattern="secret", path=path)).text
