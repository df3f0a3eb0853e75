"""Checks of this machine: Python, SQLite, git, data directory, disk, clock, web app."""

import os
import platform
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from importlib.resources import files
from pathlib import Path

from forge.backup.replacement import UNFINISHED
from forge.kernel.clock import now
from forge.server.checks.check import Check, Situation, bad, ok, warn
from forge.terminal.text import duration, size
from forge.workspace.git.git_runner import MIN_GIT_VERSION, read_version

MIN_PYTHON = (3, 11)
MIN_SQLITE = (3, 35, 0)
"""The first version with RETURNING."""


def check_python(_: Situation) -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < MIN_PYTHON:
        return bad("python", found, f"Install Python {MIN_PYTHON[0]}.{MIN_PYTHON[1]} or newer.")
    return ok("python", found)


def check_sqlite(_: Situation) -> Check:
    if sqlite3.sqlite_version_info < MIN_SQLITE:
        needed = ".".join(map(str, MIN_SQLITE))
        return bad("sqlite", sqlite3.sqlite_version, f"Use a Python built with SQLite {needed} or newer.")
    return ok("sqlite", sqlite3.sqlite_version)


TIMEOUT_S = 10


def check_git(_: Situation) -> Check:
    path = shutil.which("git")
    if path is None:
        return bad("git", "not found", "Install it: apt install git (or dnf, pacman, brew).")
    try:
        output = subprocess.run(  # noqa: S603  # a fixed argument of a program found on PATH
            [path, "--version"], capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return bad("git", f"{path} does not run: {error}", "Reinstall it: apt install git")
    return _check_version(output, path)


def _check_version(output: str, path: str) -> Check:
    found = read_version(output)
    if found is None or found < MIN_GIT_VERSION:
        return bad(
            "git", f"{output} at {path}", f"Install git {MIN_GIT_VERSION[0]}.{MIN_GIT_VERSION[1]} or newer."
        )
    return ok("git", f"{output.removeprefix('git version ')} at {path}")


RECOMMENDED_FREE = 2_000_000_000
MIN_FREE = 500_000_000


def check_data_dir(situation: Situation) -> Check:
    path = situation.settings.data_dir
    return _check_existing(path, path.stat()) if path.exists() else _check_parent(path)


def _check_parent(path: Path) -> Check:
    parent = nearest_existing(path)
    if not os.access(parent, os.W_OK | os.X_OK) or not parent.is_dir():
        advice = "Set FORGE_DATA_DIR to a directory you can write to."
        return bad("data directory", f"{path} cannot be created in {parent}", advice)
    return ok("data directory", f"{path} will be created")


def _check_existing(path: Path, found: os.stat_result) -> Check:
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.getuid():
        return bad("data directory", f"{path} belongs to another user", f"sudo chown -R $(id -u) {path}")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return bad("data directory", f"{path} is not writable", f"chmod 700 {path}")
    if (path / UNFINISHED).exists():
        return bad(
            "data directory", f"a restore into {path} is unfinished", "Run it again: forge restore FILE"
        )
    if mode & 0o022:
        return bad("data directory", f"{path} is writable by other users ({mode:o})", f"chmod 700 {path}")
    if mode & 0o077:
        return warn("data directory", f"{path} is readable by other users ({mode:o})", f"chmod 700 {path}")
    return ok("data directory", f"{path}, private to you")


def check_disk(situation: Situation) -> Check:
    path = nearest_existing(situation.settings.data_dir)
    free = shutil.disk_usage(path).free
    finding = f"{size(free)} free at {path}"
    if free < MIN_FREE:
        return bad(
            "disk",
            finding,
            f"Forge needs {size(MIN_FREE)}: free some space, or set FORGE_DATA_DIR to another disk.",
        )
    if free < RECOMMENDED_FREE:
        return warn(
            "disk", finding, f"Free at least {size(RECOMMENDED_FREE)}, or set FORGE_DATA_DIR to another disk."
        )
    return ok("disk", finding)


def nearest_existing(path: Path) -> Path:
    """Return the path, or its nearest existing parent."""
    return next(folder for folder in (path, *path.parents) if _exists(folder))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        return False


def check_web_app(_: Situation) -> Check:
    if files("forge").joinpath("web", "index.html").is_file():
        return ok("web app", "built")
    return warn(
        "web app", "not built; the API and the commands work without it", "In a checkout: make install"
    )


FIRST_YEAR = 2026
"""The year of Forge's first release."""
MAX_SKEW = timedelta(seconds=5)
_SET = "Set the clock: timedatectl set-ntp true"


def check_clock(situation: Situation) -> Check:
    if now().year < FIRST_YEAR:
        return bad("clock", f"it shows {now():%Y-%m-%d %H:%M} UTC", _SET)
    skews = _skews(situation)
    for source, skew in skews:
        if abs(skew) > MAX_SKEW:
            way = "ahead of" if skew > timedelta(0) else "behind"
            finding = f"the {source}'s clock is {duration(abs(skew))} {way} this machine's"
            return warn("clock", finding, f"{_SET} (on both machines)")
    compared = " and ".join(source for source, _ in skews)
    return ok(
        "clock", f"{now():%Y-%m-%d %H:%M:%S} UTC" + (f", agrees with the {compared}" if compared else "")
    )


def _skews(situation: Situation) -> list[tuple[str, timedelta]]:
    found: list[tuple[str, timedelta]] = []
    disk = _disk_skew(nearest_existing(situation.settings.data_dir))
    if disk is not None:
        found.append(("disk", disk))
    if situation.server:
        found.append(("server", situation.server.skew))
    return found


def _disk_skew(folder: Path) -> timedelta | None:
    """Return the skew of the disk's clock: a network disk stamps files with its own time. None if it is not writable."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b".")
            file.flush()
            return datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC) - now()
    except OSError:
        return None
