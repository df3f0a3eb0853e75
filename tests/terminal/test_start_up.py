"""Somebody waits: what help and completion cost."""

import resource
import subprocess
import sys

import pytest
from tests.support.terminal import FORGE, clean_environment

HEAVY = {
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
HELP_WITHIN_S = 0.6


def imported(*arguments: str, **environment: str) -> set[str]:
    """The top-level packages a command imports, as Python itself reports them."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "forge", *arguments],
        env=clean_environment() | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["version"], ["serve", "--help"], ["status", "--help"]]
)
def test_saying_what_there_is_needs_click_alone(arguments: list[str]):
    assert imported(*arguments) & HEAVY == set()


def test_completing_a_command_needs_click_alone():
    asked = {"_FORGE_COMPLETE": "bash_complete", "COMP_WORDS": "forge ", "COMP_CWORD": "1"}
    assert imported(**asked) & HEAVY == set()


def test_help_is_there_at_once():
    took: list[float] = []
    for _ in range(7):
        before = used_by_commands_s()
        subprocess.run([*FORGE, "--help"], env=clean_environment(), stdout=subprocess.DEVNULL, check=True)
        took.append(used_by_commands_s() - before)
    assert min(took) < HELP_WITHIN_S


def used_by_commands_s() -> float:
    """Time of the processor, not of the clock: what else the machine does does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
