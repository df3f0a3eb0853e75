"""Fixtures: the backends that work on this machine, each checked once, and a work tree."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forge.sandbox.backends.backend import Backend
from forge.sandbox.isolation_check import IsolationResult, check_isolation
from forge.sandbox.models import Command, Level, Limits, Outcome
from forge.sandbox.registry_gateway.access import Registries
from forge.sandbox.sandboxes import Candidate, candidates
from forge.sandbox.toolchain import toolchain

TOOLS = toolchain()
PYTHON = str(next(Path(sys.base_prefix, "bin").glob("python3"), sys.executable))
REGISTRIES = Registries()
QUICK = Limits(timeout_s=20, memory_bytes=512 << 20, processes=64)

Run = Callable[..., Awaitable[Outcome]]


def try_all() -> dict[str, tuple[Candidate, IsolationResult]]:
    async def each() -> dict[str, tuple[Candidate, IsolationResult]]:
        found: dict[str, tuple[Candidate, IsolationResult]] = {}
        for candidate in candidates(REGISTRIES):
            if candidate.name not in found:
                observed = await check_isolation(candidate.make(Level.NONE))
                if observed.problem is None:
                    found[candidate.name] = (candidate, observed)
        return found

    return asyncio.run(each())


WORKING = try_all()
ISOLATING = [name for name, (_, observed) in WORKING.items() if observed.level is not Level.NONE]


def make(name: str) -> Backend:
    candidate, observed = WORKING[name]
    return candidate.make(observed.level)


@pytest.fixture(params=list(WORKING))
def sandbox(request: pytest.FixtureRequest) -> Backend:
    return make(request.param)


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def run(sandbox: Backend, workdir: Path) -> Run:
    return runner(sandbox, workdir)


def runner(sandbox: Backend, workdir: Path) -> Run:
    async def run(*argv: str, limits: Limits = QUICK, **given: Any) -> Outcome:
        env = {"PATH": TOOLS.path, **given.pop("env", {})}
        read_only = (*TOOLS.read_only, *given.pop("read_only", ()))
        return await sandbox.run(Command(argv, workdir, limits, env=env, read_only=read_only, **given))

    return run
