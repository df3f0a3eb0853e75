"""Kernel limits of a command: resource limits, and a control group for the number of processes."""

import logging
import os
import resource
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.sandbox.models import Limits

MEMLOCK = 1 << 16

KernelLimits = dict[str, tuple[int, int]]
"""Soft and hard limit by name in `resource`."""


def kernel_limits(limits: Limits, processes: int) -> KernelLimits:
    values = {
        "RLIMIT_NPROC": (processes, processes),
        "RLIMIT_FSIZE": (limits.file_bytes, limits.file_bytes),
        "RLIMIT_NOFILE": (limits.open_files, limits.open_files),
        "RLIMIT_DATA": (limits.memory_bytes, limits.memory_bytes),
        "RLIMIT_CPU": (
            limits.cpu_s,
            limits.cpu_s + 1,
        ),  # SIGXCPU at the soft limit is recognizable; SIGKILL at the hard limit is not
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_MEMLOCK": (MEMLOCK, MEMLOCK),
    }
    return {name: _capped(getattr(resource, name), *pair) for name, pair in values.items()}


def _capped(what: int, soft: int, hard: int) -> tuple[int, int]:
    maximum = resource.getrlimit(what)[1]
    cap = hard if maximum == resource.RLIM_INFINITY else min(hard, maximum)
    return min(soft, cap), cap


log = logging.getLogger(__name__)

HIERARCHIES = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
"""cgroup version 1 has one hierarchy per resource, version 2 a single one."""
TRIES = 50
PAUSE_S = 0.01


@contextmanager
def control_group(pid: int | None, maximum: int) -> Generator[None]:
    """Limit the number of processes with a control group. The kernel exempts root from RLIMIT_NPROC, and
    only root can create control groups; elsewhere the supervisor enforces the limit."""
    group = _make(maximum) if pid and os.getuid() == 0 else None
    if group is None:
        yield
        return
    try:
        with suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        _remove(group)


def _make(maximum: int) -> Path | None:
    for hierarchy in HIERARCHIES:
        _remove_orphans(hierarchy)
        group = hierarchy / f"forge-{os.getpid()}-{secrets.token_hex(4)}"
        with suppress(OSError):
            group.mkdir()
            if (group / "pids.max").exists():
                (group / "pids.max").write_text(str(maximum))
                return group
            group.rmdir()
    return None


def _remove_orphans(hierarchy: Path) -> None:
    """Remove groups of killed platforms. Groups in use cannot be removed."""
    for group in hierarchy.glob("forge-*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            with suppress(OSError):
                group.rmdir()


def _remove(group: Path) -> None:
    """Remove a group; the kernel may need a moment after the last process died."""
    for _ in range(TRIES):
        try:
            group.rmdir()
        except OSError:
            time.sleep(PAUSE_S)
        else:
            return
    log.warning("could not remove control group %s", group.name)
