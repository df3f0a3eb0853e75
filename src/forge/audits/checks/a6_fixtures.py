"""Examples for A6."""

from forge.audits.check import Fixture
from forge.audits.evidence.examples import STRANGER, audited, authorized, ledger_files, with_evidence
from forge.audits.evidence.records import Authorized, Kind
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.snapshot import Snapshot

CODE = {"app.py": "x = 1\n"}
OLD = "b" * 40
GONE = "d" * 40
BEFORE = {"app.py": "x = 0\n"}


def _history(*log: str) -> MemoryCommits:
    return MemoryCommits(log or (HEAD, OLD))


def _granted(commit: str, **given: object) -> Snapshot:
    evidence = ledger_files((Kind.AUDIT, audited(head=OLD)), (Kind.AUTHORIZED, authorized(commit)))
    return with_evidence(CODE, evidence, base=BEFORE, **{"commits": _history(), **given})


def _only_audited(head: str) -> Snapshot:
    evidence = ledger_files((Kind.AUDIT, audited(head=head)))
    return with_evidence(CODE, evidence, base=BEFORE, commits=_history())


def _committed(*paths: str, grant: bool = True) -> Snapshot:
    """A commit that changes these files, behind what was authorised or audited first."""
    commits = MemoryCommits((HEAD, OLD), changes={HEAD: paths})
    if grant:
        return _granted(OLD, commits=commits)
    evidence = ledger_files((Kind.AUDIT, audited(head=OLD)))
    return with_evidence(CODE, evidence, base=BEFORE, commits=commits)


def _prose() -> Snapshot:
    text = f"AUTHORIZED\ncommit: {HEAD}\n".encode()
    return with_evidence(CODE, {"audit_ledger.md": text}, base=BEFORE, commits=_history())


def _forged() -> Snapshot:
    evidence = ledger_files((Kind.AUTHORIZED, authorized(OLD)))
    evidence["audit_ledger.jsonl"] = evidence["audit_ledger.jsonl"].replace(OLD.encode(), HEAD.encode())
    return with_evidence(CODE, evidence, base=BEFORE, commits=_history())


def _by_a_stranger() -> Snapshot:
    evidence = ledger_files((Kind.AUTHORIZED, authorized(HEAD)), signer=STRANGER)
    return with_evidence(CODE, evidence, base=BEFORE, commits=_history())


def _bypassed() -> Snapshot:
    grant = Authorized(HEAD, "somebody", 1, reason="the site is down")
    return with_evidence(CODE, ledger_files((Kind.BYPASS, grant)), base=BEFORE, commits=_history())


LEDGER = "Forge/evidence/audit_ledger.jsonl"
FIXTURES = (
    Fixture("HEAD is authorised", lambda: _granted(HEAD), "PASS"),
    Fixture("a bypass with its reason", _bypassed, "PASS", ("bypassed",)),
    Fixture("no ledger", lambda: snapshot_of(CODE), "SKIP"),
    Fixture("audited, nothing committed since", lambda: _only_audited(HEAD), "SKIP"),
    Fixture("a commit in prose only", _prose, "SKIP"),
    Fixture("committed, never authorised", lambda: _only_audited(OLD), "FAIL", ("unauthorized",)),
    Fixture("a commit after the authorised one", lambda: _granted(OLD), "FAIL", ("unauthorized",)),
    Fixture("the ledger committed afterwards", lambda: _committed(LEDGER), "PASS"),
    Fixture("the ledger committed first", lambda: _committed(LEDGER, grant=False), "SKIP"),
    Fixture("code beside the ledger", lambda: _committed(LEDGER, "app.py"), "FAIL", ("unauthorized",)),
    Fixture(
        "another file in its folder",
        lambda: _committed("Forge/evidence/app.py"),
        "FAIL",
        ("unauthorized",),
    ),
    Fixture("an unknown commit", lambda: _granted(GONE), "ERROR", ("unknown-commit",)),
    Fixture("an authorisation changed by hand", _forged, "ERROR", ("broken-ledger",)),
    Fixture("an authorisation by a stranger", _by_a_stranger, "ERROR", ("unknown-signer",)),
)
