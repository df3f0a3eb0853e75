"""The frame of a command that calls the API: a client, `--json`, and printing what the command returns."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Generic, TypeVar

import click

from forge.terminal.client import connect
from forge.terminal.options import json_option
from forge.terminal.output import View, print_result

T = TypeVar("T")


@dataclass(frozen=True)
class Result(Generic[T]):
    """What a command found or did, and how to show it without `--json`."""

    data: T
    view: View[T] | str
    empty: str = ""
    """Printed to standard error instead of an empty list."""
    note: str = ""
    """Printed to standard error after the text."""
    exit_code: int = 0


def api_command(function: Callable[..., Result[Any]]) -> Callable[..., None]:
    """Pass a client of the server to the command, add `--json`, and print the result."""

    @json_option
    @wraps(function)
    def run(*args: Any, as_json: bool, **kwargs: Any) -> None:
        with connect() as client:
            result = function(client, *args, **kwargs)
        print_result(result.data, result.view, as_json=as_json, empty=result.empty)
        if result.note and not as_json:
            click.echo(result.note, err=True)
        if result.exit_code:
            click.get_current_context().exit(result.exit_code)

    return run
