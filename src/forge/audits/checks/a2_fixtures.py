"""Examples for A2."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from forge.audits.check import Fixture
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.snapshot import Change, ChangeKind, Entry, Kind, Snapshot, Tree

_OLD = "def greet(name):\n    return name\n"
_IGNORE = '{"audit": {"ignore": ["**"]}}'
_LIMIT = '{"audit": {"most_changed_lines": 3}}'


def _line_ends() -> Snapshot:
    commits = MemoryCommits(files={(HEAD, "a.py"): _OLD.encode()})
    return snapshot_of({"a.py": _OLD.replace("\n", "\r\n")}, base={"a.py": _OLD}, commits=commits)


def _mode() -> Snapshot:
    snapshot = snapshot_of({"run.sh": "#!/bin/sh\n"}, base={"run.sh": "#!/bin/sh\n"})
    return replace(snapshot, changes=[Change(ChangeKind.RETYPED, "run.sh")])


@dataclass(frozen=True)
class _WithLibrary:
    """A tree in which the folder `lib` is a repository of its own."""

    files: Tree

    @property
    def entries(self) -> Mapping[str, Entry]:
        return {**self.files.entries, "lib": Entry("lib", Kind.SUBMODULE, "d" * 40, 0)}

    def read(self, path: str) -> bytes:
        return self.files.read(path)


def _nested(modules: str) -> Snapshot:
    files = {".gitmodules": modules, "a.py": "1\n"}
    snapshot = snapshot_of(files, base=files)
    changes = [Change(ChangeKind.ADDED, "lib")]
    return replace(snapshot, tree=_WithLibrary(snapshot.tree), changes=changes)


FIXTURES = (
    Fixture(
        "an edit and a new file",
        lambda: snapshot_of({"a.py": "a = 2\n", "rename_user.py": "r = 1\n"}, base={"a.py": "a = 1\n"}),
        "PASS",
    ),
    Fixture(
        "a rename that was planned",
        lambda: snapshot_of({"new.py": _OLD}, base={"old.py": _OLD}, claims=["old.py=>new.py"]),
        "PASS",
    ),
    Fixture("a mode", _mode, "PASS", ("mode-only",)),
    Fixture(
        "a change as large as is allowed",
        lambda: snapshot_of({"forge.json": _LIMIT, "a.py": "1\n2\n3\n"}, base={"forge.json": _LIMIT}),
        "PASS",
    ),
    Fixture(
        "a rename nobody planned",
        lambda: snapshot_of({"new.py": _OLD}, base={"old.py": _OLD}, claims=["old.py", "new.py"]),
        "FAIL",
        ("rename",),
    ),
    Fixture(
        "a rename to another name than planned",
        lambda: snapshot_of({"other.py": _OLD}, base={"old.py": _OLD}, claims=["old.py=>new.py"]),
        "FAIL",
        ("rename",),
    ),
    Fixture(
        "more lines than allowed",
        lambda: snapshot_of({"forge.json": _LIMIT, "a.py": "1\n2\n3\n4\n"}, base={"forge.json": _LIMIT}),
        "FAIL",
        ("too-large",),
    ),
    Fixture(
        "nothing but blanks",
        lambda: snapshot_of({"a.py": _OLD.replace("    ", "\t") + "\n"}, base={"a.py": _OLD}),
        "WARN",
        ("blank-only",),
    ),
    Fixture("nothing but line ends", _line_ends, "WARN", ("line-ends",)),
    Fixture(
        "a configuration nobody can read",
        lambda: snapshot_of({"forge.json": "{", "a.py": "1\n"}, base={"a.py": "2\n"}),
        "ERROR",
        ("broken-config",),
    ),
    Fixture(
        "rules that changed with what they judge",
        lambda: snapshot_of({"forge.json": "{}", "a.py": "2\n"}, base={"forge.json": "{ }", "a.py": "1\n"}),
        "WARN",
        ("blank-only", "policy-changed"),
    ),
    Fixture(
        "rules that are gone",
        lambda: snapshot_of({"a.py": "2\n"}, base={"Forge/Contracts/boundaries.json": "{}", "a.py": "1\n"}),
        "FAIL",
        ("policy-removed",),
    ),
    Fixture(
        "rules of its own that a change brings along",
        lambda: snapshot_of({"forge.json": _IGNORE, "a.py": "2\n"}, base={"a.py": "1\n"}),
        "WARN",
        ("policy-changed",),
    ),
    Fixture(
        "a project that begins to say something about itself",
        lambda: snapshot_of({"forge.json": '{"project_name": "shop"}', "a.py": "1\n"}, base={"a.py": "1\n"}),
        "PASS",
        ("policy-changed",),
    ),
    Fixture(
        "rules that another folder puts out of force",
        lambda: snapshot_of(
            {"Contracts/boundaries.json": "{}", "Forge/Contracts/notes.md": "n\n"},
            base={"Contracts/boundaries.json": "{}"},
        ),
        "FAIL",
        ("policy-changed", "policy-removed"),
    ),
    Fixture("a repository in the project", lambda: _nested(""), "WARN", ("other-repository",)),
    Fixture(
        "a submodule", lambda: _nested('[submodule "lib"]\n\tpath = lib\n'), "PASS", ("other-repository",)
    ),
    Fixture("nothing changed", lambda: snapshot_of({"a.py": "1\n"}, base={"a.py": "1\n"}), "SKIP"),
)
