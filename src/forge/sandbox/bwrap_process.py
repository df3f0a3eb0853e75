"""One bubblewrap process: started, held until its limits are set, let go, ended."""

import json
import platform
import resource
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self

from forge.sandbox import root
from forge.sandbox.binding import Binding
from forge.sandbox.control_group import control_group
from forge.sandbox.descriptors import Descriptors
from forge.sandbox.environment import build_env
from forge.sandbox.limiting import kernel_limits
from forge.sandbox.models import Command, Limits
from forge.sandbox.owner import Owner, owner_for
from forge.sandbox.registry import Door
from forge.sandbox.seccomp import Family, build_filter
from forge.sandbox.starting import start
from forge.sandbox.supervisor import Running

ISOLATE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"),
)
FAMILIES = (Family.UNIX, Family.INET, Family.INET6)
"""Of its own network namespace, where nobody else is: tests start servers."""
PRLIMIT = Path("/usr/bin/prlimit")
OWN_TASKS = 2
"""bubblewrap's own processes: one outside, and the first one inside."""


class BwrapProcess:
    def __init__(self, program: Path, command: Command, door: Door | None, *, by_descriptor: bool) -> None:
        self._command = command
        self._door = door
        self._owner = owner_for(command) if PRLIMIT.exists() else Owner()
        self._files = Descriptors()
        self._binding = Binding(self._files, by_descriptor=by_descriptor)
        with ExitStack() as stack:
            stack.callback(self._files.close)
            self._process = self._start(program)
            self._stack = stack.pop_all()
        self._init = self._meet()
        self._handle = self._files.process(self._init) if self._init else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing goes on without its supervisor, whatever went wrong."""
        try:
            self._kill()
        finally:
            self._stack.close()

    def running(self) -> Running:
        """Sets the limits, opens the door and lets it go."""
        limits = self._command.limits
        if self._init and self._owner.switch_to_uid is None:
            _limit(self._init, limits)
        if self._init and self._door:
            self._door.listen_inside(self._init)
        self._stack.enter_context(control_group(self._init, limits.processes + 1))
        began = time.monotonic()
        with suppress(BrokenPipeError):
            self._release.write(b".")
            self._release.flush()
        return Running(self._process, self._kill, OWN_TASKS, began)

    def was_executed(self) -> bool:
        """bubblewrap tells the exit code of the command, and none when there was no command to end."""
        return any("exit-code" in json.loads(line) for line in self._status)

    def _start(self, program: Path) -> "subprocess.Popen[bytes]":
        files = self._files
        self._status, status = files.from_child()
        block, self._release = files.to_child()
        told = ("--json-status-fd", str(status), "--block-fd", str(block))
        options = files.data("\0".join([*ISOLATE, *told, *self._options(), ""]))
        return start([program, "--args", options, "--", *self._argv()], files, self._owner)

    def _options(self) -> Iterator[str]:
        command, owner, files = self._command, self._owner, self._files
        yield from root.system(command)
        for name, content in root.etc(owner).items():
            yield from ("--perms", "0644", "--file", files.data(content), f"/etc/{name}")
        yield from root.folders(command, self._binding)
        yield from ("--remount-ro", "/", "--chdir", str(command.workdir))
        for name, value in self._env().items():
            yield from ("--setenv", name, value)
        program = build_filter(platform.machine(), FAMILIES, own_namespaces=True)
        yield from ("--uid", str(owner.uid), "--gid", str(owner.gid), "--seccomp", files.data(program))

    def _env(self) -> dict[str, str]:
        fetching = self._door.env() if self._door else {}
        return build_env({**fetching, **self._command.env}, home=root.HOME, tmp=root.TMP)

    def _argv(self) -> list[str]:
        """Another user's limits can only be set by that user, so a program inside does it."""
        if self._owner.switch_to_uid is None:
            return [*self._command.argv]
        limits = self._command.limits
        pairs = kernel_limits(limits, limits.processes + 1).items()
        options = [f"--{name.removeprefix('RLIMIT_').lower()}={soft}:{hard}" for name, (soft, hard) in pairs]
        return [str(PRLIMIT), *options, "--", *self._command.argv]

    def _meet(self) -> int | None:
        """The first process inside; it takes everybody with it when it dies. None when it did not come to that."""
        line = self._status.readline()
        return int(json.loads(line)["child-pid"]) if line else None

    def _kill(self) -> None:
        """The first process inside is dead only when all the others are, a little later than the one outside."""
        if self._handle is None:
            self._process.kill()
        else:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            _wait_for(self._handle)
        self._process.wait()


def _wait_for(handle: int) -> None:
    """Not by `select`, which knows no number from 1024 on."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.poll()


def _limit(pid: int, limits: Limits) -> None:
    """Set from outside while it is held, so no program inside is needed for it."""
    for name, pair in kernel_limits(limits, limits.processes + 1).items():
        with suppress(ProcessLookupError):
            resource.prlimit(pid, getattr(resource, name), pair)
