"""Convert YAML nodes to JSON values and back.

Scalars follow the core schema of YAML 1.2, limited to JSON types: `yes`, `12:30` and `.inf` are strings.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import yaml
from pydantic import JsonValue

from forge.documents.yaml_nodes import Node, Shape

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_OCTAL = re.compile(r"0o[0-7]{1,300}")
_HEX = re.compile(r"0x[0-9a-fA-F]{1,300}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]{1,3})?")
_STR = "tag:yaml.org,2002:str"
_POSITION = {"x", "y"}
_MAX_ROW = 90
"""The maximum width of a list that is written on one line."""


def value_of(node: Node) -> JsonValue:
    """Convert a node. Keys are strings, however they are spelled."""
    match node.shape:
        case Shape.SCALAR:
            return scalar(node.text) if node.is_plain else node.text
        case Shape.LIST:
            return [value_of(item) for item in node.items]
        case Shape.MAPPING:
            return {key.text: value_of(value) for key, value in node.entries()}


def scalar(text: str) -> str | int | float | bool | None:
    """Convert an unquoted scalar."""
    if not text or text[0] in "0123456789+-.":
        return _number(text) if text else None
    if text in _NULLS:
        return None
    return _BOOLEANS.get(text, text)


def _number(text: str) -> str | int | float:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    if _NUMBER.fullmatch(text) and len(text) <= 300:
        value = float(text)
        return value if abs(value) != float("inf") else text
    return text


def format_yaml(value: JsonValue, *, is_flow: bool = False) -> str:
    """Format a value as YAML, without a final newline. `is_flow`: on one line, in brackets."""
    text: str = yaml.dump(  # pyright: ignore[reportUnknownMemberType]
        value,
        Dumper=_Dumper,
        allow_unicode=True,
        sort_keys=False,
        width=float("inf"),
        default_flow_style=is_flow,
    )
    return text.removesuffix("\n").removesuffix("\n...")


class _Dumper(yaml.SafeDumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists below their key."""
        super().increase_indent(flow, indentless=False)  # pyright: ignore[reportUnknownMemberType]

    def ignore_aliases(self, data: Any) -> bool:
        """Never write anchors and aliases."""
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar(_STR, text, style=_style(text))  # pyright: ignore[reportUnknownMemberType]

    def represent_items(self, items: Sequence[Any]) -> yaml.SequenceNode:
        node: yaml.SequenceNode = self.represent_sequence("tag:yaml.org,2002:seq", items)  # pyright: ignore[reportUnknownMemberType]
        if items and _is_row(node):
            node.flow_style = True
        return node

    def represent_entries(self, entries: Mapping[str, Any]) -> yaml.MappingNode:
        node: yaml.MappingNode = self.represent_mapping("tag:yaml.org,2002:map", entries)  # pyright: ignore[reportUnknownMemberType]
        if set(entries) == _POSITION and not isinstance(entries["x"], (dict, list)):
            node.flow_style = True
        return node


_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(list, _Dumper.represent_items)
_Dumper.add_representer(dict, _Dumper.represent_entries)


def _style(text: str) -> str | None:
    """Choose a block scalar for text of several lines, unless it would not be read back unchanged."""
    if "\n" in text:
        is_seen = all(line.isprintable() for line in text.split("\n"))
        is_safe = is_seen and text[0] not in " \n" and not text.endswith("\n\n")
        return "|" if is_safe else '"'
    if not text.isprintable():
        return '"'
    return "'" if not isinstance(scalar(text), str) else None


def _is_row(node: yaml.SequenceNode) -> bool:
    items = cast("list[Any]", node.value)
    if not all(isinstance(item, yaml.ScalarNode) and item.style != "|" for item in items):
        return False
    return sum(len(item.value) + 2 for item in items) <= _MAX_ROW
