"""Files as pages and commands show them."""

from forge.workspace.files import Files
from forge.workspace.models import FileEntry, FileText, FoundLine, FoundLines
from forge.workspace.search import search

MAX_SHOWN = 512 * 1024


def entries(files: Files, path: str) -> list[FileEntry]:
    return [
        FileEntry(name=entry.name, path=entry.path, kind=entry.kind, size=entry.size)
        for entry in files.list(path)
    ]


def text(files: Files, path: str) -> FileText:
    content = files.read(path, limit=MAX_SHOWN)
    is_binary = b"\0" in content.data
    return FileText(
        path=path,
        text="" if is_binary else content.data.decode("utf-8", "replace"),
        size=content.size,
        is_binary=is_binary,
        is_cut=content.hash is None,
        hash=content.hash,
    )


def lines(files: Files, pattern: str, glob: str | None, path: str, limit: int) -> FoundLines:
    found = search(files, pattern, glob=glob, path=path, limit=limit)
    return FoundLines(
        matches=[FoundLine(path=match.path, line=match.line, text=match.text) for match in found.matches],
        truncated=found.truncated,
        literal=found.literal,
        files_searched=found.files_searched,
    )
