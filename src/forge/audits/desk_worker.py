"""A process that analyses files for a desk: chunks come in on stdin, encoded results go out on stdout.

It is started as a module of its own, not by `multiprocessing`, so that nobody's main program is imported again, nothing
is shared, and it ends by itself when its desk is gone: its stdin ends then.
"""

import os
import pickle
import signal
import struct
import sys
from typing import Any, BinaryIO

import msgspec

HEADER = struct.Struct("<Q")


def write_frame(pipe: BinaryIO, payload: object) -> None:
    data = pickle.dumps(payload, protocol=pickle.HIGHEST_PROTOCOL)
    pipe.write(HEADER.pack(len(data)))
    pipe.write(data)
    pipe.flush()


def read_frame(pipe: BinaryIO) -> Any:
    """EOFError when the other side is gone."""
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    (size,) = HEADER.unpack(header)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - our own process at the other end


def main() -> None:
    """Answers each chunk (analyzer, files) with one encoded result per file, or with None where it failed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    incoming = sys.stdin.buffer
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    encode = msgspec.msgpack.Encoder().encode
    while True:
        try:
            pickled, files = read_frame(incoming)
        except EOFError:
            return
        analyzer = pickle.loads(pickled)  # noqa: S301
        write_frame(outgoing, [encode(analyzer(suffix, data)) for suffix, data in files])


if __name__ == "__main__":
    main()
