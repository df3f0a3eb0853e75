"""Store this machine's signing key, trusted keys and remembered heads.

They are in the data directory, outside every project, so that write access to a project is not enough to forge evidence.
"""

import fcntl
import os
import secrets
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import BaseModel, ValidationError

from forge.audits.evidence.chain import Signer
from forge.audits.snapshot import Head, Trust
from forge.errors import ConfigError, Invalid
from forge.kernel.hashing import hash_text
from forge.workspace.filesystem.files import write_atomically

KEY_FILE = "signing.key"
TRUSTED = "trusted"
HEADS = "heads"
_HEX = frozenset("0123456789abcdef")
_KEY_DIGITS = 64


class _Memory(BaseModel):
    """The remembered heads of one project."""

    root: str
    heads: dict[str, Head] = {}


class SigningKeys:
    """Keys and remembered heads in a folder of the data directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def signer(self, root: Path) -> Signer:
        """Return this machine's signer, creating its key if needed."""
        self.check_outside(root)
        path = self._folder / KEY_FILE
        with _translate_errors(path):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not path.exists():
                _make_key(path)
            return _read_key(path)

    def check_outside(self, root: Path) -> None:
        """Raise ConfigError if the data directory is inside the project, whose tests could read the key."""
        if self._folder.resolve().is_relative_to(root.resolve()):
            raise ConfigError(
                [
                    f"FORGE_DATA_DIR: {self._folder} is inside the project, so its tests could read the signing key."
                ],
                hint="Use a data directory outside all projects.",
            )

    def own(self) -> str | None:
        """Return this machine's public key, or None if it does not exist yet."""
        path = self._folder / KEY_FILE
        with _translate_errors(path):
            return _read_key(path).key if path.exists() else None

    def trust(self, root: Path | None = None) -> Trust:
        """Return the trusted keys, including this machine's, and the remembered heads of the project."""
        own = self.own()
        with _translate_errors(self._folder):
            heads = {} if root is None else self._read_memory(root).heads
        return Trust(frozenset(key for key in (own, *self.trusted()) if key), heads)

    def trusted(self) -> dict[str, str]:
        """Return the trusted keys of others with their names."""
        folder = self._folder / TRUSTED
        with _translate_errors(folder):
            paths = sorted(folder.iterdir()) if folder.is_dir() else ()
            return {
                path.name: path.read_text(errors="replace").strip() for path in paths if _is_key(path.name)
            }

    def add_trusted(self, key: str, name: str = "") -> str:
        """Trust a key. Returns it in normalized form."""
        normalized = _normalize_key(key)
        folder = self._folder / TRUSTED
        with _translate_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(folder, normalized, f"{name}\n".encode("utf-8", "backslashreplace"))
        return normalized

    def remove_trusted(self, key: str) -> bool:
        """Stop trusting a key. Returns False if it was not trusted."""
        path = self._folder / TRUSTED / _normalize_key(key)
        with _translate_errors(path):
            try:
                path.unlink()
            except FileNotFoundError:
                return False
            return True

    def remember(self, root: Path, where: str, head: Head | None) -> None:
        """Remember the head of a chain (see `seen_at`); None forgets it."""
        folder = self._folder / HEADS
        with _translate_errors(folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _locked(folder):
                memory = self._read_memory(root)
                memory.heads.pop(where, None)
                if head is not None:
                    memory.heads[where] = head
                _write(folder, _memory_name(root), memory.model_dump_json(indent=1).encode())

    def _read_memory(self, root: Path) -> _Memory:
        path = self._folder / HEADS / _memory_name(root)
        try:
            return _Memory.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return _Memory(root=_path_text(root))
        except ValidationError as error:
            raise ConfigError(
                [f"{path}: the file is corrupt."],
                hint="Check the evidence with `forge audit verify`, then delete the file.",
            ) from error


def _memory_name(root: Path) -> str:
    return f"{hash_text(_path_text(root))[:32]}.json"


def _path_text(root: Path) -> str:
    return os.fsencode(root.resolve()).decode("utf-8", "backslashreplace")


def _make_key(path: Path) -> None:
    """Create the key file atomically; a concurrent creator keeps the first key."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{secrets.token_hex(32)}\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        temporary.unlink()


def _read_key(path: Path) -> Signer:
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ConfigError(
            [f"{path} is the signing key, but other users can read or write it."],
            hint=f"Run: chmod 600 {path}",
        )
    text = path.read_text(errors="replace").strip()
    if not _is_key(text):
        raise ConfigError([f"{path}: invalid key."], hint="Restore the key, or delete the file.")
    return Signer.from_seed(bytes.fromhex(text))


def _normalize_key(key: str) -> str:
    normalized = key.strip().lower()
    if not _is_key(normalized):
        raise Invalid("Invalid public key: expected 64 hexadecimal digits.", field="key")
    return normalized


def _is_key(text: str) -> bool:
    return len(text) == _KEY_DIGITS and _HEX.issuperset(text)


def _write(folder: Path, name: str, data: bytes) -> None:
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        write_atomically(directory, name, data, mode=0o600)
    finally:
        os.close(directory)


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(directory)


@contextmanager
def _translate_errors(path: Path) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(
            [f"FORGE_DATA_DIR: {path} cannot be used: {error.strerror}"],
            hint="Set FORGE_DATA_DIR to a directory that you can write to.",
        ) from error
