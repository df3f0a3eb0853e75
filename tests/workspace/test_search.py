import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.workspace.conftest import SECRET

from forge.errors import ForgeError, Invalid
from forge.workspace.filesystem.errors import NoSuchPath, PathRefused
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.pattern import Glob
from forge.workspace.filesystem.search import FoundLine, FoundLines, search


@pytest.fixture
def tree(root: Path) -> Path:
    texts = {
        "a.py": "import os\nclass Ünit:\n    def run(self): pass\n",
        "src/b.ts": "export class Unit {}\r\nconst x = 'a.b(c'\r\n",
        "src/deep/c.py": "x = 1\n\n# the unit\n",
        "node_modules/m/index.js": "class Unit {}",
        "src/.hidden": "unit",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    (root / "image.png").write_bytes(b"\x89PNG\0unit\n")
    return root


def places(result: FoundLines) -> list[str]:
    return [f"{match.path}:{match.line}" for match in result.matches]


def test_search_ignores_case(files: Files, tree: Path):
    assert search(files, r"class .nit") == FoundLines(
        [FoundLine("a.py", 2, "class Ünit:"), FoundLine("src/b.ts", 1, "export class Unit {}")],
        truncated=False,
        literal=False,
        files_searched=6,
    )
    assert places(search(files, "UNIT")) == ["src/.hidden:1", "src/b.ts:1", "src/deep/c.py:3"]
    assert places(search(files, "Unit", case_sensitive=True)) == ["src/b.ts:1"]
    assert places(search(files, "ÜNIT")) == ["a.py:2"]


def test_invalid_expression_is_searched_as_text(files: Files, tree: Path):
    for pattern in ("a.b(c", "A.B(C"):
        assert search(files, pattern) == FoundLines(
            [FoundLine("src/b.ts", 2, "const x = 'a.b(c'")], truncated=False, literal=True, files_searched=6
        )
    assert search(files, r"(?=look)").literal
    assert search(files, r"(a)\1").literal
    assert search(files, "((((a{1000}){1000}){1000})").literal


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["a.py", "src/deep/c.py"]),
        ("**/*.py", ["a.py", "src/deep/c.py"]),
        ("src/**/*.py", ["src/deep/c.py"]),
        ("src/*.py", []),
        ("*.{py,ts}", ["a.py", "src/b.ts", "src/deep/c.py"]),
        ("[ab].*", ["a.py", "src/b.ts"]),
        ("[!a].py", ["src/deep/c.py"]),
        ("?.ts", ["src/b.ts"]),
        ("/src/**", ["src/b.ts", "src/deep/c.py"]),
        ("deep", []),
    ],
)
def test_glob_matches_name_or_path(files: Files, tree: Path, glob: str, found: list[str]):
    (tree / "src" / "app.py").unlink()
    (tree / "src" / ".hidden").unlink()
    assert [
        match.path for match in search(files, "^.", glob=glob, limit=99).matches if match.line == 1
    ] == found


def test_explicitly_named_large_file_is_searched_partially(files: Files, tree: Path):
    (tree / "large.log").write_text("first\n" + "x" * (4 << 20) + "\nlast\n")
    assert search(files, "last", path="large.log") == FoundLines(
        [], truncated=True, literal=False, files_searched=1
    )
    first = search(files, "first", path="large.log")
    assert (places(first), first.truncated) == (["large.log:1"], True)


def test_search_can_be_limited_to_directory_or_file(files: Files, tree: Path):
    assert places(search(files, "unit", path="src/deep")) == ["src/deep/c.py:3"]
    assert places(search(files, "unit", path="src/b.ts")) == ["src/b.ts:1"]
    assert places(search(files, "unit", path="node_modules")) == ["node_modules/m/index.js:1"]
    with pytest.raises(NoSuchPath):
        search(files, "unit", path="nowhere")
    with pytest.raises(PathRefused):
        search(files, "core", path=".git")


def test_anchors_match_lines_and_matches_do_not_span_lines(files: Files, tree: Path):
    assert places(search(files, r"^class")) == ["a.py:2"]
    assert places(search(files, r"\{\}$")) == ["src/b.ts:1"]
    assert places(search(files, r"1\s+#")) == []
    assert places(search(files, r"\Aimport")) == ["a.py:1"]
    assert places(search(files, "^$", glob="c.py")) == ["src/deep/c.py:2"]
    assert places(search(files, "z*", glob="c.py")) == [
        "src/deep/c.py:1",
        "src/deep/c.py:2",
        "src/deep/c.py:3",
    ]


def test_number_of_matches_is_limited(files: Files, root: Path):
    (root / "many.txt").write_text("needle\n" * 100)
    result = search(files, "needle", limit=7)
    assert (len(result.matches), result.truncated) == (7, True)
    exact = search(files, "needle", limit=100)
    assert (len(exact.matches), exact.truncated) == (100, False)


def test_long_lines_are_truncated_around_match(files: Files, root: Path):
    (root / "long.txt").write_text("é" * 10_000 + "needle" + "x" * 10_000 + "\nneedle" + "y" * 500)
    first, second = search(files, "needle").matches
    assert (len(first.text), len(second.text)) == (200, 199)
    assert first.text.startswith("…éé") and "needle" in first.text and first.text.endswith("x…")
    assert second.text.startswith("needle")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|aa)+$", r"(.*a){25}b", r"([a-z]+)*\d", "(x+x+)+y"])
def test_pathological_expressions_are_fast(files: Files, root: Path, pattern: str):
    (root / "evil.txt").write_text("a" * 100_000 + "!" + "x" * 100_000)
    started = time.process_time()
    search(files, pattern)
    search(files, "x", glob="*a" * 100 + "b")
    assert time.process_time() - started < 5


def test_invalid_search_is_refused(files: Files):
    for pattern in ("", "a\nb", "x" * 1001, "\udc80"):
        with pytest.raises(Invalid, match="The pattern"):
            search(files, pattern)
    with pytest.raises(Invalid, match="glob"):
        search(files, "x", glob="{a")


def test_link_inside_workspace_can_be_searched(files: Files, tree: Path):
    (tree / "link").symlink_to("src")
    assert places(search(files, "unit", path="link")) == ["link/.hidden:1", "link/b.ts:1", "link/deep/c.py:3"]


def test_match_order_does_not_depend_on_threads(files: Files, root: Path):
    for number in range(300):
        (root / f"d{number % 7}").mkdir(exist_ok=True)
        (root / f"d{number % 7}" / f"{number}.txt").write_text("needle\n")
    found = [match.path for match in search(files, "needle", limit=1000).matches]
    assert found == sorted(found) and len(found) == 300
    few = search(files, "needle", limit=150)
    assert ([match.path for match in few.matches], few.truncated) == (found[:150], True)


def test_search_stops_at_time_limit(files: Files, root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("forge.workspace.filesystem.search.TIME_LIMIT_S", -1.0)
    assert search(files, "hello") == FoundLines([], truncated=True, literal=False, files_searched=0)


def test_files_outside_workspace_are_not_searched(files: Files, root: Path, outside: Path):
    (root / "link").symlink_to("../outside")
    (root / "file").symlink_to(outside / "secret.txt")
    (root / "g").symlink_to(".git")
    os.mkfifo(root / "pipe")
    assert search(files, "secret|core").matches == []
    with pytest.raises(PathRefused):
        search(files, "secret", path="link")


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pattern=st.text(max_size=30), glob=st.none() | st.text(alphabet="*?[]{},!ab/\\^-.é", max_size=12))
def test_arbitrary_pattern_does_not_find_outside_files(
    root: Path, outside: Path, pattern: str, glob: str | None
):
    with Files(root) as files:
        try:
            found = search(files, pattern, glob=glob)
        except ForgeError:
            return
    assert SECRET not in repr(found).encode()


def test_literal_search_matches_python_result(files: Files, root: Path):
    lines = ["alpha beta", "Beta.gamma", "", "(beta)", "tail beta"]
    (root / "x.txt").write_text("\n".join(lines))
    expected = [number for number, line in enumerate(lines, 1) if "beta" in line.lower()]
    assert [match.line for match in search(files, "beta", path="x.txt").matches] == expected


def test_glob_matches_whole_name():
    assert Glob("*").matches("dir/näme")
    assert not Glob("*.py").matches("a.pyc")
