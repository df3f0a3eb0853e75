"""Hostile strings in every tool: none escapes, hangs or breaks anything."""

import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.agents.tools.conftest import SECRET, Use
from tests.agents.tools.grammar import hostile_commands, mangled
from tests.workspace.grammar import climbing_paths

from forge.agents.commands.command_policy import Allowed, CommandRefused, allow_command, allow_tests
from forge.agents.models import ToolOutcome
from forge.agents.tool import ToolContext
from forge.agents.tools.toolset import builder_tools
from forge.llm.messages import ToolCall
from forge.sandbox.models import Network

COMMANDS = 15_000
PATHS = 4_000
SAMPLE = 30
SHOWS_PASSWORDS = "root:x:0:0:root"
PROGRAMS = {
    *(
        "pytest",
        "python3",
        "npm",
        "vitest",
        "jest",
        "node",
        "tsc",
        "eslint",
        "biome",
        "pyright",
        "prettier",
        "ruff",
    ),
    *("black", "mypy", "cat", "head", "tail", "wc", "ls", "find", "git", "cargo", "go", "make"),
}
QUICK = {"cat", "head", "tail", "wc", "ls", "find", "git", "make", "black"}


def attempts() -> Iterator[str]:
    choose = random.Random(1)
    for command in hostile_commands(COMMANDS):
        yield command
        yield mangled(command, choose)
    for path in climbing_paths(5_000):
        yield f"cat {path}"
        yield f"pytest --x='{path}'"


def accepted(command: str, root: Path) -> Allowed | None:
    with_tests: Allowed | None = None
    try:
        with_tests = allow_tests(command, root)
        assert with_tests.runner is not None
    except CommandRefused:
        pass
    try:
        found = allow_command(command, root)
    except CommandRefused as refused:
        assert refused.message and with_tests is None
        return None
    return found


def check(allowed: Allowed, command: str) -> None:
    """Check properties of an allowed command, independently of the policy's own code."""
    program, *rest = allowed.argv
    assert program in PROGRAMS, command
    module = rest[rest.index("-m") + 1] if "-m" in rest[:2] else None
    assert program != "python3" or module not in (None, "http.server") or rest == ["--version"], command
    assert program != "git" or rest[1] in ("status", "diff", "log", "show"), command
    fetches = allowed.network is Network.REGISTRY
    assert fetches == (is_pip_install(allowed) or is_npm_install(allowed)), command
    for word in rest:
        assert not re.search(r"[\x00-\x08\x0a-\x1f\x7f]", word), command
        assert ".." not in word.split("/") and not word.startswith(("/", "~", "file:", "git@")), command
        assert not re.match(r"-\w+/|--?[\w-]+=(/|~|\.\./|\w+://)", word), command
        if program == "find":
            assert not re.match(r"-(exec|ok|delete|fprint|fls|files0)", word), command
        if fetches:
            assert "://" not in word and not re.match(
                r"--?(i|index|extra|find|target|prefix|registry|script)\b", word
            )


def is_pip_install(allowed: Allowed) -> bool:
    """Return whether the command installs packages."""
    return allowed.argv[:5] == ("python3", "-I", "-m", "pip", "install") and "--no-index" not in allowed.argv


def is_npm_install(allowed: Allowed) -> bool:
    return allowed.argv[0] == "npm" and allowed.argv[1] in ("install", "i", "ci", "add")


def test_accepted_commands_are_safe(root: Path):
    passed: set[tuple[str, ...]] = set()
    for command in attempts():
        if found := accepted(command, root):
            check(found, command)
            passed.add(found.argv)
    assert {argv[0] for argv in passed} >= {"pytest", "python3", "npm", "cat", "find", "git", "make"}


async def test_allowed_commands_change_nothing_outside(use: Use, root: Path, outside: Path):
    """Run the commands that end immediately, in the real sandbox."""
    prepare(root)
    before = seen(root.parent)
    tried: set[tuple[str, ...]] = set()
    for command in hostile_commands(COMMANDS):
        found = accepted(command, root) if len(tried) < SAMPLE else None
        if found is None or found.argv[0] not in QUICK or found.argv[:3] in tried:
            continue
        tried.add(found.argv[:3])
        outcome = await use("run_command", command=command, timeout=10)
        assert SECRET not in outcome.text and outcome.detail.sandbox == "isolated", command
    assert len(tried) == SAMPLE and seen(root.parent) == before


def prepare(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "app.py").write_text("print('hello')\n")
    (root / "a.txt").write_text("a\n")
    (root / "test_a.py").write_text("def test_a(): pass\n")
    (root / "Makefile").write_text("test:\n\techo tested\n")


def seen(folder: Path) -> dict[str, bytes | str]:
    """Return everything below the folder with its content; targets of links are not part of it."""
    found: dict[str, bytes | str] = {}
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place) / name
            if path.is_symlink():
                found[str(path)] = f"-> {path.readlink()}"
            elif path.is_file():
                found[str(path)] = path.read_bytes()
    return found


def arguments(name: str, path: str) -> dict[str, object]:
    return {
        "search_code": {"pattern": "secret|root", "path": path},
        "write_file": {"path": path, "content": "x"},
        "edit_file": {"path": path, "edits": [{"old_text": "secret", "new_text": "x"}]},
    }.get(name, {"path": path})


@pytest.mark.parametrize(
    "name", ["read_file", "list_directory", "search_code", "write_file", "edit_file", "check_syntax"]
)
async def test_hostile_paths_do_not_escape_workspace(use: Use, root: Path, outside: Path, name: str):
    prepare(root)
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    before = {path: data for path, data in seen(root.parent).items() if not path.startswith(f"{root}/")}
    count = PATHS // 10 if name == "write_file" else PATHS
    for path in climbing_paths(count):
        outcome = await use(name, **arguments(name, path))
        assert SECRET not in outcome.text and SHOWS_PASSWORDS not in outcome.text, path
        assert "internal error" not in outcome.text, path
    after = {path: data for path, data in seen(root.parent).items() if not path.startswith(f"{root}/")}
    assert after == before


async def test_hostile_strings_as_paths_patterns_and_texts_are_harmless(use: Use, root: Path, outside: Path):
    prepare(root)
    before = seen(outside)
    for command in hostile_commands(600):
        for name, wanted in (
            ("read_file", {"path": command}),
            ("search_code", {"pattern": command, "glob": command[::-1]}),
            ("search_code", {"pattern": "x", "glob": command}),
            (
                "edit_file",
                {"path": "a.txt", "edits": [{"old_text": command, "new_text": "x"}], "base_hash": command},
            ),
            ("check_syntax", {"path": command}),
        ):
            outcome = await use(name, **wanted)
            assert "internal error" not in outcome.text and SECRET not in outcome.text, (name, wanted)
    assert seen(outside) == before and (root / "a.txt").read_text() == "a\n"


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.just("a.txt")),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(
    [
        "path",
        "start_line",
        "end_line",
        "pattern",
        "glob",
        "content",
        "edits",
        "base_hash",
        "command",
        "timeout",
    ]
)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(given_arguments=st.dictionaries(NAMES, VALUES, max_size=4), raw=st.text(max_size=30))
async def test_arbitrary_arguments_do_not_break_tools(
    context: ToolContext, given_arguments: dict[str, object], raw: str
):
    box = builder_tools()
    for name in box.names:
        for text in (json.dumps(given_arguments), raw):
            outcome = await box.use(ToolCall(id="1", name=name, arguments=text), context)
            assert isinstance(outcome, ToolOutcome) and "internal error" not in outcome.text
