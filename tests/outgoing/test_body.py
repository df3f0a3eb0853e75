"""Reading of plain and compressed bodies in bounded memory."""

import gzip
import random
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from forge.outgoing.client import read_body
from forge.outgoing.errors import TooLong


async def pieces(*given: bytes) -> AsyncIterator[bytes]:
    for piece in given:
        yield piece


async def test_compression_bomb_uses_bounded_memory():
    bomb = gzip.compress(b"\0" * 100_000_000, 9)
    tracemalloc.start()
    try:
        with pytest.raises(TooLong):
            await read_body(pieces(bomb), "gzip", 1_000_000)
        assert tracemalloc.get_traced_memory()[1] < 8_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("encoding", ["", "identity", "gzip"])
async def test_body_may_have_exactly_the_limit(encoding: str):
    raw = random.Random(1).randbytes(200_000)
    packed = gzip.compress(raw) if encoding == "gzip" else raw
    one_by_one = [packed[at : at + 7] for at in range(0, len(packed), 7)]
    assert await read_body(pieces(*one_by_one), encoding, len(raw)) == raw
    with pytest.raises(TooLong):
        await read_body(pieces(*one_by_one), encoding, len(raw) - 1)
