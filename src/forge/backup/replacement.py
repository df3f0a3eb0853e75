"""Replace the contents of the data directory.

Old files are moved aside, never deleted. After a kill in between, a marker file says that a restore is unfinished:
no Forge starts on the directory, and the next restore continues from there.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from forge.backup.layout import SETTINGS_FILE, VAULT_KEY
from forge.kernel.tree_removal import remove_tree
from forge.store.schema import unfinished_restore_error

UNPACKING = "restore-unpacking"
UNFINISHED = "restore-unfinished"
ASIDE = "before-restore-"
_UNTOUCHED = frozenset(
    {"lock", "logs", "credentials.json", SETTINGS_FILE, VAULT_KEY, UNPACKING, UNFINISHED, f".{UNFINISHED}"}
)
"""Belongs to this machine, not to the data."""


def check_finished(data_dir: Path) -> None:
    if (data_dir / UNFINISHED).exists():
        raise unfinished_restore_error(str(data_dir))


def is_empty(data_dir: Path) -> bool:
    return not _replaceable(data_dir)


class DataDirReplacement:
    """Replaces the contents. From `begin` to the end of `finish` the marker file exists."""

    def __init__(self, data_dir: Path, aside: str) -> None:
        self._data_dir = data_dir
        self._aside = aside

    def begin(self) -> None:
        """Create the marker, or continue an unfinished restore, which has moved all or some of the old files already."""
        state = self._read_state()
        is_moved = bool(state and state["is_moved"])
        if state:
            self._aside = state["aside"]
        if is_moved:
            self._remove_half()
        self._write_state(is_moved=is_moved)

    def finish(self, fresh: Path, vault_key: bytes | None) -> Path | None:
        """Move everything in `fresh` into the directory. Return the folder with the old files, or None if there were none."""
        aside = self._data_dir / self._aside
        own_key = self._data_dir / VAULT_KEY
        moving = _replaceable(self._data_dir)
        if vault_key is not None and own_key.exists() and own_key.read_bytes() != vault_key:
            moving.append(own_key)
        for path in moving:
            aside.mkdir(mode=0o700, exist_ok=True)
            path.rename(aside / path.name)
        self._write_state(is_moved=True)
        for path in sorted(fresh.iterdir()):
            if not (path.name in _UNTOUCHED and (self._data_dir / path.name).exists()):
                path.rename(self._data_dir / path.name)
        if vault_key is not None and not own_key.exists():
            _write(own_key, vault_key)
        os.sync()
        (self._data_dir / UNFINISHED).unlink()
        return aside if aside.exists() else None

    def _remove_half(self) -> None:
        for path in _replaceable(self._data_dir):
            if path.is_dir() and not path.is_symlink():
                remove_tree(path)
            else:
                path.unlink()

    def _read_state(self) -> dict[str, Any] | None:
        with suppress(FileNotFoundError):
            return json.loads((self._data_dir / UNFINISHED).read_bytes())
        return None

    def _write_state(self, *, is_moved: bool) -> None:
        draft = self._data_dir / f".{UNFINISHED}"
        _write(draft, json.dumps({"aside": self._aside, "is_moved": is_moved}).encode())
        draft.replace(self._data_dir / UNFINISHED)


def _replaceable(data_dir: Path) -> list[Path]:
    if not data_dir.exists():
        return []
    return [
        path
        for path in sorted(data_dir.iterdir())
        if path.name not in _UNTOUCHED and not path.name.startswith((ASIDE, "lost+found"))
    ]


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
