"""Registries of skills: add, search and fetch from them. Indexes and archives are cached for offline use.

Archives are identified by their hash; one that does not match the index is rejected.
"""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from forge.errors import Conflict, Denied, ForgeError, Invalid, NotFound, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes, hash_text
from forge.outgoing.client import Outgoing
from forge.outgoing.models import Request
from forge.skills.format.zip_archive import MAX_ARCHIVE
from forge.skills.installation import store
from forge.skills.installation.registry_index import (
    MAX_INDEX_BYTES,
    Index,
    Offer,
    choose_required,
    choose_version,
    read_index,
    search,
    write_index,
)
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.installation.views import NewRegistry, Registry, RegistryEntry
from forge.skills.models import RegistrySource
from forge.skills.relations.semver import Requirement
from forge.store.database import Store
from forge.workspace.filesystem.files import write_atomically

MAX_ARCHIVE_BYTES = 512 << 20
_ARCHIVES = "archives"


class RegistryCache:
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def index(self, account_id: str, name: str) -> bytes | None:
        return await asyncio.to_thread(_read, self._index_path(account_id, name))

    async def keep_index(self, account_id: str, name: str, data: bytes) -> None:
        await asyncio.to_thread(_write, self._index_path(account_id, name), data)

    async def drop_index(self, account_id: str, name: str) -> None:
        await asyncio.to_thread(self._index_path(account_id, name).unlink, missing_ok=True)

    async def archive(self, sha256: str) -> bytes | None:
        """Return a cached archive; None if it is missing or does not match its hash."""
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
        """Return the path of an index; accounts may use the same name for different registries."""
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


INDEX_TIMEOUT_S = 30.0
ARCHIVE_TIMEOUT_S = 120.0
_OK = 200


@dataclass(frozen=True)
class VerifiedArchive:
    """A verified archive of a registry."""

    offer: Offer
    source: RegistrySource
    data: bytes


class Registries:
    """`folder` is the cache: indexes by account and name, archives by hash."""

    def __init__(self, database: Store, folder: Path, outgoing: Outgoing, roots: AllowedFolders) -> None:
        self._database = database
        self._cache = RegistryCache(folder)
        self._outgoing = outgoing
        self._roots = roots

    async def all(self, account_id: str) -> list[Registry]:
        async with self._database.read() as tx:
            found = await store.list_registries(tx, account_id)
        return [await self._with_skill_count(account_id, registry) for registry in found]

    async def add(self, account_id: str, new: NewRegistry) -> Registry:
        """Add a registry and fetch its index. An invalid index is not added."""
        async with self._database.read() as tx:
            if await store.find_registry(tx, account_id, new.name):
                raise _taken(new.name)
        index = await self._fetch_index(new.url)
        await self._cache.keep_index(account_id, new.name, write_index(index))
        async with self._database.begin() as tx:
            if not await store.insert_registry(tx, account_id, new.name, new.url, now()):
                raise _taken(new.name)
            await store.update_registry(tx, account_id, new.name, fetched_at=now(), problem=index.problem)
        return await self._find(account_id, new.name)

    async def refresh(self, account_id: str, name: str) -> Registry:
        """Fetch the index again. On failure, keep the cached one and store the problem."""
        registry = await self._find(account_id, name)
        fetched_at, problem = registry.fetched_at, None
        try:
            index = await self._fetch_index(registry.url)
        except ForgeError as error:
            problem = error.message
        else:
            fetched_at, problem = now(), index.problem
            await self._cache.keep_index(account_id, name, write_index(index))
        async with self._database.begin() as tx:
            await store.update_registry(tx, account_id, name, fetched_at=fetched_at, problem=problem)
        return await self._find(account_id, name)

    async def remove(self, account_id: str, name: str) -> None:
        """Remove a registry. Its cached archives are kept."""
        async with self._database.begin() as tx:
            if not await store.delete_registry(tx, account_id, name):
                raise _missing(name)
        await self._cache.drop_index(account_id, name)

    async def search(self, account_id: str, words: str, installed: Mapping[str, str]) -> list[RegistryEntry]:
        """Search the cached indexes. `installed` has the versions in the library, by name."""
        async with self._database.read() as tx:
            registries = await store.list_registries(tx, account_id)
        found: list[tuple[str, Offer]] = []
        for registry in registries:
            index = await self._index(account_id, registry.name)
            found += [(registry.name, offer) for offer in search(index.offers, words)]
        exact = "-".join(words.lower().split())
        found.sort(key=lambda each: each[1].name != exact)
        return [_entry(name, offer, installed.get(offer.name)) for name, offer in found]

    async def fetch(self, account_id: str, wanted: RegistrySource) -> VerifiedArchive:
        """Fetch a version of a skill, refreshing the index if the version is missing."""
        registry = await self._find(account_id, wanted.registry)
        offer = choose_version(
            (await self._index(account_id, registry.name)).offers, wanted.name, wanted.version
        )
        if offer is None:
            registry = await self.refresh(account_id, registry.name)
            offer = choose_version(
                (await self._index(account_id, registry.name)).offers, wanted.name, wanted.version
            )
        if offer is None:
            raise NotFound(
                f"The registry {registry.name} has no {wanted.name} {wanted.version}".rstrip() + ".",
                hint=registry.problem or "Search it for what it offers.",
            )
        if wanted.sha256 not in (None, offer.sha256):
            raise Conflict(
                f"The registry {registry.name} changed {offer.name} {offer.version} since it was reviewed.",
                hint="Ask the operator of the registry: published versions should not change.",
            )
        return await self._archive_of(registry, offer)

    async def fetch_needed(
        self, account_id: str, registry: str, requirement: Requirement
    ) -> VerifiedArchive | None:
        """Fetch the newest version that meets the requirement; None if there is none."""
        found = await self._find(account_id, registry)
        offer = choose_required((await self._index(account_id, registry)).offers, requirement)
        return await self._archive_of(found, offer) if offer else None

    async def _archive_of(self, registry: Registry, offer: Offer) -> VerifiedArchive:
        source = RegistrySource(
            registry=registry.name, name=offer.name, version=offer.version, sha256=offer.sha256
        )
        data = await self._cache.archive(offer.sha256)
        if data is None:
            data = await self._get(_resolve_address(registry.url, offer.url), MAX_ARCHIVE, ARCHIVE_TIMEOUT_S)
            found = hash_bytes(data)
            if found != offer.sha256:
                raise Invalid(
                    f"The archive of {offer.name} {offer.version} does not match the index of the registry {registry.name}.",
                    hint=f"Its SHA-256 is {found}, expected {offer.sha256}. It was discarded.",
                )
            await self._cache.keep_archive(offer.sha256, data)
        return VerifiedArchive(offer, source, data)

    async def _fetch_index(self, url: str) -> Index:
        data = await self._get(url, MAX_INDEX_BYTES, INDEX_TIMEOUT_S)
        return await asyncio.to_thread(read_index, data)

    async def _index(self, account_id: str, name: str) -> Index:
        data = await self._cache.index(account_id, name)
        return Index("", []) if data is None else await asyncio.to_thread(read_index, data)

    async def _find(self, account_id: str, name: str) -> Registry:
        async with self._database.read() as tx:
            found = await store.find_registry(tx, account_id, name)
        if found is None:
            raise _missing(name)
        return await self._with_skill_count(account_id, found)

    async def _with_skill_count(self, account_id: str, registry: Registry) -> Registry:
        offers = (await self._index(account_id, registry.name)).offers
        return registry.model_copy(update={"skills": len({offer.name for offer in offers})})

    async def _get(self, address: str, limit: int, timeout_s: float) -> bytes:
        if not _is_web(address):
            return await asyncio.to_thread(self._read, address, limit)
        answer = await self._outgoing.request(Request(address, max_bytes=limit, timeout_s=timeout_s))
        if answer.status != _OK:
            raise Unavailable(
                f"{address[:200]} responded with status {answer.status}.", hint="Check the address."
            )
        return answer.body

    def _read(self, address: str, limit: int) -> bytes:
        path = self._roots.find(address.removeprefix("file://"))
        if not path.is_file():
            raise Invalid(f"{address[:200]!r} is not a file.", field="url")
        return self._roots.read_file(path, limit)


def _resolve_address(index: str, url: str) -> str:
    """Resolve an address relative to the index. An index from the web cannot refer to local files."""
    if _is_web(index):
        found = urljoin(index, url)
        if not _is_web(found):
            raise Denied(f"The registry refers to {url[:200]!r}; only http and https are allowed.")
        return found
    return url if _is_web(url) else str(Path(index.removeprefix("file://")).parent / url)


def _is_web(address: str) -> bool:
    return address.startswith(("http://", "https://"))


def _entry(registry: str, offer: Offer, installed: str | None) -> RegistryEntry:
    return RegistryEntry(
        registry=registry,
        name=offer.name,
        version=offer.version,
        description=offer.description,
        kind=offer.kind,
        capabilities=offer.capabilities,
        categories=offer.categories,
        installed=installed,
    )


def _taken(name: str) -> Conflict:
    return Conflict(f"A registry named {name} already exists.", hint="Choose another name.", field="name")


def _missing(name: str) -> NotFound:
    return NotFound(f"There is no registry {name}.", hint="Add it first, with the address of its index.")
