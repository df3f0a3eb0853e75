"""The snapshot: one state of a project with its changes since the base, claims and evidence. Checks see nothing else.

A snapshot is a value: it never changes, and nothing in it executes code. `repository.py` builds it from a git
repository, `memory.py` from strings, for fixtures and tests.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Protocol, TypeVar, cast, runtime_checkable

from forge.audits.project import Governance, Project


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a record chain that this machine signed or verified."""

    count: int
    hash: str
    """The hash of the whole last line."""
    chain: str = ""
    """The id of the chain; a different chain in its place is a forgery."""


def _nothing() -> Mapping[str, Head]:
    return {}


@dataclass(frozen=True, slots=True)
class Trust:
    keys: frozenset[str] = frozenset()
    """The public keys (hex) of this machine and those it trusts."""
    heads: Mapping[str, Head] = field(default_factory=_nothing)
    """The last known heads, by `seen_at`. They reveal an older ledger with a valid signature."""


def seen_at(file: str, branch: str | None, head: str | None) -> str:
    """Return the key under which the head of a chain is remembered, per file and branch (or detached commit)."""
    return f"{file}@{branch or head or ''}"


R_co = TypeVar("R_co", covariant=True)


class Analyzer(Protocol[R_co]):
    """A pure function of one file's content, whose results are cached by content.

    It must be picklable, as it may run in another process: use a module-level class, ideally a frozen dataclass."""

    @property
    def key(self) -> str:
        """The cache key: the analyzer's name, version and all configuration that affects the result."""
        ...

    @property
    def result(self) -> type[R_co]:
        """The result type, which msgspec must be able to encode and decode."""
        ...

    def __call__(self, suffix: str, data: bytes) -> R_co:
        """Analyze any bytes without raising; unreadable content is a result, too."""
        ...


@runtime_checkable
class FallbackAnalyzer(Protocol[R_co]):
    """An analyzer with a fallback result for files that crash or stall the worker process.

    Without a fallback such a file is an ERROR of the whole check; it is never skipped.
    """

    def unreadable(self) -> R_co: ...


T = TypeVar("T")

MAX_BYTES = 2 << 20
"""The largest file that is analyzed. Checks report larger source files as unexamined."""


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
    """The path in git, with `/` as separator; bytes that are not UTF-8 are surrogates (PEP 383)."""
    kind: Kind
    blob: str
    """The id of the content; equal content has the same id."""
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
    """A file became a link, or only its mode changed."""


@dataclass(frozen=True, slots=True)
class Change:
    kind: ChangeKind
    path: str
    old_path: str | None = None
    """The path before a rename."""
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    is_blank_only: bool = False
    """Only whitespace and line endings differ."""

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
    """The claimed files. `renames` maps old to new names of planned renames."""

    files: frozenset[str]
    renames: Mapping[str, str]


class Tree(Protocol):
    """The files of the project, without ignored files."""

    @property
    def entries(self) -> Mapping[str, Entry]: ...

    def read(self, path: str) -> bytes:
        """Return the content of a file or the target of a link. Raises KeyError if it does not exist."""
        ...


class Commits(Protocol):
    """Read access to the history of HEAD."""

    def find(self, commit: str) -> str | None:
        """Return the full id of a commit, or None if it is not in the repository."""
        ...

    def since(self, commit: str) -> Sequence[str] | None:
        """Return the commits of HEAD after `commit`, newest first, or None if it is not an ancestor of HEAD."""
        ...

    def changed(self, commits: Sequence[str]) -> Mapping[str, Collection[str]]:
        """Return the paths in which each commit differs from a parent; all its paths for a root commit."""
        ...

    def tree_without(self, commit: str, paths: Collection[str]) -> str:
        """Return the tree hash of a commit without these files, comparable with `Snapshot.tree_id`."""
        ...

    def read(self, commit: str, path: str) -> bytes | None:
        """Return the content of a file in a commit."""
        ...


class Analyses(Protocol):
    """Runs analyzers on files and caches the results."""

    def analyze(self, analyzer: Analyzer[T], entries: Iterable[Entry], tree: Tree) -> Mapping[str, T]: ...


@dataclass(frozen=True)
class Snapshot:
    name: str
    tree: Tree
    tree_id: str
    """The hash of the tree without the evidence files; evidence is bound to it."""
    head: str | None
    """None before the first commit."""
    branch: str | None
    base: str | None
    """The commit that changes are counted from; None if everything is new."""
    changes: Sequence[Change]
    """All changes since the base: committed, staged, unstaged and untracked, including evidence files."""
    added_lines: Sequence[AddedLine]
    """Lines added to text files since the base. Computed on first use."""
    unmerged: Sequence[str]
    """Paths with unresolved merge conflicts."""
    commits: Commits
    project: Project
    governance: Governance
    evidence: Mapping[str, bytes]
    """The evidence files by name, even if git ignores them."""
    trust: Trust
    """The trusted keys, and the ledger heads this machine remembers."""
    phase: str
    claims: Claims | None
    today: date
    analyses: Analyses
    ignored: Sequence[str] = ()
    """Paths that git ignores; folders end with `/`. Not part of the tree, but tests may use them. Computed on first use."""
    _made: dict[object, object] = field(
        default_factory=dict[object, object], init=False, compare=False, repr=False
    )

    def files(self, *suffixes: str) -> list[Entry]:
        """Return regular files sorted by path, optionally only those with one of these suffixes (`.py`)."""
        return sorted(
            (
                e
                for e in self.tree.entries.values()
                if e.kind.is_file and (not suffixes or e.suffix in suffixes)
            ),
            key=lambda e: e.path,
        )

    def analyze(self, analyzer: Analyzer[T], entries: Iterable[Entry]) -> Mapping[str, T]:
        """Return the analyzer's result for each file by path, from the cache or computed in parallel.

        Files larger than MAX_BYTES are skipped; the caller reports them where it matters.
        """
        return self.analyses.analyze(analyzer, [e for e in entries if e.size <= MAX_BYTES], self.tree)

    def once(self, make: "Callable[[Snapshot], T]") -> T:
        """Compute a value derived from the snapshot once and share it between checks."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast(T, self._made[make])
