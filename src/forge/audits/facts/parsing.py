"""Parse source bytes to a syntax tree in bounded time and depth, with unchanged offsets.

Hostile input can make an error-recovering parser take quadratic time, and deep nesting exhausts its stack. Both are limited
here; large files are also analyzed in another process (see `analysis`).
"""

import codecs
import re
import time
from enum import StrEnum
from functools import cache, lru_cache
from itertools import accumulate

import tree_sitter
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language, Node, Parser, Point

MAX_DEPTH = 2_000
"""The maximum nesting of brackets. Real code stays below 100; the parser overflows above 80,000."""
LIMIT_S = 2.0
LIMIT_S_PER_MB = 4.0
"""Ordinary code takes 0.2 s per megabyte."""
CHUNK = 512
"""Small, as the time limit is checked between chunks."""

_OPENING, _CLOSING = b"([{", b")]}"
_NOT_BRACKETS = bytes(byte for byte in range(256) if byte not in _OPENING + _CLOSING)
_STEP = {byte: (1 if byte in _OPENING else -1) for byte in _OPENING + _CLOSING}
_NOT_ASCII = bytes(byte if byte < 0x80 else ord("_") for byte in range(256))
_LONE_RETURN = re.compile(rb"\r(?!\n)")


class Grammar(StrEnum):
    PYTHON = "python"
    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    TSX = "tsx"


class _Reader:
    """Passes the source to the parser in chunks, and ends it early at the time limit."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._end = time.thread_time() + LIMIT_S + LIMIT_S_PER_MB * len(data) / (1 << 20)
        self.is_over = False
        self.is_read = False
        """Set after parsing: later reads are for the text of nodes and must succeed."""

    def __call__(self, offset: int, _: Point) -> bytes:
        if not self.is_read:
            self.is_over = self.is_over or time.thread_time() > self._end
        return b"" if self.is_over else self._data[offset : offset + CHUNK]


@cache
def language(grammar: Grammar) -> Language:
    match grammar:
        case Grammar.PYTHON:
            return Language(tree_sitter_python.language())
        case Grammar.JAVASCRIPT:
            return Language(tree_sitter_javascript.language())
        case Grammar.TYPESCRIPT:
            return Language(tree_sitter_typescript.language_typescript())
        case Grammar.TSX:
            return Language(tree_sitter_typescript.language_tsx())


def grammars() -> str:
    """Return the versions of the parsers, for cache keys."""
    return f"{tree_sitter.LANGUAGE_VERSION}," + ",".join(
        f"{g}:{language(g).abi_version}:{language(g).semantic_version}:{language(g).parse_state_count}"
        for g in Grammar
    )


def normalize_source(data: bytes) -> bytes:
    """Replace what the parser cannot handle (encodings, byte order mark, lone CR, NUL) without changing offsets."""
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            data = data.translate(_NOT_ASCII)
    if data.startswith(codecs.BOM_UTF8):
        data = b"\f\f\f" + data[3:]
    if b"\r" in data:
        data = _LONE_RETURN.sub(b"\n", data)
    return data.replace(b"\0", b" ")


def parse(grammar: Grammar, source: bytes) -> Node | None:
    """Parse source; None if it is nested too deeply or takes too long. `node_text` is cheaper than `Node.text`."""
    if _depth(source) > MAX_DEPTH:
        return None
    reader = _Reader(source)
    root = Parser(language(grammar)).parse(reader).root_node
    reader.is_read = True
    return None if reader.is_over else root


def _depth(source: bytes) -> int:
    """Return the nesting depth of brackets, including those in strings and comments."""
    brackets = source.translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets), _never_below_zero), default=0) if brackets else 0


def _never_below_zero(depth: int, step: int) -> int:
    return max(depth + step, 0)


def broken_line(root: Node) -> int | None:
    """Return the line of the first syntax error, or None."""
    node = root
    while node.has_error:
        if node.is_error or node.is_missing:
            return line_of(node)
        inner = next((child for child in node.children if child.has_error), None)
        if inner is None:
            return line_of(node)
        node = inner
    return None


def path_to(root: Node, offset: int) -> list[tuple[str | None, Node]]:
    """Return the nodes that contain a byte, from root to leaf, each with its field name in the parent."""
    cursor = root.walk()
    path: list[tuple[str | None, Node]] = [(None, root)]
    while cursor.goto_first_child_for_byte(offset) is not None:
        node = cursor.node
        if node is None or node.start_byte > offset:
            break
        path.append((cursor.field_name, node))
    return path


def find_words(source: bytes, *wanted: str) -> list[int]:
    """Return the sorted offsets of whole words."""
    found = [
        match.start() for word in wanted if word.encode() in source for match in _word(word).finditer(source)
    ]
    return sorted(found) if len(wanted) > 1 else found


@lru_cache(256)
def _word(word: str) -> re.Pattern[bytes]:
    """Compile a pattern that starts with the literal, which is much faster than starting with a boundary."""
    literal = re.escape(word.encode())
    return re.compile(rb"%s(?<![\w$\x80-\xff]%s)(?![\w$\x80-\xff])" % (literal, literal))


def line_of(node: Node) -> int:
    """Return the line of a node. Indexes the point, as `Point.row` of tree-sitter 0.26.0 has a reference count bug."""
    return node.start_point[0] + 1


def node_text(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
