"""The time until Forge responds: `forge serve` and `forge --help`, compared with lower bounds."""

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from benchmarks.bench import Bench
from benchmarks.contender import ROOT
from benchmarks.report import Result, compare

ROUNDS = 3
PATIENCE_S = 180
LIBRARIES = "import fastapi, uvicorn, sqlalchemy, dbos"
LINES = (
    ("forge serve, first start", "first", "bare FastAPI app", "hello"),
    ("forge serve, second start", "second", "bare FastAPI app", "hello"),
    ("forge serve, second start", "second", "importing its libraries", "libraries"),
    ("forge --help", "help", "importing click", "click"),
    ("forge --help", "help", "python -c pass", "python"),
)


def measure(bench: Bench) -> Iterator[Result]:
    data_dir = bench.new_folder() / "data"

    def first() -> float:
        shutil.rmtree(data_dir, ignore_errors=True)
        return _until_answer("forge", "serve", "--data-dir", str(data_dir))

    contenders: dict[str, Callable[[], float]] = {
        "python": lambda: _until_end("-c", "pass"),
        "click": lambda: _until_end("-c", "import click"),
        "help": lambda: _until_end("-m", "forge", "--help"),
        "libraries": lambda: _until_end("-c", LIBRARIES),
        "hello": lambda: _until_answer("benchmarks.contenders.hello"),
        "first": first,
        "second": lambda: _until_answer("forge", "serve", "--data-dir", str(data_dir)),
    }
    _until_end("-c", LIBRARIES)  # warm the disk cache
    rounds = [{name: contender() for name, contender in contenders.items()} for _ in bench.rounds(ROUNDS)]
    for what, ours, against, peer in LINES:
        compared = [(each[ours], each[peer]) for each in rounds]
        yield compare("startup", what, "s", "less", against, compared)


def _until_end(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def _until_answer(*arguments: str) -> float:
    began = time.perf_counter()
    with answering(*arguments):
        return time.perf_counter() - began


@contextmanager
def answering(
    module: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    output: int | IO[bytes] = subprocess.DEVNULL,
) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a server process that has answered its first request, and stop it afterwards."""
    port = _free_port()
    command = [sys.executable, "-m", module, *arguments, "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=output, env=environment)
    try:
        wait_for(lambda: _answers(port) or process.poll() is not None, f"an answer of {module}")
        if process.poll() is not None:
            raise RuntimeError(f"{module} ended with {process.returncode}")
        yield process
    finally:
        process.terminate()
        process.wait(timeout=30)


def server_file(data_dir: Path) -> dict[str, str]:
    """Return the address and the key of the Forge that serves this directory; it writes them once it is ready."""
    path = data_dir / "server.json"
    wait_for(path.exists, "the server's file")
    return json.loads(path.read_text())


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.005)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return b" 200 " in connection.recv(200)
    except OSError:
        return False
