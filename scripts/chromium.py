"""Ensure that the browser tests have a Chromium: one on this machine, from apt, or from Playwright."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from packages import Environment
from stamps import digest
from steps import MISSING_REQUIREMENT, Failed, run, step

APT_PACKAGE = "chromium-headless-shell"
"""Uses half the CPU time of the full browser."""
NAMES = (APT_PACKAGE, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def ensure(environment: Environment) -> None:
    if _playwright_has_one(environment) or installed(environment.root):
        return
    failures: list[str] = []
    for origin, get in _ways(environment):
        try:
            with step(f"Chromium from {origin}"):
                get()
        except Failed as failure:
            failures.append(str(failure))
        else:
            return
    advice = f"No Chromium for the browser tests. Install one of {', '.join(NAMES)} and run this again."
    raise Failed("\n\n".join([*failures, advice]), MISSING_REQUIREMENT)


def installed(root: Path) -> str | None:
    """Return the first Chromium on PATH that starts; some distributions ship a stub that only refers to a snap."""
    for name in NAMES:
        program = shutil.which(name)
        if program and _starts(program, root):
            return program
    return None


def _starts(program: str, root: Path) -> bool:
    try:
        run([program, "--version"], root)
    except Failed:
        return False
    return True


def _ways(environment: Environment) -> list[tuple[str, Callable[[], None]]]:
    ways: list[tuple[str, Callable[[], None]]] = [("Playwright", lambda: _from_playwright(environment))]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        ways.insert(0, ("apt", lambda: _from_apt(environment.root)))
    return ways


def _from_apt(root: Path) -> None:
    apt, env = ["apt-get", "-o", "DPkg::Lock::Timeout=300"], {"DEBIAN_FRONTEND": "noninteractive"}
    run([*apt, "update"], root, env)
    output = run([*apt, "install", "-y", "--no-install-recommends", APT_PACKAGE], root, env)
    if installed(root) is None:
        raise Failed(f"The {APT_PACKAGE} installed by apt-get does not start:\n{output}")


def _from_playwright(environment: Environment) -> None:
    system_libraries = ["--with-deps"] if os.geteuid() == 0 else []
    with environment.stamp("chromium").renewed(_playwright_digest(environment)):
        run([environment.scripts / "playwright", "install", *system_libraries, "chromium"], environment.root)


def _playwright_has_one(environment: Environment) -> bool:
    return environment.stamp("chromium").matches(_playwright_digest(environment))


def _playwright_digest(environment: Environment) -> str:
    return digest([environment.lock("dev")])
