"""The state of the files as one index of git: committed, staged, changed and new alike, whatever marks it carries.

Done with plumbing rather than with `git add`, which asks the git of every submodule what is new there, and that git
obeys the submodule's own configuration. Contents are written while the objects of the repository are out of sight: git
would set the time of those that it finds there.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from forge.workspace.observed_errors import CannotBeRead, TooMuchToHash
from forge.workspace.observed_git import ObservedGit, explain_failure, name_of
from forge.workspace.observed_mirror import LARGE, Mirror, copy_index
from forge.workspace.observed_trees import GITLINK, StagedEntry

MAX_HASHED = 4 << 30
"""Bytes of all new large files together."""
_LIST = ("ls-files", "-z", "-v", "-s", "-c", "-o", "-m", "-d", "--exclude-standard")
_PLAIN = re.compile(rb"(?<![^\0])H (\d+) ([0-9a-f]+) 0\t([^\0]+)\0")
_MARKED = re.compile(rb"(?<![^\0])([^H\0]) ([^\0]+)\0")
_STAGED = re.compile(rb"(\d+) ([0-9a-f]+) \d\t([^\0]+)\0")
_CLOSED = "could not open directory"
_CHUNK = 1 << 20
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Large:
    """A file that is known by its hash only: nobody keeps a second copy of it."""

    mode: str
    blob: str
    size: int


@dataclass(frozen=True, slots=True)
class Staged:
    entries: Sequence[StagedEntry]
    """In the order of the index."""
    unmerged: tuple[bytes, ...]
    large: Mapping[bytes, Large]


@dataclass(slots=True)
class _Listing:
    """What the index and the disk have, as git sees it."""

    plain: list[StagedEntry]
    """Of the index, with nothing special about them."""
    marked: list[bytes]
    """Of the index, with something special about them."""
    differing: set[bytes]
    others: list[bytes]
    nested: list[bytes]
    """Directories with a repository of their own."""
    unmerged: set[bytes]
    assumed: list[bytes]
    """Marked as unchanged, so that git does not look."""
    skipped: list[bytes]
    """Marked as not being in the work tree."""


class _Sorted:
    """What has to be done to the index, by the way it is done."""

    def __init__(self, object_format: str) -> None:
        self.added: list[bytes] = []
        self.info: list[bytes] = []
        self.large: dict[bytes, Large] = {}
        self.gone = "0" * (40 if object_format == "sha1" else 64)

    @property
    def is_needed(self) -> bool:
        return bool(self.added or self.info)

    def remove(self, path: bytes) -> None:
        self.info.append(f"0 {self.gone}\t".encode() + path)

    def put(self, mode: str, blob: str, path: bytes) -> None:
        self.info.append(f"{mode} {blob}\t".encode() + path)


def stage(mirror: Mirror) -> Staged:
    """Bring the mirror's index up to what is there."""
    if mirror.is_sparse:
        mirror.git.run("update-index", "--force-write-index")  # whole folders can be one entry of it
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
    """Repositories in the repository under other names than their commits."""
    plan = _Sorted(mirror.object_format)
    for path, name in names.items():
        plan.put(GITLINK.decode(), name.decode(), path)
    _update(mirror, plan)
    entries = [(mode, names.get(path, blob), path) for mode, blob, path in staged.entries]
    return replace(staged, entries=entries)


def make_index(mirror: Mirror, contents: Mapping[bytes, tuple[str, bytes]]) -> Path:
    """A second index, with other contents (and their modes) in some places."""
    other = mirror.git.git_dir / "index.other"
    copy_index(mirror.index, other)
    env = {**mirror.writing, "GIT_INDEX_FILE": str(other)}
    plan = _Sorted(mirror.object_format)
    for path, (mode, content) in contents.items():
        blob = mirror.git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=content, env=env)
        plan.put(mode, blob.decode().strip(), path)
    mirror.git.run("update-index", "-z", "--index-info", stdin=_lines(plan.info), env=env)
    return other


def _list(git: ObservedGit) -> _Listing:
    said = _say_list(git)
    found = _Listing(_PLAIN.findall(said), [], set(), [], [], set(), [], [])
    for tag, item in _MARKED.findall(said):
        if tag == b"?":
            (found.nested if item.endswith(b"/") else found.others).append(item)
        else:
            _sort_marked(found, tag, item.partition(b"\t")[2])
    return found


def _say_list(git: ObservedGit) -> bytes:
    """git only warns about a folder that it cannot look into, and goes on as if it were empty."""
    said = git.ask(*_LIST)
    if said.code != 0:
        raise explain_failure("ls-files", said.code, said.complaint)
    if _CLOSED in said.complaint:
        line = next(line for line in said.complaint.splitlines() if _CLOSED in line)
        raise CannotBeRead(
            f"A folder of the project cannot be read: {line.partition(_CLOSED)[2].strip()[:300]}.",
            hint="Give us the right to read it, or let git ignore it.",
        )
    return said.out


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
    """Marks that tell git not to look are taken away, except for what a sparse checkout really leaves out."""
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


def _plan(mirror: Mirror, listing: _Listing) -> _Sorted:
    root = os.fsencode(mirror.git.work_tree)
    cached = [path for _, _, path in listing.plain] + listing.marked
    linked = _linked_folders(root, cached)
    plan = _Sorted(mirror.object_format)
    waiting = listing.differing | listing.unmerged | set(listing.others)
    waiting |= {path for path in cached if path.startswith(linked)}
    left = MAX_HASHED
    for path in sorted(waiting):
        status = None if path.startswith(linked) else _look(root, path)
        if status is None or not _can_be_kept(status.st_mode):
            plan.remove(path)
        elif stat.S_ISREG(status.st_mode) and status.st_size >= LARGE:
            left -= status.st_size
            if left < 0:
                raise _too_much(path)
            _take_large(mirror, root, path, plan)
        else:
            plan.added.append(path)
    return plan


def _can_be_kept(mode: int) -> bool:
    """Pipes, sockets and devices cannot be part of a tree: to git such a file is gone."""
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)


def _linked_folders(root: bytes, paths: Iterable[bytes]) -> tuple[bytes, ...]:
    """Folders that the index has files in and that are links now: what lies behind them is not of this tree."""
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


def _take_large(mirror: Mirror, root: bytes, path: bytes, plan: _Sorted) -> None:
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
    plan.large[path] = Large(mode, hasher.hexdigest(), status.st_size)
    plan.put(mode, hasher.hexdigest(), path)


def _update(mirror: Mirror, plan: _Sorted) -> None:
    git, env = mirror.git, mirror.writing
    if plan.info:
        git.run("update-index", "-z", "--index-info", stdin=_lines(plan.info), env=env)
    if not plan.added:
        return
    options = ("--add", "--remove", "--replace", "-z", "--stdin")
    said = git.ask("update-index", *options, stdin=_lines(plan.added), env=env)
    if said.code != 0:
        root = os.fsencode(git.work_tree)
        if refused := [path for path in plan.added if not _can_be_opened(root + b"/" + path)]:
            raise _unreadable(refused)
        raise explain_failure("update-index", said.code, said.complaint)


def _add_nested(mirror: Mirror, path: bytes, plan: _Sorted) -> None:
    """By the commit it is at, as git would. One without a commit has no name in git, but must not be invisible."""
    git, env = mirror.git, mirror.writing
    said = git.ask("update-index", "--add", "--replace", "-z", "--stdin", stdin=_lines([path]), env=env)
    if said.code != 0:
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
    names = ", ".join(repr(name_of(path))[:200] for path in paths[:_NAMED])
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return CannotBeRead(
        f"These files of the project cannot be read: {names}{more}.",
        hint="Give us the right to read them, or let git ignore them.",
    )


def _too_much(path: bytes) -> TooMuchToHash:
    return TooMuchToHash(
        f"The new large files up to {name_of(path)[:200]!r} have more than {MAX_HASHED >> 30} GB.",
        hint="Data of that size belongs into .gitignore.",
    )
