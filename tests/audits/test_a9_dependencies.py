"""A9 from the user's point of view: findings, unsupported situations, and invalid input."""

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.check import Found
from forge.audits.checks.a9_dependencies import CHECK
from forge.audits.dependencies.python_packages import known_names
from forge.audits.engine.check_runner import verdict_of
from forge.audits.engine.self_test import run_self_tests
from forge.audits.facts.python.stdlib import STDLIB
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity, Verdict
from forge.audits.snapshot import MAX_BYTES, Entry, Kind, Snapshot

Files = dict[str, str | bytes]


def look(files: Files, base: Files | None = None) -> tuple[Verdict, list[Found]]:
    return judged(snapshot_of(files, base=base))


def judged(snapshot: Snapshot) -> tuple[Verdict, list[Found]]:
    examination = CHECK.examine(snapshot)
    return verdict_of(CHECK, examination), list(examination.found)


def test_self_test_passes():
    (proof,) = run_self_tests([CHECK])
    assert (proof.problems, proof.caught) == ([], 10)


def test_finding_names_import_and_fix():
    verdict, found = look({"requirements.txt": "requests-mock\n", "app.py": "import os\nimport requests\n"})
    assert verdict is Verdict.FAIL
    assert found == [
        Found(
            rule="undeclared",
            severity=Severity.FAIL,
            message="imports requests, which no manifest declares (requests-mock is a different package)",
            fix="Add requests to requirements.txt, or remove the import.",
            path="app.py",
            line=2,
            subject="requests",
        )
    ]


@pytest.mark.parametrize(
    ("files", "fix"),
    [
        (
            {"pyproject.toml": '[project]\nname="x"\ndependencies=["a"]\n', "app.py": "import yaml\n"},
            "Add pyyaml to [project] dependencies in pyproject.toml, or remove the import.",
        ),
        (
            {
                "pyproject.toml": '[project]\nname="x"\n[dependency-groups]\nbuild=["b"]\ndev=["a"]\n',
                "tests/test_a.py": "import yaml\n",
            },
            "Add pyyaml to [dependency-groups] dev in pyproject.toml, or remove the import.",
        ),
        (
            {"pyproject.toml": '[tool.poetry.dependencies]\na="*"\n', "app.py": "import yaml\n"},
            "Add pyyaml to [tool.poetry.dependencies] in pyproject.toml, or remove the import.",
        ),
        (
            {"requirements.txt": "", "requirements.in": "", "app.py": "import frob\n"},
            "Add frob to requirements.in, if that is the package it comes from (else map it in forge.json, "
            "audit.import_names), or remove the import.",
        ),
        (
            {"requirements.txt": "frob-rest-client", "app.py": "import frob\n"},
            'If it comes from frob-rest-client, map it in forge.json (audit.import_names: "frob": "frob-rest-client"); '
            "else add its package to requirements.txt, or remove the import.",
        ),
        (
            {"web/package.json": "{}", "web/a.ts": 'import "zod";\n'},
            "Add it to web/package.json (in web: npm install zod), or remove the import.",
        ),
        (
            {"package.json": "{}", "a.test.ts": 'import "zod";\n'},
            "Add it to package.json (in the top folder: npm install --save-dev zod), or remove the import.",
        ),
    ],
)
def test_fix_names_manifest_and_section(files: Files, fix: str):
    assert [found.fix for found in look(files)[1]] == [fix]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"requirements.txt": "fastapi\n", "app.py": "import starlette\n"},
            "imports starlette, which no manifest declares (it is a transitive dependency of fastapi)",
        ),
        (
            {"requirements.txt": "requets\n", "app.py": "import requests\n"},
            "imports requests, which no manifest declares (requets is a different package)",
        ),
        (
            {"requirements.txt": "frobnicato\n", "app.py": "import frobnicate\n"},
            "imports frobnicate, which no manifest declares (frobnicato may be a different package)",
        ),
        (
            {"requirements.txt": "frobnicate-spark\n", "app.py": "import frobnicate\n"},
            "imports frobnicate, which no manifest declares by that name; frobnicate-spark may provide it",
        ),
        (
            {"requirements.txt": "", "requirements-dev.txt": "\npytest\n", "app.py": "import pytest\n"},
            "imports pytest, which is declared for development only (pytest in requirements-dev.txt:2)",
        ),
        (
            {
                "pyproject.toml": '[project]\nname="x"\n[build-system]\nrequires=["cython"]\n',
                "app.py": "import Cython\n",
            },
            "imports Cython, which is declared for the build only (cython)",
        ),
        (
            {
                "requirements.txt": "",
                "app.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pandas\n",
            },
            "imports pandas for its types only, but no manifest declares it",
        ),
    ],
)
def test_message_explains_missing_declaration(files: Files, message: str):
    assert [found.message for found in look(files)[1]] == [message]


def test_missing_manifest_is_one_finding_for_all_packages():
    verdict, found = look({"a.py": "import requests\n", "b.py": "import yaml, requests\n"})
    assert verdict is Verdict.FAIL
    assert [(one.rule, one.path, one.line, one.fix) for one in found] == [
        ("no-manifest", "a.py", 1, "Create requirements.txt or pyproject.toml and declare pyyaml, requests.")
    ]


def test_project_without_third_party_imports_needs_no_manifest():
    assert look({"app.py": "import os\n"}) == (Verdict.PASS, [])


def test_project_without_sources_is_skipped():
    assert look({"requirements.txt": "requests\n"})[0] is Verdict.SKIP


@pytest.mark.parametrize(
    ("path", "data", "line"),
    [
        ("pyproject.toml", b"[project]\nname=\n", 2),
        ("requirements.txt", b"\xff\xff", 1),
        ("package.json", b'{\n"a": ,\n}', 2),
        ("Pipfile", b"[x", 1),
        ("environment.yml", b"a: [\nb: }", 2),
        ("setup.cfg", b"x=1\n", 1),
    ],
)
def test_broken_manifest_is_an_error_without_undeclared_findings(path: str, data: bytes, line: int):
    verdict, found = look({path: data, "app.py": "import requests\n", "a.ts": 'import "zod";\n'})
    told = [(one.rule, one.severity, one.path, one.line) for one in found if one.path == path]
    assert told == [("broken-manifest", Severity.ERROR, path, line)]
    assert verdict in (Verdict.ERROR, Verdict.FAIL)
    blamed = {one.path for one in found if one.rule in ("undeclared", "no-manifest")}
    assert ("a.ts" if path == "package.json" else "app.py") not in blamed


def test_oversized_manifest_is_an_error():
    snapshot = snapshot_of({"requirements.txt": "requests\n", "app.py": "import requests\n"})
    entries = {**snapshot.tree.entries}
    entries["requirements.txt"] = Entry("requirements.txt", Kind.FILE, "x", MAX_BYTES + 1)
    tree = _Tree(entries, snapshot.tree.read)
    assert judged(dataclasses.replace(snapshot, tree=tree))[0] is Verdict.ERROR


@dataclasses.dataclass
class _Tree:
    entries: dict[str, Entry]
    read: object


def test_oversized_source_is_an_error_if_new_and_a_note_if_unchanged():
    code = b"x = 1\n" + b"#" * MAX_BYTES
    new = look({"requirements.txt": "", "app.py": code})
    old = look(
        {"requirements.txt": "", "app.py": code, "b.py": ""}, base={"requirements.txt": "", "app.py": code}
    )
    assert [(one.rule, one.severity) for one in new[1]] == [("unexamined", Severity.ERROR)]
    assert [(one.rule, one.severity) for one in old[1]] == [("unexamined", Severity.NOTE)]


def test_broken_source_is_an_error_if_changed_and_its_imports_count():
    code = "import requests\ndef f(:\n    return (\n"
    verdict, found = look({"requirements.txt": "", "app.py": code})
    assert verdict is Verdict.FAIL
    assert sorted((one.rule, one.severity.value) for one in found) == [
        ("undeclared", "fail"),
        ("unparsable", "error"),
    ]
    verdict, found = look({"requirements.txt": "requests", "app.py": code}, base={"app.py": code})
    assert verdict is Verdict.PASS
    assert [(one.rule, one.severity.value) for one in found] == [("unparsable", "note")]


def test_broken_manifest_in_test_data_is_a_note():
    verdict, found = look({"requirements.txt": "", "tests/broken/pyproject.toml": "[", "app.py": ""})
    assert verdict is Verdict.PASS
    assert [(one.rule, one.severity) for one in found] == [("broken-manifest", Severity.NOTE)]


@pytest.mark.parametrize(
    "more",
    [
        {"tests/fixtures/bad/pyproject.toml": "[project"},
        {"tests/bad/pyproject.toml": "[project"},
        {"vendor/bad/pyproject.toml": "[project"},
        {"forge.json": '{"audit": {"ignore": ["pyproject.toml"]}}', "pyproject.toml": "[project"},
    ],
)
def test_ignored_broken_manifest_does_not_hide_findings(more: Files):
    files: Files = {"backend/requirements.txt": "", "src/app.py": "import requests\n", **more}
    verdict, found = look(files)
    assert verdict is Verdict.FAIL
    told = [(one.rule, one.path) for one in found if one.severity is not Severity.NOTE]
    assert told == [("undeclared", "src/app.py")]


def test_broken_test_manifest_included_by_project_is_an_error():
    files: Files = {"requirements-dev.txt": "-r tests/reqs.txt\n", "tests/reqs.txt": b"\xff\xff"}
    verdict, found = look({**files, "tests/test_app.py": "import rocket\n"})
    assert (verdict, [(one.rule, one.path) for one in found]) == (
        Verdict.ERROR,
        [("broken-manifest", "tests/reqs.txt")],
    )


@pytest.mark.parametrize("folder", ["packages/a", "tests/fixtures/a", "tests"])
@pytest.mark.parametrize(
    "text",
    [
        '[project]\nname = "a"\n[tool.deptry]\nignore = ["DEP001", "DEP003"]\n',
        '[tool.deptry]\nknown_first_party = ["requests"]\n',
        '[project]\nname = "requests"\n',
    ],
)
def test_manifest_import_settings_apply_only_in_scope(folder: str, text: str):
    files: Files = {"packages/b/requirements.txt": "", "packages/b/app.py": "import requests\n"}
    verdict, found = look({**files, f"{folder}/pyproject.toml": text})
    assert (verdict, [one.rule for one in found]) == (Verdict.FAIL, ["undeclared"])
    assert look({**files, "pyproject.toml": text}) == (Verdict.PASS, [])


@pytest.mark.parametrize("config", ["{", '{"audit": {"ignore": ["[z-a]"]}}', '{"audit": {"unknown": 1}}'])
def test_invalid_settings_are_an_error(config: str):
    verdict, found = look({"forge.json": config, "app.py": "import requests\n"})
    assert verdict is Verdict.ERROR
    assert [(one.rule, one.path) for one in found] == [("bad-config", "forge.json")]


def test_allow_comment_turns_finding_into_note():
    code = (
        "import rocket  # forge: allow-import\nimport white  # deptry: ignore[DEP001]\nimport flask  # noqa\n"
    )
    verdict, found = look({"requirements.txt": "", "app.py": code})
    assert verdict is Verdict.FAIL
    assert [(one.rule, one.line) for one in found] == [("allowed", 1), ("allowed", 2), ("undeclared", 3)]


def test_allow_comment_counts_without_manifest():
    verdict, found = look({"app.py": "import requests  # forge: allow-import\n"})
    assert (verdict, [(one.rule, one.line) for one in found]) == (Verdict.PASS, [("allowed", 1)])
    verdict, found = look({"app.py": "import rocket  # forge: allow-import\nimport flask\n"})
    assert verdict is Verdict.FAIL
    assert [(one.rule, one.line) for one in found] == [("allowed", 1), ("no-manifest", 2)]


def test_missing_configured_manifest_is_reported():
    verdict, found = look(
        {"forge.json": '{"backend": {"dependency_file": "./reqs.txt"}}', "app.py": "import os\n"}
    )
    assert verdict is Verdict.FAIL
    assert [(one.rule, one.subject) for one in found] == [("missing-manifest", "reqs.txt")]


def test_finding_keeps_subject_when_lines_move():
    first = look({"requirements.txt": "", "app.py": "import flask\n"})[1]
    second = look({"requirements.txt": "", "app.py": "\n\n\nimport flask\n"})[1]
    assert [dataclasses.replace(one, line=0) for one in first] == [
        dataclasses.replace(one, line=0) for one in second
    ]


NASTY = st.text(st.sampled_from("importfmasy .,()\n\t\\'\"#*;:@-_[]{}=\0é\ud800"), max_size=60)


@settings(max_examples=60, deadline=None)
@given(
    code=NASTY,
    manifest=NASTY,
    name=st.sampled_from(
        ["requirements.txt", "pyproject.toml", "package.json", "setup.py", "setup.cfg", "tox.ini"]
    ),
)
def test_arbitrary_project_content_is_examined_without_error(code: str, manifest: str, name: str):
    files: Files = {
        name: manifest.encode("utf-8", "surrogatepass"),
        "a\nb.py": "import requests\n" + code.replace("\ud800", ""),
        "web/\udcff.ts": ("import 'zod';\n" + code).encode("utf-8", "surrogatepass"),
    }
    verdict, found = look(files)
    assert verdict in Verdict
    assert all(one.message and one.fix and one.rule for one in found)


def test_known_names_map_is_consistent():
    names = known_names()
    assert len(names.modules) > 1000
    assert not [name for name in names.modules if name.partition(".")[0] in STDLIB]
    assert not [
        d for values in names.modules.values() for d in values if d != d.lower() or "_" in d or "." in d
    ]
    assert all(values for values in names.modules.values())


def test_skip_reason_names_ignore_setting():
    snapshot = snapshot_of({"forge.json": '{"audit": {"ignore": ["**"]}}', "app.py": "import requests\n"})
    assert CHECK.examine(snapshot).skipped == (
        "audit.ignore excludes all Python, JavaScript and TypeScript code"
    )
