"""Python, and the SQLite that came with it."""

import platform
import sqlite3
import sys

from forge.server.checks.check import Check, Situation, bad, ok

PYTHON = (3, 11)
SQLITE = (3, 35, 0)
"""The first with RETURNING."""


def check_python(_: Situation) -> Check:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info < PYTHON:
        return bad("python", found, f"Install Python {PYTHON[0]}.{PYTHON[1]} or newer.")
    return ok("python", found)


def check_sqlite(_: Situation) -> Check:
    if sqlite3.sqlite_version_info < SQLITE:
        needed = ".".join(map(str, SQLITE))
        return bad("sqlite", sqlite3.sqlite_version, f"Use a Python built with SQLite {needed} or newer.")
    return ok("sqlite", sqlite3.sqlite_version)
