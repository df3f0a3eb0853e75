"""Hands folders to bubblewrap as what was checked, and not as whatever has their name a moment later."""

import os
import stat
import subprocess
from pathlib import Path

from forge.errors import Invalid
from forge.sandbox.descriptors import Descriptors

ASK_S = 10.0
ABOVE = os.O_PATH | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC if hasattr(os, "O_PATH") else 0
LAST = ABOVE & ~os.O_DIRECTORY


def takes_descriptors(program: Path) -> bool:
    """Since version 0.11."""
    done = subprocess.run([program, "--help"], capture_output=True, timeout=ASK_S, check=False, env={})  # noqa: S603
    return b"--ro-bind-fd" in done.stdout


class Binding:
    def __init__(self, files: Descriptors, *, by_descriptor: bool) -> None:
        self._files = files
        self._by_descriptor = by_descriptor

    def writable(self, path: Path) -> tuple[str, str, str]:
        return self._bind("--bind", path)

    def read_only(self, path: Path) -> tuple[str, str, str]:
        return self._bind("--ro-bind", path)

    def _bind(self, option: str, path: Path) -> tuple[str, str, str]:
        if not self._by_descriptor:
            return option, str(path), str(path)
        try:
            return f"{option}-fd", self._files.given(_open_without_links(path)), str(path)
        except OSError as error:
            raise Invalid(f"{path} is not what it was a moment ago", field="workdir") from error


def _open_without_links(path: Path) -> int:
    """Links were followed when the command was checked; one that is there now was not."""
    here = os.open("/", ABOVE)
    parts = path.parts[1:]
    for at, part in enumerate(parts, start=1):
        above = here
        try:
            here = os.open(part, LAST if at == len(parts) else ABOVE, dir_fd=above)
        finally:
            os.close(above)
    if stat.S_ISLNK(os.fstat(here).st_mode):
        os.close(here)
        raise NotADirectoryError(path)
    return here
