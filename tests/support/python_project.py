"""A Python environment with pytest inside a workspace, made from what runs these tests: no network, no pip."""

import shutil
import venv
from importlib.metadata import distribution
from pathlib import Path

PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


def give_pytest(root: Path) -> None:
    home = root / ".venv"
    venv.EnvBuilder(symlinks=True, with_pip=False).create(home)
    site = next(home.glob("lib/python*/site-packages"))
    for package in PACKAGES:
        _copy(package, site)
    script = home / "bin" / "pytest"
    script.write_text(
        f"#!{home}/bin/python3\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n"
    )
    script.chmod(0o755)


def _copy(package: str, site: Path) -> None:
    for file in distribution(package).files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), site / file)
