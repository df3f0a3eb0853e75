"""Parse untrusted YAML and JSON to a tree with line numbers and bounded depth.

A YAML alias refers to the same node, so that a document cannot expand. The tree is built from parser events, as libyaml's
recursive composer crashes the process on deep nesting.
"""

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, cast

import yaml

from forge.kernel.text import repair_surrogates

MAX_DEPTH = 100


class UnreadableDocument(Exception):
    """The document is invalid. Readers turn it into a problem of the file."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.line = line


class Shape(Enum):
    SCALAR = "a value"
    LIST = "a list"
    MAPPING = "a mapping"


@dataclass(slots=True)
class DocumentNode:
    shape: Shape
    line: int | None
    """None in JSON, whose parser has no positions."""
    text: str = ""
    items: list["DocumentNode"] = field(default_factory=list["DocumentNode"])
    """The items of a list; for a mapping, alternating keys and values."""

    @property
    def is_empty(self) -> bool:
        return self.shape is Shape.SCALAR and self.text in ("", "~", "null", "Null", "NULL")

    def pairs(self) -> list[tuple["DocumentNode", "DocumentNode"]]:
        """Return the pairs of a mapping with `<<` merged. Raises UnreadableDocument for a duplicate key."""
        if self.shape is not Shape.MAPPING:
            return []
        own = list(zip(self.items[::2], self.items[1::2], strict=False))
        seen: set[str] = set()
        for key, _ in own:
            if key.shape is Shape.SCALAR and key.text in seen:
                raise UnreadableDocument(f"duplicate key {key.text!r}", key.line)
            seen.add(key.text)
        merged = [pair for key, value in own if key.text == "<<" for pair in _merged(value)]
        return [p for p in own if p[0].text != "<<"] + [p for p in merged if p[0].text not in seen]

    def get(self, name: str) -> "DocumentNode | None":
        return next((value for key, value in self.pairs() if key.text == name), None)


def _merged(value: DocumentNode) -> list[tuple[DocumentNode, DocumentNode]]:
    """Return the pairs merged by `<<`, one level deep."""
    sources = value.items if value.shape is Shape.LIST else [value]
    mappings = {id(source): source for source in sources if source.shape is Shape.MAPPING}.values()
    return [pair for each in mappings for pair in zip(each.items[::2], each.items[1::2], strict=False)]


def read_text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableDocument("it is not UTF-8", data.count(b"\n", 0, error.start) + 1) from error


def read_json(text: str) -> DocumentNode:
    try:
        value: object = json.loads(text, object_pairs_hook=_mapping, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        raise UnreadableDocument(f"it is not JSON: {error.msg}", error.lineno) from error
    except RecursionError as error:
        raise UnreadableDocument("it is nested too deeply") from error
    return _piece(value)


def _mapping(pairs: list[tuple[str, object]]) -> DocumentNode:
    items = [piece for key, value in pairs for piece in (_piece(key), _piece(value))]
    return DocumentNode(Shape.MAPPING, None, items=items)


def _piece(value: object) -> DocumentNode:
    """Convert a JSON value. Lists inside lists are dropped, as no supported document uses them."""
    if isinstance(value, DocumentNode):
        return value
    if isinstance(value, list):
        items = [item for item in cast(list[object], value) if not isinstance(item, list)]
        return DocumentNode(Shape.LIST, None, items=[_piece(item) for item in items])
    return DocumentNode(Shape.SCALAR, None, "" if value is None else repair_surrogates(str(value)))


def read_yaml(text: str) -> DocumentNode:
    try:
        return _Builder().build(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = str(getattr(error, "problem", None) or "it contains a character that YAML forbids")
        raise UnreadableDocument(
            f"it is not YAML: {problem}", None if mark is None else mark.line + 1
        ) from error


class _Builder:
    def __init__(self) -> None:
        self._open: list[DocumentNode] = []
        self._anchors: dict[str, DocumentNode] = {}
        self._root: DocumentNode | None = None

    def build(self, text: str) -> DocumentNode:
        # The C loader is safe here, as events construct nothing.
        loader = yaml.CSafeLoader
        for event in cast("list[Any]", yaml.parse(text, Loader=loader)):  # pyright: ignore[reportUnknownMemberType]
            self._take(event, event.start_mark.line + 1)
        return self._root or DocumentNode(Shape.SCALAR, 1)

    def _take(self, event: Any, line: int) -> None:
        if isinstance(event, yaml.MappingStartEvent):
            self._start(DocumentNode(Shape.MAPPING, line), event)
        elif isinstance(event, yaml.SequenceStartEvent):
            self._start(DocumentNode(Shape.LIST, line), event)
        elif isinstance(event, yaml.ScalarEvent):
            self._put(DocumentNode(Shape.SCALAR, line, event.value), event)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise UnreadableDocument(f"undefined alias *{event.anchor}", line)
            self._put(self._anchors[event.anchor], None)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._open.pop()

    def _start(self, piece: DocumentNode, event: Any) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise UnreadableDocument("it is nested too deeply", piece.line)
        self._put(piece, event)
        self._open.append(piece)

    def _put(self, piece: DocumentNode, event: Any) -> None:
        if event is not None and event.anchor:
            self._anchors[event.anchor] = piece
        if self._open:
            self._open[-1].items.append(piece)
        elif self._root is None:
            self._root = piece
        else:
            raise UnreadableDocument("it contains more than one document", piece.line)
