"""A separate environment for a peer: it shares no dependencies with Forge and is deleted with its folder."""

import hashlib
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contender import ROOT

PATIENCE_S = 300


class NotInstalled(Exception):
    """The message is one line with the reason."""


@dataclass(frozen=True)
class Environment:
    title: str
    packages: tuple[str, ...]

    def install(self, script: str) -> list[str]:
        """Install the packages once and return the command that runs `contenders/<script>.py` there. Uses pip, which
        is configured for this machine's indexes."""
        ready = self._folder / "ready"
        if not ready.exists():
            venv.create(self._folder, clear=True)
            self._pip_install()
            ready.touch()
        return [str(self._python), str(ROOT / f"benchmarks/contenders/{script}.py")]

    @property
    def _folder(self) -> Path:
        version = hashlib.sha256("\n".join(self.packages).encode()).hexdigest()[:12]
        return ROOT / "benchmarks/.cache" / f"{self.title.lower()}-{version}"

    @property
    def _python(self) -> Path:
        return self._folder / "bin/python"

    def _pip_install(self) -> None:
        command = [sys.executable, "-m", "pip", "--python", str(self._python), "install", "--quiet"]
        try:
            done = subprocess.run(
                [*command, *self.packages], capture_output=True, text=True, check=False, timeout=PATIENCE_S
            )
        except subprocess.TimeoutExpired as error:
            raise NotInstalled(f"{self.title} did not install within {PATIENCE_S} s") from error
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise NotInstalled(f"{self.title} did not install: {last[:200]}")


LANGGRAPH = Environment(
    "LangGraph",
    (
        "langgraph==1.2.20",
        "langgraph-checkpoint-sqlite==3.1.2",
        "langgraph-checkpoint-postgres==3.2.0",
        "psycopg[binary,pool]",
    ),
)
# Newer versions of FastAPI reject how Prefect uses it.
PREFECT = Environment("Prefect", ("prefect==3.8.8", "fastapi==0.140.0", "asyncpg"))
