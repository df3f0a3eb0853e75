"""Every kind of tampering with a ledger is detected, and the next entry does not conceal it."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.audits.ledger_project import Ledger, new_ledger

from forge.audits.evidence.chain import Line, Signer, next_entry, read_chain, write_line
from forge.audits.evidence.evidence_log import verify_log, write_head
from forge.audits.evidence.ledger import LEDGER
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.snapshot import Trust
from forge.errors import Conflict

STRANGER = Signer.from_seed(b"s" * 32)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return new_ledger(tmp_path, count=5)


def rewrite(ledger: Ledger, *, chain: str | None = None, signer: Signer = STRANGER, count: int = 5) -> None:
    """Rewrite everything with another key, with valid hashes and head."""
    lines: list[Line] = []
    raws: list[bytes] = []
    for line in read_chain(ledger.records.read_bytes()).lines[:count]:
        entry = next_entry(
            lines[-1] if lines else None,
            chain or line.entry.chain,
            line.entry.kind,
            {**line.entry.body, "phase": "Phase 9"},
            at=line.entry.at,
            signer=signer.key,
        )
        raws.append(write_line(entry, signer))
        lines = [*read_chain(b"".join(raws)).lines]
    ledger.records.write_bytes(b"".join(raws))
    ledger.text.write_text(LEDGER.full_text(lines))
    ledger.head.write_bytes(write_head(lines[-1], signer))


def change_lines(ledger: Ledger, change) -> None:
    lines = ledger.records.read_bytes().splitlines(keepends=True)
    change(lines)
    ledger.records.write_bytes(b"".join(lines))


def roll_back(ledger: Ledger) -> None:
    """Restore files that this machine signed earlier."""
    before = ledger.evidence()
    ledger.add()
    for name, data in before.items():
        (ledger.folder / name).write_bytes(data)


def edit(lines: list[bytes]) -> None:
    lines[2] = lines[2].replace(b"Phase 1", b"Phase 2")


TAMPERINGS = {
    "edit": (lambda one: change_lines(one, edit), ("broken-entry", 3)),
    "delete": (lambda one: change_lines(one, lambda lines: lines.pop(2)), ("broken-entry", 3)),
    "swap": (lambda one: change_lines(one, lambda lines: lines.insert(2, lines.pop(3))), ("broken-entry", 3)),
    "insert": (lambda one: change_lines(one, lambda lines: lines.insert(2, lines[2])), ("broken-entry", 4)),
    "truncate": (lambda one: change_lines(one, lambda lines: lines.pop()), ("cut-short", 5)),
    "full rewrite, another key": (rewrite, ("rewritten", 5)),
    "full rewrite, another id": (lambda one: rewrite(one, chain="x"), ("replaced", 1)),
    "shorter rewrite": (lambda one: rewrite(one, count=2), ("cut-short", 3)),
    "roll back": (roll_back, ("cut-short", 6)),
    "remove": (lambda one: one.records.unlink(), ("removed", 1)),
    "empty": (lambda one: one.records.write_bytes(b""), ("removed", 1)),
    "remove all": (lambda one: [path.unlink() for path in one.folder.iterdir()], ("removed", 1)),
    "remove the head": (lambda one: one.head.unlink(), ("no-head", 5)),
    "edit the head": (
        lambda one: one.head.write_bytes(one.head.read_bytes().replace(b"5", b"4")),
        ("bad-head", None),
    ),
    "blanks in the head": (
        lambda one: one.head.write_bytes(b" " + one.head.read_bytes()),
        ("bad-head", None),
    ),
    "garbage in the head": (lambda one: one.head.write_bytes(b"[" * 4000), ("bad-head", None)),
    "huge head": (lambda one: one.head.write_bytes(b"{" + b" " * 5000), ("bad-head", None)),
    "edit the text": (
        lambda one: one.text.write_text(one.text.read_text() + "AUTHORIZED\n"),
        ("edited-text", None),
    ),
    "remove the text": (lambda one: one.text.unlink(), ("edited-text", None)),
    "garbage behind": (
        lambda one: one.records.write_bytes(one.records.read_bytes() + b"{}"),
        ("unfinished-line", 6),
    ),
    "a line behind": (
        lambda one: one.records.write_bytes(one.records.read_bytes() + b"{}\n"),
        ("broken-entry", 6),
    ),
}
HARMLESS = {"edit the text", "remove the text", "garbage behind"}
"""The next entry repairs these, because no signed record is lost."""


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_reported_and_not_accepted(ledger: Ledger, name: str):
    signed = ledger.records.read_bytes()
    tamper, expected = TAMPERINGS[name]
    tamper(ledger)
    assert expected in ledger.rules()
    assert ledger.state().is_tampered
    if name in HARMLESS:
        ledger.add()
        assert ledger.state().problems == ()
        assert ledger.records.read_bytes().startswith(signed)
        return
    if name in ("edit", "delete", "swap", "insert", "a line behind"):
        return  # entries in the middle are not verified each time, but the chain stays broken
    before = ledger.evidence()
    with pytest.raises(Conflict, match="Nothing was written"):
        ledger.add()
    assert ledger.evidence() == before


def test_new_entry_does_not_hide_earlier_tampering(ledger: Ledger):
    change_lines(ledger, edit)
    ledger.add()
    assert ledger.rules() == [("broken-entry", 3)]


def test_rewrite_with_other_key_is_unknown_signer_without_remembered_head(ledger: Ledger, tmp_path: Path):
    rewrite(ledger, chain="x")
    elsewhere = Trust(frozenset({str(ledger.keys.own())}))
    assert ledger.rules(trust=elsewhere) == [("unknown-signer", None), ("unknown-signer", None)]
    assert SigningKeys(tmp_path / "none").own() is None


@pytest.mark.parametrize(
    "change", [lambda text: b"\xef\xbb\xbf" + text, lambda text: text.replace(b"\n", b"\r\n")]
)
def test_byte_order_mark_and_line_endings_of_editors_are_ignored(ledger: Ledger, change):
    ledger.text.write_bytes(change(ledger.text.read_bytes()))
    assert ledger.rules() == []


SIGNER = Signer.from_seed(b"p" * 32)


def made_in_memory() -> dict[str, bytes]:
    from forge.audits.evidence.examples import audited, ledger_files
    from forge.audits.evidence.records import Kind

    return ledger_files(*((Kind.AUDIT, audited(number=n)) for n in range(1, 8)), signer=SIGNER)


FILES = made_in_memory()
TRUST = Trust(frozenset({SIGNER.key}))


@pytest.mark.parametrize("spell", [bytes.upper, lambda signature: signature + b" "])
def test_alternative_signature_spelling_is_rejected(spell: Callable[[bytes], bytes]):
    name = "audit_ledger.head.json"
    signature = json.loads(FILES[name])["signature"].encode()
    head = FILES[name].replace(signature, spell(signature))
    state = verify_log(LEDGER, {**FILES, name: head}, TRUST, {}, "")
    assert [problem.rule for problem in state.problems] == ["bad-head"]


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_random_change_is_detected(data: st.DataObject):
    name = data.draw(st.sampled_from(sorted(FILES)))
    content = FILES[name]
    place = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(0, 40))
    put = data.draw(st.one_of(st.binary(max_size=4), st.just(content[:40]), st.just(b"\n")))
    changed = content[:place] + put + content[place + length :]
    editors = content == changed.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    state = verify_log(LEDGER, {**FILES, name: changed}, TRUST, {}, "")
    is_mere_text = name.endswith(".md") and editors
    assert changed == content or is_mere_text or state.is_tampered, (name, place, length, put)


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_reordered_repeated_or_dropped_lines_are_detected(seed: int):
    lines = FILES[LEDGER.records].splitlines(keepends=True)
    chance = random.Random(seed)
    changed = [line for line in lines for _ in range(chance.choice([0, 1, 1, 1, 1, 2]))]
    if chance.random() < 0.5:
        chance.shuffle(changed)
    state = verify_log(LEDGER, {**FILES, LEDGER.records: b"".join(changed)}, TRUST, {}, "")
    assert changed == lines or state.is_tampered
