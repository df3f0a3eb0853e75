"""docs/reference/cli.md knows every command, option, variable and exit code, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from forge import errors
from forge.cli import forge
from forge.config import ClientSettings
from forge.errors import ForgeError

PAGE = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text()
SECTIONS = dict(re.findall(r"^### `(forge [^`]+)`\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    if unnamed := getattr(group, "unnamed", None):
        yield name, unnamed
    for below in group.list_commands(context):
        command = group.get_command(context, below)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {below}")
        else:
            yield f"{name} {below}", command


COMMANDS = dict(commands(forge, "forge"))


def test_every_command_has_its_section_and_every_section_its_command():
    assert set(SECTIONS) == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described_with_its_command(name: str):
    options = {
        option for param in COMMANDS[name].params if isinstance(param, click.Option) for option in param.opts
    }
    rows = re.findall(r"^\| (`-.*?`) \|", SECTIONS[name], re.MULTILINE)
    assert {option for row in rows for option in re.findall(r"`(--?[a-z-]+)`", row)} == options


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_says_what_it_does(name: str):
    assert COMMANDS[name].help
    assert all(param.help for param in COMMANDS[name].params if isinstance(param, click.Option))


def test_every_exit_code_is_explained():
    kinds = [
        kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ForgeError)
    ]
    used = {0, 130, *(kind.exit_code for kind in kinds)}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)} == used


@pytest.mark.parametrize("name", ClientSettings.model_fields)
def test_every_variable_that_finds_a_server_is_explained(name: str):
    assert f"| `FORGE_{name.upper()}` |" in PAGE
