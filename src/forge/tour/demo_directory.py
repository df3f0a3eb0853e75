"""The directory of a demo: always a separate one, never that of real data."""

import json
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.config import ClientSettings
from forge.errors import ConfigError, Conflict
from forge.kernel.lock import DirectoryLock, LockHeld

MARK = "forge-demo.json"
HINT = "Use a new or empty directory, or omit it for a temporary one."


@dataclass(frozen=True)
class DemoDirectory:
    path: Path

    @property
    def data(self) -> Path:
        """The server's data directory."""
        return self.path / "data"

    @property
    def projects(self) -> Path:
        """The projects that are audited and edited."""
        return self.path / "projects"

    @property
    def log(self) -> Path:
        """The server's output."""
        return self.path / "server.log"

    @property
    def model_requests(self) -> Path:
        """All requests to the scripted model, one line of JSON each."""
        return self.path / "model-requests.jsonl"


@contextmanager
def open_demo_directory(directory: Path | None, *, is_kept: bool) -> Generator[DemoDirectory]:
    """Open the given directory, or a temporary one. After a failure it is always kept, because of its log."""
    folder = DemoDirectory(_claim(directory))
    is_over = False
    try:
        with _locked(folder.path, "A demo is running in"):
            _clear(folder)
            yield folder
        is_over = True
    except KeyboardInterrupt:
        is_over = True
        raise
    finally:
        if is_over and not is_kept:
            shutil.rmtree(folder.path)


def _claim(directory: Path | None) -> Path:
    if directory is None:
        return _marked(Path(tempfile.mkdtemp(prefix="forge-demo-")).resolve())
    path = directory.expanduser().resolve()
    own = ClientSettings().data_dir.resolve()
    if path.is_relative_to(own) or own.is_relative_to(path):
        raise ConfigError([f"{path}: contains the data of your Forge"], hint=HINT)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (path / MARK).exists():
            if any(path.iterdir()):
                raise ConfigError([f"{path}: not empty and not created by a demo"], hint=HINT)
            _marked(path)
    except OSError as error:
        raise ConfigError([f"{path}: {error.strerror}"], hint=HINT) from error
    return path


def _marked(path: Path) -> Path:
    (path / MARK).write_text(json.dumps({"made_by": "forge demo"}) + "\n")
    return path


@contextmanager
def _locked(path: Path, what: str) -> Generator[None]:
    try:
        with DirectoryLock(path):
            yield
    except LockHeld as held:
        raise Conflict(
            f"{what} {path} (process {held.pid}).", hint="Stop it, or use another directory: --data-dir"
        ) from held


def _clear(folder: DemoDirectory) -> None:
    """Delete the data of an earlier demo."""
    if folder.data.exists():
        with _locked(folder.data, "The server of an earlier demo is still running in"):
            pass
    for folder_path in (folder.data, folder.projects):
        if folder_path.exists():
            shutil.rmtree(folder_path)
    for file in (folder.log, folder.model_requests):
        file.unlink(missing_ok=True)
    folder.projects.mkdir(mode=0o700)
