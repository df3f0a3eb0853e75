"""Print results as JSON, as declared tables and pages, or as text."""

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import repeat
from typing import Any, Generic, TypeVar

import click
from pydantic import TypeAdapter
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.terminal.text import ago, clean, duration, size

T = TypeVar("T")

Cell = Text | str | int | float | datetime | timedelta | Collection[str] | None
Getter = str | Callable[[T], Cell]
"""The name of an attribute, or a function of the item."""
View = Callable[[T], RenderableType]

FAINT = "bright_black"
ID_LENGTH = 36
_SUFFIX = re.compile("_(at|ms|bytes)$")
UNLIMITED = 10_000
"""Width of an output that is not a terminal, so that nothing is cut off in a file or a pipe."""

TONES = {
    "running": "blue",
    "completed": "green",
    "ok": "green",
    "done": "green",
    "ready": "green",
    "active": "green",
    "answered": "green",
    "waiting": "yellow",
    "open": "yellow",
    "retrying": "yellow",
    "warn": "yellow",
    "review": "yellow",
    "failed": "red",
    "bad": "red",
    "broken": "red",
    "revoked": "red",
}
"""Colors of statuses. All others (ended or not started) are gray."""


def console(*, stderr: bool = False) -> Console:
    result = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not result.is_terminal:
        result.width = UNLIMITED
    return result


def print_json(data: object) -> None:
    """Print `data` in the JSON format of the API."""
    click.echo(TypeAdapter(object).dump_json(data, indent=2, by_alias=True).decode())


def print_result(data: T, view: View[T] | str, *, as_json: bool, empty: str = "") -> None:
    """Print `data` as JSON or as `view` renders it; instead of an empty list, print `empty` to standard error."""
    if as_json:
        print_json(data)
    elif empty and not data:
        click.echo(empty, err=True)
    else:
        text = view if isinstance(view, str) else view(data)
        if text:
            print_text(text)


def print_text(text: RenderableType) -> None:
    if isinstance(text, str):
        click.echo(clean(text))
    else:
        console().print(text)


class Columns(Generic[T]):
    """A table. Columns are attribute names, separated by spaces, or headings and getters of their cells.

    Columns without any value are left out. Those with long cells are wrapped on a narrow screen; ids are not.
    """

    def __init__(self, *columns: str | Mapping[str, Getter[T]], wrap: Collection[str] = ()) -> None:
        self._columns = _getters(columns)
        self._wrap = wrap

    def __call__(self, items: Iterable[T]) -> Table:
        rows = [[_cell(item, getter) or Text() for getter in self._columns.values()] for item in items]
        columns = dict(zip(self._columns, zip(*rows, strict=True) if rows else repeat(()), strict=False))
        shown = {name: cells for name, cells in columns.items() if any(cells) or not rows}
        long = {name for name, cells in shown.items() if any(len(cell) > ID_LENGTH for cell in cells)}
        result = table(*shown, wrapped={*self._wrap, *long})
        for row in zip(*shown.values(), strict=True):
            result.add_row(*row)
        return result

    def section(self, title: str, items: Collection[T]) -> Iterator[RenderableType]:
        """Yield a heading and the table; nothing if there are no items."""
        return section(title, [self(items)] if items else [])


class Fields(Generic[T]):
    """A page of names and values, one per line, declared like `Columns`. Empty values are left out."""

    def __init__(self, *fields: str | Mapping[str, Getter[T]]) -> None:
        self._fields = _getters(fields)

    def __call__(self, item: T) -> Table:
        return key_values((name.lower(), _cell(item, getter)) for name, getter in self._fields.items())


def _getters(columns: Iterable[str | Mapping[str, Getter[T]]]) -> dict[str, Getter[T]]:
    getters: dict[str, Getter[T]] = {}
    for column in columns:
        if isinstance(column, str):
            getters |= {_SUFFIX.sub("", name).replace("_", " ").upper(): name for name in column.split()}
        else:
            getters |= {name.upper(): getter for name, getter in column.items()}
    return getters


def _cell(item: object, getter: str | Callable[[Any], Cell]) -> Text | None:
    """Format an attribute by its name: `status` and `state` get a dot, `…_ms` is a duration, `bytes` a size."""
    if not isinstance(getter, str):
        return to_text(getter(item))
    value = getattr(item, getter)
    if value is None:
        return None
    if getter in ("status", "state"):
        return dot(str(value))
    if getter.endswith("_ms"):
        return Text(duration(timedelta(milliseconds=value)))
    return Text(size(value)) if getter.endswith("bytes") else to_text(value)


def to_text(cell: Cell) -> Text | None:
    """Format a value: times relative to now, numbers with separators, lists with commas."""
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
    """Return untrusted text without control characters."""
    return Text(clean(str(value)), style=style)


def dot(status: str) -> Text:
    """Return a colored dot and the name of the status, because color alone is not accessible."""
    return Text(f"● {clean(status)}", TONES.get(status, FAINT))


def marked(tone: str, text: str | Text, hint: str | None = None) -> Text:
    """Return a line that begins with a dot in the color of a status, and an indented hint below it."""
    line = Text.assemble(("● ", TONES.get(tone, FAINT)), clean(text) if isinstance(text, str) else text)
    return line.append(f"\n  {clean(hint)}", FAINT) if hint else line


def heading(title: str) -> Text:
    return Text(f"\n{title}", FAINT)


def section(title: str, lines: Iterable[RenderableType]) -> Iterator[RenderableType]:
    """Yield a heading and its lines; nothing if there are no lines."""
    found = list(lines)
    if found:
        yield heading(title)
        yield from found


def indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def table(*headings: str, wrapped: Collection[str] = ()) -> Table:
    """Return a table without borders. Only the `wrapped` columns are wrapped on a narrow screen."""
    result = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style=FAINT)
    for title in headings:
        result.add_column(title, no_wrap=title not in wrapped, overflow="fold", min_width=len(title))
    return result


def key_values(pairs: Iterable[tuple[str, Text | str | None]]) -> Table:
    """Return one line per pair that has a value."""
    result = Table.grid(padding=(0, 2, 0, 0))
    result.add_column(style=FAINT, no_wrap=True)
    result.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            result.add_row(name, words(value) if isinstance(value, str) else value)
    return result


def print_output(text: str) -> int:
    """Print the output of a run or the text of a file, unchanged unless on a terminal, and return the exit code."""
    click.echo(clean(text) if console().is_terminal else text, nl=not text.endswith("\n"))
    return 0


@contextmanager
def working(what: str) -> Generator[Callable[[str], None]]:
    """Show a spinner in a terminal, and yield a function that changes its text."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status(what) as spinner:
        yield lambda text: spinner.update(words(text))
