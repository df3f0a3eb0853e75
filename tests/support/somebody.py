"""Somebody who is not root: for tests of what the rights of files are about, which root does not notice."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

UID = 65534


@contextmanager
def somebody() -> Generator[Path]:
    """A home of somebody's, who the process is meanwhile; whoever is not root already stays as they are."""
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
