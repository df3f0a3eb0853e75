"""Helpers shared by the `forge audit` commands: the project, the data directory, colors, and errors with exit code 2."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from rich.text import Text

from forge.audits.auditor import Auditor
from forge.audits.formats.text import Paint, plain
from forge.audits.models import AuditRequest
from forge.audits.snapshot import Snapshot
from forge.config import ClientSettings
from forge.errors import ForgeError
from forge.kernel.validation import first_problem
from forge.terminal.commands import Result, local_command
from forge.terminal.output import console, words, working
from forge.workspace.observed.location import find_repository

PATH = click.argument("path", type=click.Path(path_type=Path), default=".")

COLORS = {
    "PASS": "green",
    "WARN": "yellow",
    "FAIL": "red",
    "ERROR": "red",
    "SKIP": "bright_black",
    "fail": "red",
    "error": "red",
    "warn": "yellow",
    "note": "bright_black",
    "dim": "bright_black",
}


class AuditImpossible(ForgeError):
    """The audit has no verdict. Exit code 2, so that scripts do not mistake it for a failed audit."""

    code, exit_code = "audit_impossible", 2


@contextmanager
def audit_errors() -> Generator[None]:
    """Turn expected errors into AuditImpossible."""
    try:
        yield
    except ForgeError as error:
        raise AuditImpossible(error.message, hint=error.hint) from error
    except ValidationError as error:
        problem = first_problem(error)
        option = "--" + str(problem.path[0]).replace("_", "-")
        raise AuditImpossible(f"{option}: {problem.message}") from error


def audit_command(function: Callable[..., Result[Any] | int]) -> Callable[..., None]:
    return local_command(audit_errors()(function))


def data_dir() -> Path:
    return ClientSettings().data_dir


@contextmanager
def open_project(path: Path) -> Generator[tuple[Snapshot, Path]]:
    """Open the project in a directory. Yield its snapshot and its root."""
    with working("Reading the project…"), Auditor(data_dir()).open(path, AuditRequest()) as snapshot:
        yield snapshot, find_repository(path).root


def paint_for_terminal() -> Paint:
    output = console()
    return _paint if output.is_terminal and not output.no_color else plain


def _paint(text: str, meaning: str) -> str:
    return click.style(text, bold=True) if meaning == "strong" else click.style(text, fg=COLORS.get(meaning))


def verdict(text: str) -> Text:
    return words(text, COLORS.get(text, ""))
