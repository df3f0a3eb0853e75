"""A limit on processes that also counts for root, whom the kernel exempts from the ordinary one.

Only root may make control groups without further ado, so everybody gets exactly the limit that works for them.
"""

import logging
import os
import secrets
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)

HIERARCHIES = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
"""Version 1 has one for each resource, version 2 one for all."""
TRIES = 50
PAUSE_S = 0.01


@contextmanager
def control_group(pid: int | None, most: int) -> Generator[None]:
    """Holds the process, and all it will start, to a number. Where that is not possible, the watchdog remains."""
    group = _make(most) if pid and os.getuid() == 0 else None
    if group is None:
        yield
        return
    try:
        with suppress(ProcessLookupError):
            (group / "cgroup.procs").write_text(str(pid))
        yield
    finally:
        _remove(group)


def _make(most: int) -> Path | None:
    for hierarchy in HIERARCHIES:
        _remove_orphans(hierarchy)
        group = hierarchy / f"forge-{os.getpid()}-{secrets.token_hex(4)}"
        with suppress(OSError):
            group.mkdir()
            if (group / "pids.max").exists():
                (group / "pids.max").write_text(str(most))
                return group
            group.rmdir()
    return None


def _remove_orphans(hierarchy: Path) -> None:
    """A platform that was killed could not clear up. Groups that are in use cannot be removed, whoever tries."""
    for group in hierarchy.glob("forge-*-*"):
        if not Path("/proc", group.name.split("-")[1]).exists():
            with suppress(OSError):
                group.rmdir()


def _remove(group: Path) -> None:
    """The kernel may need a moment to forget the dead."""
    for _ in range(TRIES):
        try:
            group.rmdir()
        except OSError:
            time.sleep(PAUSE_S)
        else:
            return
    log.warning("the control group %s could not be removed", group.name)
