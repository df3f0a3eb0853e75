"""The messages between Forge and its workers: JSON objects over pipes, each preceded by its length."""

import json
import struct
from typing import Any, BinaryIO

LENGTH = struct.Struct("<I")
MAX_BYTES = 64 << 20
"""More than any message within the limits of texts."""

Message = dict[str, Any]


def pack(message: Message) -> bytes:
    body = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return LENGTH.pack(len(body)) + body


def unpack(body: bytes) -> Message:
    return json.loads(body.decode("utf-8", "surrogatepass"))


def read(pipe: BinaryIO) -> Message | None:
    """Read a message; None at the end of the stream."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    body = pipe.read(LENGTH.unpack(head)[0])
    return unpack(body)


def write(pipe: BinaryIO, message: Message) -> None:
    pipe.write(pack(message))
    pipe.flush()
