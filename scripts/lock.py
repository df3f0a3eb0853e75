"""Resolve pyproject.toml into the hashed lock files used by every install, for all platforms and Python versions.

Locked versions are kept unless pyproject.toml excludes them or --upgrade is given.
"""

import os
import sys
from pathlib import Path

from indexes import uv_env
from steps import Failed, run, step

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"
COMPILE = ["--universal", "--generate-hashes", "--python-version", "3.11", "--no-header", "--quiet"]

# In this order: packages shared with an earlier lock get the same version.
LOCKS = {
    "runtime": ["pyproject.toml"],
    "recall": ["pyproject.toml", "--extra", "recall", "--constraints", "locks/runtime.txt"],
    "dev": ["pyproject.toml", "--extra", "recall", "--group", "dev", "--constraints", "locks/recall.txt"],
    "build": ["--group", "build", "--constraints", "locks/dev.txt"],
    "node": ["--group", "node"],
    "runtimes": ["--group", "runtimes"],
}


def index_env() -> dict[str, str]:
    """Return the machine's package index without extra ones, because a lock must be installable elsewhere too."""
    found = uv_env(BIN / "python", os.environ)
    return {variable: value for variable, value in found.items() if not variable.startswith("UV_INDEX")}


def main(arguments: list[str]) -> int:
    env = index_env()
    try:
        for name, sources in LOCKS.items():
            with step(f"locks/{name}.txt"):
                output = ["--output-file", f"locks/{name}.txt"]
                run([BIN / "uv", "pip", "compile", *COMPILE, *sources, *output, *arguments], ROOT, env)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
