"""Remove directory trees of any depth, including folders without permissions.

Folders are moved to the top before they are emptied, so that no path gets too long and few files are open.
"""

import itertools
import logging
import os
import secrets
import stat
from pathlib import Path

log = logging.getLogger(__name__)

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OWNER_ACCESS = 0o700
PREFIX = f".moved-{secrets.token_hex(8)}-"
"""Cannot collide with an existing name."""


def try_remove_tree(top: Path, what: str, *, above: int | None = None) -> None:
    """Like `remove_tree`, but log failures instead of raising them."""
    try:
        remove_tree(top, above=above)
    except OSError as error:
        log.warning("%s could not be removed: %s", what, error)


def remove_tree(top: Path, *, above: int | None = None) -> None:
    """Remove the tree; raise OSError if a part of it cannot be removed. A relative path starts at the folder descriptor
    `above`."""
    os.chmod(top, OWNER_ACCESS, dir_fd=above)
    fd = os.open(top, OPEN_FOLDER, dir_fd=above)
    try:
        numbers = itertools.count()
        while folders := [name for name in os.listdir(fd) if _delete_unless_folder(name, fd)]:  # noqa: PTH208
            for name in folders:
                _empty(name, fd, numbers)
    finally:
        os.close(fd)
    os.rmdir(top, dir_fd=above)


def _delete_unless_folder(name: str, above: int) -> bool:
    """Return whether it is a folder; delete it if it is anything else."""
    if stat.S_ISDIR(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
        return True
    os.unlink(name, dir_fd=above)
    return False


def _empty(name: str, top: int, numbers: "itertools.count[int]") -> None:
    os.chmod(name, OWNER_ACCESS, dir_fd=top)
    fd = os.open(name, OPEN_FOLDER, dir_fd=top)
    try:
        for inside in os.listdir(fd):  # noqa: PTH208
            if _delete_unless_folder(inside, fd):
                os.chmod(inside, OWNER_ACCESS, dir_fd=fd)
                os.rename(inside, f"{PREFIX}{next(numbers)}", src_dir_fd=fd, dst_dir_fd=top)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=top)
