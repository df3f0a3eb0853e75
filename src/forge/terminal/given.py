"""What a person hands to a command: a file, a pipe, an object as JSON."""

import json
import sys
from pathlib import Path
from typing import Any, cast

from forge.errors import Invalid, NotFound

PIPE = "-"


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
    """FILE, or `-` for standard input."""
    return read_pipe() if given == PIPE else read_file(Path(given))


def read_object(given: str, option: str) -> dict[str, Any]:
    """JSON as it is, `@FILE`, or `-` for standard input."""
    text = read_source(given.removeprefix("@")) if given == PIPE or given.startswith("@") else given
    example = """Such as '{"text": "hello"}', or @FILE."""
    try:
        told = json.loads(text)
        json.dumps(told, allow_nan=False, ensure_ascii=False).encode()  # what Python takes and JSON has not
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{option} is not JSON: {error}", hint=example) from error
    if not isinstance(told, dict):
        raise Invalid(f"{option} has to be a JSON object.", hint=example)
    return cast("dict[str, Any]", told)


def write_file(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {error.strerror}.") from error
