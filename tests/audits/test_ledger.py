"""The ledger on disk: its entries and signers, and what happens after changes by others."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.audits.ledger_project import GOVERNANCE, Ledger, new_ledger, report_of

from forge.audits.evidence.ledger import append_audit, authorize, last_audit
from forge.audits.evidence.records import Audited, AuditOutcome, Authorized, Kind, body_of
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.models import Verdict
from forge.audits.snapshot import Trust
from forge.errors import ConfigError, Conflict, Denied, ForgeError, Invalid


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path)


def test_text_is_rendered_from_entries(ledger: Ledger):
    ledger.add(Verdict.FAIL)
    ledger.add()
    ledger.authorize()
    assert ledger.text.read_text() == snapshot("""\
# Audit Ledger -- Forge AEM

Append-only: entries are added at the end and never changed. Rendered from `audit_ledger.jsonl`.
Do not edit or truncate: `forge audit verify` finds it.

---

## Audit Entry: Phase 1 -- Iteration 1
Timestamp: 2026-01-02T03:04:05Z
AEM Cycle: Phase 1
Outcome: FAIL
HEAD: none
Base: none
Tree: tree

### Checklist
- A1 Scope compliance: FAIL -- nobody claimed b.py

### Fix Plan (FAIL items)
- A1: b.py: nobody claimed it -- Claim it.

### Files Changed
- a.py
- b.py

### Notes
- W1 Secrets in diff: PASS -- none

---

## Audit Entry: Phase 1 -- Iteration 2
Timestamp: 2026-01-02T03:04:05Z
AEM Cycle: Phase 1
Outcome: SIGNED-OFF (awaiting AUTHORIZED)
HEAD: none
Base: none
Tree: tree

### Checklist
- A1 Scope compliance: PASS -- all is claimed

### Files Changed
- a.py
- b.py

### Notes
- W1 Secrets in diff: PASS -- none

---

## Authorization: Iteration 2
Timestamp: 2026-01-02T03:04:05Z
Outcome: AUTHORIZED (committed)
commit: cccccccccccccccccccccccccccccccccccccccc
By: ann
""")
    assert ledger.state().problems == ()


def test_iterations_are_counted_across_phases(ledger: Ledger):
    ledger.add(Verdict.FAIL, phase="Phase 1")
    ledger.authorize()
    ledger.add(phase="Phase 2")
    audits = [body for line in ledger.state().lines if isinstance(body := body_of(line.entry), Audited)]
    assert [(one.phase, one.iteration, one.outcome) for one in audits] == [
        ("Phase 1", 1, AuditOutcome.FAIL),
        ("Phase 2", 2, AuditOutcome.SIGNED_OFF),
    ]
    assert last_audit(ledger.state().lines) == audits[-1]


def test_repeated_key_leaves_one_entry(ledger: Ledger):
    first = ledger.add(key="run-1")
    ledger.add(key="run-2")
    assert ledger.add(key="run-1") == first
    assert len(ledger.state().lines) == 2


def test_authorization_records_commit_and_author(ledger: Ledger):
    ledger.add()
    entry = ledger.authorize("d" * 40, by="ann\nbob")
    assert (entry.kind, body_of(entry)) == (Kind.AUTHORIZED, Authorized("d" * 40, "ann\nbob", 1))
    assert "By: ann bob\n" in ledger.text.read_text()
    for commit in ("d" * 7, "HEAD", "d" * 41, "D" * 40):
        with pytest.raises(Invalid):
            ledger.authorize(commit)
    with pytest.raises(Invalid, match="bypass"):
        authorize(ledger.writer, GOVERNANCE, "d" * 40, "ann", kind=Kind.BYPASS)


def test_legacy_text_is_kept_and_iterations_continue(ledger: Ledger):
    ledger.folder.mkdir(parents=True)
    old = "\ufeff# Audit Ledger\r\n\r\n## Audit Entry: Phase 3 -- Iteration 41\r\nOutcome: FAIL\r\n\r\n"
    ledger.text.write_bytes(old.encode())
    assert ledger.rules() == [("legacy", None)]
    ledger.add()
    text = ledger.text.read_text()
    assert text.startswith(
        "# Audit Ledger\n\n## Audit Entry: Phase 3 -- Iteration 41\nOutcome: FAIL\n\n---\n"
    )
    assert "-- Iteration 42\n" in text
    assert ledger.state().problems == ()
    ledger.add()
    assert ledger.state().problems == ()


@pytest.mark.parametrize("name", ["a\nb", "x\ud800", "\udcff.py", "## Audit Entry", "\u202e", "\x00\x1b[2J"])
def test_hostile_names_do_not_break_text(ledger: Ledger, name: str):
    ledger.add(phase=name)
    append_audit(ledger.writer, GOVERNANCE, report_of(phase=name), [name])
    assert ledger.state().problems == ()
    assert ledger.text.read_text().count("\n## ") == 2


def test_write_through_link_is_refused(ledger: Ledger, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (ledger.root / "Forge").mkdir()
    ledger.folder.symlink_to(elsewhere)
    with pytest.raises(ForgeError, match="never written through links"):
        ledger.add()
    ledger.folder.unlink()
    (ledger.root / "Forge").rmdir()
    (ledger.root / "Forge").symlink_to(elsewhere)
    with pytest.raises(ForgeError, match="never written through links"):
        ledger.add()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("name", ["audit_ledger.jsonl", "audit_ledger.md", "audit_ledger.head.json"])
def test_linked_ledger_file_is_refused(ledger: Ledger, tmp_path: Path, name: str):
    ledger.folder.mkdir(parents=True)
    target = tmp_path / "target"
    target.write_text("mine")
    (ledger.folder / name).symlink_to(target)
    with pytest.raises(ForgeError):
        ledger.add()
    assert target.read_text() == "mine"


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: os.mkfifo(path)])
def test_pipe_or_folder_in_place_of_file_is_rejected(ledger: Ledger, make):
    ledger.folder.mkdir(parents=True)
    make(ledger.records)
    with pytest.raises(ForgeError):
        ledger.add()


def test_unwritable_project_is_reported(ledger: Ledger):
    if os.getuid() == 0:
        pytest.skip("root writes everywhere")
    ledger.add()
    ledger.folder.chmod(0o500)
    ledger.records.chmod(0o400)
    try:
        with pytest.raises(Denied, match="not writable"):
            ledger.add()
    finally:
        ledger.folder.chmod(0o700)


def test_read_only_disk_is_reported(ledger: Ledger, monkeypatch: pytest.MonkeyPatch):
    ledger.add()
    before = ledger.evidence()
    real = os.open

    def refuse(path, flags, *more, **named):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise OSError(errno.EROFS, "Read-only file system")
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(Denied) as refused:
        ledger.add()
    assert (refused.value.message, refused.value.hint) == (
        "Forge/evidence/audit_ledger.jsonl is not writable: Read-only file system.",
        "Make the directory writable, or audit with --no-ledger.",
    )
    assert ledger.evidence() == before


def test_ledger_of_other_machine_requires_trust(ledger: Ledger, tmp_path: Path):
    ledger.add()
    other = Ledger(ledger.root, SigningKeys(tmp_path / "other"))
    key = ledger.keys.own()
    assert key is not None
    assert other.rules(trust=other.keys.trust(other.root)) == [
        ("unknown-signer", None),
        ("unknown-signer", None),
    ]
    with pytest.raises(Conflict) as refused:
        other.add()
    assert refused.value.hint == f"If you trust its owner: forge audit trust {key}"
    other.keys.add_trusted(f" {key.upper()} ", "ann")
    other.add()
    assert other.state().problems == ()
    assert other.keys.trusted() == {key: "ann"}
    assert ledger.rules() == [("unknown-signer", None), ("unknown-signer", None)]
    assert other.keys.remove_trusted(key)
    assert not other.keys.remove_trusted(key)


def test_key_is_created_once_and_is_private(tmp_path: Path):
    keys = SigningKeys(tmp_path / "data" / "audit")
    assert (keys.own(), keys.trust()) == (None, Trust())
    code = f"""
import sys; from pathlib import Path; from forge.audits.evidence.signing_keys import SigningKeys
print(SigningKeys(Path({str(tmp_path / "data" / "audit")!r})).signer(Path({str(tmp_path / "p")!r})).key)
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    made = {process.communicate()[0].strip() for process in started}
    assert made == {keys.own()}
    path = tmp_path / "data" / "audit" / "signing.key"
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["signing.key"]
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="other users can read"):
        keys.trust()
    path.chmod(0o600)
    path.write_text("nonsense")
    with pytest.raises(ConfigError, match="invalid key"):
        keys.signer(tmp_path / "p")


def test_key_inside_project_is_rejected(tmp_path: Path):
    with pytest.raises(ConfigError, match="inside the project"):
        SigningKeys(tmp_path / "project" / ".forge" / "audit").signer(tmp_path / "project")


def test_concurrent_writers_leave_intact_chain(ledger: Ledger):
    ledger.add()
    code = f"""
from pathlib import Path
from tests.audits.ledger_project import Ledger
from forge.audits.evidence.signing_keys import SigningKeys
ledger = Ledger(Path({str(ledger.root)!r}), SigningKeys(Path({str(ledger.keys._folder)!r})))
for _ in range(15): ledger.add()
"""
    started = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [process.wait() for process in started] == [0, 0]
    state = ledger.state()
    assert (len(state.lines), state.problems) == (31, ())


def test_each_branch_has_its_own_remembered_head(ledger: Ledger):
    """Switching to a branch with fewer entries is not tampering; removing entries on a branch is."""
    ledger.add()
    before = ledger.evidence()
    other = Ledger(ledger.root, ledger.keys, branch="feature")
    other.add()
    for name, data in before.items():
        (ledger.folder / name).write_bytes(data)
    assert ledger.state().problems == ()
    assert other.rules() == [("cut-short", 2)]
    with pytest.raises(Conflict, match="this machine's memory"):
        other.add()


def test_copied_project_has_own_remembered_head(ledger: Ledger, tmp_path: Path):
    ledger.add()
    shutil.copytree(ledger.root, tmp_path / "copy")
    ledger.add()
    assert Ledger(tmp_path / "copy", ledger.keys).state().problems == ()


def test_committed_records_must_be_prefix_of_ledger(ledger: Ledger, tmp_path: Path):
    ledger.add()
    ledger.add()
    committed = {"c" * 40: ledger.records.read_bytes()}
    assert ledger.rules(committed=committed) == []
    ledger.add()
    assert ledger.rules(committed=committed) == []
    (tmp_path / "other").mkdir()
    stranger = new_ledger(tmp_path / "other", count=1)
    trust = Trust(frozenset({str(stranger.keys.own())}))
    assert stranger.rules(trust=trust, committed=committed) == [("not-as-committed", 1)]


def test_corrupt_remembered_heads_are_reported(ledger: Ledger):
    ledger.add()
    (path,) = (ledger.keys._folder / "heads").iterdir()
    path.write_text("{")
    with pytest.raises(ConfigError, match="corrupt"):
        ledger.add()
