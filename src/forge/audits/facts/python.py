"""The facts of a Python file: any version of the language, any declared encoding, templates and broken files included."""

import ast
import re
import unicodedata
import warnings

from tree_sitter import Node

from forge.audits.facts.models import FileFacts
from forge.audits.facts.parsing import Grammar, broken_line, parse, same_length
from forge.audits.facts.python_imports import imports_of
from forge.audits.facts.python_routes import routes_of

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_CODECS = re.compile(
    r"(utf-?8(-sig)?|ascii|us-ascii|latin-?1|iso-?8859-?\d+|cp\d+|windows-?\d+|koi8-[ru]|shift-?jis|euc-?(jp|kr|cn)|gb\w+|big5)$",
    re.I,
)
_MOST_SECOND_OPINION = 256 << 10
_MOST_NESTED = 100
_AUDITED = "<audited>"
"""What the parser calls the file it warns about, so that nobody else's warnings are meant."""


def python_facts(data: bytes) -> FileFacts:
    if (line := _disguised(data)) is not None:
        return FileFacts(broken_line=line)
    source = _source(data)
    root = parse(Grammar.PYTHON, source)
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


def _source(data: bytes) -> bytes:
    """As UTF-8, and its names as Python reads them (NFKC). What is declared (PEP 263) counts only where it is needed."""
    if data.isascii():
        return same_length(data)
    codec = _declared(data)
    if codec is not None:
        try:
            data = data.decode(codec).encode()
        except (UnicodeDecodeError, LookupError):
            return same_length(data)
    text = unicodedata.normalize("NFKC", data.decode("utf-8", "surrogateescape"))
    return same_length(text.encode("utf-8", "surrogateescape"))


def _declared(data: bytes) -> str | None:
    """The encoding a file names for itself, with its line in mind: PEP 263 looks at the first two."""
    _, name = _cookie(data)
    return name if name is not None and _CODECS.match(name) else None


def _disguised(data: bytes) -> int | None:
    """The line of a declaration with which Python would read other code than anybody sees (UTF-7, unicode_escape)."""
    line, name = _cookie(data)
    return line if name is not None and not _CODECS.match(name) else None


def _cookie(data: bytes) -> tuple[int, str | None]:
    for number, line in enumerate(data.split(b"\n", 2)[:2], start=1):
        match = _CODING.match(line.removeprefix(b"\xef\xbb\xbf")[:200])
        if match is not None:
            return number, match[1].decode("ascii", "replace").replace("_", "-")
    return 0, None


def _broken_line(root: Node, data: bytes, source: bytes) -> int | None:
    if b"\0" in data:
        return data.count(b"\n", 0, data.index(b"\0")) + 1
    line = broken_line(root)
    if line is not None and _is_python_after_all(root, source):
        return None
    return line


def _is_python_after_all(root: Node, source: bytes) -> bool:
    """The interpreter's own parser, for what the grammar does not know. Deep nesting is not shown to it."""
    if len(source) > _MOST_SECOND_OPINION or _is_deep(root):
        return False
    # Not `catch_warnings`: it puts back the filters of the whole process, and other threads have theirs.
    warnings.filterwarnings("ignore", module=re.escape(_AUDITED))
    try:
        ast.parse(source, filename=_AUDITED)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_deep(root: Node) -> bool:
    """Counts what is nested in the tree, and what might be in its broken pieces."""
    cursor = root.walk()
    going_down = True
    while True:
        if cursor.depth > _MOST_NESTED:
            return True
        if going_down and cursor.goto_first_child():
            continue
        if cursor.goto_next_sibling():
            going_down = True
        elif cursor.goto_parent():
            going_down = False
        else:
            return False
