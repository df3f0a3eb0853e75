"""A3, A5, A6, A7, A8 and W2: their own examples, the cases of the specification, and edge cases."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pytest

from forge.audits.check import Check
from forge.audits.checks.a3_evidence import CHECK as A3
from forge.audits.checks.a5_diff_log import CHECK as A5
from forge.audits.checks.a6_authorization import CHECK as A6
from forge.audits.checks.a7_order import CHECK as A7
from forge.audits.checks.a8_tests import CHECK as A8
from forge.audits.checks.w2_ledger import CHECK as W2
from forge.audits.engine.check_runner import verdict_of
from forge.audits.engine.self_test import run_self_tests
from forge.audits.evidence.examples import (
    CODE,
    TRUST,
    audited,
    authorized,
    diff_files,
    diff_log,
    id_of,
    ledger_files,
    level,
    proven,
    run_of,
    runs_files,
    with_evidence,
)
from forge.audits.evidence.records import Kind, LevelName, Status, TestCounts
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.snapshot import Snapshot, Trust

CHECKS = (A3, A5, A6, A7, A8, W2)
OLD = "b" * 40


def verdict(check: Check, snapshot: Snapshot) -> str:
    return verdict_of(check, check.examine(snapshot)).value


def rules(check: Check, snapshot: Snapshot) -> list[str]:
    return sorted(found.rule for found in check.examine(snapshot).found)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_check_passes_its_own_examples(check: Check):
    (proof,) = run_self_tests([check])
    assert (proof.problems, proof.caught > 3) == ([], True)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.code)
def test_documentation_names_every_rule(check: Check):
    told = {rule for fixture in check.fixtures for rule in fixture.rules}
    assert [rule for rule in sorted(told) if f"`{rule}`" not in check.docs] == []


@pytest.mark.parametrize(
    "first",
    [
        b"Status: PASS",
        b"\xef\xbb\xbfStatus: PASS",
        b"Status: PASSING-ISH",
        b"status: pass",
        b"Status: FAIL",
        b"",
        b"\xff\xfe",
    ],
)
@pytest.mark.parametrize("check", [A3, A8], ids=lambda check: check.code)
def test_text_is_rejected_as_evidence(check: Check, first: bytes):
    text = first + b"\n12 passed\n"
    snapshot = with_evidence(CODE, {"test_runs_latest.md": text, "test_runs.md": text, "diff_log.md": text})
    assert verdict(check, snapshot) == "FAIL"
    assert "unsigned-evidence" in rules(check, snapshot)


@pytest.mark.parametrize(
    "text", [b"\xef\xbb\xbfStatus: PASS\n", b"Status: PASSING-ISH\n", b"Status: FAIL\n", b""]
)
def test_test_gate_uses_record_instead_of_text(text: bytes):
    """3.9: a BOM before `Status: PASS` is not a failure, and `PASSING-ISH` is not a pass."""
    good, bad = run_of(id_of(CODE)), run_of(id_of(CODE), level(LevelName.BEHAVIOR, Status.FAIL, counts=None))
    assert verdict(A8, with_evidence(CODE, {**runs_files(good), "test_runs_latest.md": text})) == "PASS"
    assert verdict(A8, with_evidence(CODE, {**runs_files(bad), "test_runs_latest.md": text})) == "FAIL"


def test_unknown_status_is_not_a_record():
    run = run_of(id_of(CODE), status="PASSING-ISH")
    files = {**runs_files(run_of(id_of(CODE))), **_records(run)}
    assert rules(A8, with_evidence(CODE, files)) == ["unsigned-evidence"]


def _records(run: object) -> dict[str, bytes]:
    from forge.audits.evidence.examples import compose
    from forge.audits.evidence.proof import RUNS

    return compose(RUNS, [(Kind.TEST_RUN, run)])  # type: ignore[list-item]


def test_level_order_uses_record_instead_of_summary():
    """3.9: `Static: contract types compile` is in order, and four failed levels are not a pass."""
    words = [level(name, summary="contract behavior runtime static") for name in LevelName]
    assert verdict(A7, proven(CODE, run_of(id_of(CODE), *words))) == "PASS"
    failed = [level(name, Status.FAIL) for name in LevelName]
    assert rules(A7, proven(CODE, run_of(id_of(CODE), *failed))) == ["failed-level"] * 4


def test_skipped_level_has_a_fix():
    skipped = [level(name, Status.SKIP, reason="nothing to run") for name in LevelName]
    found = A7.examine(proven(CODE, run_of(id_of(CODE), *skipped))).found
    fixes = {one.subject: one.fix for one in found}
    assert "forge.json" in fixes["Runtime"]
    assert "`forge audit init`" in fixes["Contract"]


def test_evidence_only_commits_are_not_counted_up_to_a_limit():
    log = tuple(f"{n:040d}" for n in range(1100))
    evidence = ledger_files((Kind.AUTHORIZED, authorized(OLD)))
    changes = dict.fromkeys(log, ("Forge/evidence/audit_ledger.md",))
    few = MemoryCommits((*log[:900], OLD), changes=changes)
    many = MemoryCommits((*log, OLD), changes=changes)
    assert verdict(A6, with_evidence(CODE, evidence, base=CODE, commits=few)) == "PASS"
    (found,) = A6.examine(with_evidence(CODE, evidence, base=CODE, commits=many)).found
    assert found.message.startswith("100 commits since the last authorized one")


@pytest.mark.parametrize(
    "prose", [b"commit defaced the page", b"commit: " + HEAD.encode(), b"AUTHORIZED\ncommit abcdef0"]
)
def test_prose_is_not_an_authorization(prose: bytes):
    """3.9: a word that looks like a hash is not a commit."""
    snapshot = with_evidence(CODE, {"audit_ledger.md": prose}, base=CODE, commits=MemoryCommits((HEAD, OLD)))
    assert verdict(A6, snapshot) == "SKIP"


class Rewritten:
    """A history whose authorized commit exists but is no longer an ancestor of HEAD."""

    def find(self, commit: str) -> str | None:
        return commit

    def since(self, commit: str) -> Sequence[str] | None:
        return None

    def changed(self, commits: Sequence[str]) -> Mapping[str, Collection[str]]:
        return {}

    def tree_without(self, commit: str, paths: Collection[str]) -> str:
        return ""

    def read(self, commit: str, path: str) -> bytes | None:
        return None


def test_authorized_commit_outside_history_is_reported():
    evidence = ledger_files((Kind.AUTHORIZED, authorized(OLD)))
    snapshot = replace(with_evidence(CODE, evidence, base=CODE), commits=Rewritten())
    assert rules(A6, snapshot) == ["rewritten-history"]


def test_commits_after_authorized_commit_are_counted_and_listed():
    log = (HEAD, *(f"{n}" * 40 for n in range(7)), OLD)
    evidence = ledger_files((Kind.AUTHORIZED, authorized(OLD)))
    (found,) = A6.examine(with_evidence(CODE, evidence, base=CODE, commits=MemoryCommits(log))).found
    assert found.message == (
        "8 commits since the last authorized one (bbbbbbbbbbbb): "
        "cccccccccccc, 000000000000, 111111111111, 222222222222, 333333333333 and 3 more"
    )


def test_commit_before_first_audit_needs_no_authorization():
    evidence = ledger_files((Kind.AUDIT, audited(head=HEAD)), (Kind.AUDIT, audited(head=HEAD, number=2)))
    assert verdict(A6, with_evidence(CODE, evidence, base=CODE)) == "SKIP"
    first_commit_since = ledger_files((Kind.AUDIT, audited(head=None)))
    assert rules(A6, with_evidence(CODE, first_commit_since, base=CODE)) == ["unauthorized"]


def test_last_run_of_same_files_counts_despite_later_runs():
    runs = (run_of(id_of(CODE)), run_of("another", level(LevelName.BEHAVIOR, Status.FAIL)))
    assert verdict(A8, proven(CODE, *runs)) == "PASS"
    assert verdict(A3, proven(CODE, *runs)) == "PASS"


def test_run_removed_from_records_is_detected_by_diff_log():
    good = run_of(id_of(CODE))
    bad = run_of(id_of(CODE), level(LevelName.BEHAVIOR, Status.FAIL))
    log = diff_files(diff_log(snapshot_of(CODE), bad))
    assert rules(A5, with_evidence(CODE, runs_files(good, bad), log)) == []
    cut = with_evidence(CODE, runs_files(good), log)
    assert (rules(A3, cut), rules(A5, cut)) == (["tampered-diff-log"], ["tampered-diff-log"])
    assert rules(A5, with_evidence(CODE, log)) == ["tampered-diff-log"]


def test_diff_log_with_other_base_is_reported():
    snapshot = snapshot_of(CODE)
    evidence = runs_files(run_of(snapshot.tree_id)), diff_files(diff_log(snapshot))
    assert rules(A5, with_evidence(CODE, *evidence, base={"forge.json": "{}"})) == ["wrong-files"]


def test_untrusted_evidence_is_rejected():
    assert rules(A3, proven(trust=Trust())) == ["unknown-signer", "unknown-signer"]
    assert rules(A5, proven(trust=Trust())) == ["unknown-signer"]
    assert verdict(A7, proven(trust=Trust())) == "FAIL"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        (TestCounts(3, 0, 0), "PASS"),
        (TestCounts(30, 0, 0), "PASS"),
        (TestCounts(2, 0, 1), "WARN"),
        (TestCounts(0, 0, 3), "FAIL"),
        (TestCounts(3, 1, 0), "FAIL"),
    ],
)
def test_counts_are_compared_with_previous_run(counts: TestCounts, expected: str):
    now = [level(name, counts=counts) if name is LevelName.BEHAVIOR else level(name) for name in LevelName]
    before = run_of("another")
    assert verdict(A8, proven(CODE, before, run_of(id_of(CODE), *now))) == expected


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"{}\n", b"\x00" * 1000, b"[" * 50_000, b"null\n", b'{"entry":{}}\n']
)
@pytest.mark.parametrize(
    "name", ["audit_ledger.jsonl", "test_runs.jsonl", "diff_log.json", "audit_ledger.head.json"]
)
def test_corrupt_evidence_file_fails(name: str, data: bytes):
    good = {**runs_files(run_of(id_of(CODE))), **diff_files(diff_log(snapshot_of(CODE)))}
    ledger = ledger_files((Kind.AUTHORIZED, authorized(HEAD)))
    snapshot = with_evidence(CODE, {**good, **ledger, name: data}, base=CODE, trust=TRUST)
    told = {check.code: verdict(check, snapshot) for check in CHECKS}
    about = {
        "audit_ledger.jsonl": "W2",
        "audit_ledger.head.json": "W2",
        "test_runs.jsonl": "A8",
        "diff_log.json": "A5",
    }
    assert told[about[name]] == "FAIL", told


def test_project_without_governance_is_skipped():
    told = {check.code: verdict(check, snapshot_of({"app.py": "x = 1\n"})) for check in CHECKS}
    assert told == {"A3": "SKIP", "A5": "SKIP", "A6": "SKIP", "A7": "SKIP", "A8": "SKIP", "W2": "SKIP"}
