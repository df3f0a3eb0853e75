"""macOS: Apple's sandbox, with a profile that denies what it does not name.

Written from Apple's profiles and not tried by us on a Mac, so it counts only for what the self-test observes there.
"""

import shutil
from dataclasses import replace
from pathlib import Path

from forge.sandbox.checking import check_command
from forge.sandbox.environment import build_env
from forge.sandbox.launched import Policy, launch, temporary_home
from forge.sandbox.models import Command, Level, Outcome
from forge.sandbox.supervisor import Ending
from forge.sandbox.thread import Stop, run_in_thread

PROGRAM = "/usr/bin/sandbox-exec"
SYSTEM = (
    *("/usr", "/bin", "/sbin", "/System", "/Library/Frameworks", "/Library/Developer", "/opt/homebrew"),
    *("/private/var/db/dyld", "/private/var/db/timezone", "/private/etc/ssl", "/dev"),
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def has_seatbelt() -> bool:
    return shutil.which(PROGRAM) is not None


class Seatbelt:
    name = "seatbelt"

    def __init__(self, level: Level) -> None:
        self.level = level

    async def run(self, command: Command) -> Outcome:
        command = check_command(command)
        ending = await run_in_thread(lambda stop: _run(command, stop), f"sandbox {command.argv[0]}")
        return Outcome(level=self.level, backend=self.name, **vars(ending))


def _run(command: Command, stop: Stop) -> Ending:
    with temporary_home(command) as home:
        env = build_env(command.env, home=str(home), tmp=str(home))
        argv = (PROGRAM, "-p", build_profile(command, home), *command.argv)
        return launch(replace(command, writable=(*command.writable, home)), Policy(argv, env), stop)


def build_profile(command: Command, home: Path) -> str:
    writable = (command.workdir, *command.writable, home)
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
    ]
    return "\n".join(lines)


def _quoted(path: str | Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
