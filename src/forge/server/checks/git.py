"""git, which keeps the history of everything Forge builds."""

import re
import shutil
import subprocess

from forge.server.checks.check import Check, Situation, bad, ok

OLDEST = (2, 30)
TIMEOUT_S = 10
_VERSION = re.compile(r"git version (\d+)\.(\d+)")


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
    found = _VERSION.match(said)
    if found is None or (int(found[1]), int(found[2])) < OLDEST:
        return bad("git", f"{said} at {path}", f"Install git {OLDEST[0]}.{OLDEST[1]} or newer.")
    return ok("git", f"{said.removeprefix('git version ')} at {path}")
