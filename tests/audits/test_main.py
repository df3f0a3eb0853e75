"""`python -m forge.audits` in a project that contains modules with the same names."""

import subprocess
import sys
from pathlib import Path

from tests.support.terminal import Terminal


def test_project_modules_are_not_imported(tmp_path: Path):
    project = tmp_path / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    for name in ("click", "pydantic", "msgspec", "json", "re2"):
        (project / f"{name}.py").write_text("import pathlib; pathlib.Path('executed').touch(); 1 / 0\n")
    done = subprocess.run(
        [sys.executable, "-m", "forge.audits", "--only", "W1"],
        cwd=project,
        env=Terminal(tmp_path / "data").environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not (project / "executed").exists()
    assert done.returncode == 0, done.stderr
