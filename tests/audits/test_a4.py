"""A4: which files and imports count, which violations are accepted, and which files cannot be checked."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.analysis.analyses import AnalysisFailed
from forge.audits.check import Fixture, Found
from forge.audits.checks.a4_boundaries import CHECK
from forge.audits.engine.check_runner import verdict_of
from forge.audits.engine.self_test import run_self_tests
from forge.audits.memory import MemoryTree, UncachedAnalyses, snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import MAX_BYTES, Analyzer, Entry, FallbackAnalyzer, Kind, Snapshot, Tree

T = TypeVar("T")
Files = dict[str, str | bytes]
WHERE = "Forge/Contracts/boundaries.json"


def project(boundaries: object, files: Files) -> Snapshot:
    return snapshot_of({**files, WHERE: json.dumps(boundaries)})


def found(boundaries: object, files: Files) -> list[tuple[str, str | None, int | None, str]]:
    return [
        (one.rule, one.path, one.line, one.message) for one in CHECK.examine(project(boundaries, files)).found
    ]


def layers(*rules: object, **more: object) -> dict[str, object]:
    return {
        "layers": [
            {"name": "api", "glob": "app/api/**/*.py", "forbidden": list(rules)},
            {"name": "repos", "glob": "app/repos/**/*.py"},
        ],
        **more,
    }


FILES: Files = {
    "app/__init__.py": "",
    "app/api/__init__.py": "",
    "app/repos/__init__.py": "",
    "app/repos/users.py": "",
}


@pytest.mark.parametrize("fixture", CHECK.fixtures, ids=lambda fixture: fixture.name)
def test_fixture_has_expected_verdict(fixture: Fixture) -> None:
    examination = CHECK.examine(fixture.snapshot())
    assert verdict_of(CHECK, examination) == fixture.expect
    assert tuple(sorted(one.rule for one in examination.found)) == fixture.rules


def test_self_test_passes() -> None:
    assert [proof.problems for proof in run_self_tests([CHECK])] == [[]]


def test_finding_names_violation_location_and_fix() -> None:
    rule = {"import": "app.repos", "reason": "ask a service"}
    files = {**FILES, "app/api/users.py": "import os\n\nfrom ..repos import users\n"}
    assert CHECK.examine(project(layers(rule), files)).found == (
        Found(
            rule="forbidden-import",
            severity=Severity.FAIL,
            message="api may not import app.repos (ask a service)",
            fix="Do not import app.repos in api: move the code that needs it to a layer that may.",
            path="app/api/users.py",
            line=3,
            subject="api:app.repos:app.repos",
        ),
    )


def test_glob_matches_direct_and_nested_files() -> None:
    boundaries = {"layers": [{"name": "r", "glob": "app/routers/**/*.py", "forbidden": ["asyncpg"]}]}
    files: Files = {"app/routers/a.py": "import asyncpg\n", "app/routers/v1/b.py": "import asyncpg\n"}
    assert [one[1] for one in found(boundaries, files)] == ["app/routers/a.py", "app/routers/v1/b.py"]
    boundaries["layers"][0]["glob"] = "app/routers/*.py"
    assert [one[1] for one in found(boundaries, files)] == ["app/routers/a.py", "app/routers/v1/b.py"]


def test_word_in_docstring_is_not_a_violation() -> None:
    assert found(layers("asyncpg"), {**FILES, "app/api/a.py": '"""Never use asyncpg."""\n'}) == []


def test_each_rule_broken_on_a_line_is_reported_once() -> None:
    files = {**FILES, "app/api/a.py": "from app.repos import users, x; import app.repos\n"}
    rules = ({"layer": "repos"}, {"import": "app.repos"}, r"from app\.repos|import app\.repos")
    assert [(one[0], one[2]) for one in found(layers(*rules), files)] == [
        ("forbidden-layer", 1),
        ("forbidden-import", 1),
        ("forbidden-pattern", 1),
    ]


CHAIN: Files = {
    **FILES,
    "app/api/a.py": "\nfrom app import middle\n",
    "app/middle.py": "import app.end\n",
    "app/end.py": "import asyncpg\nimport app.repos.users\n",
}


@pytest.mark.parametrize(
    ("rule", "messages"),
    [
        ({"layer": "repos"}, []),
        ({"import": "asyncpg"}, []),
        (
            {"layer": "repos", "indirect": True},
            [
                "api may not import app.repos.users: app/api/a.py → app/middle.py → app/end.py → app/repos/users.py"
            ],
        ),
        (
            {"import": "asyncpg", "indirect": True, "reason": "no driver"},
            ["api may not import asyncpg (no driver): app/api/a.py → app/middle.py → app/end.py → asyncpg"],
        ),
    ],
)
def test_indirect_import_is_reported_only_if_requested(rule: dict[str, object], messages: list[str]) -> None:
    assert [one[3] for one in found(layers(rule), CHAIN)] == messages
    assert all(one[1:3] == ("app/api/a.py", 2) for one in found(layers(rule), CHAIN))


TYPES: Files = {
    **FILES,
    "app/api/a.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.repos import users\n",
}


@pytest.mark.parametrize("rule", [{"layer": "repos"}, {"import": "app.repos"}, r"from app\.repos"])
def test_type_checking_imports_count_unless_allowed(rule: object) -> None:
    assert [one[2] for one in found(layers(rule), TYPES)] == [3]
    assert found(layers(rule, allow_type_checking=True), TYPES) == []
    mine = layers(rule)
    mine["layers"][0]["allow_type_checking"] = True  # pyright: ignore
    assert found(mine, TYPES) == []


@pytest.mark.parametrize(
    ("entry", "severity"),
    [
        ({"file": "a.py", "pattern": "asyncpg"}, Severity.NOTE),
        ({"file": "app/api/a.py", "pattern": "asyncpg"}, Severity.NOTE),
        ({"file": "app/**/a.py", "pattern": "asyncpg"}, Severity.NOTE),
        ({"file": "a.py", "pattern": "asyncpg", "expires": "2026-01-01"}, Severity.NOTE),
        ({"file": "a.py", "pattern": "asyncpg", "expires": "2025-12-31"}, Severity.FAIL),
        ({"file": "b.py", "pattern": "asyncpg"}, Severity.FAIL),
        ({"file": "a.py", "pattern": "other"}, Severity.FAIL),
    ],
)
def test_known_violation_is_a_note_until_it_expires(entry: dict[str, str], severity: Severity) -> None:
    files = {**FILES, "app/api/a.py": "import asyncpg\n"}
    boundaries = layers({"import": "asyncpg"}, known_violations=[{"layer": "api", **entry}])
    told = CHECK.examine(project(boundaries, files)).found
    assert [one.severity for one in told if one.rule == "forbidden-import"] == [severity]


def test_stale_entries_are_located_with_one_yaml_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    compose, read = yaml.compose, list[str]()
    monkeypatch.setattr(yaml, "compose", lambda text, **more: read.append(text) or compose(text, **more))
    entries = [{"layer": "api", "file": f"{n}.py", "pattern": "asyncpg"} for n in range(80)]
    text = json.dumps(layers({"import": "asyncpg"}, known_violations=entries), indent=0)
    told = CHECK.examine(snapshot_of({**FILES, WHERE: text})).found
    opened = [number for number, line in enumerate(text.splitlines()) if line == '"layer": "api",']
    assert ([one.line for one in told], len(read)) == (opened, 1)


def test_unparsable_and_oversized_files_are_errors() -> None:
    files: Files = {
        **FILES,
        "app/api/broken.py": "import os\n\ndef f(:\n",
        "app/api/large.py": b"#" * (MAX_BYTES + 1),
        "app/api/binary.py": b"\0\1\2",
    }
    told = CHECK.examine(project(layers("x"), files)).found
    assert {(one.rule, one.path, one.severity) for one in told} >= {
        ("unparsable", "app/api/broken.py", Severity.ERROR),
        ("too-large", "app/api/large.py", Severity.ERROR),
        ("unparsable", "app/api/binary.py", Severity.ERROR),
    }


def in_infra(glob: str, path: str, data: str | bytes) -> list[tuple[str, str]]:
    """Return what a rule against `eval` finds in the only file of its layer, with severity."""
    boundaries = {"layers": [{"name": "infra", "glob": glob, "forbidden": ["eval"]}]}
    return [(one.rule, one.severity) for one in CHECK.examine(project(boundaries, {path: data})).found]


HIT, UNREAD = [("forbidden-pattern", Severity.FAIL)], [("unparsable", Severity.ERROR)]


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("infra/**", "infra/main.tf", HIT),
        ("infra/**/*.{tf,hcl}", "infra/main.tf", HIT),
        ("infra/*.tf", "infra/main.tf", HIT),
        ("infra", "infra/Makefile", HIT),
        ("**", "infra/setup.lua", HIT),
        ("infra/**", "infra/logo.png", []),
        ("infra/*.png", "infra/logo.png", []),
        ("infra/**", "infra/README.md", []),
        ("infra/*.{md,rst}", "infra/README.md", HIT),
        ("infra/**", "infra/package-lock.json", []),
        ("**", "audit.py", HIT),
    ],
)
def test_pattern_applies_to_every_text_file_of_glob(glob: str, path: str, expected: object) -> None:
    assert in_infra(glob, path, "eval (1)\n") == expected


@pytest.mark.parametrize(
    ("path", "data", "expected"),
    [
        ("infra/a.php", b"<?php // \0\neval(1);\n", UNREAD),
        ("infra/a.php", b"\0\xff", UNREAD),
        ("infra/a.tf", b"# \0\neval(1)\n", UNREAD),
        ("infra/a.conf", b"# \0\neval(1)\n", UNREAD),
        ("infra/a.unknown", b"\x89\0\xff eval (1)\n", []),
        ("infra/a.unknown", b"\0\1\2 eval (1)\n", []),
        ("infra/zeros", b"\0" * 100, []),
        ("infra/a.png", b"# \0\neval(1)\n", []),
    ],
)
def test_text_with_nul_is_an_error_and_binary_data_is_ignored(
    path: str, data: bytes, expected: object
) -> None:
    assert in_infra("infra/**", path, data) == expected


@pytest.mark.parametrize(
    ("path", "is_error"),
    [
        ("infra/a.go", True),
        ("infra/a.tf", True),
        ("infra/run", True),
        ("infra/a.mp4", False),
        ("infra/a.md", False),
    ],
)
def test_oversized_searchable_file_is_an_error(path: str, is_error: bool) -> None:
    found = in_infra("infra/**", path, b"eval()\n" + b" " * MAX_BYTES)
    assert found == ([("too-large", Severity.ERROR)] if is_error else [])


def test_file_that_crashes_search_is_an_error() -> None:
    boundaries = {"layers": [{"name": "all", "glob": "app/*", "forbidden": ["eval"]}]}
    snapshot = project(boundaries, {"app/a.go": "", "app/b.go": "", "app/c.py": ""})
    found = CHECK.examine(replace(snapshot, analyses=FailingAnalyses("app/b.go"))).found
    assert [(one.rule, one.severity, one.path) for one in found] == [
        ("unparsable", Severity.ERROR, "app/b.go")
    ]


@dataclass(frozen=True)
class FailingAnalyses(UncachedAnalyses):
    """Analyses whose worker processes die of one file."""

    lost: str

    def analyze(self, analyzer: Analyzer[T], entries: Iterable[Entry], tree: Tree) -> Mapping[str, T]:
        made = super().analyze(analyzer, entries, tree)
        if not isinstance(analyzer, FallbackAnalyzer):
            raise AnalysisFailed(self.lost)
        return {path: analyzer.unreadable() if path == self.lost else one for path, one in made.items()}


class TreeWithLinks(MemoryTree):
    @property
    def entries(self) -> dict[str, Entry]:
        found = dict(super().entries)
        return {p: replace(e, kind=Kind.LINK) if "link" in p else e for p, e in found.items()}


def test_link_in_layer_is_a_warning() -> None:
    files: Files = {"app/api/link.py": "../secret.py", "app/api/link": "../secret", "docs/link": "x"}
    snapshot = project(layers("asyncpg"), {**FILES, **files})
    told = CHECK.examine(replace(snapshot, tree=TreeWithLinks(snapshot.tree.contents))).found  # pyright: ignore
    assert [(one.rule, one.severity, one.path) for one in told] == [
        ("not-a-file", Severity.WARN, "app/api/link.py"),
        ("not-a-file", Severity.WARN, "app/api/link"),
    ]


def test_ignored_files_belong_to_no_layer() -> None:
    files = {
        **FILES,
        "app/api/gen/a.py": "import asyncpg\n",
        "forge.json": '{"audit": {"ignore": ["app/api/gen/**"]}}',
    }
    assert found(layers("asyncpg"), files) == []


@pytest.mark.parametrize(
    ("more", "config", "strays"),
    [
        ({}, {}, ["app/gen/a.py", "app/gen/b.py"]),
        ({"exclude": "app/gen/**"}, {}, []),
        ({"layers": [{"name": "all", "glob": "app/*/*.py", "exclude": "app/gen/a.py"}]}, {}, []),
        ({}, {"audit": {"ignore": ["app/gen/b.py"]}}, ["app/gen/a.py"]),
    ],
)
def test_excluded_files_need_no_layer(more: dict[str, object], config: object, strays: list[str]) -> None:
    boundaries = {**layers(containers="app", exhaustive=True), **more}
    files = {**FILES, "app/gen/a.py": "", "app/gen/b.py": "", "forge.json": json.dumps(config)}
    assert [one[:2] for one in found(boundaries, files)] == [("no-layer", path) for path in strays]


@pytest.mark.parametrize(
    ("files", "rule"),
    [
        ({"forge.json": "{"}, "bad-config"),
        ({"forge.json": '{"audit": {"ignore": ["[z-a]"]}}'}, "bad-config"),
        ({WHERE: "{}"}, "bad-boundaries"),
        ({WHERE: b"\xff"}, "bad-boundaries"),
        ({WHERE: '{"layers": [{"name": "a", "glob": "app/[z-a].py"}]}'}, "bad-boundaries"),
        ({WHERE: json.dumps({**layers(), "containers": "app/[z-a]"})}, "bad-boundaries"),
        ({WHERE: json.dumps(layers({"import": "app/[z-a]/**"}))}, "bad-pattern"),
    ],
)
def test_invalid_settings_are_an_error(files: Files, rule: str) -> None:
    told = CHECK.examine(snapshot_of({**FILES, WHERE: json.dumps(layers()), **files})).found
    assert [(one.rule, one.severity) for one in told] == [(rule, Severity.ERROR)]


def test_project_without_code_is_skipped() -> None:
    assert CHECK.examine(project(layers(), {"README.md": ""})).skipped is not None


@pytest.mark.parametrize(
    "data",
    [
        b"(" * 10_000,
        b"import " * 10_000,
        b"from\n" * 10_000,
        b"import a" + b"," * 5_000,
        b"def f(" + b"requests, " * 5_000,
        b"x = '" + b"\\" * 100_000,
        b"\xff\xfe" * 1000,
        b"SELECT " * 10_000,
        ("é" * 50_000).encode(),
    ],
)
def test_hostile_files_are_examined_without_error(data: bytes) -> None:
    rules = (r"(a+)+$", "requests", "SELECT ", r"from app\.repos")
    CHECK.examine(project(layers(*rules), {**FILES, "app/api/a.py": data, "app/api/b.py": data}))


@settings(max_examples=60, deadline=None)
@given(
    st.text(alphabet="abfromiport.()[]|\\^$*+?{}, \n", min_size=1, max_size=25),
    st.text(alphabet="fromiptab.,()*= \n'\"#", max_size=60),
)
def test_arbitrary_patterns_and_code_are_examined_without_error(pattern: str, code: str) -> None:
    for path in ("app/api/a.py", "app/api/a.ts"):
        boundaries = {
            "layers": [{"name": "a", "glob": "app/api/*", "forbidden": [pattern, {"import": pattern}]}]
        }
        CHECK.examine(project(boundaries, {path: code}))
