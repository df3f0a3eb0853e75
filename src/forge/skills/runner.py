"""Runs a skill once: `runner.py script|local <source> <input>`, standard output is what it gives.

Executed in the sandbox by the Python that is there, from a copy of this file: the standard library alone.
"""

import contextlib
import json
import os
import runpy
import sys
import traceback
from typing import Any


def main(kind: str, source: str, given: str) -> None:
    if kind == "local":
        run_program(source, given)
    with open(given, encoding="utf-8") as file:  # noqa: PTH123 - a start that is as quick as can be
        told = json.load(file)
    sys.stdout.write(run_script(source, told))


def run_program(source: str, given: str) -> None:
    """In place of this process, so that there is nothing in between."""
    os.dup2(os.open(given, os.O_RDONLY), 0)
    os.execv(sys.executable, [sys.executable, "-E", "-s", source])  # noqa: S606 - no shell


def run_script(source: str, given: Any) -> str:
    """What it prints is for people; what it gives is the result."""
    with contextlib.redirect_stdout(sys.stderr):
        try:
            run = runpy.run_path(source).get("run")
            if not callable(run):
                sys.exit(f"There is no function `run` in {source}.")
            return given_back(run(given))
        except Exception as error:  # noqa: BLE001 - whatever a skill raises is told to the one who wrote it
            traceback.print_exception(type(error), error, without_runner(error))
            sys.exit(1)


def given_back(result: Any) -> str:
    if not isinstance(result, dict):
        sys.exit(f"`run` gave a {type(result).__name__}, and must give a dict.")
    return json.dumps(result, allow_nan=False)


def without_runner(error: BaseException) -> Any:
    """Only the lines of the skill are of use to a reader."""
    trace = error.__traceback__
    while trace and trace.tb_next and trace.tb_frame.f_code.co_filename in (__file__, runpy.__file__):
        trace = trace.tb_next
    return trace


if __name__ == "__main__":
    main(*sys.argv[1:4])
