"""Start one command under Landlock or with limits only, and end it with all its descendants.

Run by path with `python -I -S`, so it may use the standard library only. It adopts orphaned descendants (a
subreaper) and dies with the platform.
"""

import ctypes
import json
import os
import resource
import signal
import stat
import struct
import sys
import time
from contextlib import suppress
from typing import Any, NoReturn

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SECCOMP_FILTER = 2
CAPABILITIES = 64

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
BENEATH, PORT = 1, 2
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK, TRUNCATE, IOCTL = 1 << 6, 1 << 11, 1 << 14, 1 << 15
READ = EXECUTE | READ_FILE | READ_DIR
OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL
DEVICE = READ_FILE | WRITE_FILE | IOCTL
RIGHTS_OF_ABI = {1: 13, 2: 14, 3: 15, 4: 15}
ALL_RIGHTS = 16
CONNECT_TCP, TCP_RIGHTS = 2, 3
SCOPES = 3
"""Abstract sockets and signals."""

ORPHANED = signal.SIGUSR1
"""Sent by the kernel when the platform dies. Not SIGTERM, with which the platform cancels a command: while
the threads of a killed platform die one after the other, it still counts as the parent, so `getppid`
does not distinguish the two."""

NOT_STARTED = 127
KILLED = 137

libc = ctypes.CDLL(None, use_errno=True)
is_linux = sys.platform == "linux"


def main(policy: dict[str, Any]) -> NoReturn:
    if is_linux:
        libc.prctl(PR_SET_PDEATHSIG, ORPHANED)
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
        libc.prctl(PR_SET_DUMPABLE, 0)
    if os.getppid() != policy["parent"]:
        os._exit(KILLED)
    # A signal that arrives before the handler is installed would leave the child behind.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, ORPHANED})
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, ORPHANED})
        _become(policy)

    def on_end_signal(number: int, _frame: object) -> NoReturn:
        _end(child)
        if number == ORPHANED or os.getppid() != policy["parent"]:
            _remove(policy["home"])  # the platform can no longer do it
        os._exit(KILLED)

    signal.signal(signal.SIGTERM, on_end_signal)
    signal.signal(ORPHANED, on_end_signal)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM, ORPHANED})
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            _end(child)
            os._exit(code if code >= 0 else 128 - code)


def _become(policy: dict[str, Any]) -> NoReturn:
    try:
        os.setsid()
        for name, limits in policy["limits"].items():
            resource.setrlimit(getattr(resource, name), limits)
        os.umask(0o022)
        os.chdir(policy["cwd"])
        if is_linux:
            _confine(policy)
        os.execvpe(policy["argv"][0], policy["argv"], policy["env"])  # noqa: S606  # what this is for
    except BaseException as error:  # noqa: BLE001  # the child must never continue as the launcher
        os.write(2, f"sandbox: {policy['argv'][0]}: {error}\n".encode(errors="backslashreplace"))
        os.write(policy["status"], b".")
    os._exit(NOT_STARTED)


def _confine(policy: dict[str, Any]) -> None:
    os.set_inheritable(policy["status"], False)
    for capability in range(CAPABILITIES):
        libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    _checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if policy["landlock"]:
        restrict_files(**policy["landlock"])
    if policy["seccomp"]:
        restrict_calls(bytes.fromhex(policy["seccomp"]))


def restrict_files(read_only: list[str], writable: list[str], devices: list[str], ports: list[int]) -> None:
    abi = _checked(libc.syscall(CREATE_RULESET, None, 0, 1))
    handled = (1 << RIGHTS_OF_ABI.get(abi, ALL_RIGHTS)) - 1
    attributes = struct.pack("<QQQ", handled, TCP_RIGHTS if abi >= 4 else 0, SCOPES if abi >= 6 else 0)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    rules = _checked(libc.syscall(CREATE_RULESET, attributes[:size], size, 0))
    everything = handled & ~MAKE_CHAR & ~MAKE_BLOCK
    for paths, rights in ((read_only, READ), (writable, everything), (devices, DEVICE)):
        for path in paths:
            _allow(rules, path, rights & handled)
    for port in ports:
        _checked(libc.syscall(ADD_RULE, rules, PORT, struct.pack("<QQ", CONNECT_TCP, port), 0))
    _checked(libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)


def _allow(rules: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(fd).st_mode):
        rights &= OF_FILES
    _checked(libc.syscall(ADD_RULE, rules, BENEATH, struct.pack("<Qi", rights, fd), 0))
    os.close(fd)


def restrict_calls(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("<HxxxxxxQ", len(program) // 8, ctypes.addressof(code))
    _checked(libc.prctl(PR_SET_SECCOMP, SECCOMP_FILTER, ctypes.c_char_p(header), 0, 0))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _end(child: int) -> None:
    """Stop all descendants before killing them, so that none forks in between; repeat until none is left."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(ORPHANED, signal.SIG_IGN)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    while found := _descendants():
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in found if number is signal.SIGSTOP else _descendants():
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        _reap()
        time.sleep(0.001)


def _remove(folder: str) -> None:
    from shutil import rmtree  # slow to import and rarely needed

    rmtree(folder, ignore_errors=True)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _descendants() -> list[int]:
    found: list[int] = []
    todo = [os.getpid()]
    while todo:
        children = _children(todo.pop())
        found += children
        todo += children
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


if __name__ == "__main__":
    with os.fdopen(int(sys.argv[1])) as policy_file:
        policy = json.load(policy_file)
    # The file is closed before the command starts, which would inherit it.
    main(policy)
