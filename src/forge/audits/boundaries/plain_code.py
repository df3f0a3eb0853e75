"""Source of languages that are not parsed here, without its comments: all that a text rule needs of it."""

from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

_engine: Any = re2

_STRINGS = rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
_C = rb"//[^\n]*|/\*(?s:.*?)\*/"
_MARKUP = rb"<!--(?s:.*?)-->"
_COMMENTS = {
    "c": _STRINGS + rb"|`[^`]*`|(" + _C + rb")",
    "hash": _STRINGS + rb"|(#[^\n]*)",
    "hcl": _STRINGS + rb"|(#[^\n]*|" + _C + rb")",
    "sql": _STRINGS + rb"|(--[^\n]*|/\*(?s:.*?)\*/)",
    "markup": rb"(" + _MARKUP + rb"|/\*(?s:.*?)\*/|(?m:^[ \t]*//[^\n]*))",
}
STYLES = {
    **dict.fromkeys(
        [
            ".go",
            ".java",
            ".kt",
            ".kts",
            ".rs",
            ".c",
            ".h",
            ".cc",
            ".cpp",
            ".hpp",
            ".cs",
            ".swift",
            ".scala",
            ".dart",
            ".php",
            ".proto",
        ],
        "c",
    ),
    **dict.fromkeys([".rb", ".sh", ".bash", ".ex", ".exs", ".pl"], "hash"),
    **dict.fromkeys([".tf", ".tfvars", ".hcl"], "hcl"),
    ".sql": "sql",
    **dict.fromkeys([".vue", ".svelte", ".astro", ".html"], "markup"),
}
"""How comments are written, by suffix."""
_SHAPES = {style: _engine.compile(source) for style, source in _COMMENTS.items()}


def without_comments(suffix: str, data: bytes) -> bytes:
    """Comments are blank, lines stay where they are. Strings stay: in Go an import is one."""
    style = STYLES.get(suffix)
    if style is None:
        return data
    pieces: list[bytes] = []
    end = 0
    for found in _SHAPES[style].finditer(data):
        start, stop = cast(tuple[int, int], found.span(1))
        if start >= 0:
            pieces += [data[end:start], b"\n" * data.count(b"\n", start, stop)]
            end = stop
    return b"".join([*pieces, data[end:]])
