"""`forge audit` on real repositories, for users and scripts, with exit codes 0, 1 and 2."""

import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.terminal import CommandResult, Terminal, open_screen

from forge.audits.secrets.shapes import sample_of

BOUNDARIES = {
    "layers": [
        {
            "name": "routers",
            "glob": "app/routers/**/*.py",
            "forbidden": [{"pattern": r"app\.repos", "reason": "ask a service"}],
        }
    ]
}
FILES = {
    "requirements.txt": "requests==2.0\n",
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/routers/users.py": "import requests\nfrom app.repos import users\n",
    "app/repos/__init__.py": "",
    "app/repos/users.py": "import httpx\n",
    "Forge/Contracts/boundaries.json": json.dumps(BOUNDARIES),
}
Audit = Callable[..., CommandResult]


def git(root: Path, *words: str) -> str:
    author = ["-c", "user.name=a", "-c", "user.email=a@localhost"]
    done = subprocess.run(["git", *author, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    write(root, FILES)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "data")


@pytest.fixture
def run(terminal: Terminal, project: Path) -> Audit:
    return lambda *words: terminal("audit", str(project), *words)


def test_failed_audit_prints_results_and_exits_with_1(run: Audit):
    said = run("--only", "A4,A9,W1")
    assert said.code == 1
    lines = said.out.splitlines()
    assert lines[0] == "=== AUDIT SCRIPT RESULT ==="
    assert [line.split(" -- ")[0] for line in lines if " -- " in line] == [
        "A4 Boundary compliance:      FAIL",
        "A9 Dependency gate:          FAIL",
        "W1 Secrets in diff:          SKIP",
    ]
    assert "Overall: FAIL" in lines
    assert "A4 app/routers/users.py:2" in said.out
    assert "A9 app/repos/users.py:1" in said.out


def test_reproduce_command_shows_only_its_finding(run: Audit, terminal: Terminal, project: Path):
    report = run("--only", "A4,A9", "--format", "json").data
    findings = [finding for check in report["checks"] for finding in check["findings"]]
    assert len(findings) == 2
    for finding in findings:
        words = finding["reproduce"].split()
        assert words[:3] == ["forge", "audit", str(project)]
        alone = terminal(*words[1:], "--format", "json").data
        assert [f for check in alone["checks"] for f in check["findings"]] == [finding]


def findings_of(said: CommandResult) -> list[dict[str, Any]]:
    report = said.data
    return [finding for check in report["checks"] + report["warnings"] for finding in check["findings"]]


@pytest.mark.parametrize(
    "words",
    [
        ("--only", "W1", "--base", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"),
        ("--only", "A1", "--claimed-files", "app/new.py,app/a.py=>app/b\\x2c.py"),
        ("--only", "A2", "--claimed-files", "app/repos/users.py=>app/repos/people.py,gone.py"),
        ("--only", "A3", "--claimed-files", "app/new.py"),
    ],
)
def test_reproduce_command_includes_audit_options(
    run: Audit, terminal: Terminal, project: Path, words: tuple[str, ...]
):
    shutil.rmtree(project / "Forge")
    write(
        project,
        {"app/routers/users.py": f"TOKEN = '{sample_of('ghp_<a36>', 1)}'\n", "gone.py": "g = 1\n" * 9},
    )
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "second")
    git(project, "mv", "app/repos/users.py", "app/repos/people.py")
    git(project, "mv", "gone.py", "here.py")
    findings = findings_of(run(*words, "--format", "json"))
    assert findings
    for finding in findings:
        assert finding in findings_of(terminal(*shlex.split(finding["reproduce"])[1:], "--format", "json"))


def test_reproduce_command_uses_empty_tree_of_repository_format(terminal: Terminal, tmp_path: Path):
    root = tmp_path / "long"
    root.mkdir()
    git(root, "init", "-q", "-b", "main", "--object-format=sha256")
    write(root, {"a.py": f"TOKEN = '{sample_of('ghp_<a36>', 1)}'\n"})
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    empty = git(root, "hash-object", "-t", "tree", "/dev/null")
    (finding,) = findings_of(
        terminal("audit", str(root), "--only", "W1", "--base", empty, "--format", "json")
    )
    assert finding["reproduce"].endswith(f"--base {empty}")


def test_fixed_project_passes(run: Audit, project: Path):
    write(project, {"app/routers/users.py": "import requests\n", "app/repos/users.py": "import json\n"})
    assert run("--only", "A4,A9").code == 0


def test_claims_are_compared_with_changes(run: Audit, project: Path):
    write(project, {"app/new.py": "x = 1\n"})
    assert run("--only", "A1", "--claimed-files", "app/new.py").code == 0
    said = run("--only", "A1", "--claimed-files", "app/old.py")
    assert said.code == 1
    assert "app/new.py" in said.out and "app/old.py" in said.out


def test_changes_are_counted_from_base(run: Audit, project: Path):
    first = git(project, "rev-parse", "HEAD")
    write(project, {"app/new.py": "x = 1\n"})
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "second")
    assert run("--only", "A1", "--claimed-files", "app/new.py").code == 1
    assert run("--only", "A1", "--claimed-files", "app/new.py", "--base", first).code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--only", "A99"], "There is no check A99"),
        (["--claimed-files", " , "], "No file is claimed"),
        (["--claimed-files", "../x"], "outside the project"),
        (["--base", "nowhere"], "nowhere"),
        (["--phase", "x" * 201], "--phase: String should have at most 200 characters"),
        (["--explain", "B4"], "There is no check B4"),
        (["--only", " , "], "No check is given"),
        (["--file", "nope.py"], "There is no file nope.py"),
        (["--format", "xml"], "'xml' is not one of"),
    ],
)
def test_invalid_option_exits_with_2(run: Audit, words: list[str], message: str):
    said = run(*words)
    assert (said.code, message in said.err) == (2, True), said.err
    assert said.out == ""


@pytest.mark.parametrize("path", ["", "no/such/folder"])
def test_folder_without_repository_is_refused(terminal: Terminal, tmp_path: Path, path: str):
    said = terminal("audit", str(tmp_path / path))
    assert said.code == 2
    assert "hint:" in said.err


def test_report_is_printed_in_each_format(run: Audit):
    assert run("--only", "A4", "--format", "sarif").data["version"] == "2.1.0"
    assert run("--only", "A4", "--format", "md").out.startswith("# ❌ Audit FAIL: unknown\n")
    report = run("--only", "A4", "--phase", "Phase 3", "--format", "json").data
    assert (report["phase"], report["overall"], report["project"]) == ("Phase 3", "FAIL", "shop")


def test_full_audit_of_governed_project_is_recorded_in_ledger(run: Audit, project: Path):
    ledger = project / "Forge/evidence/audit_ledger.md"
    run("--only", "A4")
    run("--no-ledger")
    assert not ledger.exists()
    run("--phase", "Phase 1")
    assert "## Audit Entry: Phase 1 -- Iteration 1" in ledger.read_text()
    run("--phase", "Phase 1")
    assert "-- Iteration 2" in ledger.read_text()
    assert "W2 Ledger integrity:         PASS" in run("--no-ledger").out


def test_verdict_is_shown_when_ledger_cannot_be_written(run: Audit, project: Path):
    run("--phase", "Phase 1")
    ledger = project / "Forge/evidence/audit_ledger.jsonl"
    ledger.write_text("")
    said = run()
    assert said.code == 1
    assert "W2 Ledger integrity:         FAIL" in said.out
    assert "The audit was not recorded in the ledger" in said.err


def test_broken_baseline_is_an_error(run: Audit, project: Path):
    write(project, {"Forge/Contracts/audit_baseline.json": "{"})
    assert "A9 Dependency gate:          ERROR" in run("--only", "A9").out


def test_audit_of_project_without_contracts_creates_no_files(terminal: Terminal, tmp_path: Path):
    root = tmp_path / "plain"
    root.mkdir()
    git(root, "init", "-q")
    write(root, {"a.py": "import os\n"})
    said = terminal("audit", str(root))
    assert [path.name for path in root.iterdir() if path.name != ".git"] == ["a.py"]
    assert said.code == 0, said.out


def test_init_writes_proposals_and_does_not_overwrite(terminal: Terminal, project: Path):
    (project / "Forge/Contracts/boundaries.json").unlink()
    planned = terminal("audit", "init", str(project), "--dry-run")
    assert planned.code == 0
    assert not (project / "forge.json").exists()
    said = terminal("audit", "init", str(project))
    assert [" ".join(line.partition("#")[0].split()) for line in said.out.splitlines()] == [
        "Wrote forge.json",
        "Wrote Forge/Contracts/boundaries.json",
        "Review the files, then run:",
        f"forge audit {project} --only A4,A9,W1",
        f"forge audit evidence {project}",
    ]
    assert json.loads((project / "forge.json").read_text())["backend"]["language"] == "python"
    again = terminal("audit", "init", str(project))
    assert (again.code, "already exists" in again.err) == (2, True)
    assert terminal("audit", "init", str(project), "--force").code == 0
    assert terminal("audit", str(project), "--only", "A4").code == 0, (
        "what is there today is not held against it"
    )


def test_baseline_accepts_existing_but_not_new_findings(terminal: Terminal, run: Audit, project: Path):
    said = terminal("audit", "baseline", str(project), "--expires", "30d", "--reason", "later")
    assert said.code == 0 and "Accepted 2 findings until" in said.out
    frozen = run("--only", "A4,A9")
    assert frozen.code == 0
    assert "known since" in frozen.out
    write(project, {"app/routers/orders.py": "from app.repos import users\n"})
    new = run("--only", "A4", "--format", "json").data["checks"][0]
    assert [(f["path"], f["known"] is None) for f in new["findings"]] == [
        ("app/routers/orders.py", True),
        ("app/routers/users.py", False),
    ]
    assert terminal("audit", "baseline", str(project), "--expires", "2020-01-01").code == 2
    assert terminal("audit", "baseline", str(project), "--only", "A1").code == 2


def test_partial_baseline_keeps_entries_of_other_checks(terminal: Terminal, run: Audit, project: Path):
    terminal("audit", "baseline", str(project))
    assert (
        terminal("audit", "baseline", str(project), "--only", "a4")
        .out.splitlines()[-1]
        .startswith("Accepted 2 find")
    )
    assert run("--only", "A4,A9").code == 0


def test_baseline_without_checks_is_refused(terminal: Terminal, project: Path):
    said = terminal("audit", "baseline", str(project), "--only", ",")
    assert (said.code, "No check is given." in said.err) == (2, True)
    assert not (project / "Forge/Contracts/audit_baseline.json").exists()


def test_unreadable_baseline_is_not_overwritten(terminal: Terminal, project: Path):
    write(project, {"Forge/Contracts/audit_baseline.json": "{"})
    said = terminal("audit", "baseline", str(project))
    assert (said.code, "audit_baseline.json cannot be read" in said.err) == (2, True)
    assert (project / "Forge/Contracts/audit_baseline.json").read_text() == "{"


def test_check_is_explained_and_self_tests_pass(terminal: Terminal):
    explained = terminal("audit", "--explain", "a4")
    assert explained.code == 0
    assert explained.out.startswith("A4 Boundary compliance (blocks)\n")
    proven = terminal("audit", "--self-test")
    assert proven.code == 0
    assert [line.split()[1] for line in proven.out.splitlines()] == ["PASS"] * 12


def test_help_lists_options_and_subcommands(terminal: Terminal):
    said = terminal("audit", "--help")
    assert said.code == 0
    for word in ("--claimed-files", "--explain", "baseline", "evidence", "init", "verify"):
        assert word in said.out


def test_package_can_be_run_as_module(project: Path, tmp_path: Path, terminal: Terminal):
    command = [sys.executable, "-m", "forge.audits", str(project), "--only", "A4"]
    done = subprocess.run(command, env=terminal.environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "A4 Boundary compliance:      FAIL" in done.stdout) == (1, True), done.stderr


def test_output_is_colored_only_in_terminal(run: Audit, tmp_path: Path, project: Path):
    with open_screen(tmp_path / "data", "audit", str(project), "--only", "A4") as screen:
        assert screen.end() == 1
    assert "\x1b[31mFAIL" in screen.text
    assert "\x1b" not in run("--only", "A4").out
