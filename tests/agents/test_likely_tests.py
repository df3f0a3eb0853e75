"""Which commands are offered to verify the work of an agent."""

from pathlib import Path

import pytest

from forge.agents.commands.command_policy import allow_tests
from forge.agents.commands.likely_tests import find_test_commands
from forge.workspace.filesystem.files import Files


@pytest.mark.parametrize(
    ("files", "commands"),
    [
        ({}, []),
        ({"pytest.ini": "", "test_a.py": ""}, ["pytest", "python3 -m unittest"]),
        ({"requirements-dev.txt": "pytest>=8\n"}, ["pytest"]),
        ({"pyproject.toml": "[project]\n"}, []),
        ({"tests/test_a.py": ""}, ["python3 -m unittest discover tests"]),
        ({"tests": "a file"}, []),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, ["npm test"]),
        ({"package.json": '{"scripts": {"build": "vite"}}'}, []),
        ({"package.json": "not JSON"}, []),
        ({"package.json/file": ""}, []),
        ({"Cargo.toml": "", "go.mod": ""}, ["cargo test", "go test ./..."]),
        ({"Makefile": "all: test\ntest:\n\ttrue\n"}, ["make test"]),
        ({"Makefile": "all:\n\techo test:\n"}, []),
    ],
)
def test_commands_are_guessed_from_files_and_allowed(
    tmp_path: Path, files: dict[str, str], commands: list[str]
):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    with Files(tmp_path) as workspace:
        assert find_test_commands(workspace) == commands
    for command in commands:
        allow_tests(command, tmp_path)
