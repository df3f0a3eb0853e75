"""Options shared by all commands. Imports only click, so that help and completion stay fast."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print only JSON.")(command)


def yes_option(command: Command) -> Command:
    """Skip the confirmation (`forge.terminal.inputs`)."""
    return click.option("--yes", is_flag=True, help="Do not ask for confirmation.")(command)


def limit_option(command: Command) -> Command:
    """Limit a list that is fetched page by page and has no maximum of its own."""
    return click.option(
        "--limit",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="Maximum number of results.",
    )(command)


def one_of(values: Iterable[str]) -> click.Choice[str]:
    """Return the type of an option with one of these values, such as the members of a `StrEnum`."""
    return click.Choice([str(value) for value in values])


def together(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Combine options that several commands have."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
