"""What an audit looks at: one state of a project, what changed since the base, what was claimed and what was proven.

It is a value: reading it twice gives the same, nothing in it executes anything, and checks can get at nothing else. The
one made from a repository is in `repository.py`; the one made from a few strings, for fixtures, in `memory.py`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol, TypeVar, cast

from forge.audits.analysis import Analyzer
from forge.audits.project import Governance, Project
from forge.audits.trust import Trust

T = TypeVar("T")

MAX_BYTES = 2 << 20
"""Of a file that is analysed. A larger one is data, not code, and is said to be unexamined where it matters."""


class Kind(StrEnum):
    FILE = "file"
    EXECUTABLE = "executable"
    LINK = "link"
    SUBMODULE = "submodule"

    @property
    def is_file(self) -> bool:
        return self in (Kind.FILE, Kind.EXECUTABLE)


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    """As git has it, `/` between names; bytes that are no UTF-8 are surrogates (PEP 383)."""
    kind: Kind
    blob: str
    """The id of the content; equal content has equal ids."""
    size: int

    @property
    def suffix(self) -> str:
        stem, dot, end = self.path.rpartition("/")[2].rpartition(".")
        return f".{end.lower()}" if stem and dot and end else ""


class ChangeKind(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"
    RENAMED = "renamed"
    RETYPED = "retyped"
    """A file became a link, or its mode changed and nothing else."""


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    path: str
    old_path: str | None = None
    """Where it was before a rename."""
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    is_blank_only: bool = False
    """Nothing but blanks and line ends differ."""

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if self.old_path is None else (self.old_path, self.path)


@dataclass(frozen=True, slots=True)
class AddedLine:
    path: str
    line: int
    text: bytes


@dataclass(frozen=True, slots=True)
class Claims:
    """What somebody says they changed. `renames` are those among them that were planned, old name to new."""

    files: frozenset[str]
    renames: Mapping[str, str]


class Tree(Protocol):
    """The files of the project. Ignored files are not part of it."""

    @property
    def entries(self) -> Mapping[str, Entry]: ...

    def read(self, path: str) -> bytes:
        """The content of a file, or where a link points to. KeyError when there is none."""
        ...


class Commits(Protocol):
    """The history of HEAD, as far as a check may ask."""

    def find(self, commit: str) -> str | None:
        """The full id of a commit that is there; None when it is unknown here."""
        ...

    def since(self, commit: str) -> Sequence[str] | None:
        """The ids of what HEAD has and `commit` has not, newest first; None when `commit` is no ancestor of HEAD."""
        ...

    def changed(self, commits: Sequence[str]) -> Mapping[str, Collection[str]]:
        """The paths in which each of these commits differs from one of its parents; all of them, of the first one."""
        ...

    def tree_without(self, commit: str, paths: Collection[str]) -> str:
        """The hash of what was committed, without these files: that of a snapshot of just this, `Snapshot.tree_id`."""
        ...

    def read(self, commit: str, path: str) -> bytes | None:
        """A file as it was there."""
        ...


class Desk(Protocol):
    """Where analyses are made and remembered."""

    def analyse(self, analyzer: Analyzer[T], entries: Iterable[Entry], tree: Tree) -> Mapping[str, T]: ...


@dataclass(frozen=True)
class Snapshot:
    name: str
    tree: Tree
    tree_id: str
    """The hash of the whole tree without the evidence folder: what evidence is bound to."""
    head: str | None
    """None before the first commit."""
    branch: str | None
    base: str | None
    """The commit that changes are counted from; None when everything is new."""
    changes: Sequence[Change]
    """Against the base: committed since, staged, unstaged and untracked alike; the evidence folder too."""
    added_lines: Sequence[AddedLine]
    """Of text files, against the base. Made on first use."""
    unmerged: Sequence[str]
    """Paths of a merge that is not finished."""
    commits: Commits
    project: Project
    governance: Governance
    evidence: Mapping[str, bytes]
    """The files of the evidence folder by name, also when git ignores them."""
    trust: Trust
    """Whose signatures count, and what this machine remembers having signed."""
    phase: str
    claims: Claims | None
    today: date
    desk: Desk
    ignored: Sequence[str] = ()
    """What git ignores; folders end with `/`. It is no part of the tree, and yet tests may use it. Made on first use."""
    _made: dict[object, object] = field(
        default_factory=dict[object, object], init=False, compare=False, repr=False
    )

    def files(self, *suffixes: str) -> list[Entry]:
        """Regular files in order of their paths, all or those with one of these suffixes (`.py`)."""
        return sorted(
            (
                e
                for e in self.tree.entries.values()
                if e.kind.is_file and (not suffixes or e.suffix in suffixes)
            ),
            key=lambda e: e.path,
        )

    def analyse(self, analyzer: Analyzer[T], entries: Iterable[Entry]) -> Mapping[str, T]:
        """What the analyzer says of each file, by path: from memory if this content was seen before, else in parallel.

        Files larger than MAX_BYTES are left out: whoever needs them says so.
        """
        return self.desk.analyse(analyzer, [e for e in entries if e.size <= MAX_BYTES], self.tree)

    def once(self, make: "Callable[[Snapshot], T]") -> T:
        """What follows from the snapshot as a whole is worked out once, whichever check asks for it first."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])
