"""Where the text rules of a layer are broken in the code of one file; kept by content and by the rules' hash."""

import builtins
import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]
from msgspec import Struct

from forge.audits.boundaries.forbidden import Alternative, Meaning, read_pattern
from forge.audits.boundaries.own_names import OwnNames
from forge.audits.boundaries.plain_code import STYLES, without_comments
from forge.audits.facts.analyzer import version
from forge.audits.facts.code import read_code
from forge.audits.facts.models import LANGUAGES, Language
from forge.audits.facts.python_source import as_python_reads
from forge.kernel.hashing import hash_json

_engine: Any = re2

_VERSION = 5
_PYTHON_IMPORT = _engine.compile(
    rb"(?m)(?:^|[;:])[ \t]*"
    rb"(?:from\b[.\w \t\\\r\n]+?\bimport\b[ \t\\\r\n]*(?:\([^()]*\)?|[^\n;]*)|import\b[^\n;]*)"
)
_SCRIPT_IMPORT = _engine.compile(
    rb"(?m)^[ \t]*(?:import\b(?:[^;()=\"'`]*?\bfrom\b)?|export\b[^;()=\"'`]*?\bfrom\s*[\"'])[^\n]*"
)
_RELATIVE = {
    Language.PYTHON: re.compile(rb"\bfrom[ \t]*\.[.\w \t]*import[ \t]*(\([^()]*\)|[^\n]*)"),
    Language.SCRIPT: re.compile(rb"\bimport\b([^;()=\"'`]*)\bfrom\s*[\"']\."),
}
"""What is taken from files of the project, by a relative name."""
_IDENTIFIER = re.compile(rb"[\w$\x80-\xff]+")
_SPECIFIER = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
_GLOBAL = frozenset((b"window", b"globalThis", b"global", b"builtins"))
"""Whose attributes are names of their own."""
_BUILT_IN = frozenset(name.encode() for name in dir(builtins)) | frozenset(
    (
        b"fetch",
        b"alert",
        b"confirm",
        b"prompt",
        b"setTimeout",
        b"setInterval",
        b"require",
        b"document",
        b"window",
    )
)
"""A method of that name is something else: `console.print`, `model.eval`."""
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_NEVER_USED = frozenset((b"import", b"from", b"as", b"export", b"type"))


class Hits(Struct, frozen=True, array_like=True):
    found: tuple[tuple[int, int], ...] = ()
    """(which pattern, which line), sorted."""
    is_read: bool = True
    """Not so where text could not be searched, or not wholly: nobody knows what is in it."""


@dataclass(frozen=True)
class PatternSearch:
    patterns: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"boundary-patterns/{_VERSION}/{version()}/{hash_json(list(self.patterns))}"

    @property
    def result(self) -> type[Hits]:
        return Hits

    def __call__(self, suffix: str, data: bytes) -> Hits:
        if b"\0" in data and suffix not in LANGUAGES:
            return Hits(is_read=not _is_text(suffix, data))
        source, queries = _sources(suffix, as_read(suffix, data))
        found: set[tuple[int, int]] = set()
        for index, pattern in enumerate(self.patterns):
            for alternative in read_pattern(pattern):
                found.update((index, line) for line in _lines(alternative, source))
                found.update((index, line) for line in _lines_of_sql(alternative, queries))
        return Hits(tuple(sorted(found)))

    def unreadable(self) -> Hits:
        return Hits(is_read=False)


@dataclass(frozen=True)
class Source:
    code: bytes
    suffix: str
    relative_words: frozenset[bytes] = frozenset()
    """What is imported by a relative name: the project's own, and a matter of the import alone."""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(rb"\n", self.code))]

    def line(self, at: int) -> int:
        return bisect_right(self._line_starts, at)

    @cached_property
    def imports(self) -> list[tuple[int, int]]:
        """Where import statements begin and end."""
        language = LANGUAGES.get(self.suffix)
        if language is None:
            return []
        shape = _PYTHON_IMPORT if language is Language.PYTHON else _SCRIPT_IMPORT
        return [_trimmed(self.code, *found.span()) for found in shape.finditer(self.code)]

    @cached_property
    def imported_words(self) -> frozenset[bytes]:
        words = (_IDENTIFIER.findall(self.code, start, end) for start, end in self.imports)
        return frozenset(word for found in words for word in found) - _NEVER_USED

    @cached_property
    def own(self) -> OwnNames:
        return OwnNames(self.code)

    def import_at(self, at: int) -> tuple[int, int] | None:
        index = bisect_right(self.imports, (at, len(self.code) + 1)) - 1
        return self.imports[index] if index >= 0 and at < self.imports[index][1] else None


def _is_text(suffix: str, data: bytes) -> bool:
    """Of what has a NUL in it: whether its name says so, or there is nothing else that text would not have."""
    rest = data.replace(b"\0", b"")
    if suffix in STYLES:
        return True
    try:
        rest.decode()
    except UnicodeDecodeError:
        return False
    return bool(rest) and _CONTROL.search(rest) is None


def as_read(suffix: str, data: bytes) -> bytes:
    """As the language reads it: neither a NUL in a comment nor the mark of an encoding hides anything."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if LANGUAGES.get(suffix) is Language.PYTHON:
        data = as_python_reads(data)
    return data.replace(b"\0", b" ") if suffix in LANGUAGES else data


def _trimmed(code: bytes, start: int, end: int) -> tuple[int, int]:
    while start < end and code[start : start + 1] in (b";", b":", b" ", b"\t", b"\n", b"\r"):
        start += 1
    return start, end


def _sources(suffix: str, data: bytes) -> tuple[Source, Source]:
    """The code, and the SQL in it: each with the other's place left blank."""
    if suffix not in LANGUAGES:
        return Source(without_comments(suffix, data), suffix), Source(b"", suffix)
    code = read_code(suffix, data)
    pieces: list[bytes] = []
    queries: list[bytes] = []
    end = 0
    for start, stop in (*code.sql, (len(code.text), len(code.text))):
        pieces += [code.text[end:start], _blank(code.text[start:stop])]
        queries += [_blank(code.text[end:start]), code.text[start:stop]]
        end = stop
    text = b"".join(pieces)
    relative = _relative_words(LANGUAGES[suffix], text)
    if LANGUAGES[suffix] is Language.SCRIPT:  # imports are looked at in all their wordings elsewhere
        text = _SPECIFIER.sub(lambda found: found[0][:1] + b" " * (len(found[0]) - 2) + found[0][:1], text)
    return Source(text, suffix, relative), Source(b"".join(queries), suffix)


def _relative_words(language: Language, text: bytes) -> frozenset[bytes]:
    lists = (found[1] for found in _RELATIVE[language].finditer(text))
    return frozenset(word for names in lists for word in _IDENTIFIER.findall(names)) - _NEVER_USED


def _blank(text: bytes) -> bytes:
    return re.sub(rb"[^\n]+", lambda found: b" " * len(found[0]), text)


def _lines(alternative: Alternative, source: Source) -> Iterator[int]:
    if alternative.is_about_sql and source.suffix in LANGUAGES:
        return
    yield from _lines_of_members(alternative, source)
    for start, end in alternative.find(source.code):
        statement = source.import_at(start)
        if _must_be_whole(alternative, in_import=statement is not None) and not is_whole(
            source.code, start, end
        ):
            continue
        if alternative.meaning is Meaning.WORD and (statement or not _is_use(source, start, end)):
            continue
        yield source.line(statement[0] if statement else start)


def _must_be_whole(alternative: Alternative, *, in_import: bool) -> bool:
    """`cursor.execute` means `cursor.executemany` too; `import os` and `os` mean nothing but that."""
    match alternative.meaning:
        case Meaning.WORD | Meaning.IDENTIFIER | Meaning.STATEMENT:
            return True
        case Meaning.NAME:
            return in_import
        case Meaning.EXPRESSION:
            return False


def _lines_of_members(alternative: Alternative, source: Source) -> Iterator[int]:
    """`import fastapi as f` and `f.Request` are `from fastapi import Request`."""
    if alternative.member is None or LANGUAGES.get(source.suffix) is not Language.PYTHON:
        return
    module, name = (re.escape(part.encode("utf-8", "surrogatepass")) for part in alternative.member)
    bound = re.compile(rb"(?:^import\b|,)[ \t]*(" + module + rb")(?:[ \t]+as[ \t]+(\w+))?[ \t]*(?=[,;\r]|$)")
    for start, end in source.imports:
        for found in bound.finditer(source.code[start:end]):
            called = re.escape(found[2] or found[1])
            uses = _engine.finditer(rb"(?:^|[^.\w])" + called + rb"\s*\.\s*(" + name + rb")\b", source.code)
            yield from (source.line(use.start(1)) for use in uses)


def _lines_of_sql(alternative: Alternative, queries: Source) -> Iterator[int]:
    if alternative.is_word and not alternative.is_sql_word:
        return
    for start, end in alternative.find(queries.code, ignore_case=True):
        if not alternative.is_word or is_whole(queries.code, start, end):
            yield queries.line(start)


def is_whole(text: bytes, start: int, end: int, also: bytes = b"") -> bool:
    """Whether it neither begins nor ends inside of a longer identifier."""
    return not (
        (_is_word(text[start - 1 : start], also) and _is_word(text[start : start + 1], also))
        or (_is_word(text[end - 1 : end], also) and _is_word(text[end : end + 1], also))
    )


def _is_word(char: bytes, also: bytes) -> bool:
    return bool(char) and (char.isalnum() or char in b"_$" or char >= b"\x80" or char in also)


def _is_use(source: Source, start: int, end: int) -> bool:
    """A word counts where it is the thing itself: not a variable, an attribute or an argument that is called the same."""
    if source.suffix not in LANGUAGES:
        return True
    before = source.code[max(0, start - 200) : start].rstrip()
    after = source.code[end : end + 200].lstrip(b" \t")
    word = source.code[start:end]
    if before.endswith(b".") and not before.endswith(b"..."):
        base = re.search(rb"[\w$]+$", before[:-1].rstrip(b"?"))
        if base is not None and (base[0] in _GLOBAL or base[0] in source.imported_words):
            return True
        return after.startswith(b"(") and word not in _BUILT_IN
    if word in source.relative_words:
        return False
    if word in source.imported_words:
        return not (after.startswith(b"=") and not after.startswith(b"=="))
    if after.startswith(b"=") and not after.startswith((b"==", b"=>")):
        return False
    return source.own.is_handed(word) or not (after.startswith(b":") or source.own.has(word))
