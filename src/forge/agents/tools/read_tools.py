"""Tools that read files, list directories and search."""

import asyncio
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import Effect, Tool, ToolContext, failure
from forge.agents.tools.text_edits import has_windows_ends, plain
from forge.workspace.filesystem.entries import IGNORED, Entry, EntryKind
from forge.workspace.filesystem.files import FileContent
from forge.workspace.filesystem.search import FoundLines, search

MAX_FILE_BYTES = 16 << 20
MAX_NAMES = 1_000
MAX_MATCHES = 50
SHOWN_HASH = 12
"""Characters of a SHA-256 shown as base_hash."""
_LOOK = 8192


class ToolInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


def failed(path: str, text: str) -> ToolOutcome:
    return failure(text).model_copy(update={"detail": ToolDetail(path=path)})


class ReadFileInput(ToolInput):
    path: str = Field(description="Relative to the workspace.")
    start_line: int | None = Field(default=None, ge=1, description="First line to read, counted from 1.")
    end_line: int | None = Field(default=None, ge=1, description="Last line to read.")


class ReadFile(Tool[ReadFileInput]):
    """Read a file. The first line of the result describes the file and the rest is its content, so that neither can be
    mistaken for the other. If content is missing, the first line says so and a note follows at the end."""

    name = "read_file"
    description = (
        "Read a text file. The first line of the result, in square brackets, describes the file: its size, the lines "
        "shown and the base_hash for edit_file. Everything after it is the unchanged content. At most 50 KB are "
        "shown; if content is missing, the first line says so, and a last line in square brackets says how to read on."
    )
    brief = "Read a text file, or some of its lines. The first line of the result describes it."
    effect = Effect.READS
    input = ReadFileInput

    async def use(self, arguments: ReadFileInput, context: ToolContext) -> ToolOutcome:
        return await asyncio.to_thread(_read, arguments, context)


def _read(arguments: ReadFileInput, context: ToolContext) -> ToolOutcome:
    found = context.files.read(arguments.path, limit=MAX_FILE_BYTES)
    if b"\0" in found.data[:_LOOK]:
        return failed(arguments.path, f"{arguments.path!r} is not text ({found.size:,} bytes).")
    if arguments.start_line and arguments.end_line and arguments.end_line < arguments.start_line:
        return failed(arguments.path, "end_line is before start_line.")
    return _shown(arguments, found, context.max_result_bytes)


@dataclass(frozen=True)
class _Excerpt:
    text: str
    first: int
    last: int
    lines: int
    missing_bytes: int
    """Bytes of the requested range that are not shown."""
    cut_in_line: bool


def _shown(arguments: ReadFileInput, found: FileContent, limit: int) -> ToolOutcome:
    excerpt = _excerpt(found.data, arguments.start_line or 1, arguments.end_line, limit)
    if excerpt is None:
        lines = _count_lines(found.data)
        return failed(
            arguments.path,
            f"{arguments.path!r} has {lines:,} lines; there is no line {arguments.start_line:,}.",
        )
    is_cut = excerpt.missing_bytes > 0 or found.hash is None
    about = [f"{found.size:,} bytes", _lines_in_words(excerpt)]
    about.append(f"base_hash {found.hash[:SHOWN_HASH]}" if found.hash else "too large for edit_file")
    text = excerpt.text
    if has_windows_ends(found.data):
        text = plain(text)
        about.append("Windows line ends")
    header = f"[{arguments.path}: {', '.join(about)}{', cut' if is_cut else ''}]"
    text = f"{header}\n{text}"
    if is_cut:
        text += f"{'' if text.endswith(chr(10)) else chr(10)}{_how_to_read_on(excerpt)}"
    return ToolOutcome(
        text=text,
        summary=f"{arguments.path}, {_lines_in_words(excerpt)}",
        detail=ToolDetail(path=arguments.path, bytes=found.size, truncated=is_cut),
    )


def _lines_in_words(excerpt: _Excerpt) -> str:
    if excerpt.lines == 0:
        return "empty"
    if (excerpt.first, excerpt.last) == (1, excerpt.lines):
        return "1 line" if excerpt.lines == 1 else f"{excerpt.lines:,} lines"
    return f"lines {excerpt.first:,}-{excerpt.last:,} of {excerpt.lines:,}"


def _how_to_read_on(excerpt: _Excerpt) -> str:
    if excerpt.missing_bytes == 0:
        return f"[cut: only the first {MAX_FILE_BYTES:,} bytes of a file can be read]"
    missing = f"[cut: {excerpt.missing_bytes:,} bytes are not shown; "
    if excerpt.cut_in_line:
        return missing + f"line {excerpt.last:,} is too long to show; use search_code]"
    return missing + f"read on with start_line={excerpt.last + 1}]"


def _excerpt(data: bytes, first: int, last: int | None, limit: int) -> _Excerpt | None:
    """Select as many whole lines as fit; None if the first line does not exist."""
    lines = _count_lines(data)
    if first > max(lines, 1):
        return None
    start = _offset_of(data, first)
    end = len(data) if last is None or last >= lines else _offset_of(data, last + 1)
    stop, cut_in_line = end, False
    if end - start > limit:
        stop = data.rfind(b"\n", start, start + limit) + 1
        if stop <= start:
            stop, cut_in_line = start + limit, True
    selected = data[start:stop]
    return _Excerpt(
        text=selected.decode("utf-8", "replace"),
        first=first,
        last=first + max(_count_lines(selected) - 1, 0),
        lines=lines,
        missing_bytes=end - stop,
        cut_in_line=cut_in_line,
    )


def _count_lines(data: bytes) -> int:
    return data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)


def _offset_of(data: bytes, line: int) -> int:
    """Return the offset of a line."""
    at = 0
    for _ in range(line - 1):
        at = data.find(b"\n", at) + 1
    return at


class ListDirectoryInput(ToolInput):
    path: str = Field(default=".", description="Relative to the workspace. Default: the workspace itself.")


class ListDirectory(Tool[ListDirectoryInput]):
    name = "list_directory"
    description = (
        "List a directory, one name per line, sorted; directories end with /. Version control, caches, node_modules, "
        "virtual environments, dist and build are omitted and named in a last line in square brackets; to list one of "
        "them, pass it as path."
    )
    brief = "List a directory."
    effect = Effect.READS
    input = ListDirectoryInput

    async def use(self, arguments: ListDirectoryInput, context: ToolContext) -> ToolOutcome:
        entries = await asyncio.to_thread(context.files.list, arguments.path)
        omitted = [entry for entry in entries if entry.kind is EntryKind.DIR and entry.name in IGNORED]
        shown = [entry for entry in entries if entry not in omitted]
        lines = [_name(entry) for entry in shown[:MAX_NAMES]]
        notes = [f"omitted: {', '.join(f'{entry.name}/' for entry in omitted)}"] if omitted else []
        if len(shown) > MAX_NAMES:
            notes.append(f"{len(shown) - MAX_NAMES:,} more names are not shown")
        if not lines:
            lines.append("(empty)" if not omitted else "(nothing else)")
        lines += [f"[{note}]" for note in notes]
        return ToolOutcome(
            text="\n".join(lines),
            summary=f"{arguments.path}, {len(shown):,} {'entry' if len(shown) == 1 else 'entries'}",
            detail=ToolDetail(path=arguments.path, matches=len(shown), truncated=len(shown) > MAX_NAMES),
        )


def _name(entry: Entry) -> str:
    name = entry.name if entry.name.isprintable() else ascii(entry.name)[1:-1]
    marks = {EntryKind.DIR: "/", EntryKind.LINK: " (link)", EntryKind.OTHER: " (cannot be opened)"}
    return name + marks.get(entry.kind, "")


class SearchCodeInput(ToolInput):
    pattern: str = Field(description="A regular expression. An invalid one is searched for as text.")
    glob: str | None = Field(default=None, description="Only files whose path matches this glob.")
    path: str = Field(default=".", description="Only in this directory or file.")


class SearchCode(Tool[SearchCodeInput]):
    name = "search_code"
    description = (
        "Find lines that match a regular expression, in all text files of the workspace, ignoring case. "
        "Returns path:line: text, at most 50 lines."
    )
    brief = "Find lines that match a regular expression, in all files."
    effect = Effect.READS
    input = SearchCodeInput

    async def use(self, arguments: SearchCodeInput, context: ToolContext) -> ToolOutcome:
        found = await asyncio.to_thread(
            search,
            context.files,
            arguments.pattern,
            glob=arguments.glob,
            path=arguments.path,
            limit=MAX_MATCHES,
        )
        lines = [f"{match.path}:{match.line}: {match.text}" for match in found.matches]
        lines += [f"[{note}]" for note in _search_notes(found)]
        count = f"{len(found.matches)}{' or more' if found.truncated else ''}"
        return ToolOutcome(
            text="\n".join(lines),
            summary=f"{arguments.pattern[:80]!r}: {count} {'line' if count == '1' else 'lines'}",
            detail=ToolDetail(path=arguments.path, matches=len(found.matches), truncated=found.truncated),
        )


def _search_notes(found: FoundLines) -> list[str]:
    notes: list[str] = []
    if not found.matches:
        notes.append(f"nothing found in {found.files_searched:,} files")
    if found.truncated and len(found.matches) < MAX_MATCHES:
        notes.append("the search is incomplete: the file is too large, or the search took too long")
    elif found.truncated:
        notes.append("there may be more; use a narrower pattern, glob or path")
    if found.literal:
        notes.append("not a valid regular expression, so it was searched for as text")
    return notes
