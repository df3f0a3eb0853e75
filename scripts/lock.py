"""Resolves pyproject.toml into the hashed locks that every install uses, for all platforms and Pythons at once.

Versions already locked stay unless pyproject.toml forbids them or --upgrade is given.
"""

import os
import sys
from pathlib import Path

from indexes import uv_env
from steps import Failed, run, step

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv/bin"
COMPILE = ["--universal", "--generate-hashes", "--python-version", "3.11", "--no-header", "--quiet"]

# In this order: what the later ones share with the earlier ones gets the same version.
LOCKS = {
    "runtime": ["pyproject.toml"],
    "recall": ["pyproject.toml", "--extra", "recall", "--constraints", "locks/runtime.txt"],
    "dev": ["pyproject.toml", "--extra", "recall", "--group", "dev", "--constraints", "locks/recall.txt"],
    "build": ["--group", "build", "--constraints", "locks/dev.txt"],
    "node": ["--group", "node"],
    "runtimes": ["--group", "runtimes"],
}


def index_env() -> dict[str, str]:
    """The machine's package index, but none of its extra ones: a lock must install elsewhere too."""
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
