"""Options that mean the same in every command. Needs click only, so that help and completion stay quick."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def json_option(command: Command) -> Command:
    return click.option("--json", "as_json", is_flag=True, help="Print the data as JSON, and nothing else.")(
        command
    )


def yes_option(command: Command) -> Command:
    """For what asks first, and in a script cannot (`forge.terminal.asking`)."""
    return click.option("--yes", is_flag=True, help="Do not ask.")(command)


def limit_option(command: Command) -> Command:
    """For a list that is fetched page by page, so that there is no most."""
    return click.option(
        "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many at most."
    )(command)
