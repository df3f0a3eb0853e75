"""Backend with partial isolation: Landlock for files and ports, a seccomp filter for the rest.

Landlock cannot hide paths and cannot make an exception inside an allowed folder, so protected names are not
protected. It has no network namespace, so all sockets are refused.
"""

import ctypes
import platform
import sys

from forge.errors import Unavailable
from forge.sandbox.backends.backend import Backend
from forge.sandbox.backends.launched_process import LandlockRules, Policy, PreparedCommand, launch, prepare
from forge.sandbox.backends.launcher import CREATE_RULESET
from forge.sandbox.backends.root_filesystem import ETC, SYSTEM_FOLDERS
from forge.sandbox.backends.seccomp import Family, build_filter
from forge.sandbox.models import Command
from forge.sandbox.process.stoppable_thread import Stop
from forge.sandbox.process.supervisor import ProcessEnd
from forge.sandbox.registry_gateway.access import RegistryAccess

PORTS_ABI = 4
INSTALL = "Install bubblewrap, or use Linux 6.7 or newer."
VERSION = 1
"""The flag to ask for it."""
MACHINE_FILES = (
    *("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/nsswitch.conf"),
    *("/etc/debian_version", "/etc/mime.types"),
    *("/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/proc/stat", "/proc/filesystems", "/proc/version"),
    *("/proc/sys/kernel/osrelease", "/sys/devices/system/cpu"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def landlock_abi() -> int:
    """Return the Landlock version of the kernel, 0 if it has none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(CREATE_RULESET, None, 0, VERSION))


class Landlock(Backend):
    name = "landlock"

    def _run(self, command: Command, access: RegistryAccess | None, stop: Stop) -> ProcessEnd:
        if access and landlock_abi() < PORTS_ABI:
            raise Unavailable("this kernel cannot limit a command to the registry gateway", hint=INSTALL)
        with prepare(command, access) as ready:
            families = (Family.INET,) if ready.port else ()
            filtered = build_filter(platform.machine(), families, own_namespaces=False)
            return launch(ready, Policy(command.argv, _rules(ready), filtered), stop)


def _rules(ready: PreparedCommand) -> LandlockRules:
    command = ready.command
    return LandlockRules(
        read_only=["/usr", *SYSTEM_FOLDERS, *ETC, *MACHINE_FILES, *map(str, command.read_only)],
        writable=[str(path) for path in (command.workdir, *command.writable)],
        devices=[*DEVICES],
        ports=[ready.port] if ready.port else [],
    )
