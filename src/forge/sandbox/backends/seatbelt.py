"""Backend for macOS: Apple's sandbox with a deny-by-default profile.

Based on Apple's profiles and not tested on a Mac, so its level depends only on what the isolation check
observes.
"""

import shutil
from pathlib import Path

from forge.sandbox.backends.backend import Backend
from forge.sandbox.backends.launched_process import Policy, launch, prepare
from forge.sandbox.models import Command
from forge.sandbox.process.stoppable_thread import Stop
from forge.sandbox.process.supervisor import ProcessEnd
from forge.sandbox.registry_gateway.access import RegistryAccess

PROGRAM = "/usr/bin/sandbox-exec"
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/System", "/Library/Frameworks", "/Library/Developer", "/opt/homebrew"),
    *("/private/var/db/dyld", "/private/var/db/timezone", "/private/etc/ssl", "/dev"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def has_seatbelt() -> bool:
    return shutil.which(PROGRAM) is not None


class Seatbelt(Backend):
    name = "seatbelt"

    def _run(self, command: Command, access: RegistryAccess | None, stop: Stop) -> ProcessEnd:
        with prepare(command, access) as ready:
            argv = (PROGRAM, "-p", build_profile(ready.command, ready.port), *command.argv)
            return launch(ready, Policy(argv), stop)


def build_profile(command: Command, port: int | None) -> str:
    writable = (command.workdir, *command.writable)
    ports = [] if port is None else [f'(allow network-outbound (remote ip "localhost:{port}"))']
    lines = [
        "(version 1)",
        "(deny default)",
        "(allow process-fork process-exec sysctl-read)",
        "(allow signal (target same-sandbox))",
        "(allow file-read-metadata)",
        *(
            f"(allow file-read* (subpath {_quoted(path)}))"
            for path in (*SYSTEM, *command.read_only, *writable)
        ),
        '(allow file-read* (literal "/"))',
        *(f"(allow file-write* (subpath {_quoted(path)}))" for path in writable),
        *(f"(allow file-write-data (literal {_quoted(path)}))" for path in DEVICES),
        *(f"(deny file-write* (subpath {_quoted(command.workdir / name)}))" for name in command.protected),
        *ports,
    ]
    return "\n".join(lines)


def _quoted(path: str | Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
