"""Registries: index and archives are verified by hash and cached for offline use."""

import json
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from forge.errors import Conflict, Denied, ForgeError, Invalid, NotFound
from forge.kernel.hashing import hash_bytes
from forge.outgoing.client import Outgoing
from forge.skills.format.zip_archive import pack
from forge.skills.installation.registries import Registries
from forge.skills.installation.registry_index import Offer, choose_version, read_index, search
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.installation.views import NewRegistry
from forge.skills.models import RegistrySource
from forge.skills.relations.semver import parse_requirements
from forge.store.database import Store


def manifest(name: str, version: str) -> bytes:
    return f"---\nname: {name}\ndescription: Does {name}.\nmetadata:\n  version: '{version}'\n---\n\nDo it.\n".encode()


class PublishedRegistry:
    """A folder with the index and the archives of a registry."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.skills: list[dict[str, Any]] = []
        folder.mkdir(parents=True)

    def put(self, name: str, version: str = "1.0.0", **more: Any) -> dict[str, Any]:
        data = pack({"SKILL.md": manifest(name, version)}, below=name)
        file = f"{name}-{version}.zip"
        (self.folder / file).write_bytes(data)
        entry = {
            "name": name,
            "version": version,
            "description": f"Does {name}.",
            "url": file,
            "sha256": hash_bytes(data),
            **more,
        }
        self.skills.append(entry)
        self.publish()
        return entry

    def publish(self) -> None:
        index = {"forge_registry": 1, "name": "Acme", "skills": self.skills}
        (self.folder / "index.json").write_text(json.dumps(index))

    @property
    def index(self) -> str:
        return str(self.folder / "index.json")


@pytest.fixture
def published(tmp_path: Path) -> PublishedRegistry:
    return PublishedRegistry(tmp_path / "allowed" / "acme")


@pytest.fixture
def registries(store: Store, tmp_path: Path) -> Registries:
    return open_registries(store, tmp_path)


def open_registries(store: Store, tmp_path: Path) -> Registries:
    data_dir = tmp_path / "data"
    outgoing = Outgoing(allow=("127.0.0.1",))
    return Registries(
        store, data_dir / "registries", outgoing, AllowedFolders([tmp_path / "allowed"], data_dir)
    )


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "allowed").mkdir(exist_ok=True)

    class QuietHandler(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(tmp_path / "allowed")))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def source(name: str, version: str = "", sha256: str | None = None) -> RegistrySource:
    return RegistrySource(registry="acme", name=name, version=version, sha256=sha256)


async def test_registry_is_added_searched_fetched_from_and_removed(
    registries: Registries, published: PublishedRegistry
):
    entry = published.put("notes", categories=["office"], capabilities=["kv"])
    added = await registries.add("ada", NewRegistry(name="acme", url=published.index))
    assert (added.name, added.skills, added.problem) == ("acme", 1, None)
    assert added.fetched_at
    assert await registries.all("ada") == [added]
    assert await registries.all("bob") == []
    (found,) = await registries.search("ada", "OFFICE", {"notes": "0.9.0"})
    assert (found.registry, found.name, found.version, found.installed) == (
        "acme",
        "notes",
        "1.0.0",
        "0.9.0",
    )
    parcel = await registries.fetch("ada", source("notes"))
    assert parcel.source == source("notes", "1.0.0", entry["sha256"])
    assert hash_bytes(parcel.data) == entry["sha256"]
    with pytest.raises(Conflict):
        await registries.add("ada", NewRegistry(name="acme", url=published.index))
    await registries.remove("ada", "acme")
    assert await registries.search("ada", "", {}) == []
    for use in (registries.remove, registries.refresh):
        with pytest.raises(NotFound):
            await use("ada", "acme")


async def test_cached_registry_is_used_offline_with_the_reason(
    store: Store, tmp_path: Path, published: PublishedRegistry, web: str
):
    published.put("notes")
    published.put("tables")
    registries = open_registries(store, tmp_path)
    added = await registries.add("ada", NewRegistry(name="acme", url=f"{web}/acme/index.json"))
    fetched = await registries.fetch("ada", source("notes"))
    for path in published.folder.iterdir():
        path.unlink()
    later = open_registries(store, tmp_path)
    refreshed = await later.refresh("ada", "acme")
    assert (refreshed.fetched_at, refreshed.skills) == (added.fetched_at, 2)
    assert refreshed.problem
    assert "404" in refreshed.problem
    assert await later.fetch("ada", source("notes", "1.0.0")) == fetched
    assert [entry.name for entry in await later.search("ada", "", {})] == ["notes", "tables"]
    with pytest.raises(ForgeError):
        await later.fetch("ada", source("tables"))


async def test_archive_with_a_wrong_hash_is_rejected_and_not_cached(
    registries: Registries, published: PublishedRegistry, tmp_path: Path
):
    entry = published.put("notes")
    await registries.add("ada", NewRegistry(name="acme", url=published.index))
    (published.folder / entry["url"]).write_bytes(pack({"SKILL.md": b"evil"}, below="notes"))
    with pytest.raises(Invalid, match="does not match the index"):
        await registries.fetch("ada", source("notes"))
    assert not list((tmp_path / "data").rglob("*.zip"))


async def test_tampered_cache_is_fetched_again(
    registries: Registries, published: PublishedRegistry, tmp_path: Path
):
    published.put("notes")
    await registries.add("ada", NewRegistry(name="acme", url=published.index))
    fetched = await registries.fetch("ada", source("notes"))
    (cached,) = (tmp_path / "data").rglob("*.zip")
    cached.write_bytes(b"evil")
    assert await registries.fetch("ada", source("notes")) == fetched


async def test_changed_published_version_is_a_conflict(registries: Registries, published: PublishedRegistry):
    published.put("notes")
    await registries.add("ada", NewRegistry(name="acme", url=published.index))
    with pytest.raises(Conflict):
        await registries.fetch("ada", source("notes", "1.0.0", "0" * 64))


async def test_version_missing_in_the_cache_refreshes_the_index(
    registries: Registries, published: PublishedRegistry
):
    published.put("notes", "1.9.0")
    await registries.add("ada", NewRegistry(name="acme", url=published.index))
    published.put("notes", "1.10.0")
    assert (await registries.fetch("ada", source("notes", "1.10.0"))).offer.version == "1.10.0"
    assert (await registries.fetch("ada", source("notes", "latest"))).offer.version == "1.10.0"
    (need,) = parse_requirements(["notes@<1.10"])
    parcel = await registries.fetch_needed("ada", "acme", need)
    assert parcel
    assert parcel.offer.version == "1.9.0"
    with pytest.raises(NotFound):
        await registries.fetch("ada", source("notes", "3.0.0"))
    with pytest.raises(NotFound):
        await registries.fetch("ada", source("other"))


async def test_index_cannot_point_to_local_files_or_private_addresses(
    registries: Registries, published: PublishedRegistry, web: str, tmp_path: Path
):
    (tmp_path / "secret.zip").write_bytes(b"secret")
    entry = published.put("notes")
    with socket.create_server(("127.0.0.2", 0)) as private:
        inside = f"http://127.0.0.2:{private.getsockname()[1]}/x"
        for number, url in enumerate([f"file://{tmp_path}/secret.zip", "ftp://example.com/x", inside]):
            entry["url"] = url
            published.publish()
            await registries.add("ada", NewRegistry(name=f"web{number}", url=f"{web}/acme/index.json"))
            with pytest.raises(Denied):
                await registries.fetch("ada", source("notes").model_copy(update={"registry": f"web{number}"}))
    entry["url"] = "../../secret.zip"
    published.publish()
    await registries.add("ada", NewRegistry(name="acme", url=published.index))
    with pytest.raises(Denied):
        await registries.fetch("ada", source("notes"))
    with pytest.raises(Denied):
        await registries.add("ada", NewRegistry(name="outside", url=str(tmp_path / "secret.zip")))


async def test_invalid_registry_is_not_added(registries: Registries, published: PublishedRegistry, web: str):
    (published.folder / "index.json").write_text("<html>")
    for url in (published.index, f"{web}/acme/index.json", f"{web}/nothing", "http://127.0.0.1:9/x"):
        with pytest.raises(ForgeError):
            await registries.add("ada", NewRegistry(name="acme", url=url))
    assert await registries.all("ada") == []


def offer(name: str, version: str = "1.0.0", **more: Any) -> Offer:
    return Offer(name=name, version=version, description=f"About {name}.", url="x", sha256="0" * 64, **more)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{}",
        b'{"forge_registry": 2, "skills": []}',
        b'{"forge_registry": 1}',
        b'{"forge_registry": 1, "skills": {}}',
        b"[" * 100_000,
    ],
)
def test_invalid_index_is_rejected(data: bytes):
    with pytest.raises(Invalid):
        read_index(data)


def test_invalid_index_entries_are_reported_and_skipped():
    good = offer("notes").model_dump(mode="json")
    bad = [{**good, "sha256": ""}, {**good, "name": "../x"}, "x", good]
    index = read_index(json.dumps({"forge_registry": 1, "skills": [good, *bad]}).encode())
    assert [each.name for each in index.offers] == ["notes"]
    assert index.problem
    assert index.problem.startswith("4 of 5 entries are invalid; skill 2: sha256: ")


def test_search_matches_all_fields_with_exact_names_first():
    offers = [
        offer("release-notes-writer"),
        offer("tables", categories=["release"], kind="script"),
        offer("release-notes", "1.2.0"),
        offer("release-notes", "1.10.0"),
        offer("release-notes", "2.0.0-beta"),
        offer("other"),
    ]
    assert [(each.name, each.version) for each in search(offers, "Release notes")] == [
        ("release-notes", "1.10.0"),
        ("release-notes-writer", "1.0.0"),
    ]
    assert [each.name for each in search(offers, "release")] == [
        "release-notes",
        "release-notes-writer",
        "tables",
    ]
    assert len(search(offers, "")) == 4
    found = choose_version(offers, "release-notes", "1.2.0")
    assert found
    assert found.version == "1.2.0"
