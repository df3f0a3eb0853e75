"""Compare a tree with the index: changed files, line counts and added lines.

Names are not parsed from the patch, where they are quoted and truncated. They come from `--raw -z`, which
lists files in the same order as the patch.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from forge.workspace.observed.errors import BrokenRepository
from forge.workspace.observed.git_process import ObservedGit, explain_failure, name_of

_DIFF = (
    *("diff-index", "--cached", "--find-renames", "--no-rename-empty", "--no-abbrev"),
    *("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--diff-algorithm=myers"),
)
_BLANKS_ASIDE = ("-w", "--ignore-blank-lines", "--ignore-cr-at-eol")
_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FILE_MODES = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class ObservedChange:
    status: str
    """Status letter of git: A, D, M, R or T."""
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str
    path: str
    old_path: str | None
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    is_blank_only: bool = False

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if self.old_path is None else (self.old_path, self.path)

    @property
    def has_other_content(self) -> bool:
        return self.old_blob != self.new_blob


NewLine = tuple[str, int, bytes]
"""Path, line number, text."""


def read_changes(git: ObservedGit, base: str, index: Path) -> list[ObservedChange]:
    """Return the changes from a commit or tree id to the index."""
    env = {"GIT_INDEX_FILE": str(index)}
    items = iter(_items(git.run(*_DIFF, "-z", "--raw", "--numstat", base, env=env)))
    changes: list[ObservedChange] = []
    first_count = b""
    for item in items:
        if not item.startswith(b":"):
            first_count = item
            break
        changes.append(_read_raw(item, items))
    counts = dict(_read_counts(first_count, items))
    counted = [_count(change, counts.get(change.path)) for change in changes]
    if any(_may_be_blank(change) for change in counted):
        rest = iter(_items(git.run(*_DIFF, "-z", "--numstat", *_BLANKS_ASIDE, base, env=env)))
        substance = {path for path, count in _read_counts(next(rest, b""), rest) if count != (0, 0)}
        counted = [
            replace(change, is_blank_only=_may_be_blank(change) and change.path not in substance)
            for change in counted
        ]
    return counted


def read_new_lines(
    git: ObservedGit, base: str, index: Path, changes: Sequence[ObservedChange]
) -> Generator[NewLine]:
    """Iterate over added lines of text files. `changes` must be the result of `read_changes` for the same
    arguments."""
    env = {"GIT_INDEX_FILE": str(index)}
    with git.start(*_DIFF, "--patch", "--unified=0", base, env=env) as running:
        reader = _PatchReader(running.out, _sections(changes))
        yield from reader.lines()
        ended = running.end()
    if ended.code != 0:
        raise explain_failure("diff-index", ended.code, ended.stderr)
    if not reader.is_complete:
        raise BrokenRepository("The patch and the list of changed files do not agree.")


class _PatchReader:
    """Reads added lines. Lines of a hunk are counted, not recognized: a file may contain text that looks
    like a patch."""

    def __init__(self, patch: IO[bytes], sections: Sequence[str | None]) -> None:
        self._patch = patch
        self._sections = sections
        self._place = -1

    @property
    def is_complete(self) -> bool:
        return self._place == len(self._sections) - 1

    def lines(self) -> Iterator[NewLine]:
        for line in self._patch:
            if line.startswith(b"diff --git "):
                self._place += 1
                if self._place >= len(self._sections):
                    return
            elif (hunk := _HUNK.match(line)) and self._place >= 0:
                removed, start, added = (1 if part is None else int(part) for part in hunk.groups())
                yield from self._hunk(removed, start, added)

    def _hunk(self, removed: int, start: int, added: int) -> Iterator[NewLine]:
        path = self._sections[self._place]
        number = start
        while removed or added:
            line = self._patch.readline()
            if line.startswith(b"+"):
                added -= 1
                if path is not None:
                    yield path, number, line[1:].removesuffix(b"\n").removesuffix(b"\r")
                number += 1
            elif line.startswith(b"-"):
                removed -= 1
            elif not line:
                return


def _sections(changes: Sequence[ObservedChange]) -> list[str | None]:
    """Return the path of each section of the patch, None if it has no text. A type change has two
    sections."""
    sections: list[str | None] = []
    for change in changes:
        if change.status == "T":
            sections.append(None)
        sections.append(change.path if change.new_mode in _FILE_MODES else None)
    return sections


def _items(out: bytes) -> list[bytes]:
    return out.split(b"\0")[:-1]


def _read_raw(item: bytes, items: Iterator[bytes]) -> ObservedChange:
    old_mode, new_mode, old_blob, new_blob, status = item[1:].decode().split(" ")
    first = name_of(next(items))
    is_rename = status[0] in "RC"
    path = name_of(next(items)) if is_rename else first
    return ObservedChange(
        status[0], old_mode, new_mode, old_blob, new_blob, path, first if is_rename else None
    )


def _read_counts(item: bytes, items: Iterator[bytes]) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Parse added and removed lines by path; None for binary files."""
    while item:
        added, removed, path = item.split(b"\t", 2)
        if not path:
            next(items)
            path = next(items)
        yield name_of(path), None if added == b"-" else (int(added), int(removed))
        item = next(items, b"")


def _count(change: ObservedChange, count: tuple[int, int] | None) -> ObservedChange:
    if count is None:
        return replace(change, is_binary=change.has_other_content)
    return replace(change, added=count[0], removed=count[1])


def _may_be_blank(change: ObservedChange) -> bool:
    is_edit = change.status in "MR" and change.new_mode in _FILE_MODES
    return is_edit and change.has_other_content and not change.is_binary
