"""Interpret a `pattern` of boundaries.json.

A pattern is an RE2 expression. A single word or a literal import is matched as such: `import os` does not match
`import ossaudiodev`, `requests` is the package and not a variable of that name, and `from fastapi import Request|Response`
means both names. Words in a list or with `\\b` match those identifiers anywhere, and SQL keywords in capitals only match
SQL. All other expressions are searched as they are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

from forge.workspace.filesystem.pattern import MAX_MEMORY, MAX_PATTERN, reason

_engine: Any = re2

_FLAGS = re.compile(r"^\(\?([ims]+)\)")
_EDGE = re.compile(r"^(?:\^|\\b|\\s[*+]| )+|(?:\\b|\$)+$")
_WORD = re.compile(r"[^\W\d]\w*")
_NAME = re.compile(r"[\w./@:-]+")
_STATEMENT = re.compile(r"(from|import) [^\W\d][\w.]*(?: import(?: [^\W\d]\w*)?)? ?")
_FROM = re.compile(r"(from [^\W\d][\w.]* import )[^\W\d]\w*")
_MEMBER = re.compile(r"from ([^\W\d][\w.]*) import ([^\W\d]\w*)")
_LETTERS = re.compile(r"[A-Za-z_]\w*")
_LETTER_CLASS = re.compile(r"\\[bsSwWdD]|\[[^\]]*\]")
_AROUND_SQL = re.compile(r"[ .*+?^$()|:{}\d,;]*")
_GROUP = re.compile(r"(?<!\\)\((?:\?:)?((?:[\w ]|\\[.s]\+?|\|)+)\)(?![*+?{])")
_MAX_PIECES = 64
SQL_WORDS = frozenset(
    [
        "select",
        "insert",
        "update",
        "delete",
        "create",
        "drop",
        "alter",
        "truncate",
        "merge",
        "replace",
        "where",
        "join",
        "union",
        "grant",
        "revoke",
        "into",
        "values",
        "returning",
        "pragma",
        "vacuum",
    ]
)
_SQL_CAPITALS = frozenset(
    word.upper()
    for word in SQL_WORDS
    | frozenset(
        [
            "from",
            "set",
            "table",
            "index",
            "view",
            "schema",
            "database",
            "trigger",
            "function",
            "sequence",
            "distinct",
            "all",
            "order",
            "group",
            "by",
            "having",
            "limit",
            "offset",
            "on",
            "as",
            "and",
            "or",
            "not",
            "null",
            "exists",
            "if",
            "is",
            "in",
            "like",
            "inner",
            "left",
            "right",
            "outer",
            "full",
            "cross",
            "using",
            "with",
        ]
    )
)


class Meaning(StrEnum):
    WORD = "word"
    """A single identifier: matches what comes from outside the file under that name."""
    IDENTIFIER = "identifier"
    """An identifier with `\\b`, in a group or in a list: matches it anywhere."""
    NAME = "name"
    """A dotted module or a path: `app.repos`, `@scope/pkg`."""
    STATEMENT = "statement"
    """The beginning of an import statement."""
    EXPRESSION = "expression"


@dataclass(frozen=True)
class Alternative:
    source: str
    meaning: Meaning
    word: str
    """The identifier of a WORD or IDENTIFIER."""
    case_matters: bool

    @property
    def is_word(self) -> bool:
        return self.meaning in (Meaning.WORD, Meaning.IDENTIFIER)

    @property
    def is_sql_word(self) -> bool:
        return self.word.lower() in SQL_WORDS

    @cached_property
    def is_about_sql(self) -> bool:
        """Whether the pattern only consists of SQL keywords in capitals, such as `SELECT\\b.*\\bFROM`."""
        source = _FLAGS.sub("", self.source)
        rest = _LETTER_CLASS.sub(" ", source)
        words = _LETTERS.findall(rest)
        return (
            any(word.lower() in SQL_WORDS for word in words)
            and all(word in _SQL_CAPITALS for word in words)
            and _AROUND_SQL.fullmatch(_LETTERS.sub("", rest)) is not None
        )

    @cached_property
    def member(self) -> tuple[str, str] | None:
        """The module and name of `from fastapi import Request`."""
        found = _MEMBER.fullmatch(_bare(_FLAGS.sub("", self.source)))
        return (found[1], found[2]) if found and self.meaning is Meaning.STATEMENT else None

    def find(self, text: bytes, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
        """Yield the spans of all matches; a match never crosses lines."""
        for found in _compiled(self.source, ignore_case).finditer(text):
            start, end = cast(tuple[int, int], found.span())
            if end > start:
                yield start, end


@lru_cache(maxsize=256)
def read_pattern(pattern: str) -> tuple[Alternative, ...]:
    """Parse a pattern. Raises ValueError if RE2 rejects it, for example because of look-around."""
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"is longer than {MAX_PATTERN} characters")
    _compiled(pattern, False)
    flags = _FLAGS.match(pattern)
    prefix = flags[0] if flags else ""
    pieces = [expanded for piece in _split(pattern[len(prefix) :]) for expanded in _expanded(piece)]
    first = _FROM.fullmatch(_bare(pieces[0]))
    if first and len(pieces) > 1 and all(_WORD.fullmatch(_bare(piece)) for piece in pieces[1:]):
        pieces[1:] = [first[1].replace(".", r"\.") + _bare(piece) for piece in pieces[1:]]
    try:
        is_plain = _WORD.fullmatch(pattern, len(prefix)) is not None
        return tuple(_alternative(prefix, piece, is_plain=is_plain) for piece in pieces if piece)
    except ValueError:
        return (Alternative(pattern, Meaning.EXPRESSION, "", case_matters="i" not in prefix),)


def _alternative(prefix: str, piece: str, *, is_plain: bool) -> Alternative:
    _compiled(prefix + piece, False)
    case_matters = "i" not in prefix
    bare = _bare(piece)
    word = Meaning.WORD if is_plain else Meaning.IDENTIFIER
    kinds = ((word, _WORD), (Meaning.STATEMENT, _STATEMENT), (Meaning.NAME, _NAME))
    meaning = next((kind for kind, shape in kinds if shape.fullmatch(bare)), Meaning.EXPRESSION)
    return Alternative(prefix + piece, meaning, bare if meaning is word else "", case_matters)


def _expanded(piece: str) -> list[str]:
    """Expand groups of plain words: `(from|import) app\\.repos` gives two patterns."""
    pieces = [piece]
    while len(pieces) <= _MAX_PIECES:
        found = next((group for one in pieces if (group := _GROUP.search(one))), None)
        if found is None:
            return pieces
        at = next(i for i, one in enumerate(pieces) if one == found.string)
        head, tail = found.string[: found.start()], found.string[found.end() :]
        pieces[at : at + 1] = [head + word + tail for word in found[1].split("|")]
    return [piece]


def _bare(piece: str) -> str:
    """`^\\s*from\\s+app\\.repos\\b` is `from app.repos`."""
    return (
        re.sub(r"\\s\+?| \+", " ", _EDGE.sub("", piece))
        .replace("\\.", ".")
        .replace("\\/", "/")
        .replace("\\-", "-")
    )


def _split(pattern: str) -> list[str]:
    """Split a pattern at top-level `|`."""
    pieces, depth, in_class, at = [""], 0, False, 0
    while at < len(pattern):
        char = pattern[at]
        step = 2 if char == "\\" else 1
        if char == "|" and not depth and not in_class:
            pieces.append("")
        else:
            pieces[-1] += pattern[at : at + step]
        if in_class:
            in_class = char != "]"
        else:
            in_class = char == "["
            depth += {"(": 1, ")": -1}.get(char, 0)
        at += step
    return pieces


@lru_cache(maxsize=1024)
def _compiled(source: str, ignore_case: bool) -> Any:
    options = _engine.Options()
    options.case_sensitive = not ignore_case
    options.never_nl = True
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        return _engine.compile(b"(?m)" + source.encode("utf-8", "surrogatepass"), options)
    except _engine.error as error:
        raise ValueError(reason(error)) from error
