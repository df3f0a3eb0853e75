"""A file without its comments and texts: what a pattern about code may be searched in.

Every byte keeps its place and every line its end, so that what is found there is found in the file. Comments, strings,
regular expressions and the text of JSX become blanks. What stays is code: interpolations, types in quotes, the specifiers
of a script's imports, and SQL, which is code of another language. SQL keywords are written in any case, hence the spans.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from msgspec import Struct
from tree_sitter import Node, Query, QueryCursor

from forge.audits.facts.code_sql import sql_units
from forge.audits.facts.models import LANGUAGES, Language
from forge.audits.facts.parsing import Grammar, language, same_length
from forge.audits.facts.python_syntax import parse_python
from forge.audits.facts.script import parse_script

Span = tuple[int, int]

_BLANK_KINDS = (
    "comment",
    "html_comment",
    "hash_bang_line",
    "regex_pattern",
    "jsx_text",
    "html_character_reference",
)
"""Which of them there are depends on the grammar."""
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
    """As long as the file, with the same lines."""
    sql: tuple[Span, ...] = ()
    """Where the pieces of SQL stand that were left in: begin and end, in bytes, in order."""


def read_code(suffix: str, data: bytes) -> Code:
    """Files of other languages come back as they are, and so does what cannot be parsed: nothing is hidden by it."""
    source = same_length(data)
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
    """`p: "asyncpg.Pool"`; what is given to Literal and Annotated is text."""
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
    """The others are sorted and do not overlap."""
    place = bisect_right(others, (span[0], 1 << 62)) - 1
    return place >= 0 and span[1] <= others[place][1]


def _without(data: bytes, spans: Sequence[Span]) -> bytes:
    text = bytearray(data)
    for start, end in spans:
        text[start:end] = data[start:end].translate(_BLANKS)
    return bytes(text)
