"""Decorator for commands that call the API: it passes a client, adds `--json` and prints the result."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Generic, TypeVar

import click

from forge.terminal.client import connect
from forge.terminal.options import json_option
from forge.terminal.output import View, print_result

T = TypeVar("T")


@dataclass(frozen=True)
class Result(Generic[T]):
    """The result of a command, and how to print it without `--json`."""

    data: T
    view: View[T] | str
    empty: str = ""
    """Printed to standard error instead of an empty list."""
    note: str = ""
    """Printed to standard error after the text."""
    exit_code: int = 0


def api_command(function: Callable[..., Result[Any] | int]) -> Callable[..., None]:
    """Pass a client of the server to the command, add `--json`, and print the result.

    The positional-only parameters after the client, and `*names`, become arguments. A command with a parameter
    `as_json` may print by itself and return its exit code.
    """
    return _command(function, needs_client=True)


def local_command(function: Callable[..., Result[Any] | int]) -> Callable[..., None]:
    """Like `api_command`, without a client: for commands that need no server."""
    return _command(function, needs_client=False)


def _command(function: Callable[..., Result[Any] | int], *, needs_client: bool) -> Callable[..., None]:
    parameters = list(signature(function).parameters.values())[needs_client:]
    arguments = [
        one for one in parameters if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL)
    ]
    passes_json = any(one.name == "as_json" for one in parameters)

    @json_option
    @wraps(function)
    def run(*, as_json: bool, **options: Any) -> None:
        values: list[Any] = []
        for argument in arguments:
            value = options.pop(argument.name)
            values += value if argument.kind is Parameter.VAR_POSITIONAL else [value]
        if passes_json:
            options["as_json"] = as_json
        if needs_client:
            with connect() as client:
                result = function(client, *values, **options)
        else:
            result = function(*values, **options)
        if isinstance(result, int):
            click.get_current_context().exit(result)
        print_result(result.data, result.view, as_json=as_json, empty=result.empty)
        if result.note and not as_json:
            click.echo(result.note, err=True)
        if result.exit_code:
            click.get_current_context().exit(result.exit_code)

    command: Callable[..., None] = run
    for argument in reversed(arguments):
        command = _argument(argument)(command)
    return command


def _argument(parameter: Parameter) -> Callable[[Callable[..., None]], Callable[..., None]]:
    if parameter.kind is Parameter.VAR_POSITIONAL:
        return click.argument(parameter.name, nargs=-1)
    if parameter.default is None:
        return click.argument(parameter.name, required=False)
    given = {} if parameter.default is Parameter.empty else {"default": parameter.default}
    return click.argument(parameter.name, **given)
