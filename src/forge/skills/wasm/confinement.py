"""Lock a worker process in before it loads a skill, in case a skill escapes the engine."""

import os
import platform
import resource
import signal
import sys
from contextlib import suppress

from forge.sandbox.backends.launcher import (
    PR_SET_DUMPABLE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    libc,
    restrict_calls,
    restrict_files,
)
from forge.sandbox.backends.seccomp import build_filter
from forge.sandbox.backends.syscalls import NUMBERS

OPEN_FILES = 64
NEEDED = ("memfd_create",)
"""The engine may use it for the memory of an instance."""


def lock_in(readable: list[str], memory_bytes: int) -> list[str]:
    """Apply all protections this kernel supports, and return their names. Call this before starting threads."""
    held = [*_limit(memory_bytes)]
    if sys.platform != "linux":
        return held
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    libc.prctl(PR_SET_DUMPABLE, 0)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return held
    held.append("no_new_privs")
    with suppress(OSError):
        restrict_files(readable, [], [], [])
        held.append("landlock")
    if (machine := platform.machine()) in NUMBERS:
        with suppress(OSError):
            restrict_calls(build_filter(machine, (), own_namespaces=False, may_start=False, allowed=NEEDED))
            held.append("seccomp")
    return held


def _limit(memory_bytes: int) -> list[str]:
    """Limit data, not address space, because the engine reserves gigabytes of address space."""
    os.umask(0o077)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    most = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if most == resource.RLIM_INFINITY or most > memory_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    return ["rlimits"]
