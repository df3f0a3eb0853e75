"""The data directory: there, ours, closed to others, with room left."""

import os
import shutil
import stat
from pathlib import Path

from forge.backup.placing import UNFINISHED
from forge.server.checks.check import Check, Situation, bad, ok, warn
from forge.terminal.text import size

LITTLE = 2_000_000_000
TOO_LITTLE = 500_000_000


def check_data_dir(situation: Situation) -> Check:
    path = situation.settings.data_dir
    return _judge(path, path.stat()) if path.exists() else _check_parent(path)


def _check_parent(path: Path) -> Check:
    parent = existing(path)
    if not os.access(parent, os.W_OK | os.X_OK) or not parent.is_dir():
        advice = "Set FORGE_DATA_DIR to a directory you can write to."
        return bad("data directory", f"{path} cannot be created in {parent}", advice)
    return ok("data directory", f"{path} will be created")


def _judge(path: Path, found: os.stat_result) -> Check:
    mode = stat.S_IMODE(found.st_mode)
    if found.st_uid != os.getuid():
        return bad("data directory", f"{path} belongs to another user", f"sudo chown -R $(id -u) {path}")
    if not os.access(path, os.R_OK | os.W_OK | os.X_OK):
        return bad("data directory", f"{path} cannot be written to", f"chmod 700 {path}")
    if (path / UNFINISHED).exists():
        return bad(
            "data directory", f"a restore into {path} is unfinished", "Do it again: forge restore FILE"
        )
    if mode & 0o022:
        return bad("data directory", f"{path} can be changed by others ({mode:o})", f"chmod 700 {path}")
    if mode & 0o077:
        return warn("data directory", f"{path} can be read by others ({mode:o})", f"chmod 700 {path}")
    return ok("data directory", f"{path}, for you alone")


def check_disk(situation: Situation) -> Check:
    place = existing(situation.settings.data_dir)
    free = shutil.disk_usage(place).free
    finding = f"{size(free)} free at {place}"
    if free < TOO_LITTLE:
        return bad(
            "disk", finding, f"Forge needs {size(TOO_LITTLE)}: make room, or set FORGE_DATA_DIR elsewhere."
        )
    if free < LITTLE:
        return warn(
            "disk", finding, f"Builds need room: have {size(LITTLE)} free, or set FORGE_DATA_DIR elsewhere."
        )
    return ok("disk", finding)


def existing(path: Path) -> Path:
    """The path itself, or the nearest folder above it that is there."""
    return next(folder for folder in (path, *path.parents) if _exists(folder))


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError:
        return False
