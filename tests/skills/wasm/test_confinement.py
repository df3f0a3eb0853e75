"""Confinement of a worker process, after an escape from WebAssembly."""

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
protections = lock_in([folder], 1 << 30)

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

def exceeds_memory():
    try:
        bytearray(2 << 30)
    except MemoryError:
        return True
    return False

results = {
    "protections": protections,
    "allowed file": open(folder + "/allowed").read(),
    "read a file": refused(lambda: open("/etc/passwd")),
    "read the source of Forge": refused(lambda: open(sys.argv[2])),
    "list a directory": refused(lambda: os.listdir("/")),
    "create a file": refused(lambda: open(folder + "/new", "w")),
    "create a temporary file": refused(lambda: open("/tmp/forge-worker-probe", "w")),
    "TCP socket": refused(lambda: socket.socket()),
    "Unix socket": refused(lambda: socket.socket(socket.AF_UNIX)),
    "UDP socket": refused(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)),
    "fork": refused(os.fork),
    "exec": refused(lambda: os.execv("/bin/true", ["true"])),
    "socket in a thread": in_a_thread(),
    "memory limit": exceeds_memory(),
}
print(json.dumps(results))
"""
NEEDS_LANDLOCK = {
    "read a file",
    "read the source of Forge",
    "list a directory",
    "create a file",
    "create a temporary file",
}


@pytest.mark.skipif(sys.platform != "linux", reason="Landlock and seccomp require Linux")
def test_escaped_code_has_no_access(tmp_path: Path):
    (tmp_path / "allowed").write_text("here")
    process = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, tmp_path, __file__],
        capture_output=True,
        text=True,
        check=True,
        env={},
        cwd="/",
    )
    results = json.loads(process.stdout)
    protections = set(results.pop("protections"))
    assert protections == {"rlimits", "no_new_privs", "seccomp"} | ({"landlock"} if landlock_abi() else set())
    assert results.pop("allowed file") == "here"
    expected = results.keys() if "landlock" in protections else results.keys() - NEEDS_LANDLOCK
    assert [name for name in expected if results[name] is not True] == []


def test_worker_imports_only_the_engine_and_the_standard_library(tmp_path: Path):
    """Workers must start quickly, and escaped code could use every imported module."""
    heavy = "{'pydantic', 'sqlalchemy', 'fastapi', 'httpx2', 'asyncio', 'cryptography', 'forge.config'}"
    code = f"import sys, forge.skills.wasm.worker; print(sorted({heavy} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
