"""Records that cannot be changed unnoticed: one line each, holding the hash of the line before it and a signature.

A line is canonical JSON: `{"entry":{…},"hash":"…","signature":"…"}`. The hash is of the entry's own bytes, the signature
is over that hash, and `previous` is the hash of the whole line before. So the signature of the last line vouches for all
lines. What a chain alone cannot show is that its end was cut off: that is what heads are for (`ledger.py`, `keys.py`).
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

NOTHING = "0" * 64
"""The hash before the first entry."""
MAX_BYTES = 256 << 20
"""Of one file of records: far more than anybody has, and it still fits into memory."""
MAX_LINE = 16 << 20
MAX_NUMBER = 1 << 50
_MAX_REMEMBERED = 8 << 20
_DOMAIN = b"forge audit entry 1\n"
_OPEN, _HASH, _SIGNATURE, _CLOSE = b'{"entry":', b',"hash":"', b'","signature":"', b'"}'
_TAIL = len(_HASH) + 64 + len(_SIGNATURE) + 128 + len(_CLOSE)
_KEY_BYTES, _SIGNATURE_BYTES = 32, 64


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    at: str
    body: Any
    chain: str
    """The id of the chain, made with its first entry: an entry of one ledger is none of another."""
    kind: str
    number: Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)]
    """From 1."""
    previous: str
    signer: str
    """A public key, in hex. Not called a key: scanners for secrets look for that word."""


_DECODER = msgspec.json.Decoder(Entry)


@dataclass(frozen=True, slots=True)
class Line:
    entry: Entry
    hash: str
    """Of the whole line."""
    entry_hash: str
    """Of the entry in it: what is signed."""
    signature: str

    @property
    def is_signed(self) -> bool:
        return is_signed(self.entry.signer, self.signature, _DOMAIN + self.entry_hash.encode())


@dataclass(frozen=True, slots=True)
class Break:
    """The first entry that is not what it was, and why."""

    number: int
    what: str


@dataclass(frozen=True, slots=True)
class Chain:
    lines: Sequence[Line]
    """Up to the break."""
    broken: Break | None
    size: int
    """Bytes of the lines."""

    @property
    def last(self) -> Line | None:
        return self.lines[-1] if self.lines else None

    @property
    def id(self) -> str:
        return self.lines[0].entry.chain if self.lines else ""


class Signer:
    """A private key, and what can be done with it."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.key = private.public_key().public_bytes_raw().hex()

    @classmethod
    def from_seed(cls, seed: bytes) -> "Signer":
        return cls(Ed25519PrivateKey.from_private_bytes(seed))

    def sign(self, data: bytes) -> str:
        return self._private.sign(data).hex()


def is_signed(key: str, signature: str, data: bytes) -> bool:
    """Only one spelling is a signature: blanks and capitals would be read as well."""
    try:
        raw_key, raw_signature = bytes.fromhex(key), bytes.fromhex(signature)
        if (len(raw_key), len(raw_signature)) != (_KEY_BYTES, _SIGNATURE_BYTES):
            return False
        if (raw_key.hex(), raw_signature.hex()) != (key, signature):
            return False
        Ed25519PublicKey.from_public_bytes(raw_key).verify(raw_signature, data)
    except (ValueError, InvalidSignature):
        return False
    return True


def canonical(value: object) -> bytes:
    """The one way to write a value as JSON: keys in order, no blanks."""
    return msgspec.json.encode(value, order="sorted")


def write_line(entry: Entry, signer: Signer) -> bytes:
    """With its line end."""
    written = canonical(entry)
    hashed = hashlib.sha256(written).hexdigest().encode()
    signature = signer.sign(_DOMAIN + hashed).encode()
    return b"".join((_OPEN, written, _HASH, hashed, _SIGNATURE, signature, _CLOSE, b"\n"))


def hash_line(line: bytes) -> str:
    """Without its line end."""
    return hashlib.sha256(line).hexdigest()


def read_chain(data: bytes) -> Chain:
    """Follows the chain to its end, or to where it breaks. Signatures are not looked at: the last one tells of all."""
    if len(data) > MAX_BYTES:
        return Chain((), Break(1, f"the file has {len(data):,} bytes, more than can be one"), 0)
    return _remembered(data) if len(data) <= _MAX_REMEMBERED else _follow(data)


@lru_cache(maxsize=4)
def _remembered(data: bytes) -> Chain:
    """Several checks of one audit ask about the same file."""
    return _follow(data)


def _follow(data: bytes) -> Chain:
    lines: list[Line] = []
    size = 0
    for number, raw in enumerate(split_lines(data), 1):
        found = read_line(raw)
        what = found if isinstance(found, str) else _misfit(found, lines[-1] if lines else None)
        if what is not None:
            following = next(split_lines(data, size + len(raw) + 1), None)
            return Chain(lines, _blame(number, what, raw, following), size)
        if isinstance(found, Line):
            lines.append(found)
            size += len(raw) + 1
    return Chain(lines, Break(len(lines) + 1, UNFINISHED) if size < len(data) else None, size)


def split_lines(data: bytes, start: int = 0) -> Iterator[bytes]:
    """Whole lines, without their ends, one at a time: a file of nothing but line ends must not fill the memory."""
    while (end := data.find(b"\n", start)) >= 0:
        yield data[start:end]
        start = end + 1


UNFINISHED = "it is not a whole line: its end is missing, or something was added behind the last entry"
_NO_FIT = "it was changed: the hash in the next entry is that of another text"


def read_line(raw: bytes) -> Line | str:
    """A line, or what is wrong with it."""
    if len(raw) > MAX_LINE:
        return f"it has {len(raw):,} bytes, more than an entry can have"
    begin = len(raw) - _TAIL
    tail = raw[begin:] if begin > 0 else b""
    marks = (tail[:9], tail[73:88], tail[-2:])
    if not raw.startswith(_OPEN) or marks != (_HASH, _SIGNATURE, _CLOSE):
        return "it is no entry: not in the form that Forge writes"
    written = raw[len(_OPEN) : begin]
    hashed = hashlib.sha256(written).hexdigest()
    if tail[9:73] != hashed.encode():
        return "its text was changed: it no longer has the hash it was written with"
    try:
        entry = _DECODER.decode(written)
        is_canonical = canonical(entry) == written
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError) as error:
        return f"it cannot be read: {str(error)[:100]}"
    if not is_canonical:
        return "it is not in the one form that Forge writes (a key twice, blanks, another order)"
    return Line(entry, hash_line(raw), hashed, tail[88:-2].decode("ascii", "replace"))


def _misfit(line: Line, before: Line | None) -> str | None:
    number = before.entry.number + 1 if before else 1
    if line.entry.number != number:
        return f"entry {line.entry.number} is in its place: one was removed, added or moved"
    if before and line.entry.chain != before.entry.chain:
        return "it belongs to another chain"
    if line.entry.previous != (before.hash if before else NOTHING):
        return _NO_FIT if before else "it says that something came before it"
    return None


def _blame(number: int, what: str, raw: bytes, following: bytes | None) -> Break:
    """When two neighbours do not fit, the one that the entry after both still fits is the good one."""
    if what != _NO_FIT:
        return Break(number, what)
    after = read_line(following) if following else None
    if isinstance(after, Line) and after.entry.previous != hash_line(raw):
        return Break(number, "it was changed: neither the entry before nor the one after it fits")
    return Break(number - 1, what)


def next_entry(last: Line | None, chain: str, kind: str, body: object, *, at: str, signer: str) -> Entry:
    """`chain` is for the first one."""
    return Entry(
        at=at,
        body=msgspec.to_builtins(body),
        chain=last.entry.chain if last else chain,
        kind=kind,
        number=last.entry.number + 1 if last else 1,
        previous=last.hash if last else NOTHING,
        signer=signer,
    )
