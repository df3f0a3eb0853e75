"""One command under the launcher: started with a policy, ended with all its offspring."""

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

from forge.kernel.removing import clear_away
from forge.sandbox import launcher
from forge.sandbox.control_group import control_group
from forge.sandbox.descriptors import Descriptors
from forge.sandbox.environment import build_env
from forge.sandbox.limiting import kernel_limits
from forge.sandbox.models import Command, End
from forge.sandbox.owner import Owner, owner_for
from forge.sandbox.processes import count_tasks_of, kill_tree
from forge.sandbox.registry import Door
from forge.sandbox.starting import start
from forge.sandbox.supervisor import Ending, Running, Supervisor, not_started
from forge.sandbox.thread import Stop

OWN_TASKS = 1
PATIENCE_S = 3.0
FILE = Path(launcher.__file__)


class Rules(TypedDict):
    """For Landlock."""

    read_only: list[str]
    writable: list[str]
    devices: list[str]
    ports: list[int]


@dataclass(frozen=True)
class Policy:
    argv: tuple[str, ...]
    landlock: Rules | None = None
    seccomp: bytes = b""


@dataclass(frozen=True)
class Ready:
    """A command with what the launcher adds to it."""

    command: Command
    home: Path
    env: dict[str, str]
    port: int | None


@contextmanager
def prepared(command: Command, door: Door | None) -> Generator[Ready]:
    """A home for what programs leave in homes and in /tmp, gone afterwards; a gateway when there is a door to it."""
    home = Path(tempfile.mkdtemp(prefix="forge-home-")).resolve()
    try:
        owner = _owner(command)
        if owner.switch_to_uid is not None and owner.switch_to_gid is not None:
            os.chown(home, owner.switch_to_uid, owner.switch_to_gid)
        port = door.listen_here() if door else None
        fetching = door.env(port) if door and port else {}
        env = build_env({**fetching, **command.env}, home=str(home), tmp=str(home))
        yield Ready(replace(command, writable=(*command.writable, home)), home, env, port)
    finally:
        clear_away(home, "the home of a command")


def launch(ready: Ready, policy: Policy, stop: Stop) -> Ending:
    """Runs it to its end."""
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
            running = Running(process, lambda: _kill(process), OWN_TASKS, began)
            ending = Supervisor(running, command, stop).watch()
        if ending.end is End.EXITED and status.read(1):
            return replace(ending, exit_code=None, end=End.NOT_STARTED)
        return ending
    finally:
        files.close()


def _start(ready: Ready, policy: Policy, files: Descriptors, status: int) -> "subprocess.Popen[bytes]":
    command = ready.command
    owner = _owner(command)
    told = {
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
    return start([sys.executable, "-I", "-S", FILE, files.data(json.dumps(told))], files, owner)


def _owner(command: Command) -> Owner:
    return owner_for(command, also=(Path(sys.executable), FILE))


def _others(owner: Owner) -> int:
    """The kernel counts all processes of a user, those of the platform too."""
    return count_tasks_of(os.getuid() if owner.switch_to_uid is None else owner.switch_to_uid)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """The launcher ends everybody; should it have been stopped itself, that is done from here."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        kill_tree(process.pid)
        process.wait()
