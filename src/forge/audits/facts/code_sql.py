"""Which texts of a file are SQL. What is put together of several texts is one statement and is judged as one."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from tree_sitter import Node

from forge.audits.facts.sql import holds_sql, is_sql, is_sql_tag, may_begin_sql, runs_sql

Span = tuple[int, int]

_JOINING = {"concatenated_string", "binary_operator", "binary_expression", "parenthesized_expression"}
_NAMED = {
    "assignment": "left",
    "variable_declarator": "name",
    "assignment_expression": "left",
    "keyword_argument": "name",
    "pair": "key",
    "public_field_definition": "name",
    "field_definition": "property",
}
"""Which field of these holds the name that a value is given."""
_NOTHING_BETWEEN = re.compile(rb"[\"'`\s+\\()]*(?:[rbuftRBUFT]{1,2}[\"']+)?")
_MAX_STEPS = 500
_MAX_TEXTS = 200


def sql_units(strings: Sequence[Node], texts: Sequence[Span], source: bytes) -> list[Span]:
    """The spans of whole statements, in order, none within another. `texts` are the contents of the strings, in order."""
    units: list[Span] = []
    for string in sorted(strings, key=lambda node: (node.start_byte, -node.end_byte)):
        if units and string.start_byte < units[-1][1]:
            continue
        if _is_tagged(string, source):
            units.append((string.start_byte, string.end_byte))
        elif may_begin_sql(_first_text(string, texts, source)):
            unit = _whole(string, source)
            if _is_statement(unit, texts, source):
                units.append((unit.start_byte, unit.end_byte))
    return units


def _first_text(string: Node, texts: Sequence[Span], source: bytes) -> bytes:
    place = bisect_left(texts, (string.start_byte, 0))
    if place == len(texts) or texts[place][1] > string.end_byte:
        return b""
    start, end = texts[place]
    return source[start : min(end, start + 200)]


def _is_tagged(string: Node, source: bytes) -> bool:
    """sql`…`"""
    if string.type != "template_string" or string.parent is None or string.parent.type != "call_expression":
        return False
    function = string.parent.child_by_field_name("function")
    return function is not None and is_sql_tag(_last_name(function, source))


def _whole(string: Node, source: bytes) -> Node:
    """What the text is a part of: concatenations, and `"…".format(…)` or `"…".strip()`."""
    unit = string
    for _ in range(_MAX_STEPS):
        parent = unit.parent
        if parent is None:
            return unit
        if parent.type in _JOINING:
            unit = parent
        elif (
            parent.type in ("attribute", "member_expression") and parent.child_by_field_name("object") == unit
        ):
            call = parent.parent
            if call is None or call.child_by_field_name("function") != parent:
                return unit
            unit = call
        else:
            return unit
    return unit


def _is_statement(unit: Node, texts: Sequence[Span], source: bytes) -> bool:
    parent = unit.parent
    if parent is None or parent.type == "expression_statement":
        return False
    first = bisect_left(texts, (unit.start_byte, 0))
    last = bisect_left(texts, (unit.end_byte, 0))
    return is_sql(_written(texts[first:last][:_MAX_TEXTS], source), is_asked=_is_asked(unit, parent, source))


def _written(texts: Sequence[Span], source: bytes) -> str:
    """The statement as far as it is known, with a question mark for what is put in."""
    pieces: list[bytes] = []
    before: int | None = None
    for start, end in texts:
        if before is not None and not _NOTHING_BETWEEN.fullmatch(source, before, start):
            pieces.append(b" ? ")
        pieces.append(source[start:end])
        before = end
    return b"".join(pieces).decode("utf-8", "replace")


def _is_asked(unit: Node, parent: Node, source: bytes) -> bool:
    """Whether it is given to something that takes SQL, by its name."""
    if parent.type in ("argument_list", "arguments"):
        call = parent.parent
        function = call.child_by_field_name("function") if call is not None else None
        return function is not None and runs_sql(_last_name(function, source))
    field = _NAMED.get(parent.type)
    name = parent.child_by_field_name(field) if field is not None else None
    return name is not None and name != unit and holds_sql(_last_name(name, source))


def _last_name(node: Node, source: bytes) -> str:
    end = source[max(node.start_byte, node.end_byte - 100) : node.end_byte].decode("utf-8", "replace")
    return end.rpartition(".")[2].strip(" \t\r\n\"'?!")
