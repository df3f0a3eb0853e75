"""What the commands of `forge audit` share: where this machine keeps its part, its colours, and one meaning of exit 2."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click
from pydantic import ValidationError

from forge.audits.formats.text import Paint, plain
from forge.config import ClientSettings
from forge.errors import ForgeError
from forge.kernel.validation import first_problem
from forge.terminal.output import console

COLOURS = {
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
    """No verdict: whatever the reason, scripts see exit code 2, which is neither pass nor fail."""

    code, exit_code = "audit_impossible", 2


@contextmanager
def audit_errors() -> Generator[None]:
    try:
        yield
    except ForgeError as error:
        raise AuditImpossible(error.message, hint=error.hint) from error
    except ValidationError as error:
        misfit = first_problem(error)
        option = "--" + str(misfit.path[0]).replace("_", "-")
        raise AuditImpossible(f"{option}: {misfit.message}") from error


def data_dir() -> Path:
    return ClientSettings().data_dir


def paint_for_terminal() -> Paint:
    out = console()
    return _paint if out.is_terminal and not out.no_color else plain


def _paint(text: str, meaning: str) -> str:
    if meaning == "strong":
        return click.style(text, bold=True)
    return click.style(text, fg=COLOURS.get(meaning))
