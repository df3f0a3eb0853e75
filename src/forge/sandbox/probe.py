"""Run inside a sandbox and try to escape. Started as text with the standard library only.

The probe does not evaluate anything: the isolation check outside determines which traps were touched.
"""

import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TIMEOUT_S = 2.0
HOLD_S = 60


def main(traps: dict[str, Any]) -> None:
    attempts: list[Callable[[], object]] = [
        lambda: print(Path(traps["secret"]).read_text()),  # noqa: T201  # how results leave the sandbox
        lambda: Path(traps["outside"], "written").write_text("x"),
        lambda: Path(traps["secret"]).chmod(0o644),
        lambda: os.utime(traps["secret"], (0, 0)),
        lambda: Path(".git/config").write_text("x"),
        lambda: shutil.move(".git", "moved"),
        lambda: _connect(socket.AF_INET, ("127.0.0.1", traps["tcp"])),
        lambda: _send(("127.0.0.1", traps["udp"])),
        lambda: _connect(socket.AF_UNIX, traps["unix"]),
        lambda: _connect(socket.AF_UNIX, "\0" + traps["abstract"]),
        lambda: print("\n".join(_environments())),  # noqa: T201
        lambda: print("\n".join(_command_lines())),  # noqa: T201
        lambda: os.kill(traps["decoy"], signal.SIGTERM),
        lambda: _leave_daemon(Path("held")),
    ]
    for attempt in attempts:
        try:
            attempt()
        except Exception as error:  # noqa: BLE001  # the reason is irrelevant
            print("stopped:", error, file=sys.stderr)  # noqa: T201
    print("tried")  # noqa: T201


def _connect(family: int, address: Any) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(address)


def _send(address: tuple[str, int]) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"x", address)


def _environments() -> Iterator[str]:
    yield from (f"environment {name}={value}" for name, value in os.environ.items())  # noqa: TID251  # its own
    yield from (f"environment {text}" for text in _read_all("environ"))


def _command_lines() -> Iterator[str]:
    return (f"process {text}" for text in _read_all("cmdline"))


def _read_all(name: str) -> Iterator[str]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield (folder / name).read_text(errors="replace").replace("\0", " ").replace("\n", " ")
        except OSError:
            continue


def _leave_daemon(held: Path) -> None:
    """Start a daemon that holds a lock while it lives."""
    import fcntl
    import time

    started_reader, started_writer = os.pipe()
    if os.fork():
        os.close(started_writer)
        os.read(started_reader, 1)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    file = held.open("w")
    fcntl.flock(file, fcntl.LOCK_EX)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.write(started_writer, b".")
    time.sleep(HOLD_S)
    os._exit(0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
