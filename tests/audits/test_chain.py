"""The chain: any change of its bytes is detected, and the first modified entry is named."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.evidence.chain import (
    Break,
    Line,
    Signer,
    is_signed,
    next_entry,
    read_chain,
    read_line,
    write_line,
)

SIGNER = Signer.from_seed(b"1" * 32)
STRANGER = Signer.from_seed(b"2" * 32)


def chain_of(count: int, signer: Signer = SIGNER, chain: str = "one") -> list[bytes]:
    raws: list[bytes] = []
    last: Line | None = None
    for number in range(count):
        entry = next_entry(
            last, chain, "audit", {"phase": f"Phase {number}", "ok": False}, at="now", signer=signer.key
        )
        raws.append(write_line(entry, signer))
        found = read_line(raws[-1].removesuffix(b"\n"))
        assert isinstance(found, Line)
        last = found
    return raws


LINES = chain_of(12)
DATA = b"".join(LINES)


def is_intact(data: bytes) -> bool:
    """Return whether the head is unchanged and no entry before it is broken."""
    chain = read_chain(data)
    last = chain.last
    return chain.broken is None and last is not None and last.hash == read_chain(DATA).lines[-1].hash


def test_unmodified_chain_is_intact():
    chain = read_chain(DATA)
    assert (chain.broken, len(chain.lines), chain.size, chain.id) == (None, 12, len(DATA), "one")
    assert all(line.is_signed for line in chain.lines)


def rehashed(line: bytes) -> bytes:
    """Recompute the hashes, as an attacker without the key would."""
    value = json.loads(line)
    entry = json.dumps(value["entry"], sort_keys=True, separators=(",", ":")).encode()
    digest = hashlib.sha256(entry).hexdigest()
    return b'{"entry":%s,"hash":"%s","signature":"%s"}\n' % (
        entry,
        digest.encode(),
        value["signature"].encode(),
    )


def edited(lines: list[bytes]) -> None:
    lines[4] = lines[4].replace(b"false", b"true")


def edited_and_rehashed(lines: list[bytes]) -> None:
    edited(lines)
    lines[4] = rehashed(lines[4])


def signature_changed(lines: list[bytes]) -> None:
    lines[4] = lines[4][:-8] + b"00000" + lines[4][-3:]


def previous_changed(lines: list[bytes]) -> None:
    value = json.loads(lines[4])
    lines[4] = rehashed(lines[4].replace(value["entry"]["previous"].encode(), b"0" * 64))


def of_another_chain(lines: list[bytes]) -> None:
    lines[4] = chain_of(12, chain="two")[4]


def key_twice(lines: list[bytes]) -> None:
    entry = lines[4][len('{"entry":') :].partition(b',"hash"')[0].replace(b'"kind":', b'"kind":"x","kind":')
    digest = hashlib.sha256(entry).hexdigest().encode()
    signature = SIGNER.sign(b"forge audit entry 1\n" + digest).encode()
    lines[4] = b'{"entry":%s,"hash":"%s","signature":"%s"}\n' % (entry, digest, signature)


@pytest.mark.parametrize(
    ("tamper", "number"),
    [
        (edited, 5),
        (edited_and_rehashed, 5),
        (signature_changed, 5),
        (previous_changed, 5),
        (of_another_chain, 5),
        (key_twice, 5),
        (lambda lines: lines.pop(4), 5),
        (lambda lines: lines.insert(4, lines[4]), 6),
        (lambda lines: lines.insert(4, lines.pop(5)), 5),
        (lambda lines: lines.insert(4, b"\n"), 5),
        (lambda lines: lines.insert(4, b"{}\n"), 5),
        (lambda lines: lines.pop(0), 1),
    ],
)
def test_first_broken_entry_is_reported(tamper, number: int):
    lines = [*LINES]
    tamper(lines)
    broken = read_chain(b"".join(lines)).broken
    assert broken is not None
    assert broken.number == number, broken


@pytest.mark.parametrize("garbage", [b"x", b"{}", b"\x00", LINES[0][:50]])
def test_garbage_after_last_line_is_reported(garbage: bytes):
    broken = read_chain(DATA + garbage).broken
    assert broken is not None
    assert broken.number == 13


def test_every_truncation_of_last_line_is_reported():
    for cut in range(len(DATA) - 1, len(DATA) - len(LINES[-1]), -1):
        broken = read_chain(DATA[:cut]).broken
        assert broken == Break(12, broken.reason if broken else "")


@given(st.data())
def test_any_byte_change_is_detected(data: st.DataObject):
    place = data.draw(st.integers(0, len(DATA) - 1))
    length = data.draw(st.integers(0, 5))
    put = data.draw(st.binary(max_size=5))
    changed = DATA[:place] + put + DATA[place + length :]
    assert changed == DATA or not is_intact(changed)


@given(st.lists(st.integers(0, 11), max_size=14))
def test_any_reordering_of_lines_is_detected(order: list[int]):
    changed = b"".join(LINES[number] for number in order)
    assert changed == DATA or not is_intact(changed)


@given(st.binary(max_size=300))
def test_arbitrary_bytes_are_read_as_broken_chain(data: bytes):
    chain = read_chain(data)
    assert (chain.broken is None) == (data == b"")


@pytest.mark.parametrize(
    "entry", [b"[" * 100_000, b'{"a":1e999}', b'"\xff"', b"{}", b"null", b'{"number":' + b"9" * 5000 + b"}"]
)
def test_hostile_entry_is_rejected(entry: bytes):
    digest = hashlib.sha256(entry).hexdigest().encode()
    line = b'{"entry":%s,"hash":"%s","signature":"%s"}' % (entry, digest, b"0" * 128)
    found = read_line(line)
    assert isinstance(found, str)


def test_huge_entry_number_is_rejected():
    number = b"9" * 5000
    entry = (
        LINES[0][len('{"entry":') :].partition(b',"hash"')[0].replace(b'"number":1', b'"number":' + number)
    )
    digest = hashlib.sha256(entry).hexdigest().encode()
    found = read_chain(b'{"entry":%s,"hash":"%s","signature":"%s"}\n' % (entry, digest, b"0" * 128))
    assert (found.broken is not None, found.lines) == (True, [])


def test_line_endings_alone_are_one_broken_entry():
    assert read_chain(b"\n" * 5_000_000).broken == read_chain(b"\n").broken


def test_overlong_line_is_rejected():
    assert isinstance(read_line(b"{" * (17 << 20)), str)


def test_signature_is_bound_to_key_and_text():
    signature = SIGNER.sign(b"text")
    assert is_signed(SIGNER.key, signature, b"text")
    assert not is_signed(STRANGER.key, signature, b"text")
    assert not is_signed(SIGNER.key, signature, b"texts")
    assert not is_signed("zz", signature, b"text")
    assert not is_signed(SIGNER.key, signature[:-2], b"text")
    assert not is_signed(SIGNER.key[:-2], signature, b"text")
