"""git, which keeps the history of everything Forge builds."""

import shutil
import subprocess

from forge.server.checks.check import Check, Situation, bad, ok
from forge.workspace.gitrunner import OLDEST, read_version

TIMEOUT_S = 10


def check_git(_: Situation) -> Check:
    path = shutil.which("git")
    if path is None:
        return bad("git", "not found", "Install it: apt install git (or dnf, pacman, brew).")
    try:
        said = subprocess.run(  # noqa: S603  # a fixed argument of a program found on PATH
            [path, "--version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return bad("git", f"{path} does not run: {error}", "Install it again: apt install git")
    return _judge(said, path)


def _judge(said: str, path: str) -> Check:
    found = read_version(said)
    if found is None or found < OLDEST:
        return bad("git", f"{said} at {path}", f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.")
    return ok("git", f"{said.removeprefix('git version ')} at {path}")
