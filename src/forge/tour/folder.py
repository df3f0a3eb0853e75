"""The folder a demo lives in: one of its own, never somebody's data."""

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
HINT = "Name a folder that is new or empty, or none: a temporary one is made."


@dataclass(frozen=True)
class Folder:
    path: Path

    @property
    def data(self) -> Path:
        """Forge's data directory."""
        return self.path / "data"

    @property
    def projects(self) -> Path:
        """What is audited and worked on."""
        return self.path / "projects"

    @property
    def log(self) -> Path:
        """What the server prints."""
        return self.path / "server.log"

    @property
    def asked(self) -> Path:
        """Everything the scripted model was sent, a line of JSON each."""
        return self.path / "model-requests.jsonl"


@contextmanager
def open_folder(given: Path | None, *, is_kept: bool) -> Generator[Folder]:
    """A temporary one when none is given. One where something failed is kept in any case: its log says why."""
    folder = Folder(_claim(given))
    is_over = False
    try:
        with _locked(folder.path, "A demo runs in"):
            _make_room(folder)
            yield folder
        is_over = True
    except KeyboardInterrupt:
        is_over = True
        raise
    finally:
        if is_over and not is_kept:
            shutil.rmtree(folder.path)


def _claim(given: Path | None) -> Path:
    if given is None:
        return _marked(Path(tempfile.mkdtemp(prefix="forge-demo-")).resolve())
    path = given.expanduser().resolve()
    own = ClientSettings().data_dir.resolve()
    if path.is_relative_to(own) or own.is_relative_to(path):
        raise ConfigError([f"{path}: your own Forge keeps its data there"], hint=HINT)
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not (path / MARK).exists():
            if any(path.iterdir()):
                raise ConfigError([f"{path}: this folder is not empty and was not made by a demo"], hint=HINT)
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
            f"{what} {path} (process {held.pid}).", hint="End it, or name another folder: --data-dir"
        ) from held


def _make_room(folder: Folder) -> None:
    """What an earlier demo has left is replaced."""
    if folder.data.exists():
        with _locked(folder.data, "The server of an earlier demo still runs in"):
            pass
    for left in (folder.data, folder.projects):
        if left.exists():
            shutil.rmtree(left)
    for file in (folder.log, folder.asked):
        file.unlink(missing_ok=True)
    folder.projects.mkdir(mode=0o700)
