"""A repository that somebody else owns, looked at without touching it and without letting it configure git.

Nothing is written below its root or into its git directory, and nothing it names is executed: see `observed_mirror`.
What git remembers about unchanged files (times and sizes, in the index) is believed as git itself believes it; marks
that tell git not to look are not.
"""

import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from forge.errors import Invalid, TooLarge
from forge.workspace.observed_diff import NewLine, ObservedChange, read_changes, read_new_lines
from forge.workspace.observed_errors import BrokenRepository, NoSuchRevision
from forge.workspace.observed_git import bytes_of, name_of
from forge.workspace.observed_history import ObservedHistory
from forge.workspace.observed_mirror import Mirror, make_mirror
from forge.workspace.observed_objects import ObservedObjects
from forge.workspace.observed_place import ObservedPlace, find_place
from forge.workspace.observed_stage import Large, Staged, stage, write_tree

EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_BRANCH = "ref: refs/heads/"


@dataclass(frozen=True, slots=True)
class ObservedEntry:
    path: str
    mode: str
    blob: str
    size: int


@contextmanager
def observe(path: Path, *, git_dir: Path | None = None) -> Generator["Observed"]:
    """The repository a path lies in, as it is now; `git_dir` where its history is kept elsewhere."""
    place = find_place(path, git_dir)
    with tempfile.TemporaryDirectory(prefix="forge-observed-") as folder:
        mirror = make_mirror(place, Path(folder))
        objects = ObservedObjects(mirror.git)
        try:
            yield Observed(place, mirror, objects)
        finally:
            objects.close()


class Observed:
    def __init__(self, place: ObservedPlace, mirror: Mirror, objects: ObservedObjects) -> None:
        self.root = place.root
        self._place = place
        self._mirror = mirror
        self._objects = objects

    @cached_property
    def head(self) -> str | None:
        """The id of the commit; None before the first."""
        if found := self._objects.find("HEAD^{commit}"):
            return found.id
        name = self._mirror.head_text.removeprefix("ref: ").strip()
        if name == self._mirror.head_text or self._has_ref(name):
            raise BrokenRepository(
                "HEAD leads to a commit that is not there.",
                hint="The repository is damaged: `git fsck` says more.",
            )
        return None

    @property
    def branch(self) -> str | None:
        text = self._mirror.head_text
        return text.removeprefix(_BRANCH) if text.startswith(_BRANCH) else None

    @property
    def is_shallow(self) -> bool:
        return self._mirror.is_shallow

    @property
    def empty_tree(self) -> str:
        return EMPTY_TREES[self._mirror.object_format]

    @cached_property
    def history(self) -> ObservedHistory:
        return ObservedHistory(self._mirror, self._objects, self.head)

    @property
    def unmerged(self) -> Sequence[bytes]:
        return self._staged.unmerged

    @cached_property
    def tree(self) -> str:
        """The id of everything that is there and not ignored."""
        self._staged  # noqa: B018  # the index must be up to date
        return write_tree(self._mirror, {})

    @cached_property
    def entries(self) -> Sequence[ObservedEntry]:
        listed = self._mirror.git.run("ls-tree", "-r", "-l", "-z", "--full-tree", self.tree)
        large = {one.blob: one.size for one in self._large.values()}
        return [_entry(item, large) for item in name_of(listed).split("\0")[:-1]]

    def tree_without(self, paths: Sequence[str]) -> str:
        if not paths:
            return self.tree
        self._staged  # noqa: B018
        return write_tree(self._mirror, {bytes_of(path): None for path in paths})

    def resolve(self, revision: str) -> str:
        """The id of a commit, or of a tree where no commit is meant."""
        if not revision.strip() or "\n" in revision or "\0" in revision:
            raise Invalid("A revision is a commit, a branch or a tag.", field="base")
        for kind in ("commit", "tree"):
            if found := self._objects.find(f"{revision}^{{{kind}}}"):
                return found.id
        raise NoSuchRevision(
            f"There is no one commit called {revision[:200]!r} in this repository.",
            hint="This is a shallow clone, its history is cut: git fetch --unshallow."
            if self.is_shallow
            else "Name a commit, a branch or a tag: `git log --oneline` shows the commits.",
            field="base",
        )

    def changes(self, base: str) -> list[ObservedChange]:
        """From a commit or tree, by its id, to what is there."""
        return read_changes(self._mirror.git, base, self._comparable_tree)

    def new_lines(self, base: str, changes: Sequence[ObservedChange]) -> Generator[NewLine]:
        return read_new_lines(self._mirror.git, base, self._comparable_tree, changes)

    def read(self, entry_blob: str) -> bytes:
        if any(one.blob == entry_blob for one in self._large.values()):
            raise TooLarge("A new file of that size is known by its hash only.")
        return self._objects.read(entry_blob)

    @cached_property
    def _staged(self) -> Staged:
        return stage(self._mirror)

    @cached_property
    def _large(self) -> Mapping[bytes, Large]:
        """Those whose content git does not have from elsewhere."""
        return {path: one for path, one in self._staged.large.items() if not self._has_object(one.blob)}

    @cached_property
    def _comparable_tree(self) -> str:
        """With a few bytes that are no text in the place of each content that git does not have."""
        if not self._large:
            return self.tree
        return write_tree(
            self._mirror, {path: (one.mode, self._stand_in(one)) for path, one in self._large.items()}
        )

    def _stand_in(self, one: Large) -> str:
        content = b"\0" + one.blob.encode()
        return (
            self._mirror.git.run("hash-object", "-w", "--stdin", "--no-filters", stdin=content)
            .decode()
            .strip()
        )

    def _has_object(self, name: str) -> bool:
        return self._mirror.git.ask("cat-file", "-e", name).code == 0

    def _has_ref(self, name: str) -> bool:
        if (self._place.common_dir / name).exists():
            return True
        packed = self._place.common_dir / "packed-refs"
        return packed.is_file() and bytes_of(f" {name}\n") in packed.read_bytes()


def _entry(item: str, large: Mapping[str, int]) -> ObservedEntry:
    head, _, path = item.partition("\t")
    mode, _, blob, size = head.split()
    return ObservedEntry(path, mode, blob, int(size) if size.isdecimal() else large.get(blob, 0))
