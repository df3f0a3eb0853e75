"""Install the locked packages into .venv, and Forge itself as an editable install."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

from indexes import uv_env
from stamps import Stamp, digest
from steps import MISSING_REQUIREMENT, Failed, run, step


class Environment:
    """The virtual environment of a checkout."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.scripts = self.folder / "bin"
        self.python = self.scripts / "python"
        self._unfinished = self.folder / ".forge/unfinished"

    def refresh(self, dev: bool) -> None:
        """Bring the packages up to date. The dev lock includes the runtime lock, so a fresh dev stamp covers both."""
        works = self._succeeds("-c", "import sys; assert sys.version_info >= (3, 11)")
        if works and any(self._is_fresh(lock) for lock in (["dev"] if dev else ["runtime", "dev"])):
            return
        if not works or self._unfinished.exists() or not self._succeeds("-m", "pip", "--version"):
            self._create()
        lock = "dev" if dev else "runtime"
        with self.stamp(lock).renewed(self._digest(lock)):
            self._fill(lock)

    def install(self, *arguments: str | Path) -> None:
        command = [self.scripts / "uv", "pip", "install", "--python", self.python, *arguments]
        run(command, self.root, uv_env(self.python, os.environ))

    def install_lock(self, name: str) -> None:
        self.install("--require-hashes", "-r", self.lock(name))

    def lock(self, name: str) -> Path:
        return self.root / "locks" / f"{name}.txt"

    def stamp(self, name: str) -> Stamp:
        return Stamp(self.folder / ".forge" / name)

    def _create(self) -> None:
        missing = [name for name in ("venv", "ensurepip") if importlib.util.find_spec(name) is None]
        if missing:
            raise Failed(no_venv_message(missing, sys.version_info[:2]), MISSING_REQUIREMENT)
        with step("virtual environment"):
            shutil.rmtree(self.folder, ignore_errors=True)
            self._unfinished.parent.mkdir(parents=True, exist_ok=True)
            self._unfinished.touch()
            run([sys.executable, "-m", "venv", self.folder], self.root)
            self._unfinished.unlink()

    def _fill(self, lock: str) -> None:
        with step("build tools"):
            pip = [self.python, "-m", "pip", "--disable-pip-version-check", "install"]
            run([*pip, "--require-hashes", "-r", self.lock("build")], self.root)
        with step(f"{lock} packages"):
            self.install_lock(lock)
        with step("Forge itself"):
            self.install("--no-deps", "--no-build-isolation", "--editable", self.root)

    def _succeeds(self, *arguments: str) -> bool:
        try:
            run([self.python, *arguments], self.root)
        except Failed:
            return False
        return True

    def _is_fresh(self, lock: str) -> bool:
        return self.stamp(lock).matches(self._digest(lock))

    def _digest(self, lock: str) -> str:
        locks = {"build", "runtime", lock}
        metadata = [self.root / "pyproject.toml", self.root / "src/forge/__init__.py"]
        return digest([*metadata, *(self.lock(name) for name in locks)])


def no_venv_message(missing: list[str], version: tuple[int, int]) -> str:
    package = f"python{version[0]}.{version[1]}-venv"
    return (
        f"This Python lacks {' and '.join(missing)}, so it cannot create a virtual environment.\n"
        f"On Debian or Ubuntu: apt-get install {package}. Elsewhere: install Python from python.org,\n"
        "or select another one: make install PYTHON=/path/to/python3"
    )
