"""The tree of a Python file, with what the grammar does not know yet written as something that it knows."""

import re

from tree_sitter import Node

from forge.audits.facts.parsing import Grammar, parse

_HEAD = re.compile(rb"\b(?:class|def|type)[ \t]+[\w\x80-\xff]+[ \t]*\[")
_TOKEN = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*|[=!<>:]=|[=\[\](){}]")


def parse_python(source: bytes) -> Node | None:
    """As it is; if that has errors, with its type parameters' defaults read as parameters, if there are none then."""
    root = parse(Grammar.PYTHON, source)
    if root is None or not root.has_error:
        return root
    known = _without_defaults(source)
    other = parse(Grammar.PYTHON, known) if known != source else None
    return root if other is None or other.has_error else other


def _without_defaults(source: bytes) -> bytes:
    """`class A[T: int = bool]` becomes `class A[T: int , bool]` (PEP 696): of the same length, and nothing is hidden."""
    text = bytearray(source)
    end = 0
    while (head := _HEAD.search(source, end)) is not None:
        end, defaults = _list_from(source, head.end())
        for at in defaults:
            text[at : at + 1] = b","
    return bytes(text)


def _list_from(source: bytes, start: int) -> tuple[int, list[int]]:
    """Where a list of type parameters ends, and where the defaults in it begin."""
    depth = 1
    defaults: list[int] = []
    for token in _TOKEN.finditer(source, start):
        if token[0] in (b"[", b"(", b"{"):
            depth += 1
        elif token[0] in (b"]", b")", b"}"):
            depth -= 1
        elif token[0] == b"=" and depth == 1:
            defaults.append(token.start())
        if depth == 0:
            return token.end(), defaults
    return len(source), []
