"""YAML as a tree of strings with positions, without types, tags and aliases.

The consumer of a key interprets its value: `name: yes` can be a string and `memory: yes` a boolean.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, cast

import yaml

MAX_DEPTH = 8
"""Default limit of nesting; the YAML parser takes minutes for deeply nested brackets."""

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


class YamlError(Exception):
    """Raised and caught while reading one file."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint


class Shape(Enum):
    SCALAR = auto()
    LIST = auto()
    MAPPING = auto()


@dataclass(slots=True)
class Node:
    shape: Shape
    start: int
    end: int
    """Offset behind its last character, without comments and blank lines after a block."""
    text: str = ""
    is_null: bool = False
    is_plain: bool = False
    """A scalar without quotes, whose spelling can define its type."""
    is_flow: bool = False
    items: list["Node"] = field(default_factory=list["Node"])
    """For a mapping: key, value, key, value."""

    def entries(self) -> Iterator[tuple["Node", "Node"]]:
        return zip(self.items[::2], self.items[1::2], strict=True)

    def plain(self) -> Any:
        """Return strings, lists and mappings; None for empty values."""
        match self.shape:
            case Shape.SCALAR:
                return None if self.is_null else self.text
            case Shape.LIST:
                return [item.plain() for item in self.items]
            case Shape.MAPPING:
                return {key.text: value.plain() for key, value in self.entries()}


def read_yaml(text: str, depth: int = MAX_DEPTH) -> Node:
    """Parse a single YAML document; an empty text gives an empty mapping. Raise YamlError."""
    if found := _FORBIDDEN.search(text):
        raise YamlError(
            f"The character U+{ord(found[0]):04X} is not allowed here.",
            found.start(),
            'Remove it, or write it as an escape in double quotes, such as "\\x07".',
        )
    try:
        return _Builder(text, depth).build()
    except yaml.MarkedYAMLError as error:
        reason = error.problem or "syntax error"
        hint = "Indent with spaces, and put values that contain `: `, `#` or quotes into double quotes."
        raise YamlError(f"Invalid YAML: {reason}.", _position(error, text), hint) from error
    except yaml.YAMLError as error:
        raise YamlError("Invalid YAML.", 0) from error


def _position(error: yaml.MarkedYAMLError, text: str) -> int:
    """Return the position of an error. The end of an unclosed element is the end of the text, so prefer its start."""
    positions = [mark.index for mark in (error.problem_mark, error.context_mark) if mark]
    return next((position for position in positions if position < len(text)), max(len(text.rstrip()) - 1, 0))


class _Builder:
    def __init__(self, text: str, depth: int) -> None:
        self._text = text
        self._depth = depth
        self._open: list[Node] = []
        self._root: Node | None = None

    def build(self) -> Node:
        loader = yaml.CSafeLoader
        for event in cast("list[Any]", yaml.parse(self._text, Loader=loader)):  # pyright: ignore[reportUnknownMemberType]
            self._take(event, event.start_mark.index, event.end_mark.index)
        return self._root or Node(Shape.MAPPING, 0, 0)

    def _take(self, event: Any, start: int, end: int) -> None:
        if isinstance(event, yaml.NodeEvent):
            _refuse_indirection(event, start)
        if isinstance(event, yaml.ScalarEvent):
            text: str = event.value
            is_null = not event.style and text in _NULLS
            self._put(Node(Shape.SCALAR, start, self._trimmed(start, end), text, is_null, not event.style))
        elif isinstance(event, yaml.MappingStartEvent):
            self._begin(Node(Shape.MAPPING, start, end, is_flow=bool(event.flow_style)))
        elif isinstance(event, yaml.SequenceStartEvent):
            self._begin(Node(Shape.LIST, start, end, is_flow=bool(event.flow_style)))
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            self._finish(end)

    def _begin(self, node: Node) -> None:
        if len(self._open) >= self._depth:
            raise YamlError("The nesting is too deep.", node.start)
        self._put(node)
        self._open.append(node)

    def _finish(self, end: int) -> None:
        node = self._open.pop()
        is_block = not node.is_flow and node.items
        node.end = node.items[-1].end if is_block else end
        if node.shape is Shape.MAPPING:
            _check_keys(node)

    def _put(self, node: Node) -> None:
        if self._open:
            self._open[-1].items.append(node)
        elif self._root is None:
            self._root = node
        else:
            raise YamlError(
                "The file contains a second YAML document.", node.start, "Remove the `...` or `---` above it."
            )

    def _trimmed(self, start: int, end: int) -> int:
        """Return the end without trailing whitespace, which the parser includes for block scalars."""
        return start + len(self._text[start:end].rstrip("\r\n \t"))


def _refuse_indirection(event: Any, start: int) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor:
        raise YamlError(
            "Anchors (&) and aliases (*) are not supported.", start, "Write the value out, or quote it."
        )
    if event.tag is not None:
        raise YamlError("Tags (!) are not supported.", start, "Remove the tag, or quote the value.")


def _check_keys(mapping: Node) -> None:
    seen: set[str] = set()
    for key, _ in mapping.entries():
        if key.shape is not Shape.SCALAR:
            raise YamlError("A key must be a string.", key.start)
        if key.text in seen:
            raise YamlError(f"Duplicate key `{key.text[:60]}`.", key.start, "Remove one of the two.")
        seen.add(key.text)
