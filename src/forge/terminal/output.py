"""How commands show what they have: JSON when asked for, else text with a little colour if there is a terminal."""

from collections.abc import Callable, Collection, Generator, Iterable
from contextlib import contextmanager

import click
from pydantic import TypeAdapter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from forge.terminal.text import clean

UNLIMITED = 10_000
"""Columns of an output that is no terminal: nothing is cut off in a file or a pipe."""

TONES = {
    "running": "blue",
    "completed": "green",
    "ok": "green",
    "active": "green",
    "answered": "green",
    "waiting": "yellow",
    "open": "yellow",
    "retrying": "yellow",
    "warn": "yellow",
    "failed": "red",
    "bad": "red",
    "revoked": "red",
}
"""Colour is for status only; what is not here is past or not yet, and grey."""


def console(*, stderr: bool = False) -> Console:
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = UNLIMITED
    return made


def print_json(data: object) -> None:
    """As the API spells it."""
    click.echo(TypeAdapter(object).dump_json(data, indent=2, by_alias=True).decode())


def words(value: object, style: str = "") -> Text:
    """Text that may come from anybody."""
    return Text(clean(str(value)), style=style)


def dot(status: str) -> Text:
    """Never colour alone: a dot and the word."""
    return Text(f"● {clean(status)}", TONES.get(status, "bright_black"))


def table(*headings: str, wrapped: Collection[str] = ()) -> Table:
    """Columns without lines. The `wrapped` ones give way on a narrow screen; an id never does."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bright_black")
    for heading in headings:
        made.add_column(heading, no_wrap=heading not in wrapped, overflow="fold", min_width=len(heading))
    return made


def key_values(pairs: Iterable[tuple[str, Text | str | None]]) -> Table:
    """One line each; what is None is left out."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style="bright_black", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            made.add_row(name, words(value) if isinstance(value, str) else value)
    return made


@contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """A sign of life while something takes long, and the way to say what it is at; nothing when nobody watches."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status(what) as spinner:
        yield lambda text: spinner.update(words(text))
