"""How the terminal asks for input. `PlainPrompts` reads lines from a pipe; see `terminal_prompts` for arrow keys."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import click

from forge.errors import ForgeError, Invalid
from forge.interview.models import SessionView
from forge.kernel.text import repair_surrogates
from forge.terminal.entry import show_error
from forge.terminal.text import clean

SWITCH = -1
"""Chosen instead of an entry: switch who asks the questions, the model or Forge's guide."""
YES = frozenset({"yes", "true", "y", "on"})
NO = frozenset({"no", "false", "n", "off"})


@dataclass(frozen=True)
class Entry:
    """One line of a menu."""

    label: str
    reason: str = ""
    id: str = ""


@dataclass(frozen=True)
class Menu:
    entries: Sequence[Entry]
    back: int | None = None
    """Index of the entry that goes back. It has a key of its own."""
    other: int | None = None
    """Index of the entry for free text."""
    switch: str | None = None
    """Label of `SWITCH`; None if there is no alternative."""
    view: SessionView | None = None
    """The turn that the menu belongs to."""


def find_entry(text: str, entries: Sequence[Entry]) -> int | None:
    """Find an entry by label, id or number (from 1), or by yes or no if exactly one label begins with that word."""
    folded = text.casefold()
    for index, entry in enumerate(entries):
        if folded in (entry.label.strip().casefold(), entry.id.casefold() or None):
            return index
    if folded in YES | NO:
        word = "yes" if folded in YES else "no"
        matches = [index for index, entry in enumerate(entries) if entry.label.casefold().startswith(word)]
        return matches[0] if len(matches) == 1 else None
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(entries):
        return int(text) - 1
    return None


class ExitInterview(Exception):
    """The user leaves the interview, which is kept as a draft."""

    def __init__(self, *, is_interrupt: bool = False, error: ForgeError | None = None) -> None:
        """`error` is set when the input ended instead: the command fails with it."""
        super().__init__("the user left the interview")
        self.is_interrupt = is_interrupt
        self.error = error


class Prompts(Protocol):
    """Every method raises `ExitInterview` when the user leaves."""

    is_terminal: bool

    def choose(self, menu: Menu) -> int | str:
        """Return the index of an entry, `SWITCH`, or free text if it was typed instead."""
        ...

    def read_text(self, *, hint: str = "") -> str:
        """Return the text that was entered, which may be empty."""
        ...

    def read_hidden(self, label: str) -> str: ...

    def reject(self, error: ForgeError) -> None:
        """Show the error, so that the question is asked again, or raise it."""
        ...


class PlainPrompts:
    """Prompts without a terminal: entries are numbered, and every answer is a line of standard input."""

    is_terminal = False

    def choose(self, menu: Menu) -> int | str:
        for number, entry in enumerate(menu.entries, start=1):
            reason = f" -- {clean(entry.reason)}" if entry.reason else ""
            click.echo(f"  {number}. {clean(entry.label)}{reason}")
        while True:
            line = self.read_text(hint="Number" if menu.other is None else "Number or text")
            if line.casefold() == "back" and menu.back is not None:
                return menu.back
            if line.casefold() == "switch" and menu.switch is not None:
                return SWITCH
            chosen = find_entry(line, menu.entries)
            if chosen is not None:
                return chosen
            if line and menu.other is not None and not line.isdigit():
                return line
            click.echo(f"Enter a number from 1 to {len(menu.entries)}.", err=True)

    def read_text(self, *, hint: str = "Text") -> str:
        """Read one line. Echo it, so that the output reads as a conversation."""
        click.echo(f"{clean(hint)}: ", nl=False)
        try:
            line = sys.stdin.readline()
        except UnicodeDecodeError as error:
            raise Invalid("Standard input is not text in UTF-8.") from error
        except KeyboardInterrupt as error:
            raise ExitInterview(is_interrupt=True) from error
        click.echo(clean(line.rstrip("\r\n")))
        if not line:
            message = "Standard input ended before the interview was finished."
            raise ExitInterview(error=Invalid(message, hint="Use a terminal, or --answers FILE."))
        return repair_surrogates(line).strip()

    def read_hidden(self, label: str) -> str:
        hint = "Save it with: forge secrets set NAME --stdin"
        raise Invalid(f"{label} can only be entered at a terminal.", hint=hint)

    def reject(self, error: ForgeError) -> None:
        show_error(error)
