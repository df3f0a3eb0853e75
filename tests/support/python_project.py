"""A Python environment with pytest for a workspace, copied from the one that runs these tests, without network or pip."""

import compileall
import shutil
import venv
from importlib.metadata import distribution
from pathlib import Path

PACKAGES = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")
SCRIPT = "#!/usr/bin/env python3\nimport sys\nfrom pytest import console_main\nsys.exit(console_main())\n"


def make_environment(home: Path) -> None:
    """Create a relocatable environment."""
    venv.EnvBuilder(symlinks=True, with_pip=False).create(home)
    site_packages = next(home.glob("lib/python*/site-packages"))
    for package in PACKAGES:
        _copy(package, site_packages)
    for name in ("_pytest", "pluggy"):
        compileall.compile_dir(site_packages / name, quiet=2)
    script = home / "bin" / "pytest"
    script.write_text(SCRIPT)
    script.chmod(0o755)


def _copy(package: str, site_packages: Path) -> None:
    for file in distribution(package).files or ():
        if ".." not in file.parts and "__pycache__" not in file.parts:
            (site_packages / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.locate(), site_packages / file)


def install_pytest(environment: Path, root: Path) -> None:
    shutil.copytree(environment, root / ".venv", symlinks=True)
