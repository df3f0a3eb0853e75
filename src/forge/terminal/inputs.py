"""Read the input of a command: files, standard input, JSON, a confirmation."""

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, cast

import click

from forge.errors import ForgeError, Invalid, NotFound

PIPE = "-"


def confirm(question: str, *, yes: bool) -> None:
    """Ask for a confirmation unless `--yes` is set. Abort if it is refused."""
    if not yes:
        require_confirmation(question)


def require_confirmation(question: str) -> None:
    """Ask for a confirmation and abort if it is refused. Without a terminal, `--yes` is required."""
    if not sys.stdin.isatty():
        raise Invalid(f"Confirmation required: {question}", hint="Confirm with --yes.")
    click.confirm(question, abort=True, err=True)


def read_file(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist.") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8 text.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error


def read_pipe() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise Invalid("Standard input is not UTF-8 text.") from error


def read_source(argument: str) -> str:
    """Read the file at this path, or standard input for `-`."""
    return read_pipe() if argument == PIPE else read_file(Path(argument))


def read_object(argument: str, option: str) -> dict[str, Any]:
    """Read a JSON object, passed inline, as `@FILE`, or as `-` for standard input."""
    text = (
        read_source(argument.removeprefix("@")) if argument == PIPE or argument.startswith("@") else argument
    )
    example = """Pass JSON such as '{"text": "hello"}', or @FILE."""
    try:
        value = json.loads(text)
        json.dumps(
            value, allow_nan=False, ensure_ascii=False
        ).encode()  # reject values that Python accepts but JSON does not have
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{option} is not JSON: {error}", hint=example) from error
    if not isinstance(value, dict):
        raise Invalid(f"{option} must be a JSON object.", hint=example)
    return cast("dict[str, Any]", value)


def write_file(path: Path, content: str | bytes) -> None:
    """Write the file and report it on standard error."""
    try:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.") from error
    click.echo(f"Wrote {path}.", err=True)


@contextmanager
def keep_on_error(text: str, name: str) -> Generator[None]:
    """Write `text` to a temporary file if it could not be saved, so that it is not lost."""
    try:
        yield
    except ForgeError:
        stem, suffix = Path(name).stem, Path(name).suffix
        with NamedTemporaryFile(
            "w", prefix=f"{stem}-", suffix=suffix, delete=False, encoding="utf-8"
        ) as kept:
            kept.write(text)
        click.echo(f"Your text was kept in {kept.name}.", err=True)
        raise
