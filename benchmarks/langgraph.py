"""LangGraph in an environment of its own: it shares no dependency with us and is thrown away with the folder."""

import subprocess
import sys
import venv

from benchmarks.contender import ROOT

PACKAGES = ("langgraph==1.2.20", "langgraph-checkpoint-sqlite==3.1.2")
FOLDER = ROOT / "benchmarks/.cache" / "-".join(PACKAGES).replace("==", "-")
PYTHON = FOLDER / "bin/python"
READY = FOLDER / "ready"
SCRIPT = ROOT / "benchmarks/contenders/langgraph_runs.py"
PATIENCE_S = 120


class NotInstalled(Exception):
    """The text says why, in a line."""


def install() -> list[str]:
    """The command that runs its contender. Installs once; pip, because it knows this machine's indexes."""
    if not READY.exists():
        venv.create(FOLDER, clear=True)
        _pip_install()
        READY.touch()
    return [str(PYTHON), str(SCRIPT)]


def _pip_install() -> None:
    command = [sys.executable, "-m", "pip", "--python", str(PYTHON), "install", "--quiet", *PACKAGES]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired as error:
        raise NotInstalled(f"LangGraph did not install within {PATIENCE_S} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NotInstalled(f"LangGraph did not install: {last[:200]}")
