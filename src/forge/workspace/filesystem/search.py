"""Search the files of a workspace for lines, about as fast as ripgrep and in bounded time.

Case is ignored by default; `\\w` and similar classes mean ASCII. A pattern that RE2 cannot parse is searched
as plain text. Binary and very large files are skipped, and so are generated directories (see
`entries.IGNORED`) unless one is named as `path`.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

from forge.errors import Invalid
from forge.workspace.filesystem.entries import EntryKind, Piece, ScannedFile
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.pattern import MAX_PATTERN, Glob, Pattern

MAX_FILE_BYTES = 4 << 20
MAX_TEXT = 200
MAX_MATCHES = 1000
TIME_LIMIT_S = 10.0
THREADS = 2
"""Half of the time is spent opening files, which two threads do in parallel; matching holds the GIL."""

_BEFORE = 80
"""Characters of a long line shown before its match."""
_SNIFF_BYTES = 8192


@dataclass(frozen=True, slots=True)
class FoundLine:
    path: str
    line: int
    text: str


@dataclass(slots=True)
class FoundLines:
    """Matches of a search; `literal` means that the pattern was not a valid expression and was searched for as text."""

    matches: list[FoundLine]
    truncated: bool
    """There may be more matches: the match or time limit was reached, or the given file was only read in part."""
    literal: bool
    files_searched: int


def search(
    files: Files,
    pattern: str,
    *,
    glob: str | None = None,
    path: str = ".",
    limit: int = 50,
    case_sensitive: bool = False,
) -> FoundLines:
    """Find the first matching lines."""
    wanted, literal = _compile(pattern, case_sensitive=case_sensitive)
    task = _Task(
        files, wanted, _filter(glob), max(1, min(limit, MAX_MATCHES)), time.monotonic() + TIME_LIMIT_S
    )
    result = FoundLines([], truncated=False, literal=literal, files_searched=0)
    if path != "." and files.stat(path).kind is EntryKind.FILE:
        content = files.read(path, limit=MAX_FILE_BYTES)
        _merge(result, task.look([ScannedFile(path, content.data)]), task.limit)
        result.truncated |= content.hash is None
        return result
    with ThreadPoolExecutor(THREADS) as pool:
        for found in _in_order(pool, task.look_into, files.pieces(path)):
            _merge(result, found, task.limit)
            if result.truncated:
                break
        task.is_over = True
    return result


def _in_order(
    pool: ThreadPoolExecutor, look: Callable[[Piece], FoundLines], pieces: Iterable[Piece]
) -> Iterator[FoundLines]:
    """Run a few tasks in parallel and yield their results in order."""
    ahead: deque[Future[FoundLines]] = deque()
    for piece in pieces:
        ahead.append(pool.submit(look, piece))
        if len(ahead) > 2 * THREADS:
            yield ahead.popleft().result()
    while ahead:
        yield ahead.popleft().result()


def _merge(result: FoundLines, found: FoundLines, limit: int) -> None:
    result.files_searched += found.files_searched
    result.matches += found.matches
    result.truncated = found.truncated or len(result.matches) > limit
    del result.matches[limit:]


@dataclass(slots=True)
class _Task:
    files: Files
    pattern: Pattern
    wanted: Callable[[str], bool]
    limit: int
    deadline: float
    is_over: bool = False

    def look_into(self, piece: Piece) -> FoundLines:
        return self.look(self.files.read_piece(piece, wanted=self.wanted, max_bytes=MAX_FILE_BYTES))

    def look(self, files: Iterable[ScannedFile]) -> FoundLines:
        """Stop at one match more than the limit, which shows that there are more."""
        result = FoundLines([], truncated=False, literal=False, files_searched=0)
        for file in files:
            if self.is_over or time.monotonic() > self.deadline:
                result.truncated = True
                break
            if _is_binary(file.data):
                continue
            result.files_searched += 1
            data = _with_plain_line_ends(file.data)
            if (at := self.pattern.find(data)) is None:  # nearly all files
                continue
            found = _matches(ScannedFile(file.path, data), self.pattern, at)
            result.matches += islice(found, self.limit + 1 - len(result.matches))
            if len(result.matches) > self.limit:
                break
        return result


def _compile(pattern: str, *, case_sensitive: bool) -> tuple[Pattern, bool]:
    """Compile a pattern. The second value is True if it is searched as plain text."""
    if not pattern or len(pattern) > MAX_PATTERN or "\n" in pattern:
        raise Invalid(
            f"The pattern must have 1 to {MAX_PATTERN} characters and no line break.", field="pattern"
        )
    try:
        pattern.encode()
    except UnicodeEncodeError:
        raise Invalid("The pattern is not valid Unicode.", field="pattern") from None
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
            f"{glob[:100]!r} is not a glob.", hint="Use a glob such as *.py or src/**/*.ts.", field="glob"
        ) from None


def _is_binary(data: bytes) -> bool:
    return data.find(b"\0", 0, _SNIFF_BYTES) >= 0


def _with_plain_line_ends(data: bytes) -> bytes:
    """Convert CRLF, so that `$` matches at line ends of Windows files."""
    return data.replace(b"\r\n", b"\n") if data.find(b"\r", 0, _SNIFF_BYTES) >= 0 else data


def _matches(file: ScannedFile, pattern: Pattern, at: int | None) -> Iterator[FoundLine]:
    """Iterate over matches, at most one per line, from the first match on."""
    data, start, line = file.data, 0, 1
    while at is not None and at < len(data):
        line += data.count(b"\n", start, at)
        begin = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        yield FoundLine(file.path, line, _shown(data[begin:end], at - begin))
        start, line = end + 1, line + 1
        at = pattern.find(data, start) if start < len(data) else None


def _shown(line: bytes, at: int) -> str:
    """Return the line, or the part of a long line around its match."""
    text = line.decode("utf-8", "replace").rstrip()
    if len(text) <= MAX_TEXT:
        return text
    offset = len(line[:at].decode("utf-8", "replace"))
    start = min(max(0, offset - _BEFORE), len(text) - MAX_TEXT + 1)
    cut = text[start : start + MAX_TEXT - 2]
    return f"{'…' if start else ''}{cut}…"
