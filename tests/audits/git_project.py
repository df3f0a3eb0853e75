"""A small project in a git repository, with a violated rule and an undeclared package."""

import json
import subprocess
from pathlib import Path

BOUNDARIES = {
    "layers": [
        {
            "name": "routers",
            "glob": "app/routers/**/*.py",
            "forbidden": [{"pattern": "asyncpg", "reason": "Routers know no database."}],
        }
    ]
}
FILES = {
    "forge.json": json.dumps({"project_name": "basket", "backend": {"language": "python"}}),
    "requirements.txt": "fastapi\n",
    "Forge/Contracts/boundaries.json": json.dumps(BOUNDARIES),
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/routers/items.py": "import fastapi\n",
}
BAD = "import asyncpg\nimport leftpad_of_python\n\npool = asyncpg.connect\n"


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "commit.gpgsign=false")
    command = ["git", "-C", str(root), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def make_project(root: Path) -> Path:
    """Create and commit a project without findings."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Begin")
    return root


def spoil(root: Path) -> None:
    (root / "app/routers/items.py").write_text(BAD)
