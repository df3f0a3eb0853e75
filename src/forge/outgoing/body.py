"""The body of an answer, taken a piece at a time, so that it never has more bytes than the caller takes."""

import zlib
from collections.abc import AsyncIterator

from forge.outgoing.errors import TooLong, Unreachable

PACKED = "gzip"
"""What is asked for, beside no packing at all."""
_GZIP = 16 + zlib.MAX_WBITS


async def read_body(pieces: AsyncIterator[bytes], encoding: str, limit: int) -> bytes:
    """Unpacked. An encoding nobody asked for is not guessed at."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return await _read_plain(pieces, limit)
    if name != PACKED:
        raise Unreachable(f"The answer is packed as {name[:40]!r}, which was not asked for.")
    return await _unpack(pieces, limit)


async def _read_plain(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > limit:
            raise _too_long(limit)
    return bytes(body)


async def _unpack(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    unpacking = zlib.decompressobj(_GZIP)
    body = bytearray()
    packed = 0
    async for piece in pieces:
        packed += len(piece)
        if packed > _most_packed(limit):
            raise _too_long(limit)
        try:
            body += unpacking.decompress(piece, limit + 1 - len(body))
        except zlib.error as error:
            raise Unreachable("The answer cannot be unpacked: it is damaged.") from error
        if len(body) > limit:
            raise _too_long(limit)
    if packed and not unpacking.eof:
        raise Unreachable("The answer ended in the middle.")
    return bytes(body)


def _most_packed(limit: int) -> int:
    """Packing adds a little to what cannot be packed. More than that are empty blocks, of which nothing comes out."""
    return limit + limit // 100 + 1000


def _too_long(limit: int) -> TooLong:
    return TooLong(
        f"The answer has more than {limit:,} bytes.",
        hint="Ask for less of it: a page, a range, fewer fields.",
    )
