"""Commit history of an observed repository.

Grafts, replace refs and commit graphs are ignored, because they can contradict the commit objects. Questions
that the edge of a shallow clone leaves open raise HistoryIsCut.
"""

import os
import re
from collections.abc import Collection, Mapping, Sequence

from forge.errors import Invalid
from forge.workspace.observed.errors import HistoryIsCut
from forge.workspace.observed.git_process import ObservedObjects, bytes_of, explain_failure, name_of
from forge.workspace.observed.mirror import Mirror
from forge.workspace.observed.mirror_index import hash_tree

_SOME_ID = re.compile(r"[0-9a-f]{4,64}")
_WHOLE_ID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LISTED = re.compile(rb"(\d+) [a-z]+ ([0-9a-f]+)\t([^\0]+)\0")
_DIFFERS = ("--stdin", "-r", "-m", "--root", "-z", "--raw", "--no-renames")


class ObservedHistory:
    def __init__(self, mirror: Mirror, objects: ObservedObjects, head: str | None) -> None:
        self._mirror = mirror
        self._objects = objects
        self._head = head

    def find(self, commit: str) -> str | None:
        """Resolve an abbreviated commit id; branch names do not count. None if unknown or ambiguous."""
        wanted = commit.lower()
        if _WHOLE_ID.fullmatch(wanted):
            candidates = [wanted]
        elif _SOME_ID.fullmatch(wanted):
            candidates = self._mirror.git.run("rev-parse", f"--disambiguate={wanted}").decode().split()
        else:
            return None
        commits = [each for each in candidates if self._is_commit(each)]
        return commits[0] if len(commits) == 1 else None

    def since(self, commit: str) -> list[str] | None:
        """Return commits of HEAD after `commit`, newest first; None if it is not an ancestor of HEAD."""
        start = self.find(commit)
        if start is None or self._head is None or not self._is_ancestor(start, self._head):
            if self._mirror.is_shallow:
                raise _cut(commit)
            return None
        found = self._mirror.git.run("rev-list", self._head, f"^{start}").decode().split()
        if self._mirror.is_shallow and not self._edge().isdisjoint(found):
            raise _cut(commit)
        return found

    def changed(self, commits: Sequence[str]) -> Mapping[str, Collection[str]]:
        """Map commits to the paths that differ from any parent; a merge has all merged paths."""
        found: dict[str, set[str]] = {commit: set() for commit in commits if _WHOLE_ID.fullmatch(commit)}
        if not found:
            return found
        result = self._mirror.git.run("diff-tree", *_DIFFERS, stdin="".join(f"{c}\n" for c in found).encode())
        parts = iter(result.split(b"\0"))
        current: set[str] = set()
        for part in parts:
            if part.startswith(b":"):  # a path follows; its name may look like a commit id
                current.add(name_of(next(parts)))
            elif part:
                current = found[part.decode()]
        return found

    def tree_without(self, commit: str, paths: Collection[str]) -> str:
        """Return the tree id of a commit without the given files."""
        if not _WHOLE_ID.fullmatch(commit):
            raise Invalid("A full commit id is required.", field="commit")
        left_out = {bytes_of(path) for path in paths}
        listed = _LISTED.findall(self._mirror.git.run("ls-tree", "-r", "-z", "--full-tree", commit))
        return hash_tree((each for each in listed if each[2] not in left_out), self._mirror.object_format)

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file of a commit or tree; None if it does not exist."""
        if not _WHOLE_ID.fullmatch(commit) or "\0" in path:
            return None
        name = f"{commit}:{path}"
        if "\n" in path:
            listed = self._mirror.git.run("ls-tree", "-z", "--full-tree", commit, "--", path)
            name = listed.partition(b"\t")[0].decode().rpartition(" ")[2]
        found = self._objects.find(name) if name else None
        return found.data if found and found.kind == "blob" else None

    def _is_commit(self, name: str) -> bool:
        found = self._objects.find(name)
        return found is not None and found.kind == "commit"

    def _is_ancestor(self, commit: str, head: str) -> bool:
        result = self._mirror.git.ask("merge-base", "--is-ancestor", commit, head)
        if result.code not in (0, 1):
            raise explain_failure("merge-base", result.code, result.stderr)
        return result.code == 0

    def _edge(self) -> set[str]:
        return set(os.fsdecode((self._mirror.git.git_dir / "shallow").read_bytes()).split())


def _cut(commit: str) -> HistoryIsCut:
    return HistoryIsCut(
        f"This is a shallow clone: it cannot be determined whether {commit[:12]} is an ancestor of HEAD.",
        hint="Fetch the rest of the history: git fetch --unshallow.",
    )
