"""Files that hold a key: written whole and for this user only, and looked at with suspicion when read."""

import contextlib
import json
import os
import stat
from pathlib import Path
from typing import TypeVar

import click
from pydantic import TypeAdapter, ValidationError

from forge.errors import ConfigError, Denied

T = TypeVar("T")


def read_private(path: Path, shape: type[T]) -> T | None:
    """None when there is no such file. One that others can read is used, with a warning."""
    try:
        mode, content = path.stat().st_mode, path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Denied(
            f"{path} cannot be read: {error.strerror}",
            hint="Use Forge as the user who started it, or set FORGE_DATA_DIR to a directory of your own.",
        ) from error
    if stat.S_IMODE(mode) & 0o077:
        click.echo(f"warning: {path} holds a key and others can read it: chmod 600 {path}", err=True)
    try:
        return TypeAdapter(shape).validate_json(content)
    except ValidationError as error:
        raise ConfigError(
            [f"{path}: this is not what Forge wrote there."], hint="Delete the file."
        ) from error


def write_private(path: Path, content: object) -> None:
    """Appears whole, readable by this user alone."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        with contextlib.suppress(FileNotFoundError):
            draft.unlink()
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(content, file, indent=2)
        draft.replace(path)
    except OSError as error:
        raise ConfigError([f"FORGE_DATA_DIR: {path} cannot be written: {error.strerror}"]) from error
