"""YAML and JSON of strangers as a tree with line numbers: bounded, nothing constructed, nothing expanded.

A YAML alias is the node it stands for and no copy of it, so a document cannot grow by being read. libyaml composes by
recursion and crashes the process on deep nesting; events come one by one and can be stopped.
"""

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

import yaml

from forge.kernel.text import whole_characters

MAX_DEPTH = 100


class Unreadable(Exception):
    """Not raised beyond who reads: it becomes a problem of the file."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class Shape(Enum):
    SCALAR = "a value"
    LIST = "a list"
    MAPPING = "a mapping"


@dataclass(slots=True)
class Piece:
    shape: Shape
    line: int | None
    """None in JSON, whose parser does not tell."""
    text: str = ""
    items: list["Piece"] = field(default_factory=list["Piece"])
    """Of a mapping: key, value, key, value…"""

    @property
    def is_empty(self) -> bool:
        return self.shape is Shape.SCALAR and self.text in ("", "~", "null", "Null", "NULL")

    def pairs(self) -> list[tuple["Piece", "Piece"]]:
        """Of a mapping, `<<` merged; a key that is there twice is a mistake, not an override."""
        if self.shape is not Shape.MAPPING:
            return []
        own = list(zip(self.items[::2], self.items[1::2], strict=False))
        seen: set[str] = set()
        for key, _ in own:
            if key.shape is Shape.SCALAR and key.text in seen:
                raise Unreadable(f"{key.text!r} is there twice", key.line)
            seen.add(key.text)
        merged = [pair for key, value in own if key.text == "<<" for pair in _merged(value)]
        return [p for p in own if p[0].text != "<<"] + [p for p in merged if p[0].text not in seen]

    def get(self, name: str) -> "Piece | None":
        return next((value for key, value in self.pairs() if key.text == name), None)


def _merged(value: Piece) -> list[tuple[Piece, Piece]]:
    """One level: what is merged into the merged is nobody's idea of a route."""
    sources = value.items if value.shape is Shape.LIST else [value]
    mappings = {id(source): source for source in sources if source.shape is Shape.MAPPING}.values()
    return [pair for each in mappings for pair in zip(each.items[::2], each.items[1::2], strict=False)]


def read_text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from error


def read_json(text: str) -> Piece:
    try:
        value: object = json.loads(text, object_pairs_hook=_mapping, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error
    return _piece(value)


def _mapping(pairs: list[tuple[str, object]]) -> Piece:
    items = [piece for key, value in pairs for piece in (_piece(key), _piece(value))]
    return Piece(Shape.MAPPING, None, items=items)


def _piece(value: object) -> Piece:
    """Lists hold no lists that were not met before their own end, except lists of lists: those are nobody's routes."""
    if isinstance(value, Piece):
        return value
    if isinstance(value, list):
        items = [item for item in cast(list[object], value) if not isinstance(item, list)]
        return Piece(Shape.LIST, None, items=[_piece(item) for item in items])
    return Piece(Shape.SCALAR, None, "" if value is None else whole_characters(str(value)))


def read_yaml(text: str) -> Piece:
    try:
        return _Builder().build(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or "it holds a character that YAML forbids")
        raise Unreadable(f"it is not YAML: {problem}", None if mark is None else mark.line + 1) from error


class _Builder:
    def __init__(self) -> None:
        self._open: list[Piece] = []
        self._anchors: dict[str, Piece] = {}
        self._root: Piece | None = None

    def build(self, text: str) -> Piece:
        # The C loader is as safe: no event constructs anything.
        loader = yaml.CSafeLoader
        for event in cast("list[Any]", yaml.parse(text, Loader=loader)):  # pyright: ignore[reportUnknownMemberType]
            self._take(event, event.start_mark.line + 1)
        return self._root or Piece(Shape.SCALAR, 1)

    def _take(self, event: Any, line: int) -> None:
        if isinstance(event, yaml.MappingStartEvent):
            self._start(Piece(Shape.MAPPING, line), event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(Piece(Shape.LIST, line), event)
        elif isinstance(event, yaml.ScalarEvent):
            self._put(Piece(Shape.SCALAR, line, event.value), event)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise Unreadable(f"*{event.anchor} stands for nothing", line)
            self._put(self._anchors[event.anchor], None)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._open.pop()

    def _start(self, piece: Piece, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise Unreadable("it is nested too deeply", piece.line)
        self._put(piece, event)
        self._open.append(piece)

    def _put(self, piece: Piece, event: Any) -> None:
        if event is not None and event.anchor:
            self._anchors[event.anchor] = piece
        if self._open:
            self._open[-1].items.append(piece)
        elif self._root is None:
            self._root = piece
        else:
            raise Unreadable("it holds more than one document", piece.line)
