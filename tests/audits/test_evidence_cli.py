"""`forge audit evidence`, `verify`, `authorize` and `trust`, in one cycle after the other."""

from pathlib import Path

import pytest
from tests.audits.evidence_project import GOOD, Project
from tests.support.python_project import make_environment
from tests.support.terminal import Terminal

from forge.audits.evidence.signing_keys import SigningKeys
from forge.sandbox.sandboxes import Sandboxes


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = tmp_path / "project"
    root.mkdir()
    project = Project(root, SigningKeys(tmp_path / "data" / "audit"), Sandboxes())
    project.git("init", "-q", "-b", "main")
    project.write(GOOD)
    return project


@pytest.fixture
def forge(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path / "data")


def test_evidence_audit_and_authorization_cycle(project: Project, forge: Terminal):
    """Evidence, audit, commit, authorization; then an unauthorized commit, and a truncated ledger."""
    make_environment(project.root / ".venv")
    path = str(project.root)
    said = forge("audit", "evidence", path, "--phase", "Phase 1", "--summary", "Double numbers.")
    assert (said.code, said.err) == (0, "")
    assert "Behavior  PASS\n  pytest: 1 passed, 0 failed, 0 skipped\n" in said.out
    audited = forge("audit", path, "--phase", "Phase 1", "--format", "json")
    told = {check["code"]: check["result"] for check in audited.data["checks"]}
    assert audited.code == 0, audited.out
    assert [told[code] for code in ("A3", "A5", "A6", "A7", "A8")] == ["PASS", "PASS", "SKIP", "PASS", "PASS"]
    commit = project.commit()
    refused = forge("audit", path, "--only", "A6", "--no-ledger")
    assert (refused.code, "none was authorized" in refused.out) == (1, True)
    granted = forge("audit", "authorize", path, "--by", "ann")
    assert (granted.code, granted.out) == (0, f"Commit {commit} authorized by ann (ledger entry 2).\n")
    assert forge("audit", path, "--only", "A6,W2", "--no-ledger").code == 0
    whole = forge("audit", "verify", path)
    assert (whole.code, whole.out) == (
        0,
        "audit_ledger.jsonl: PASS  2 entries, signature valid; audit_ledger.md matches\n"
        "test_runs.jsonl: PASS  1 entry, signature valid; test_runs.md matches\n"
        "test_runs_latest.md: PASS  matches the last record\n"
        "diff_log.json: PASS  1 entry, signature valid; diff_log.md matches\n",
    )
    project.write({"app.py": "def double(x):\n    return x + x\n"})
    project.commit()
    refused = forge("audit", "authorize", path)
    assert (refused.code, "does not contain the files that iteration 1 signed off." in refused.err) == (
        2,
        True,
    )
    assert "1 commit since the last authorized one" in forge("audit", path, "--only", "A6", "--no-ledger").out
    bypassed = forge("audit", "authorize", path, "--bypass", "the site is down", "--by", "ann")
    assert bypassed.code == 0
    ledger = project.root / "Forge" / "evidence" / "audit_ledger.jsonl"
    ledger.write_bytes(b"".join(ledger.read_bytes().splitlines(keepends=True)[:2]))
    broken = forge("audit", "verify", path)
    assert (broken.code, broken.out.splitlines()[0]) == (
        1,
        "audit_ledger.jsonl: FAIL  entry 3 is missing: the signed head has 3 entries [cut-short]",
    )
    assert forge("audit", path, "--only", "W2", "--no-ledger").code == 1
    assert forge("audit", "verify", path, "--accept").code == 2


def test_ledger_commit_after_authorization_passes(project: Project, forge: Terminal):
    """The documented cycle, twice; the second time with two commits before the audit."""
    make_environment(project.root / ".venv")
    path = str(project.root)
    for number in (1, 2):
        project.write({"app.py": f"def double(x):\n    return 2 * x  # {number}\n"})
        if number == 2:
            project.commit()
            project.write({"notes.txt": "two commits\n"})
            project.commit()
        assert forge("audit", "evidence", path, "--summary", "Double numbers.").code == 0
        audited = forge("audit", path, "--format", "json")
        failed = [one["code"] for one in audited.data["checks"] if one["result"] == "FAIL"]
        assert failed == ([] if number == 1 else ["A6"])
        if number == 1:
            project.commit()
        granted = forge("audit", "authorize", path, "--by", "ann")
        assert (granted.code, granted.err) == (0, "")
        project.git("add", "-A")
        project.git("commit", "-qm", "Keep the ledger")
        good = forge("audit", path, "--only", "A6", "--no-ledger")
        assert (good.code, "only evidence was committed since" in good.out) == (0, True)
    ledger = (project.root / "Forge" / "evidence" / "audit_ledger.md").read_text()
    assert "Forge/evidence" not in ledger


def test_only_audited_files_can_be_authorized(project: Project, forge: Terminal):
    path = str(project.root)
    make_environment(project.root / ".venv")
    first = project.commit()
    project.write({"app.py": "def double(x):\n    return x + x\n", "new.py": "x = 1\n"})
    assert forge("audit", "evidence", path, "--summary", "Add.").code == 0
    assert forge("audit", path).code == 0
    unseen = forge("audit", "authorize", path)
    assert (unseen.code, f"Commit {first[:12]} does not contain the files" in unseen.err) == (2, True)
    assert "git add -A" in unseen.err
    project.git("commit", "-qam", "All but the new file")
    assert forge("audit", "authorize", path).code == 2
    whole = project.commit()
    other = forge("audit", "authorize", path, "--commit", first[:12])
    assert (other.code, "does not contain the files" in other.err) == (2, True)
    assert forge("audit", "authorize", path, "--commit", whole[:12]).code == 0


def test_failed_check_besides_a6_prevents_authorization(project: Project, forge: Terminal):
    path = str(project.root)
    project.write({"Forge/Contracts/notes.md": ""})
    project.commit()
    assert forge("audit", path).code == 1
    refused = forge("audit", "authorize", path)
    assert (refused.code, "Iteration 1 failed (A3, A5, A7, A8)" in refused.err) == (2, True)


def test_intentionally_removed_evidence_can_be_accepted(project: Project, forge: Terminal):
    path = str(project.root)
    project.write({"Forge/Contracts/notes.md": ""})
    project.commit()
    for _ in range(2):
        forge("audit", path)
    evidence = project.root / "Forge" / "evidence"
    for file in evidence.iterdir():
        file.unlink()
    assert "[removed]" in forge("audit", "verify", path).out
    accepted = forge("audit", "verify", path, "--accept", "--json")
    assert (accepted.code, accepted.data["audit_ledger.jsonl"]["problems"][0]["rule"]) == (0, "missing")
    forge("audit", path)
    assert forge("audit", "verify", path).code == 0


def test_failing_tests_exit_with_1_and_are_named(project: Project, forge: Terminal):
    make_environment(project.root / ".venv")
    project.write({"app.py": "def double(x):\n    return 0\n"})
    said = forge("audit", "evidence", str(project.root))
    told = "    failed test_app::test_double\n      assert 0 == 4\n       +  where 0 = double(2)\n"
    assert (said.code, told in said.out) == (1, True)
    latest = (project.root / "Forge" / "evidence" / "test_runs_latest.md").read_text()
    assert "pytest failing: test_app::test_double -- assert 0 == 4 + where 0 = double(2)\n" in latest
    as_json = forge("audit", "evidence", str(project.root), "--json")
    assert (as_json.code, as_json.data["run"]["status"]) == (1, "FAIL")


def test_impossible_action_exits_with_2(project: Project, forge: Terminal, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    for command in ("evidence", "verify", "authorize"):
        assert forge("audit", command, str(tmp_path / "empty")).code == 2
    unborn = forge("audit", "authorize", str(project.root))
    assert (unborn.code, "Commit 'HEAD' does not exist." in unborn.err) == (2, True)
    project.commit()
    first = forge("audit", "authorize", str(project.root))
    assert (first.code, "There is no audit yet" in first.err) == (2, True)
    assert forge("audit", "authorize", str(project.root), "--auto", "--bypass", "x").code == 2
    assert forge("audit", "authorize", str(project.root), "--commit", "f" * 40).code == 2


def test_every_evidence_file_is_verified_and_named(project: Project, forge: Terminal):
    make_environment(project.root / ".venv")
    path = str(project.root)
    forge("audit", "evidence", path, "--summary", "Double numbers.")
    forge("audit", path)
    evidence = project.root / "Forge" / "evidence"
    project.write({"app.py": "def double(x):\n    return x + x\n"})
    assert forge("audit", "verify", path).code == 0, "it is stale, and still what was written"
    files = {file: file.read_bytes() for file in evidence.iterdir()}
    assert len(files) == 8
    for file, data in files.items():
        for spoilt in (data.replace(b"PASS", b"pass", 1) + b"x", data[:-20], b"", None):
            file.unlink() if spoilt is None else file.write_bytes(spoilt)
            said = forge("audit", "verify", path)
            failed = [line for line in said.out.splitlines() if "FAIL" in line]
            assert (said.code, file.name in "".join(failed)) == (1, True), (file.name, said.out)
        file.write_bytes(data)
    forge("audit", "evidence", path, "--summary", "Double numbers.")
    for name in ("diff_log.json", "diff_log.md"):
        (evidence / name).write_bytes(files[evidence / name])
    assert "diff_log.json does not belong to the last run" in forge("audit", "verify", path).out


def test_verify_without_records_says_how_to_create_them(project: Project, forge: Terminal):
    said = forge("audit", "verify", str(project.root))
    assert (said.code, said.out) == (
        0,
        "audit_ledger.jsonl: WARN  there is no audit_ledger.jsonl yet [missing]\n"
        "  The first audit creates it.\n"
        "test_runs.jsonl: WARN  there is no test_runs.jsonl yet [missing]\n"
        "  `forge audit evidence` creates it.\n",
    )
    project.write(
        {"Forge/evidence/diff_log.md": "# Diff Log\n", "Forge/evidence/test_runs_latest.md": "PASS\n"}
    )
    by_hand = forge("audit", "verify", str(project.root))
    assert (by_hand.code, by_hand.out.count("was written by hand")) == (0, 2)


def test_data_directory_inside_project_is_refused_and_not_created(project: Project):
    forge = Terminal(project.root / ".forge")
    path = str(project.root)
    for command in (["evidence"], ["verify"], ["authorize"], []):
        said = forge("audit", *command, path)
        assert (said.code, "is inside the project" in said.err) == (2, True), command
    assert not (project.root / ".forge").exists()


def test_used_python_is_shown(project: Project, forge: Terminal):
    test = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        pass\n"
    config = '{"backend": {"language": "python", "test_framework": "unittest"}}'
    project.write({"test_app.py": test, "forge.json": config})
    said = forge("audit", "evidence", str(project.root))
    assert (said.code, "  unittest: 1 passed, 0 failed, 0 skipped\n" in said.out) == (0, True), said.out
    assert ".venv does not exist: the system's python3 and its packages are used\n" in said.out


def test_keys_are_trusted_listed_and_removed(forge: Terminal):
    assert forge("audit", "trust").out == "This machine has no key yet; the first audit creates it.\n"
    key = "ab" * 32
    assert forge("audit", "trust", key.upper(), "--name", "ann").out == f"Trusted: {key}\n"
    assert forge("audit", "trust", "--json").data == {"own": None, "trusted": {key: "ann"}}
    assert forge("audit", "trust", key, "--remove").code == 0
    assert forge("audit", "trust", key, "--remove").code == 2
    assert forge("audit", "trust", "nonsense").code == 2
