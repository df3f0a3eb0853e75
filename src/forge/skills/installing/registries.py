"""Registries somebody trusts: their indexes and archives are kept here, so that what was fetched once is there offline.

An archive is known by its hash: where it came from does not matter, and one that is another than promised is refused.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urljoin

from forge.errors import Conflict, Denied, ForgeError, Invalid, NotFound, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes
from forge.outgoing.client import Outgoing
from forge.outgoing.models import Request
from forge.skills.installing import store
from forge.skills.installing.archive import MAX_ARCHIVE
from forge.skills.installing.cache import Cache
from forge.skills.installing.index import (
    MAX_INDEX_BYTES,
    Index,
    Offer,
    choose,
    choose_needed,
    read_index,
    search,
    write_index,
)
from forge.skills.installing.places import Roots
from forge.skills.installing.views import NewRegistry, Registry, RegistryEntry
from forge.skills.relations.needs import Need
from forge.skills.sources import RegistrySource
from forge.store.engine import Store

INDEX_TIMEOUT_S = 30.0
ARCHIVE_TIMEOUT_S = 120.0
_OK = 200


@dataclass(frozen=True)
class Parcel:
    """An archive of a registry, checked."""

    offer: Offer
    source: RegistrySource
    data: bytes


class Registries:
    """`folder` holds the cache: indexes by account and name, archives by hash."""

    def __init__(self, database: Store, folder: Path, outgoing: Outgoing, roots: Roots) -> None:
        self._database = database
        self._cache = Cache(folder)
        self._outgoing = outgoing
        self._roots = roots

    async def all(self, account_id: str) -> list[Registry]:
        async with self._database.read() as tx:
            found = await store.list_registries(tx, account_id)
        return [await self._told(account_id, registry) for registry in found]

    async def add(self, account_id: str, new: NewRegistry) -> Registry:
        """Its index is fetched at once; one that cannot be read is not added."""
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
        """What is cached stays when it cannot be had; then the reason is told."""
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
        """Archives stay for those that were installed from them."""
        async with self._database.begin() as tx:
            if not await store.delete_registry(tx, account_id, name):
                raise _missing(name)
        await self._cache.drop_index(account_id, name)

    async def search(self, account_id: str, words: str, installed: Mapping[str, str]) -> list[RegistryEntry]:
        """In what is cached. `installed`: the versions in the library, by name."""
        async with self._database.read() as tx:
            registries = await store.list_registries(tx, account_id)
        found: list[tuple[str, Offer]] = []
        for registry in registries:
            index = await self._index(account_id, registry.name)
            found += [(registry.name, offer) for offer in search(index.offers, words)]
        exact = "-".join(words.lower().split())
        found.sort(key=lambda each: each[1].name != exact)
        return [_entry(name, offer, installed.get(offer.name)) for name, offer in found]

    async def fetch(self, account_id: str, wish: RegistrySource) -> Parcel:
        """Of the version that is wished for; the index is asked again when it does not have it."""
        registry = await self._find(account_id, wish.registry)
        offer = choose((await self._index(account_id, registry.name)).offers, wish.name, wish.version)
        if offer is None:
            registry = await self.refresh(account_id, registry.name)
            offer = choose((await self._index(account_id, registry.name)).offers, wish.name, wish.version)
        if offer is None:
            raise NotFound(
                f"The registry {registry.name} has no {wish.name} {wish.version}".rstrip() + ".",
                hint=registry.problem or "Search it for what it has.",
            )
        if wish.sha256 not in (None, offer.sha256):
            raise Conflict(
                f"The registry {registry.name} has another {offer.name} {offer.version} now.",
                hint="Ask whoever runs the registry: a version that was published should stay as it was.",
            )
        return await self._parcel(registry, offer)

    async def fetch_needed(self, account_id: str, registry: str, need: Need) -> Parcel | None:
        """The newest that will do, if the registry has one."""
        found = await self._find(account_id, registry)
        offer = choose_needed((await self._index(account_id, registry)).offers, need)
        return await self._parcel(found, offer) if offer else None

    async def _parcel(self, registry: Registry, offer: Offer) -> Parcel:
        source = RegistrySource(
            registry=registry.name, name=offer.name, version=offer.version, sha256=offer.sha256
        )
        data = await self._cache.archive(offer.sha256)
        if data is None:
            data = await self._get(_beside(registry.url, offer.url), MAX_ARCHIVE, ARCHIVE_TIMEOUT_S)
            found = hash_bytes(data)
            if found != offer.sha256:
                raise Invalid(
                    f"The archive of {offer.name} {offer.version} is another than the registry {registry.name} "
                    "promises.",
                    hint=f"Its SHA-256 is {found}, and should be {offer.sha256}. Nothing of it is used.",
                )
            await self._cache.keep_archive(offer.sha256, data)
        return Parcel(offer, source, data)

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
        return await self._told(account_id, found)

    async def _told(self, account_id: str, registry: Registry) -> Registry:
        offers = (await self._index(account_id, registry.name)).offers
        return registry.model_copy(update={"skills": len({offer.name for offer in offers})})

    async def _get(self, address: str, limit: int, timeout_s: float) -> bytes:
        if not _is_web(address):
            return await asyncio.to_thread(self._read, address, limit)
        answer = await self._outgoing.request(Request(address, max_bytes=limit, timeout_s=timeout_s))
        if answer.status != _OK:
            raise Unavailable(
                f"{address[:200]} answers with status {answer.status}.", hint="Check the address."
            )
        return answer.body

    def _read(self, address: str, limit: int) -> bytes:
        path = self._roots.find(address.removeprefix("file://"))
        if not path.is_file():
            raise Invalid(f"{address[:200]!r} is no file.", field="url")
        return self._roots.read_file(path, limit)


def _beside(index: str, url: str) -> str:
    """A relative address is one beside the index. An index from the web names nothing on this machine."""
    if _is_web(index):
        found = urljoin(index, url)
        if not _is_web(found):
            raise Denied(f"The registry sends to {url[:200]!r}; only http and https are followed.")
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
    return Conflict(f"There is a registry {name} already.", hint="Choose another name.", field="name")


def _missing(name: str) -> NotFound:
    return NotFound(
        f"There is no registry {name}.", hint="Add it first: its name and the address of its index."
    )
