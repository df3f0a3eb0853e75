"""Extract the facts of a JavaScript or TypeScript file, including JSX, decorators and Flow annotations."""

import codecs
import re
from collections.abc import Iterator

from tree_sitter import Node

from forge.audits.facts.models import FileFacts
from forge.audits.facts.parsing import Grammar, broken_line, normalize_source, parse
from forge.audits.facts.script.imports import imports_of
from forge.audits.facts.script.routes import routes_of

_GRAMMARS = {
    ".ts": (Grammar.TYPESCRIPT,),
    ".mts": (Grammar.TYPESCRIPT,),
    ".cts": (Grammar.TYPESCRIPT,),
    ".tsx": (Grammar.TSX,),
}
_SCRIPT = (Grammar.JAVASCRIPT, Grammar.TSX)
"""Types in a `.js` file are Flow types, whose imports look like TypeScript's."""


_UNKNOWN = (
    re.compile(rb"\bexport\s+(type)(?=\s*\*)"),
    re.compile(rb"[<,]\s*(in\s+out|in|out)(?=\s+[A-Za-z_$][\w$]*(?:\s*[,>=]|\s+extends\b))"),
)
"""Valid TypeScript keywords that the grammar does not support yet."""


def script_facts(suffix: str, data: bytes) -> FileFacts:
    source = normalize_source(_as_utf8(data))
    parsed = parse_script(suffix, source)
    if parsed is None:
        return FileFacts(broken_line=1)
    root = parsed[1]
    (imports, bound), routes = imports_of(root, source), routes_of(root, source)
    return FileFacts(
        imports=imports,
        routes=routes.routes,
        mounts=routes.mounts,
        routers=routes.routers,
        bound=bound,
        broken_line=broken_line(root),
    )


def parse_script(suffix: str, source: bytes) -> tuple[Grammar, Node] | None:
    """Parse with the grammar of the suffix; on errors, try other grammars and rewritten syntax."""
    first: tuple[Grammar, Node] | None = None
    for grammar, text in _ways(suffix, source):
        root = parse(grammar, text)
        if root is not None and not root.has_error:
            return grammar, root
        if root is not None and first is None:
            first = grammar, root
    return first


def _ways(suffix: str, source: bytes) -> Iterator[tuple[Grammar, bytes]]:
    grammars = _GRAMMARS.get(suffix, _SCRIPT)
    yield from ((grammar, source) for grammar in grammars)
    known = source
    for pattern in _UNKNOWN:
        known = pattern.sub(_blanked, known)
    if known != source:
        yield grammars[-1], known


def _blanked(match: re.Match[bytes]) -> bytes:
    start, end = match.start(1) - match.start(), match.end(1) - match.start()
    return match[0][:start] + b" " * (end - start) + match[0][end:]


def _as_utf8(data: bytes) -> bytes:
    """Decode UTF-16 with a byte order mark, which script compilers accept."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16").encode()
        except UnicodeDecodeError:
            return data
    return data
