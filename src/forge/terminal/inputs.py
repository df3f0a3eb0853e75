"""Read what a user passes to a command: files, standard input, JSON, a confirmation."""

import json
import sys
from pathlib import Path
from typing import Any, cast

import click

from forge.errors import Invalid, NotFound

PIPE = "-"


def confirm(question: str, *, yes: bool) -> None:
    """Ask for a confirmation unless `--yes` was given, and abort without one."""
    if not yes:
        be_sure(question)


def be_sure(question: str) -> None:
    """Ask for a confirmation, and abort without one. Without a terminal the command needs `--yes`."""
    if not sys.stdin.isatty():
        raise Invalid(f"This needs a confirmation: {question}", hint="Confirm with --yes.")
    click.confirm(question, abort=True, err=True)


def read_file(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not text in UTF-8.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error


def read_pipe() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise Invalid("Standard input is not text in UTF-8.") from error


def read_source(given: str) -> str:
    """Read FILE, or standard input for `-`."""
    return read_pipe() if given == PIPE else read_file(Path(given))


def read_object(given: str, option: str) -> dict[str, Any]:
    """Read a JSON object: given inline, as `@FILE`, or as `-` for standard input."""
    text = read_source(given.removeprefix("@")) if given == PIPE or given.startswith("@") else given
    example = """For example '{"text": "hello"}', or @FILE."""
    try:
        value = json.loads(text)
        json.dumps(
            value, allow_nan=False, ensure_ascii=False
        ).encode()  # reject what Python reads but JSON lacks
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{option} is not JSON: {error}", hint=example) from error
    if not isinstance(value, dict):
        raise Invalid(f"{option} has to be a JSON object.", hint=example)
    return cast("dict[str, Any]", value)


def write_file(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.") from error
