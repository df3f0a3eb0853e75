"""The worker process: reads chunks of files from stdin and writes encoded results to stdout.

It is started with `-m` instead of `multiprocessing`, so that the main program is not imported again and nothing is shared.
It exits when its stdin is closed.
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
    """Read one pickled frame. Raises EOFError if the pipe is closed."""
    header = pipe.read(HEADER.size)
    if len(header) < HEADER.size:
        raise EOFError
    (size,) = HEADER.unpack(header)
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return pickle.loads(data)  # noqa: S301 - our own process at the other end


def main() -> None:
    """Answer each chunk (analyzer, files) with one encoded result per file."""
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
