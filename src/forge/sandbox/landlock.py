"""The second-best back end: Landlock for files and ports, a filter of system calls for the rest.

It cannot hide (a path that is not allowed is still there), cannot make an exception inside a folder that is allowed,
so protected names are not, and has no network of its own: sockets are refused altogether.
"""

import ctypes
import platform
import sys
from dataclasses import replace
from pathlib import Path

from forge.sandbox.checking import check_command
from forge.sandbox.environment import build_env
from forge.sandbox.launched import Landlock as Rules
from forge.sandbox.launched import Policy, launch, temporary_home
from forge.sandbox.models import Command, Level, Outcome
from forge.sandbox.root import ETC, SYSTEM_FOLDERS
from forge.sandbox.seccomp import build_filter
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop, run_in_thread

CREATE_RULESET, VERSION = 444, 1
"""The number of the system call, the same on every processor, and the flag to ask for the version."""
OF_THE_MACHINE = (
    *("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/debian_version"),
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/filesystems", "/proc/version"),
    *("/proc/sys/kernel/osrelease", "/sys/devices/system/cpu"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def landlock_abi() -> int:
    """The version of Landlock the kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(CREATE_RULESET, None, 0, VERSION))


class Landlock:
    name = "landlock"

    def __init__(self, level: Level) -> None:
        self.level = level

    async def run(self, command: Command) -> Outcome:
        command = check_command(command)
        ending = await run_in_thread(lambda stop: _run(command, stop), f"sandbox {command.argv[0]}")
        return Outcome(level=self.level, backend=self.name, **vars(ending))


def _run(command: Command, stop: Stop) -> Ending:
    with temporary_home(command) as home:
        env = build_env(command.env, home=str(home), tmp=str(home))
        filtered = build_filter(platform.machine(), (), datagrams=False)
        policy = Policy(command.argv, env, _rules(command, home), filtered)
        return launch(replace(command, writable=(*command.writable, home)), policy, stop)


def _rules(command: Command, home: Path) -> Rules:
    return Rules(
        read_only=["/usr", *SYSTEM_FOLDERS, *ETC, *OF_THE_MACHINE, *map(str, command.read_only)],
        writable=[str(path) for path in (command.workdir, *command.writable, home)],
        devices=[*DEVICES],
        ports=[],
    )
