"""Asks the person at the terminal before something cannot be taken back."""

import sys

import click

from forge.errors import Invalid


def be_sure(question: str) -> None:
    """Goes on after a yes only; where nobody can be asked, that has to be said beforehand."""
    if not sys.stdin.isatty():
        raise Invalid(f"There is nobody to ask: {question}", hint="Say it with --yes.")
    click.confirm(question, abort=True, err=True)
