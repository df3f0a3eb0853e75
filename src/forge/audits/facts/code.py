"""Blank out comments and text in a source file, so that patterns only match code.

Offsets and lines do not change. Comments, strings, regular expressions and JSX text become spaces. Interpolations, quoted
types, import specifiers of scripts and SQL strings are kept; the spans of SQL are returned, as SQL is matched in any case.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from msgspec import Struct
from tree_sitter import Node, Query, QueryCursor

from forge.audits.facts.models import LANGUAGES, Language
from forge.audits.facts.parsing import Grammar, language, normalize_source
from forge.audits.facts.python.source import parse_python
from forge.audits.facts.script.facts import parse_script
from forge.audits.facts.sql.detection import sql_units

Span = tuple[int, int]

_BLANK_KINDS = (
    "comment",
    "html_comment",
    "hash_bang_line",
    "regex_pattern",
    "jsx_text",
    "html_character_reference",
)
"""Node types of comments and text; not every grammar has all of them."""
_PYTHON = """
    (string_content) @text (string) @string
    (type (string) @quoted) (type (binary_operator (string) @quoted)) (type (subscript subscript: (string) @quoted))
    (type (binary_operator (subscript subscript: (string) @quoted)))
"""
_SCRIPT = """
    (string) @string (template_string) @string (string_fragment) @text (escape_sequence) @text
    (import_statement source: (string) @kept) (export_statement source: (string) @kept)
    (call_expression function: (import) arguments: (arguments . [(string) (template_string)] @kept))
    (call_expression
      function: [(identifier) @name (member_expression object: (identifier) @name)]
      arguments: (arguments . [(string) (template_string)] @kept)
      (#eq? @name "require"))
"""
_TYPED = "(import_require_clause source: (string) @kept)"
_QUERIES = {
    Grammar.PYTHON: _PYTHON,
    Grammar.JAVASCRIPT: _SCRIPT,
    Grammar.TYPESCRIPT: _SCRIPT + _TYPED,
    Grammar.TSX: _SCRIPT + _TYPED,
}
_BLANKS = bytes(byte if byte in b"\r\n" else ord(" ") for byte in range(256))


_TYPE = re.compile(rb"[\"'][\w.\[\], |]+[\"']")
_TAKES_TEXTS = (b"Literal", b"Annotated")
_MAX_STEPS = 20


class Code(Struct, frozen=True, array_like=True):
    text: bytes
    """The code, as long as the file and with the same lines."""
    sql: tuple[Span, ...] = ()
    """The sorted byte spans of SQL in the text."""


def read_code(suffix: str, data: bytes) -> Code:
    """Blank out comments and text. Other languages and unparsable files are returned unchanged, so that nothing is hidden."""
    source = normalize_source(data)
    match LANGUAGES.get(suffix):
        case Language.PYTHON:
            grammar, root = Grammar.PYTHON, parse_python(source)
        case Language.SCRIPT:
            grammar, root = parse_script(suffix, source) or (Grammar.TSX, None)
        case None:
            return Code(data)
    return Code(data) if root is None else _read(root, grammar, source, data)


def _read(root: Node, grammar: Grammar, source: bytes, data: bytes) -> Code:
    captured = QueryCursor(_query(grammar)).captures(root)
    texts = _spans(captured.get("text", []))
    quoted = [node for node in captured.get("quoted", []) if _is_type(node, source)]
    specifiers = _spans([*captured.get("kept", []), *quoted])
    units = sql_units(captured.get("string", []), texts, source)
    sql = [span for span in texts if _is_within(span, units)]
    hidden = [span for span in texts if not _is_within(span, units) and not _is_within(span, specifiers)]
    return Code(_without(data, hidden + _spans(captured.get("blank", []))), tuple(sql))


@cache
def _query(grammar: Grammar) -> Query:
    known = language(grammar)
    blanks = " ".join(f"({kind}) @blank" for kind in _BLANK_KINDS if known.id_for_node_kind(kind, True))
    return Query(known, _QUERIES[grammar] + blanks)


def _is_type(string: Node, source: bytes) -> bool:
    """Return whether a string is a quoted type, such as `p: "asyncpg.Pool"`, and not an argument of Literal or Annotated."""
    if not _TYPE.fullmatch(source, string.start_byte, string.end_byte):
        return False
    node = string.parent
    for _ in range(_MAX_STEPS):
        if node is None or node.type in ("assignment", "typed_parameter", "function_definition"):
            break
        if node.type in ("generic_type", "subscript") and node.children:
            taker = node.children[0]
            if source[taker.start_byte : taker.end_byte].endswith(_TAKES_TEXTS):
                return False
        node = node.parent
    return True


def _spans(nodes: Sequence[Node]) -> list[Span]:
    return sorted((node.start_byte, node.end_byte) for node in nodes)


def _is_within(span: Span, others: Sequence[Span]) -> bool:
    """Return whether a span is inside one of the others, which are sorted and do not overlap."""
    place = bisect_right(others, (span[0], 1 << 62)) - 1
    return place >= 0 and span[1] <= others[place][1]


def _without(data: bytes, spans: Sequence[Span]) -> bytes:
    text = bytearray(data)
    for start, end in spans:
        text[start:end] = data[start:end].translate(_BLANKS)
    return bytes(text)
