"""Questions without a terminal: the entries are numbered, an answer is a line of standard input."""

import sys

import click

from forge.errors import Invalid
from forge.interview.console.prompts import Aside, Left, Menu
from forge.kernel.text import repair_surrogates
from forge.terminal.text import clean


class PlainPrompts:
    is_terminal = False

    def choose(self, menu: Menu) -> int | str | Aside:
        for number, entry in enumerate(menu.entries, start=1):
            reason = f" -- {clean(entry.reason)}" if entry.reason else ""
            click.echo(f"  {number}. {clean(entry.label)}{reason}")
        while True:
            line = _read("number: " if menu.other is None else "number or words: ").strip()
            chosen = _chosen(line, menu)
            if chosen is not None:
                return chosen
            click.echo(f"Say a number from 1 to {len(menu.entries)}.", err=True)

    def write(self, *, hint: str = "") -> str:
        return _read(f"{clean(hint)}: " if hint else "words: ").strip()

    def write_hidden(self, label: str) -> str:
        raise Invalid(
            f"{label} is only asked for at a terminal.", hint="Save it: forge secrets set NAME --stdin"
        )


def _chosen(line: str, menu: Menu) -> int | str | Aside | None:
    """None when it cannot be meant."""
    said = line.casefold()
    labels = [entry.label.strip().casefold() for entry in menu.entries]
    if said in labels:
        return labels.index(said)
    if said == "back" and menu.back is not None:
        return menu.back
    if said == "switch" and menu.switch is not None:
        return Aside.SWITCH
    if said.isascii() and said.isdigit():
        return int(said) - 1 if 1 <= int(said) <= len(labels) else None
    return line if line and menu.other is not None else None


def _read(prompt: str) -> str:
    """One line; what is read from a pipe is shown, so that the whole can be read as a conversation."""
    click.echo(prompt, nl=False)
    try:
        line = sys.stdin.readline()
    except UnicodeDecodeError as error:
        raise Invalid("Standard input is not text in UTF-8.") from error
    except KeyboardInterrupt as error:
        raise Left(is_interrupt=True) from error
    if not line:
        click.echo()
        message = "Standard input ended before the interview did."
        raise Left(error=Invalid(message, hint="Use a terminal, or --answers FILE."))
    click.echo(clean(line.rstrip("\r\n")))
    return repair_surrogates(line.rstrip("\r\n"))
