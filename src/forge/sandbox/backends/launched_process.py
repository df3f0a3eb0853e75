"""Run a command under the launcher with a policy, and end it with all its descendants."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypedDict

from forge.kernel.tree_removal import try_remove_tree
from forge.sandbox.backends import launcher
from forge.sandbox.backends.backend import Backend
from forge.sandbox.models import Command, End
from forge.sandbox.process.child_process import Descriptors, Owner, build_env, owner_for, start_process
from forge.sandbox.process.process_limits import control_group, kernel_limits
from forge.sandbox.process.process_tree import count_tasks_of, kill_tree
from forge.sandbox.process.stoppable_thread import Stop
from forge.sandbox.process.supervisor import ProcessEnd, SupervisedProcess, Supervisor, not_started
from forge.sandbox.registry_gateway.access import RegistryAccess

OWN_TASKS = 1
STOP_TIMEOUT_S = 3.0
LAUNCHER_FILE = Path(launcher.__file__)


class LandlockRules(TypedDict):
    """Paths and ports that Landlock allows."""

    read_only: list[str]
    writable: list[str]
    devices: list[str]
    ports: list[int]


@dataclass(frozen=True)
class Policy:
    argv: tuple[str, ...]
    landlock: LandlockRules | None = None
    seccomp: bytes = b""


@dataclass(frozen=True)
class PreparedCommand:
    """A command with its temporary home, environment and gateway port."""

    command: Command
    home: Path
    env: dict[str, str]
    port: int | None


@contextmanager
def prepare(command: Command, access: RegistryAccess | None) -> Generator[PreparedCommand]:
    """Create a temporary home, also used for /tmp, and open the registry gateway if the command may fetch."""
    home = Path(tempfile.mkdtemp(prefix="forge-home-")).resolve()
    try:
        owner = _owner(command)
        if owner.switch_to_uid is not None and owner.switch_to_gid is not None:
            os.chown(home, owner.switch_to_uid, owner.switch_to_gid)
        port = access.listen_here() if access else None
        fetching = access.env(port) if access and port else {}
        env = build_env({**fetching, **command.env}, home=str(home), tmp=str(home))
        yield PreparedCommand(replace(command, writable=(*command.writable, home)), home, env, port)
    finally:
        try_remove_tree(home, "the home of a command")


def launch(ready: PreparedCommand, policy: Policy, stop: Stop) -> ProcessEnd:
    """Run the command to its end."""
    command = ready.command
    files = Descriptors()
    try:
        status, status_fd = files.from_child()
        began = time.monotonic()
        try:
            process = _start(ready, policy, files, status_fd)
        except OSError as error:
            return not_started(error)
        with control_group(process.pid, command.limits.processes + OWN_TASKS):
            running = SupervisedProcess(process, lambda: _kill(process), OWN_TASKS, began)
            ending = Supervisor(running, command, stop).watch()
        if ending.end is End.EXITED and status.read(1):
            return replace(ending, exit_code=None, end=End.NOT_STARTED)
        return ending
    finally:
        files.close()


def _start(
    ready: PreparedCommand, policy: Policy, files: Descriptors, status: int
) -> "subprocess.Popen[bytes]":
    command = ready.command
    owner = _owner(command)
    payload = {
        "argv": policy.argv,
        "env": ready.env,
        "cwd": str(command.workdir),
        "home": str(ready.home),
        "parent": os.getpid(),
        "status": status,
        "limits": kernel_limits(command.limits, command.limits.processes + OWN_TASKS + _others(owner)),
        "landlock": policy.landlock,
        "seccomp": policy.seccomp.hex(),
    }
    return start_process(
        [sys.executable, "-I", "-S", LAUNCHER_FILE, files.data(json.dumps(payload))], files, owner
    )


def _owner(command: Command) -> Owner:
    return owner_for(command, also=(Path(sys.executable), LAUNCHER_FILE))


def _others(owner: Owner) -> int:
    """Count other processes of the user, which the kernel includes in the limit."""
    return count_tasks_of(os.getuid() if owner.switch_to_uid is None else owner.switch_to_uid)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """Ask the launcher to end all processes; if it does not respond, kill the tree from here."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        kill_tree(process.pid)
        process.wait()


class Plain(Backend):
    """Backend without isolation: clean environment, limits and cleanup of processes only."""

    name = "plain"

    def _run(self, command: Command, access: RegistryAccess | None, stop: Stop) -> ProcessEnd:
        with prepare(command, access) as ready:
            return launch(ready, Policy(command.argv), stop)
