"""Commit history with file names that look like git syntax."""

import pytest
from tests.support.repositories import Repository

from forge.errors import Invalid
from forge.workspace.observed.observed_repository import observe


def test_changed_paths_are_listed_per_commit(repository: Repository):
    first = repository.git("rev-parse", "HEAD")
    second = repository.commit({"a.py": "a = 2\n", "new\nline.py": ""})
    disguised = repository.commit({second: "", f"{first[:2]}/x": ""})
    repository.git("mv", "a.py", "c.py")
    moved = repository.commit({})
    repository.git("commit", "--quiet", "--allow-empty", "-m", "Nothing")
    empty = repository.git("rev-parse", "HEAD")
    with observe(repository.path) as observed:
        assert observed.history.changed([empty, moved, disguised, second, first]) == {
            empty: set(),
            moved: {"a.py", "c.py"},
            disguised: {second, f"{first[:2]}/x"},
            second: {"a.py", "new\nline.py"},
            first: {"a.py", "src/b.py"},
        }
        assert observed.history.changed([]) == observed.history.changed(["--help"]) == {}


def test_merge_lists_all_merged_paths(repository: Repository):
    """Whichever side was taken: a merge that drops one side is a change, too."""
    base = repository.git("rev-parse", "HEAD")
    repository.commit({"a.py": "a = 2\n"})
    repository.git("checkout", "--quiet", "-b", "side", base)
    repository.commit({"evidence.md": "e\n"})
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "-s", "ours", "--no-edit", "side")
    merge = repository.git("rev-parse", "HEAD")
    with observe(repository.path) as observed:
        assert observed.history.changed([merge]) == {merge: {"a.py", "evidence.md"}}


def test_commit_tree_equals_work_tree(repository: Repository):
    repository.commit({"Forge/evidence/log.md": "one\n", "src/b/c.py": "c\n", "src.py": "s\n"})
    (repository.path / "run.sh").write_text("#!/bin/sh\n")
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link").symlink_to("a.py")
    commit = repository.commit({})
    left_out = {"Forge/evidence/log.md", "Forge/evidence/none.md"}
    with observe(repository.path) as observed:
        assert observed.history.tree_without(commit, ()) == observed.tree
        assert observed.history.tree_without(commit, left_out) == observed.tree_without(left_out)
        without = observed.tree_without(left_out)
        with pytest.raises(Invalid):
            observed.history.tree_without("--help", ())
    repository.commit({"Forge/evidence/log.md": "two\n"})
    later = repository.git("rev-parse", "HEAD")
    (repository.path / "a.py").write_text("not committed\n")
    with observe(repository.path) as observed:
        assert observed.history.tree_without(later, left_out) == without != observed.tree_without(left_out)
