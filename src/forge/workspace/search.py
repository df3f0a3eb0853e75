"""Finding lines in the files of a workspace, about as quickly as ripgrep and without ever hanging.

Case does not matter unless asked for; `\\w` and its kin mean ASCII. An expression RE2 cannot read is looked for as it
is written. Left out are binary and very large files, and directories that machines fill (see `entries.IGNORED`) unless
one is named as `path`.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from forge.errors import Invalid
from forge.workspace.entries import EntryKind
from forge.workspace.files import Files
from forge.workspace.pattern import MAX_PATTERN, Glob, Pattern
from forge.workspace.scan import ScannedFile

MAX_FILE_BYTES = 4 << 20
MAX_TEXT = 200
MAX_MATCHES = 1000
TIME_LIMIT_S = 10.0

_BEFORE = 80
"""So much of a long line is shown before its match."""
_LOOK = 8192


@dataclass(frozen=True, slots=True)
class Match:
    path: str
    line: int
    text: str


@dataclass(slots=True)
class SearchResult:
    literal: bool
    """The expression could not be read and was looked for as text."""
    matches: list[Match] = field(default_factory=list[Match])
    truncated: bool = False
    """There may be more: a limit of matches or of time was reached."""
    files_searched: int = 0


def search(
    files: Files,
    pattern: str,
    *,
    glob: str | None = None,
    path: str = ".",
    limit: int = 50,
    case_sensitive: bool = False,
) -> SearchResult:
    """The first matching lines, at most one match a line."""
    wanted, literal = _compile(pattern, case_sensitive=case_sensitive)
    limit = max(1, min(limit, MAX_MATCHES))
    deadline = time.monotonic() + TIME_LIMIT_S
    result = SearchResult(literal)
    for file in _scan(files, path, _filter(glob)):
        if _is_binary(file.data):
            continue
        result.files_searched += 1
        for match in _matches(file, wanted):
            if len(result.matches) >= limit:
                result.truncated = True
                return result
            result.matches.append(match)
        if time.monotonic() > deadline:
            result.truncated = True
            break
    return result


def _compile(pattern: str, *, case_sensitive: bool) -> tuple[Pattern, bool]:
    """With the answer to whether it is looked for as it is written."""
    if not pattern or len(pattern) > MAX_PATTERN or "\n" in pattern:
        raise Invalid(
            f"What to look for has 1 to {MAX_PATTERN} characters and no line break.", field="pattern"
        )
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise Invalid("What to look for is not valid Unicode.", field="pattern") from None
    try:
        return Pattern(pattern, literal=False, case_sensitive=case_sensitive), False
    except ValueError:
        return Pattern(pattern, literal=True, case_sensitive=case_sensitive), True


def _filter(glob: str | None) -> Callable[[str], bool]:
    if not glob:
        return lambda _: True
    try:
        return Glob(glob).matches
    except (ValueError, UnicodeEncodeError):
        raise Invalid(
            f"{glob[:100]!r} is not a glob.", hint="Such as *.py or src/**/*.ts", field="glob"
        ) from None


def _scan(files: Files, path: str, wanted: Callable[[str], bool]) -> Iterator[ScannedFile]:
    if path != "." and files.stat(path).kind is EntryKind.FILE:
        content = files.read(path, limit=MAX_FILE_BYTES)
        return iter([ScannedFile(path, content.data)])
    return files.scan(path, wanted=wanted, max_bytes=MAX_FILE_BYTES)


def _is_binary(data: bytes) -> bool:
    return data.find(b"\0", 0, _LOOK) >= 0


def _with_plain_line_ends(data: bytes) -> bytes:
    """So that `$` is the end of a line in files from Windows, too."""
    return data.replace(b"\r\n", b"\n") if data.find(b"\r", 0, _LOOK) >= 0 else data


def _matches(file: ScannedFile, pattern: Pattern) -> Iterator[Match]:
    data, start, line = _with_plain_line_ends(file.data), 0, 1
    while start < len(data) and (at := pattern.find(data, start)) is not None and at < len(data):
        line += data.count(b"\n", start, at)
        begin = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield Match(file.path, line, _shown(data[begin:end], at - begin))
        start, line = end + 1, line + 1


def _shown(line: bytes, at: int) -> str:
    """All of a line, or the part of a long one around its match."""
    text = line.decode("utf-8", "replace").rstrip()
    if len(text) <= MAX_TEXT:
        return text
    place = len(line[:at].decode("utf-8", "replace"))
    start = min(max(0, place - _BEFORE), len(text) - MAX_TEXT + 1)
    cut = text[start : start + MAX_TEXT - 2]
    return f"{'…' if start else ''}{cut}…"
