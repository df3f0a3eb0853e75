"""Start-up time of help and completion."""

import resource
import subprocess
import sys

import pytest
from tests.support.terminal import FORGE, clean_environment

SLOW_PACKAGES = {
    "rich",
    "httpx2",
    "pydantic",
    "pydantic_settings",
    "websockets",
    "sqlalchemy",
    "fastapi",
    "dbos",
    "asyncio",
}
MAX_HELP_S = 0.6


def imported_packages(*arguments: str, **environment: str) -> set[str]:
    """Return the top-level packages that a command imports, from `-X importtime`."""
    result = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "forge", *arguments],
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in result.stderr.splitlines()}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["version"], ["serve", "--help"], ["status", "--help"]]
)
def test_help_imports_no_slow_packages(arguments: list[str]):
    assert imported_packages(*arguments) & SLOW_PACKAGES == set()


def test_completion_imports_no_slow_packages():
    asked = {"_FORGE_COMPLETE": "bash_complete", "COMP_WORDS": "forge ", "COMP_CWORD": "1"}
    assert imported_packages(**asked) & SLOW_PACKAGES == set()


def test_help_is_fast():
    took: list[float] = []
    for _ in range(7):
        before = child_cpu_seconds()
        subprocess.run([*FORGE, "--help"], env=clean_environment(), stdout=subprocess.DEVNULL, check=True)
        took.append(child_cpu_seconds() - before)
    assert min(took) < MAX_HELP_S


def child_cpu_seconds() -> float:
    """Return the CPU time of child processes, which does not depend on the load of the machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
