"""What registries gave, kept on disk: indexes until they are fetched again, archives as long as there is room."""

import asyncio
import os
from pathlib import Path

from forge.kernel.hashing import hash_bytes, hash_text
from forge.workspace.files import write_atomically

MAX_ARCHIVE_BYTES = 512 << 20
_ARCHIVES = "archives"


class Cache:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def index(self, account_id: str, name: str) -> bytes | None:
        return await asyncio.to_thread(_read, self._index_path(account_id, name))

    async def keep_index(self, account_id: str, name: str, data: bytes) -> None:
        await asyncio.to_thread(_write, self._index_path(account_id, name), data)

    async def drop_index(self, account_id: str, name: str) -> None:
        await asyncio.to_thread(self._index_path(account_id, name).unlink, missing_ok=True)

    async def archive(self, sha256: str) -> bytes | None:
        """None when there is none, also when what is there is not what its name says."""
        data = await asyncio.to_thread(_read, self._archive_path(sha256))
        return data if data is not None and hash_bytes(data) == sha256 else None

    async def keep_archive(self, sha256: str, data: bytes) -> None:
        await asyncio.to_thread(self._keep_archive, sha256, data)

    def _keep_archive(self, sha256: str, data: bytes) -> None:
        _write(self._archive_path(sha256), data)
        kept = [(path.stat(), path) for path in (self._folder / _ARCHIVES).glob("*.zip")]
        size = sum(status.st_size for status, _ in kept)
        for status, path in sorted(kept, key=lambda each: each[0].st_mtime_ns):
            if size <= MAX_ARCHIVE_BYTES:
                break
            path.unlink(missing_ok=True)
            size -= status.st_size

    def _index_path(self, account_id: str, name: str) -> Path:
        """Two accounts may call two registries the same."""
        return self._folder / f"{name}-{hash_text(account_id)[:16]}.json"

    def _archive_path(self, sha256: str) -> Path:
        return self._folder / _ARCHIVES / f"{sha256}.zip"


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        write_atomically(directory, path.name, data, mode=0o600)
    finally:
        os.close(directory)
