"""Fetching skills from archives, folders, repositories and registries into a stage."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

import pytest
from tests.skills.installation.test_registries import PublishedRegistry
from tests.support.repositories import Repository

from forge.errors import Denied, Invalid, NotFound
from forge.kernel.hashing import hash_bytes
from forge.outgoing.addresses import Address
from forge.outgoing.client import Outgoing
from forge.skills.format.contents import hash_files
from forge.skills.format.zip_archive import pack
from forge.skills.installation.fetcher import SkillFetcher
from forge.skills.installation.registries import Registries
from forge.skills.installation.repositories import Repositories
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.installation.staging import Stages
from forge.skills.installation.views import NewRegistry, PathSource
from forge.skills.library.library import Library
from forge.skills.models import FolderSource, GitSource, OwnSource, RegistrySource, ZipSource
from forge.skills.skill_state import SkillStates
from forge.store.database import Store


def manifest(name: str, version: str = "1.0.0", body: str = "Do it.") -> bytes:
    return (
        f"---\nname: {name}\ndescription: Does {name}.\nmetadata:\n  version: '{version}'\n---\n\n{body}\n"
    ).encode()


async def resolve_to_localhost(_host: str, _port: int) -> list[Address]:
    return [ip_address("127.0.0.1")]


@dataclass
class FetchEnvironment:
    fetcher: SkillFetcher
    library: Library
    allowed: Path


@pytest.fixture
def env(store: Store, tmp_path: Path) -> FetchEnvironment:
    data_dir, allowed = tmp_path / "data", tmp_path / "allowed"
    allowed.mkdir()
    roots = AllowedFolders([allowed], data_dir)
    library = Library(data_dir)
    fetcher = SkillFetcher(
        Stages(data_dir / "skill-staging"),
        Repositories(data_dir / "skill-staging", resolve_to_localhost, roots),
        Registries(store, data_dir / "registries", Outgoing(), roots),
        roots,
        library,
        SkillStates(store, library),
    )
    return FetchEnvironment(fetcher, library, allowed)


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)


async def test_archive_is_staged_and_compared_with_the_library(env: FetchEnvironment):
    old = {"SKILL.md": manifest("notes"), "gone.md": b"x", "same.md": b"same"}
    new = {"SKILL.md": manifest("notes", "1.1.0"), "logo.png": b"\x89\xff", "same.md": b"same"}
    await env.library.put("notes", old, replace=False)
    data = pack(new, below="notes")
    staged = await env.fetcher.take_zip("ada", "notes.zip", data)
    (skill,) = staged.skills
    assert (skill.name, skill.path, skill.valid, skill.problems) == ("notes", "notes", True, [])
    assert skill.folder_hash == hash_files(new)
    assert skill.source == ZipSource(name="notes.zip", sha256=hash_bytes(data))
    assert [(file.path, file.bytes, file.is_text) for file in skill.files] == [
        ("SKILL.md", len(new["SKILL.md"]), True),
        ("logo.png", 2, False),
        ("same.md", 4, True),
    ]
    assert (skill.replaces, skill.is_same) == ("1.0.0", False)
    assert skill.changes == ["SKILL.md", "gone.md", "logo.png"]
    assert (await env.library.snapshot("notes")).files == old
    await env.library.put("notes", new, replace=True)
    (again,) = (await env.fetcher.look("ada", staged.id)).skills
    assert (again.replaces, again.is_same, again.changes) == ("1.1.0", True, [])


async def test_uploaded_folder_keeps_its_source_path(env: FetchEnvironment):
    data = pack({"SKILL.md": manifest("notes")}, below="notes")
    staged = await env.fetcher.take_zip("ada", "x.zip", data, folder="/home/ada/notes")
    assert staged.skills[0].source == FolderSource(path="/home/ada/notes")
    assert staged.skills[0].replaces is None


async def test_server_paths_are_read_only_below_the_allowed_folders(env: FetchEnvironment, tmp_path: Path):
    write(env.allowed / "all", {"notes/SKILL.md": manifest("notes"), "notes/a.md": b"a", "x.md": b"x"})
    (env.allowed / "all" / "notes" / "passwd").symlink_to("/etc/passwd")
    (env.allowed / "tables.zip").write_bytes(pack({"SKILL.md": manifest("tables")}, below="tables"))
    folder = await env.fetcher.fetch("ada", PathSource(path=str(env.allowed / "all")))
    (notes,) = folder.skills
    assert notes.source == FolderSource(path=str(env.allowed / "all" / "notes"))
    assert not notes.valid
    assert notes.problems[0].message == "passwd: it is a link or a special file."
    archive = await env.fetcher.fetch("ada", PathSource(path=str(env.allowed / "tables.zip")))
    assert [(skill.name, skill.valid) for skill in archive.skills] == [("tables", True)]
    write(tmp_path / "outside", {"notes/SKILL.md": manifest("notes")})
    (env.allowed / "way-out").symlink_to(tmp_path / "outside")
    for path in (tmp_path / "outside", env.allowed / "way-out", tmp_path / "data", Path("/etc/passwd")):
        with pytest.raises(Denied):
            await env.fetcher.fetch("ada", PathSource(path=str(path)))
    with pytest.raises(NotFound):
        await env.fetcher.fetch("ada", PathSource(path=str(env.allowed / "nothing")))
    write(env.allowed / "empty", {"README.md": b"x"})
    with pytest.raises(NotFound):
        await env.fetcher.fetch("ada", PathSource(path=str(env.allowed / "empty")))


async def test_duplicate_names_keep_the_first_and_copies_are_ignored(env: FetchEnvironment):
    write(
        env.allowed / "all",
        {
            "skills/notes/SKILL.md": manifest("notes"),
            "plugins/a/skills/notes/SKILL.md": manifest("notes"),
            "plugins/b/skills/notes/SKILL.md": manifest("notes", body="Other."),
        },
    )
    staged = await env.fetcher.fetch("ada", PathSource(path=str(env.allowed / "all")))
    assert [(skill.path, skill.valid) for skill in staged.skills] == [
        ("plugins/b/skills/notes", False),
        ("skills/notes", True),
    ]
    assert staged.skills[0].problems[0].message == "Another skill has this name, in skills/notes."


async def test_repository_is_fetched_again_at_its_branch(env: FetchEnvironment):
    path = env.allowed / "origin"
    path.mkdir()
    origin = Repository(path)
    origin.git("init", "--quiet", "--initial-branch=main")
    first = origin.commit(
        {"skills/notes/SKILL.md": manifest("notes"), "skills/tables/SKILL.md": manifest("tables")}
    )
    staged = await env.fetcher.fetch("ada", GitSource(url=f"file://{path}"))
    assert [skill.source for skill in staged.skills] == [
        GitSource(url=f"file://{path}", path=f"skills/{name}", commit=first) for name in ("notes", "tables")
    ]
    second = origin.commit({"skills/notes/SKILL.md": manifest("notes", "2.0.0")})
    again = await env.fetcher.fetch_again("ada", staged.skills[0].source)
    (skill,) = again.skills
    assert skill.source == GitSource(url=f"file://{path}", path="skills/notes", commit=second)
    assert skill.manifest
    assert skill.manifest.version == "2.0.0"


async def test_missing_dependencies_are_fetched_from_the_registry(env: FetchEnvironment):
    registry = PublishedRegistry(env.allowed / "acme")
    registry.put("report", dependencies=["tables@^1.0", "notes", "missing", "circle"])
    registry.put("tables", "1.4.0", dependencies=["cells@>=2"])
    registry.put("tables", "2.0.0")
    registry.put("cells", "2.1.0")
    registry.put("notes", "3.0.0")
    registry.put("circle", dependencies=["report"])
    await env.library.put("notes", {"SKILL.md": manifest("notes")}, replace=False)
    await env.fetcher.registries.add("ada", NewRegistry(name="acme", url=registry.index))
    source = RegistrySource(registry="acme", name="report", version="")
    staged = await env.fetcher.fetch("ada", source)
    found = {skill.name: skill.manifest.version for skill in staged.skills if skill.manifest}
    assert found == {"report": "1.0.0", "tables": "1.4.0", "cells": "2.1.0", "circle": "1.0.0"}
    registry.put("report", "1.1.0")
    report = next(skill for skill in staged.skills if skill.name == "report")
    (newer,) = (await env.fetcher.fetch_again("ada", report.source)).skills
    assert isinstance(newer.source, RegistrySource)
    assert newer.source.version == "1.1.0"


async def test_registry_with_another_version_gets_a_warning(env: FetchEnvironment):
    registry = PublishedRegistry(env.allowed / "acme")
    entry = registry.put("notes")
    entry["version"] = "9.0.0"
    registry.skills.append({**entry, "name": "other"})
    registry.publish()
    await env.fetcher.registries.add("ada", NewRegistry(name="acme", url=registry.index))
    source = RegistrySource(registry="acme", name="notes", version="9.0.0")
    (skill,) = (await env.fetcher.fetch("ada", source)).skills
    assert (skill.valid, skill.problems[0].is_warning) == (True, True)
    assert skill.problems[0].message == "The registry lists version 9.0.0, but its SKILL.md says 1.0.0."
    with pytest.raises(Invalid):
        await env.fetcher.fetch("ada", source.model_copy(update={"name": "other"}))


async def test_source_without_a_remote_cannot_be_fetched_again(env: FetchEnvironment):
    for source in (OwnSource(), FolderSource(path="/x"), ZipSource(name="x", sha256="0" * 64)):
        with pytest.raises(Invalid):
            await env.fetcher.fetch_again("ada", source)


async def test_fetched_files_are_not_executed_or_imported(env: FetchEnvironment, tmp_path: Path):
    mark = tmp_path / "mark"
    evil = f"open({str(mark)!r}, 'w')\n".encode()
    files = {
        "notes/SKILL.md": manifest("notes"),
        "notes/__init__.py": evil,
        "notes/conftest.py": evil,
        "notes/sitecustomize.py": evil,
        "notes/scripts/run.py": evil,
        "notes/skill.py": evil,
        "notes/package.json": b'{"scripts": {"preinstall": "touch mark"}}',
    }
    write(env.allowed / "all", files)
    staged = await env.fetcher.fetch("ada", PathSource(path=str(env.allowed / "all")))
    assert len(staged.skills[0].files) == len(files)
    await env.fetcher.look("ada", staged.id)
    await asyncio.sleep(0)
    assert not mark.exists()
