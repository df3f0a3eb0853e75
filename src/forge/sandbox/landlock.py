"""The second-best back end: Landlock for files and ports, a filter of system calls for the rest.

It cannot hide (a path that is not allowed is still there), cannot make an exception inside a folder that is allowed,
so protected names are not, and has no network of its own: sockets are refused altogether.
"""

import ctypes
import platform
import sys

from forge.errors import Unavailable
from forge.sandbox.launched import Policy, Ready, Rules, launch, prepared
from forge.sandbox.launcher import CREATE_RULESET
from forge.sandbox.models import Command
from forge.sandbox.registry import Door
from forge.sandbox.root import ETC, SYSTEM_FOLDERS
from forge.sandbox.running import Backend
from forge.sandbox.seccomp import Family, build_filter
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop

KNOWS_PORTS = 4
INSTALL = "Install bubblewrap, or use Linux 6.7 or newer."
VERSION = 1
"""The flag to ask for it."""
OF_THE_MACHINE = (
    *("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf"),
    *("/etc/debian_version", "/etc/mime.types"),
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


class Landlock(Backend):
    name = "landlock"

    def _run(self, command: Command, door: Door | None, stop: Stop) -> Ending:
        if door and landlock_abi() < KNOWS_PORTS:
            raise Unavailable("this kernel cannot limit a command to the registry gateway", hint=INSTALL)
        with prepared(command, door) as ready:
            families = (Family.INET,) if ready.port else ()
            filtered = build_filter(platform.machine(), families, own_namespaces=False)
            return launch(ready, Policy(command.argv, _rules(ready), filtered), stop)


def _rules(ready: Ready) -> Rules:
    command = ready.command
    return Rules(
        read_only=["/usr", *SYSTEM_FOLDERS, *ETC, *OF_THE_MACHINE, *map(str, command.read_only)],
        writable=[str(path) for path in (command.workdir, *command.writable)],
        devices=[*DEVICES],
        ports=[ready.port] if ready.port else [],
    )
