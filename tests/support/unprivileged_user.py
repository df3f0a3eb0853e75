"""Run as an unprivileged user, for tests of file permissions, which root bypasses."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

UID = 65534


@contextmanager
def unprivileged_user() -> Generator[Path]:
    """Switch to an unprivileged user with a temporary home; do nothing if the process is not root."""
    with tempfile.TemporaryDirectory() as folder:
        if os.geteuid() != 0:
            yield Path(folder)
            return
        os.chown(folder, UID, UID)
        os.setegid(UID)
        os.seteuid(UID)
        try:
            yield Path(folder)
        finally:
            os.seteuid(0)
            os.setegid(0)
