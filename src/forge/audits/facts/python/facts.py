"""Extract the facts of a Python file of any version and encoding, including templates and broken files."""

import ast
import re
import warnings

from tree_sitter import Node

from forge.audits.facts.models import FileFacts
from forge.audits.facts.parsing import broken_line, normalize_source
from forge.audits.facts.python.imports import imports_of
from forge.audits.facts.python.routes import routes_of
from forge.audits.facts.python.source import as_python_reads, disguised_line, parse_python

_MAX_SECOND_OPINION = 256 << 10
_MAX_NESTED = 100
_AUDITED = "<audited>"
"""The file name for the parser's warnings, so that only these are ignored."""


def python_facts(data: bytes) -> FileFacts:
    if (line := disguised_line(data)) is not None:
        return FileFacts(broken_line=line)
    source = normalize_source(as_python_reads(data))
    root = parse_python(source)
    if root is None:
        return FileFacts(broken_line=1)
    imports, routes = imports_of(root, source), routes_of(root, source)
    return FileFacts(
        imports=imports.found,
        routes=routes.routes,
        mounts=routes.mounts,
        routers=routes.routers,
        bound=imports.bound,
        broken_line=_broken_line(root, data, source),
    )


def _broken_line(root: Node, data: bytes, source: bytes) -> int | None:
    if b"\0" in data:
        return data.count(b"\n", 0, data.index(b"\0")) + 1
    line = broken_line(root)
    if line is not None and _is_python_after_all(root, source):
        return None
    return line


def _is_python_after_all(root: Node, source: bytes) -> bool:
    """Try Python's own parser for syntax that the grammar does not know, except for deeply nested code."""
    if len(source) > _MAX_SECOND_OPINION or _is_deep(root):
        return False
    # Not `catch_warnings`, which resets the filters of the whole process and is not thread-safe.
    warnings.filterwarnings("ignore", module=re.escape(_AUDITED))
    try:
        ast.parse(source, filename=_AUDITED)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_deep(root: Node) -> bool:
    """Return whether the tree is deeply nested."""
    cursor = root.walk()
    going_down = True
    while True:
        if cursor.depth > _MAX_NESTED:
            return True
        if going_down and cursor.goto_first_child():
            continue
        if cursor.goto_next_sibling():
            going_down = True
        elif cursor.goto_parent():
            going_down = False
        else:
            return False
