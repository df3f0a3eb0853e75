"""Removes a tree whatever is in it: as deep as it may be, and closed folders too.

Folders are moved up to the top before they are emptied, so there is never a long path nor many open files.
"""

import itertools
import logging
import os
import secrets
import stat
from pathlib import Path

log = logging.getLogger(__name__)

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_TO_US = 0o700
PREFIX = f".moved-{secrets.token_hex(8)}-"
"""Nobody else has such a name."""


def clear_away(top: Path, what: str, *, above: int | None = None) -> None:
    """As `remove_tree`, for those whose work is done: what stays is said in the log."""
    try:
        remove_tree(top, above=above)
    except OSError as error:
        log.warning("%s could not be removed: %s", what, error)


def remove_tree(top: Path, *, above: int | None = None) -> None:
    """What cannot be removed stays; then the folder itself does too, and that is raised. A relative path
    begins in the folder `above`."""
    os.chmod(top, OPEN_TO_US, dir_fd=above)
    fd = os.open(top, FOLDER, dir_fd=above)
    try:
        numbers = itertools.count()
        while folders := [name for name in os.listdir(fd) if _is_folder_now(name, fd)]:  # noqa: PTH208
            for name in folders:
                _empty(name, fd, numbers)
    finally:
        os.close(fd)
    os.rmdir(top, dir_fd=above)


def _is_folder_now(name: str, above: int) -> bool:
    """Anything else is gone."""
    if stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
        return True
    os.unlink(name, dir_fd=above)
    return False


def _empty(name: str, top: int, numbers: "itertools.count[int]") -> None:
    os.chmod(name, OPEN_TO_US, dir_fd=top)
    fd = os.open(name, FOLDER, dir_fd=top)
    try:
        for inside in os.listdir(fd):  # noqa: PTH208
            if _is_folder_now(inside, fd):
                os.chmod(inside, OPEN_TO_US, dir_fd=fd)
                os.rename(inside, f"{PREFIX}{next(numbers)}", src_dir_fd=fd, dst_dir_fd=top)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=top)
