"""Print results: as JSON, as tables and pages that are declared as data, or as text."""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import click
from pydantic import TypeAdapter
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.terminal.text import ago, clean, duration

T = TypeVar("T")

Cell = Text | str | int | float | datetime | timedelta | Collection[str] | None
Getter = str | Callable[[T], Cell]
"""The name of an attribute, or a function of the item."""
View = Callable[[T], RenderableType]

FAINT = "bright_black"
UNLIMITED = 10_000
"""Width of an output that is not a terminal: nothing is cut off in a file or a pipe."""

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
"""Colors of statuses. Every other status is over or has not begun, and grey."""


def console(*, stderr: bool = False) -> Console:
    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = UNLIMITED
    return made


def print_json(data: object) -> None:
    """Print `data` as the API spells it."""
    click.echo(TypeAdapter(object).dump_json(data, indent=2, by_alias=True).decode())


def print_result(data: T, view: View[T] | str, *, as_json: bool, empty: str = "") -> None:
    """Print `data` as JSON or as `view` renders it; instead of an empty list, print `empty` to standard error."""
    if as_json:
        print_json(data)
    elif empty and not data:
        click.echo(empty, err=True)
    else:
        print_text(view if isinstance(view, str) else view(data))


def print_text(text: RenderableType) -> None:
    if isinstance(text, str):
        click.echo(clean(text))
    else:
        console().print(text)


class Columns(Generic[T]):
    """A table: headings and how to get their cells. Columns in `wrap` give way on a narrow screen; ids never do."""

    def __init__(self, columns: Mapping[str, Getter[T]], *, wrap: Collection[str] = ()) -> None:
        self._columns = columns
        self._wrap = wrap

    def __call__(self, items: Iterable[T]) -> Table:
        rows = table(*self._columns, wrapped=self._wrap)
        for item in items:
            rows.add_row(*(to_text(_get(item, getter)) or Text() for getter in self._columns.values()))
        return rows


class Fields(Generic[T]):
    """A page of names and values, one per line. Empty values are left out."""

    def __init__(self, fields: Mapping[str, Getter[T]]) -> None:
        self._fields = fields

    def __call__(self, item: T) -> Table:
        return key_values((name, to_text(_get(item, getter))) for name, getter in self._fields.items())


def _get(item: object, getter: str | Callable[[Any], Cell]) -> Cell:
    return getattr(item, getter) if isinstance(getter, str) else getter(item)


def to_text(cell: Cell) -> Text | None:
    """Format a value as it reads best: times relative to now, counts with separators, lists with commas."""
    match cell:
        case None:
            return None
        case Text():
            return cell
        case str():
            return words(cell) if cell else None
        case int() | float():
            return Text(f"{cell:,}")
        case datetime():
            return Text(ago(cell, now()))
        case timedelta():
            return Text(duration(cell))
        case _:
            return words(", ".join(cell)) if cell else None


def words(value: object, style: str = "") -> Text:
    """Return text that may come from anybody, without control characters."""
    return Text(clean(str(value)), style=style)


def dot(status: str) -> Text:
    """Return a colored dot and the status in words, since color alone is not readable for everyone."""
    return Text(f"● {clean(status)}", TONES.get(status, FAINT))


def marked(tone: str, text: str | Text, hint: str | None = None) -> Text:
    """Return a line that begins with a dot in the color of a status, and an indented hint below it."""
    line = Text.assemble(("● ", TONES.get(tone, FAINT)), clean(text) if isinstance(text, str) else text)
    return line.append(f"\n  {clean(hint)}", FAINT) if hint else line


def heading(title: str) -> Text:
    return Text(f"\n{title}", FAINT)


def section(title: str, lines: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """Yield a heading and its lines; nothing without lines."""
    found = list(lines)
    if found:
        yield heading(title)
        yield from found


def indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def table(*headings: str, wrapped: Collection[str] = ()) -> Table:
    """Return a table without lines. The `wrapped` columns give way on a narrow screen; ids never do."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=FAINT)
    for title in headings:
        made.add_column(title, no_wrap=title not in wrapped, overflow="fold", min_width=len(title))
    return made


def key_values(pairs: Iterable[tuple[str, Text | str | None]]) -> Table:
    """Return one line per pair, without those that have no value."""
    made = Table.grid(padding=(0, 2, 0, 0))
    made.add_column(style=FAINT, no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            made.add_row(name, words(value) if isinstance(value, str) else value)
    return made


@contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """Show a spinner while something takes long, and yield a function that changes its text. Silent without a terminal."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status(what) as spinner:
        yield lambda text: spinner.update(words(text))
