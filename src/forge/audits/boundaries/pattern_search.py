"""Search the code of a file for the pattern rules of a layer; results are cached by content and rules."""

import builtins
import codecs
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]
from msgspec import Struct

from forge.audits.boundaries.rule_pattern import Alternative, Meaning, read_pattern
from forge.audits.facts.analyzer import version
from forge.audits.facts.code import read_code
from forge.audits.facts.models import LANGUAGES, Language
from forge.audits.facts.python.source import as_python_reads
from forge.kernel.hashing import hash_json

if TYPE_CHECKING:  # worker processes import this module and do not need the snapshot
    from forge.audits.snapshot import Entry

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
COMMENT_STYLES = {
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
"""The comment style by suffix."""
_SHAPES = {style: _engine.compile(source) for style, source in _COMMENTS.items()}


def without_comments(suffix: str, data: bytes) -> bytes:
    """Remove comments and keep line numbers. Strings are kept, as imports are strings in Go."""
    style = COMMENT_STYLES.get(suffix)
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


FRAMEWORK_PARAMETERS = frozenset((b"req", b"res", b"request", b"response", b"ctx"))
"""Parameters that frameworks pass to functions; a rule about such a word means the parameter."""
_CONTROL_KEYWORDS = frozenset((b"if", b"for", b"while", b"switch", b"catch", b"with", b"return", b"await"))
_LIST = rb"(?:[^()]|\([^()]*\))*"
_FIRST = rb"\((?:" + _LIST + rb"[,{])?[\s*.]*WORD\b"
_ASSIGNED = (
    rb"(?m)\b(?:def|class|for|const|let|var|function|interface|type|enum|global|nonlocal)\s+WORD\b"
    rb"|(?:^|[^.\w$])WORD[ \t]*(?::[^=\n]*)?=[^=>]"
)
_PARAMETER = (
    rb"(?m)\bdef\s+\w+\s*(?:\[[^\]]*\])?" + _FIRST,
    rb"(?m)\blambda\b[^:()\n]*\bWORD\b",
    rb"(?m)\bfunction\b[^(\n]*" + _FIRST,
    rb"(?m)(\.(?:then|catch|pipe|map)\(\s*(?:async\s*)?)?" + _FIRST + _LIST + rb"\)\s*(?::[^=\n]*)?=>",
    rb"(?m)(\.(?:then|catch|pipe|map)\(\s*(?:async\s*)?)?(?:^|[^.\w$])?\bWORD\s*=>",
)
"""The first group marks callbacks of promises, whose `res` is a response and not the framework's parameter."""
_METHOD = (
    rb"(?m)^\s*(?:(?:async|static|public|private|protected|override)\s+)*([#\w$]+)\s*"
    + _FIRST
    + _LIST
    + rb"\)\s*(?::[^{\n]*)?\{"
)


class _Kind(StrEnum):
    ASSIGNED = "assigned"
    PARAMETER = "parameter"
    CALLBACK = "callback"


@dataclass(frozen=True)
class LocalNames:
    code: bytes
    _cache: dict[bytes, frozenset[_Kind]] = field(default_factory=dict[bytes, frozenset[_Kind]], repr=False)

    def has(self, word: bytes) -> bool:
        """Return whether the file defines the word as a variable, function or parameter."""
        return bool(self._kinds(word))

    def is_injected(self, word: bytes) -> bool:
        """Return whether the word is a parameter that a framework passes to a function."""
        return word in FRAMEWORK_PARAMETERS and _Kind.PARAMETER in self._kinds(word)

    def _kinds(self, word: bytes) -> frozenset[_Kind]:
        if word not in self._cache:
            self._cache[word] = frozenset(self._find_kinds(cast(bytes, _engine.escape(word))))
        return self._cache[word]

    def _find_kinds(self, word: bytes) -> Iterator[_Kind]:
        if _engine.search(_ASSIGNED.replace(b"WORD", word), self.code):
            yield _Kind.ASSIGNED
        for shape in _PARAMETER:
            for found in _engine.finditer(shape.replace(b"WORD", word), self.code):
                is_callback = bool(found.groups()) and bool(found.group(1))
                yield _Kind.CALLBACK if is_callback else _Kind.PARAMETER
        for found in _engine.finditer(_METHOD.replace(b"WORD", word), self.code):
            if found.group(1) not in _CONTROL_KEYWORDS:
                yield _Kind.PARAMETER


_ASSETS = re.compile(
    r"\.(?:png|jpe?g|gif|webp|avif|bmp|ico|icns|tiff?|psd|heic|mp[34]|m4a|wav|ogg|flac|webm|mov|avi|mkv|woff2?|ttf|otf|eot"
    r"|pdf|docx|xlsx|pptx|od[ts]|zip|t?gz|bz2|xz|zst|7z|rar|tar|[jw]ar|whl|so|dll|dylib|a|o|lib|obj|exe|bin|dat|class|pyc"
    r"|wasm|db|sqlite3?|parquet|feather|np[yz]|pkl|pickle|pth?|onnx|h5|safetensors|gguf|mo|glb|keystore|jks|p12|pfx|der)"
)
_PROSE = frozenset((".md", ".markdown", ".rst", ".adoc", ".asciidoc", ".txt"))
_LOCKS = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum)$|\.(?:lock|lockb)$"
)


def searchable_files(globs: Sequence[str], entries: "Iterable[Entry]") -> "list[Entry]":
    """Select the files to search: prose and lock files only if a glob names their suffix, assets never."""
    named = frozenset(_named(globs))
    return [
        entry
        for entry in entries
        if entry.kind.is_file
        and not _ASSETS.fullmatch(entry.suffix)
        and (entry.suffix in named or _is_code(entry))
    ]


def _is_code(entry: "Entry") -> bool:
    return entry.suffix not in _PROSE and not _LOCKS.search(entry.path)


def _named(globs: Sequence[str]) -> Iterable[str]:
    """Yield the suffixes that globs name: `docs/**/*.{md,rst}` names `.md` and `.rst`."""
    for glob in globs:
        for piece in glob.rpartition("/")[2].split(".")[1:]:
            yield from (f".{word.lower()}" for word in re.findall(r"\w+", piece))


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
"""Relative imports, which refer to files of the project."""
_IDENTIFIER = re.compile(rb"[\w$\x80-\xff]+")
_SPECIFIER = re.compile(rb"\"[^\"\n]*\"|'[^'\n]*'")
_GLOBAL = frozenset((b"window", b"globalThis", b"global", b"builtins"))
"""Objects whose attributes are global names."""
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
"""A method with the name of a built-in is something else, such as `console.print` or `model.eval`."""
_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_NEVER_USED = frozenset((b"import", b"from", b"as", b"export", b"type"))


class Hits(Struct, frozen=True, array_like=True):
    found: tuple[tuple[int, int], ...] = ()
    """Sorted pairs of pattern index and line."""
    is_read: bool = True
    """False if the text could not be searched completely."""


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
    """Names imported with a relative import; only their import statement is matched."""

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(found.end() for found in re.finditer(rb"\n", self.code))]

    def line(self, at: int) -> int:
        return bisect_right(self._line_starts, at)

    @cached_property
    def imports(self) -> list[tuple[int, int]]:
        """The spans of import statements."""
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
    def own(self) -> LocalNames:
        return LocalNames(self.code)

    def import_at(self, at: int) -> tuple[int, int] | None:
        index = bisect_right(self.imports, (at, len(self.code) + 1)) - 1
        return self.imports[index] if index >= 0 and at < self.imports[index][1] else None


def _is_text(suffix: str, data: bytes) -> bool:
    """Return whether a file with NUL bytes is text, by its suffix or otherwise valid content."""
    rest = data.replace(b"\0", b"")
    if suffix in COMMENT_STYLES:
        return True
    try:
        rest.decode()
    except UnicodeDecodeError:
        return False
    return bool(rest) and _CONTROL.search(rest) is None


def as_read(suffix: str, data: bytes) -> bytes:
    """Decode source as the language does, so that neither NUL bytes nor an encoding declaration hide code."""
    data = data.removeprefix(codecs.BOM_UTF8)
    if LANGUAGES.get(suffix) is Language.PYTHON:
        data = as_python_reads(data)
    return data.replace(b"\0", b" ") if suffix in LANGUAGES else data


def _trimmed(code: bytes, start: int, end: int) -> tuple[int, int]:
    while start < end and code[start : start + 1] in (b";", b":", b" ", b"\t", b"\n", b"\r"):
        start += 1
    return start, end


def _sources(suffix: str, data: bytes) -> tuple[Source, Source]:
    """Separate code and embedded SQL, each with the other blanked out."""
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
    if LANGUAGES[suffix] is Language.SCRIPT:  # imports are matched separately, in all equivalent forms
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
    """Return whether a match must not be part of a longer name. `cursor.execute` may match `cursor.executemany`."""
    match alternative.meaning:
        case Meaning.WORD | Meaning.IDENTIFIER | Meaning.STATEMENT:
            return True
        case Meaning.NAME:
            return in_import
        case Meaning.EXPRESSION:
            return False


def _lines_of_members(alternative: Alternative, source: Source) -> Iterator[int]:
    """Find uses of `from fastapi import Request` that are written `import fastapi as f` and `f.Request`."""
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
    """Return whether a match neither begins nor ends inside a longer identifier."""
    return not (
        (_is_word(text[start - 1 : start], also) and _is_word(text[start : start + 1], also))
        or (_is_word(text[end - 1 : end], also) and _is_word(text[end : end + 1], also))
    )


def _is_word(char: bytes, also: bytes) -> bool:
    return bool(char) and (char.isalnum() or char in b"_$" or char >= b"\x80" or char in also)


def _is_use(source: Source, start: int, end: int) -> bool:
    """Return whether a word refers to the external name, not to a variable, attribute or argument of the same name."""
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
    return source.own.is_injected(word) or not (after.startswith(b":") or source.own.has(word))
