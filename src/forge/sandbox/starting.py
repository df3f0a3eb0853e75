"""Starts the process a sandbox is made of, with nothing of ours but the files it is handed."""

import subprocess
from pathlib import Path

from forge.sandbox.descriptors import Descriptors
from forge.sandbox.owner import Owner


def start(argv: list[str | Path], files: Descriptors, owner: Owner) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603  # the sandbox itself
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=files.passed,
            env={},
            cwd="/",
            start_new_session=True,
            **owner.switch(),
        )
    finally:
        files.close_passed()
