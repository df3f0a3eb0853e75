"""Decide which strings of a file are SQL. Concatenated strings are treated as one statement."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from tree_sitter import Node

from forge.audits.facts.sql.statement_shape import has_statement_shape

_MOST = 20_000
"""The maximum of examined characters."""

_HEAD = r"\s*(?:(?:--[^\n]*\n|/\*[^*]*\*/)\s*){0,20}\(*\s*(?:EXPLAIN\s+(?:ANALYZE\s+)?)?"
_STATEMENTS = (
    r"SELECT\b.*?\bFROM\b",
    r"INSERT\s+(?:OR\s+\w+\s+|IGNORE\s+)?INTO\b",
    r"(?:REPLACE|MERGE)\s+INTO\b",
    r"UPDATE\b.+?\bSET\b",
    r"DELETE\s+FROM\b",
    r"TRUNCATE\s+TABLE\b",
    r"(?:CREATE|ALTER|DROP)\s+(?:\w+\s+){0,3}?"
    r"(?:TABLE|INDEX|VIEW|SCHEMA|DATABASE|TRIGGER|FUNCTION|PROCEDURE|SEQUENCE|EXTENSION|TYPE|ROLE|USER)\b",
    r"WITH\s+(?:RECURSIVE\s+)?[\w\"`.]+\s*(?:\([^)]*\)\s*)?AS\s+(?:(?:NOT\s+)?MATERIALIZED\s*)?\(",
)
_ASKED = (
    *_STATEMENTS,
    r"SELECT\s+(?:\d|\*|[\w.]+\s*\(|@@|[$:?%'\"]|DISTINCT\b|CURRENT_)",
    r"PRAGMA\s+\w+",
)
_IN_CAPITALS = re.compile(_HEAD + "(?:" + "|".join(_STATEMENTS) + ")", re.DOTALL)
_IN_ANY_CASE = re.compile(_HEAD + "(?:" + "|".join(_ASKED) + ")", re.DOTALL | re.IGNORECASE)
_VERB = re.compile(
    rb"[\s(]*(?:--|/\*|(?:EXPLAIN|SELECT|INSERT|REPLACE|MERGE|UPDATE|DELETE|TRUNCATE|CREATE|ALTER|DROP|WITH|PRAGMA)\b)",
    re.IGNORECASE,
)
_RUNS_SQL = re.compile(
    r"\$?(?:exec(?:ute\w*)?|fetch\w*|query\w*|raw\w*|text|prepare\w*|sql\w*|read_?sql\w*|run_?sql\w*|mogrify|scalars?"
    r"|run|all|get|each|any|one|none|many|cursor|stream)$",
    re.IGNORECASE,
)
_HOLDS_SQL = re.compile(
    r"(?:.*[_$])?(?:sql|query|stmt|statement)$|.*(?:Sql|SQL|Query|Stmt|Statement)$", re.IGNORECASE
)
_TAG = re.compile(r"(?:sql|SQL|.*[sS]ql|\$?queryRaw\w*|\$?executeRaw\w*)$")


def may_begin_sql(text: bytes) -> bool:
    """Return whether a text may be SQL: a cheap test that includes everything `is_sql` accepts."""
    return _VERB.match(text) is not None


def is_sql(text: str, *, is_asked: bool) -> bool:
    """Return whether a text is SQL, by its keywords in capitals (or any case if it is passed to a query), or by its shape."""
    shown = text[:_MOST]
    pattern = _IN_ANY_CASE if is_asked else _IN_CAPITALS
    return pattern.match(shown) is not None or has_statement_shape(shown)


def runs_sql(function: str) -> bool:
    """Return whether a function name suggests that it takes SQL."""
    return _RUNS_SQL.match(function) is not None


def holds_sql(name: str) -> bool:
    """Return whether the name of a variable, field or argument suggests SQL."""
    return _HOLDS_SQL.match(name) is not None


def is_sql_tag(tag: str) -> bool:
    """Return whether a template tag marks SQL."""
    return _TAG.match(tag) is not None


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
"""The field with the assigned name, by node type."""
_NOTHING_BETWEEN = re.compile(rb"[\"'`\s+\\()]*(?:[rbuftRBUFT]{1,2}[\"']+)?")
_MAX_STEPS = 500
_MAX_TEXTS = 200


def sql_units(strings: Sequence[Node], texts: Sequence[Span], source: bytes) -> list[Span]:
    """Return the sorted, non-nested spans of SQL statements. `texts` are the sorted spans of string contents."""
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
    """Return the whole expression of a string, including concatenations and calls such as `"…".format(…)`."""
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
    """Return the statement, with a question mark for interpolations."""
    pieces: list[bytes] = []
    before: int | None = None
    for start, end in texts:
        if before is not None and not _NOTHING_BETWEEN.fullmatch(source, before, start):
            pieces.append(b" ? ")
        pieces.append(source[start:end])
        before = end
    return b"".join(pieces).decode("utf-8", "replace")


def _is_asked(unit: Node, parent: Node, source: bytes) -> bool:
    """Return whether the string is passed or assigned to a name that suggests SQL."""
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
