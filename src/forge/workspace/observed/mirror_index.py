"""Bring the index of a mirror up to the current files: committed, staged, changed and new ones.

This uses plumbing commands, because `git add` runs git in every submodule under the submodule's own
configuration. Contents are written without access to the objects of the repository: git would update the time
of existing ones.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from forge.workspace.observed.errors import CannotBeRead, TooMuchToHash
from forge.workspace.observed.git_process import ObservedGit, explain_failure, name_of
from forge.workspace.observed.mirror import LARGE_FILE_BYTES, Mirror, copy_index

GITLINK = b"160000"
"""File mode of a nested repository."""
StagedEntry = tuple[bytes, bytes, bytes]
"""Mode, hexadecimal id, path."""


class _OpenTree:
    """A tree that is still being filled."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.entries: list[bytes] = []


def hash_tree(entries: Iterable[StagedEntry], object_format: str) -> str:
    """Compute the tree id of entries in index order.

    Nothing is written: git updates the time of an object file that already exists, and that file belongs to
    the user.
    """
    folders = [_OpenTree(b"")]
    current = b""
    for mode, blob, path in entries:
        folder, _, name = path.rpartition(b"/")
        if folder != current:
            _go_to(folders, folder.split(b"/") if folder else [], object_format)
            current = folder
        folders[-1].entries.append(b"%b %b\0%b" % (mode, name, bytes.fromhex(blob.decode())))
    _go_to(folders, [], object_format)
    return _digest(folders[0], object_format).hex()


def _go_to(folders: list[_OpenTree], names: list[bytes], object_format: str) -> None:
    shared = 0
    for one, name in zip(folders[1:], names, strict=False):
        if one.name != name:
            break
        shared += 1
    while len(folders) > shared + 1:
        done = folders.pop()
        folders[-1].entries.append(b"40000 %b\0%b" % (done.name, _digest(done, object_format)))
    folders.extend(_OpenTree(name) for name in names[shared:])


def _digest(folder: _OpenTree, object_format: str) -> bytes:
    data = b"".join(folder.entries)
    return hashlib.new(object_format, b"tree %d\0" % len(data) + data, usedforsecurity=False).digest()


MAX_HASHED = 4 << 30
"""Maximum total size of new large files, which are hashed."""
_LIST = ("ls-files", "-z", "-v", "-s", "-c", "-o", "-m", "-d", "--exclude-standard")
_PLAIN = re.compile(rb"(?<![^\0])H (\d+) ([0-9a-f]+) 0\t([^\0]+)\0")
_MARKED = re.compile(rb"(?<![^\0])([^H\0]) ([^\0]+)\0")
_STAGED = re.compile(rb"(\d+) ([0-9a-f]+) \d\t([^\0]+)\0")
_UNREADABLE_FOLDER = "could not open directory"
_CHUNK = 1 << 20
_MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A large file, which is hashed but not copied."""

    mode: str
    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class Staged:
    entries: Sequence[StagedEntry]
    """Entries in index order."""
    unmerged: tuple[bytes, ...]
    large: Mapping[bytes, LargeFile]


@dataclass(slots=True)
class _Listing:
    """Files in the index and on disk as git reports them."""

    plain: list[StagedEntry]
    """Unmodified index entries."""
    marked: list[bytes]
    """Index entries with a status or flag."""
    differing: set[bytes]
    others: list[bytes]
    nested: list[bytes]
    """Directories with a nested repository."""
    unmerged: set[bytes]
    assumed: list[bytes]
    """Entries with the assume-unchanged flag."""
    skipped: list[bytes]
    """Entries with the skip-worktree flag."""


class _IndexUpdate:
    """Pending index updates, grouped by command."""

    def __init__(self, object_format: str) -> None:
        self.added: list[bytes] = []
        self.info: list[bytes] = []
        self.large: dict[bytes, LargeFile] = {}
        self.gone = "0" * (40 if object_format == "sha1" else 64)

    @property
    def is_needed(self) -> bool:
        return bool(self.added or self.info)

    def remove(self, path: bytes) -> None:
        self.info.append(f"0 {self.gone}\t".encode() + path)

    def put(self, mode: str, blob: str, path: bytes) -> None:
        self.info.append(f"{mode} {blob}\t".encode() + path)


def stage(mirror: Mirror) -> Staged:
    """Update the index of the mirror to the current files."""
    if mirror.is_sparse:
        mirror.git.run("update-index", "--force-write-index")  # expands a sparse index
    listing = _list(mirror.git)
    if _show_hidden(mirror, listing):
        listing = _list(mirror.git)
    plan = _plan(mirror, listing)
    _update(mirror, plan)
    for path in listing.nested:
        _add_nested(mirror, path.rstrip(b"/"), plan)
    is_changed = plan.is_needed or listing.nested or listing.marked
    entries = _list_cached(mirror.git) if is_changed else listing.plain
    return Staged(entries, tuple(sorted(listing.unmerged)), plan.large)


def rename_links(mirror: Mirror, staged: Staged, names: Mapping[bytes, bytes]) -> Staged:
    """Replace the ids of nested repositories."""
    plan = _IndexUpdate(mirror.object_format)
    for path, name in names.items():
        plan.put(GITLINK.decode(), name.decode(), path)
    _update(mirror, plan)
    entries = [(mode, names.get(path, blob), path) for mode, blob, path in staged.entries]
    return replace(staged, entries=entries)


def make_index(mirror: Mirror, contents: Mapping[bytes, tuple[str, bytes]]) -> Path:
    """Create a second index with other contents and modes for some paths."""
    other = mirror.git.git_dir / "index.other"
    copy_index(mirror.index, other)
    env = {**mirror.writing, "GIT_INDEX_FILE": str(other)}
    plan = _IndexUpdate(mirror.object_format)
    for path, (mode, content) in contents.items():
        blob = mirror.git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=content, env=env)
        plan.put(mode, blob.decode().strip(), path)
    mirror.git.run("update-index", "-z", "--index-info", stdin=_lines(plan.info), env=env)
    return other


def _list(git: ObservedGit) -> _Listing:
    result = _run_list(git)
    found = _Listing(_PLAIN.findall(result), [], set(), [], [], set(), [], [])
    for tag, item in _MARKED.findall(result):
        if tag == b"?":
            (found.nested if item.endswith(b"/") else found.others).append(item)
        else:
            _sort_marked(found, tag, item.partition(b"\t")[2])
    return found


def _run_list(git: ObservedGit) -> bytes:
    """List files; raises CannotBeRead, since git only warns about an unreadable directory and treats it as
    empty."""
    result = git.ask(*_LIST)
    if result.code != 0:
        raise explain_failure("ls-files", result.code, result.stderr)
    if _UNREADABLE_FOLDER in result.stderr:
        line = next(line for line in result.stderr.splitlines() if _UNREADABLE_FOLDER in line)
        raise CannotBeRead(
            f"A folder of the project cannot be read: {line.partition(_UNREADABLE_FOLDER)[2].strip()[:300]}.",
            hint="Grant read permission, or add it to .gitignore.",
        )
    return result.out


def _list_cached(git: ObservedGit) -> list[StagedEntry]:
    return _STAGED.findall(git.run("ls-files", "-z", "-s"))


def _sort_marked(found: _Listing, tag: bytes, path: bytes) -> None:
    if tag in b"CRcr":
        found.differing.add(path)
        return
    found.marked.append(path)
    if tag in b"Mm":
        found.unmerged.add(path)
    if tag in b"Ss":
        found.skipped.append(path)
    if tag.islower():
        found.assumed.append(path)


def _show_hidden(mirror: Mirror, listing: _Listing) -> bool:
    """Clear flags that hide changes, except for files that a sparse checkout leaves out."""
    hidden = {
        "--no-assume-unchanged": listing.assumed,
        "--no-skip-worktree": [
            path for path in listing.skipped if not mirror.is_sparse or _is_there(mirror.git.work_tree, path)
        ],
    }
    for option, paths in hidden.items():
        if paths:
            mirror.git.run("update-index", option, "-z", "--stdin", stdin=_lines(paths))
    return any(hidden.values())


def _plan(mirror: Mirror, listing: _Listing) -> _IndexUpdate:
    root = os.fsencode(mirror.git.work_tree)
    cached = [path for _, _, path in listing.plain] + listing.marked
    linked = _linked_folders(root, cached)
    plan = _IndexUpdate(mirror.object_format)
    waiting = listing.differing | listing.unmerged | set(listing.others)
    waiting |= {path for path in cached if path.startswith(linked)}
    left = MAX_HASHED
    for path in sorted(waiting):
        status = None if path.startswith(linked) else _look(root, path)
        if status is None or not _can_be_kept(status.st_mode):
            plan.remove(path)
        elif stat.S_ISREG(status.st_mode) and status.st_size >= LARGE_FILE_BYTES:
            left -= status.st_size
            if left < 0:
                raise _too_much(path)
            _take_large(mirror, root, path, plan)
        else:
            plan.added.append(path)
    return plan


def _can_be_kept(mode: int) -> bool:
    """Return whether git can store this file type; others count as deleted."""
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)


def _linked_folders(root: bytes, paths: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return directories of the index that are now links: their targets are not part of this tree."""
    folders: set[bytes] = set()
    for path in paths:
        folder = path.rpartition(b"/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition(b"/")[0]
    return tuple(
        folder + b"/"
        for folder in folders
        if (status := _look(root, folder)) is not None and stat.S_ISLNK(status.st_mode)
    )


def _look(root: bytes, path: bytes) -> os.stat_result | None:
    try:
        return os.lstat(root + b"/" + path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable([path]) from error


def _is_there(root: Path, path: bytes) -> bool:
    return _look(os.fsencode(root), path) is not None


def _take_large(mirror: Mirror, root: bytes, path: bytes, plan: _IndexUpdate) -> None:
    try:
        descriptor = os.open(root + b"/" + path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unreadable([path]) from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        hasher = hashlib.new(mirror.object_format, b"blob %d\0" % status.st_size, usedforsecurity=False)
        left = status.st_size
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            hasher.update(chunk)
            left -= len(chunk)
    if left:
        raise _unreadable([path])
    mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
    plan.large[path] = LargeFile(mode, hasher.hexdigest(), status.st_size)
    plan.put(mode, hasher.hexdigest(), path)


def _update(mirror: Mirror, plan: _IndexUpdate) -> None:
    git, env = mirror.git, mirror.writing
    if plan.info:
        git.run("update-index", "-z", "--index-info", stdin=_lines(plan.info), env=env)
    if not plan.added:
        return
    options = ("--add", "--remove", "--replace", "-z", "--stdin")
    result = git.ask("update-index", *options, stdin=_lines(plan.added), env=env)
    if result.code != 0:
        root = os.fsencode(git.work_tree)
        if refused := [path for path in plan.added if not _can_be_opened(root + b"/" + path)]:
            raise _unreadable(refused)
        raise explain_failure("update-index", result.code, result.stderr)


def _add_nested(mirror: Mirror, path: bytes, plan: _IndexUpdate) -> None:
    """Add a nested repository by its commit, or with a placeholder id if it has no commit yet."""
    git, env = mirror.git, mirror.writing
    result = git.ask("update-index", "--add", "--replace", "-z", "--stdin", stdin=_lines([path]), env=env)
    if result.code != 0:
        nothing = GITLINK + b" %b\t%b" % (b"f" * len(plan.gone), path)
        git.run("update-index", "-z", "--index-info", stdin=_lines([nothing]), env=env)


def _can_be_opened(path: bytes) -> bool:
    with suppress(OSError):
        if stat.S_ISREG(os.lstat(path).st_mode):
            os.close(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))
        return True
    return not os.path.lexists(path)


def _lines(paths: Iterable[bytes]) -> bytes:
    return b"".join(path + b"\0" for path in paths)


def _unreadable(paths: Sequence[bytes]) -> CannotBeRead:
    names = ", ".join(repr(name_of(path))[:200] for path in paths[:_MAX_NAMED])
    more = f" and {len(paths) - _MAX_NAMED} more" if len(paths) > _MAX_NAMED else ""
    return CannotBeRead(
        f"These files of the project cannot be read: {names}{more}.",
        hint="Grant read permission, or add them to .gitignore.",
    )


def _too_much(path: bytes) -> TooMuchToHash:
    return TooMuchToHash(
        f"New large files, up to {name_of(path)[:200]!r}, exceed {MAX_HASHED >> 30} GB in total.",
        hint="Add data of that size to .gitignore.",
    )
