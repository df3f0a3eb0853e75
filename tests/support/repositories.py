"""Git repositories for tests, created with the installed git."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_IDENTITY = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "protocol.file.allow=always")


@dataclass(frozen=True)
class Repository:
    path: Path

    def git(self, *arguments: str, check: bool = True, stdin: bytes = b"") -> str:
        result = subprocess.run(
            ["git", *_IDENTITY, *arguments],
            cwd=self.path,
            check=False,
            capture_output=True,
            input=stdin,
            env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
        )
        assert not check or result.returncode == 0, result.stderr.decode()
        return result.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, files: Mapping[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, files: Mapping[str, str | bytes] | None = None, message: str = "A change") -> str:
        self.write(files or {})
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD")


def make_repository(path: Path, files: Mapping[str, str | bytes] | None = None, *options: str) -> Repository:
    """Create a repository, with one commit if there are files."""
    path.mkdir(parents=True, exist_ok=True)
    repository = Repository(path)
    repository.git("init", "--quiet", "--initial-branch=main", "--template=", *options)
    if files is not None:
        repository.commit(files, "Begin")
    return repository


def snapshot_tree(folder: Path) -> dict[str, tuple[int, int, int, bytes | str]]:
    """Return mode, times and content of every file, folder and link, to assert later that nothing changed."""
    snapshot: dict[str, tuple[int, int, int, bytes | str]] = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else ""
        snapshot[str(path.relative_to(folder))] = (
            status.st_mode,
            status.st_mtime_ns,
            status.st_ctime_ns,
            content,
        )
    return snapshot
