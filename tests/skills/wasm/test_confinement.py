"""A worker's own lock: what is left to somebody who got out of WebAssembly."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from forge.sandbox.backends.landlock import landlock_abi

PROBE = """
import json, os, socket, sys, threading
from forge.skills.wasm.confinement import lock_in

folder = sys.argv[1]
held = lock_in([folder], 1 << 30)

def refused(work):
    try:
        work()
    except OSError:
        return True
    return False

def in_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(refused(lambda: socket.socket())))
    thread.start()
    thread.join()
    return found == [True]

def more_memory():
    try:
        bytearray(2 << 30)
    except MemoryError:
        return True
    return False

told = {
    "held": held,
    "its folder": open(folder + "/allowed").read(),
    "a file": refused(lambda: open("/etc/passwd")),
    "our own source": refused(lambda: open(sys.argv[2])),
    "a list": refused(lambda: os.listdir("/")),
    "a new file": refused(lambda: open(folder + "/new", "w")),
    "a new file elsewhere": refused(lambda: open("/tmp/forge-worker-probe", "w")),
    "a socket": refused(lambda: socket.socket()),
    "a local socket": refused(lambda: socket.socket(socket.AF_UNIX)),
    "a datagram": refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
    "a child": refused(os.fork),
    "a program": refused(lambda: os.execv("/bin/true", ["true"])),
    "a thread has no more": in_a_thread(),
    "memory": more_memory(),
}
print(json.dumps(told))
"""
NEEDS_LANDLOCK = {"a file", "our own source", "a list", "a new file", "a new file elsewhere"}


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp are of Linux")
def test_who_gets_out_finds_an_empty_room(tmp_path: Path):
    (tmp_path / "allowed").write_text("here")
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, tmp_path, __file__],
        capture_output=True,
        text=True,
        check=True,
        env={},
        cwd="/",
    )
    told = json.loads(done.stdout)
    held = set(told.pop("held"))
    assert held == {"rlimits", "no_new_privs", "seccomp"} | ({"landlock"} if landlock_abi() else set())
    assert told.pop("its folder") == "here"
    expected = told.keys() if "landlock" in held else told.keys() - NEEDS_LANDLOCK
    assert [name for name in expected if told[name] is not True] == []


def test_worker_imports_only_the_engine_and_the_standard_library(tmp_path: Path):
    """It starts in the middle of a conversation, and what it has imported is what somebody inside would find."""
    heavy = "{'pydantic', 'sqlalchemy', 'fastapi', 'httpx2', 'asyncio', 'cryptography', 'forge.config'}"
    code = f"import sys, forge.skills.wasm.worker; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
