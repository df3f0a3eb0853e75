"""docs/reference/cli.md explains every variable and exit code, and every command has a help text.

The commands on that page are generated; `make check` compares them.
"""

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


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    if default := getattr(group, "default_command", None):
        yield name, default
    for below in group.list_commands(context):
        command = group.get_command(context, below)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {below}")
        else:
            yield f"{name} {below}", command


COMMANDS = dict(commands(forge, "forge"))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help(name: str):
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
