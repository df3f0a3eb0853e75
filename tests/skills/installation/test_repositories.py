"""Fetching skills from Git repositories: one commit is read, and no code of the repository runs."""

import asyncio
import os
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest
from tests.support.repositories import Repository

from forge.errors import Denied, ForgeError, Invalid, NotFound, TooLarge, Unavailable
from forge.outgoing.addresses import Address
from forge.skills.installation import repositories as module
from forge.skills.installation.repositories import Repositories
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.models import GitSource
from forge.workspace.observed.errors import GitTooOld


def manifest(name: str, body: str = "Do it.") -> str:
    return f"---\nname: {name}\ndescription: Does {name}.\n---\n\n{body}\n"


async def deny_all_hosts(host: str, port: int) -> Sequence[Address]:
    raise Denied(f"{host}:{port} is not reached from here.")


async def resolve_to_localhost(_host: str, _port: int) -> Sequence[Address]:
    return [ip_address("127.0.0.1")]


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    path = tmp_path / "allowed" / "origin"
    path.mkdir(parents=True)
    repository = Repository(path)
    repository.git("init", "--quiet", "--initial-branch=main")
    repository.commit(
        {
            "README.md": "Skills",
            "skills/notes/SKILL.md": manifest("notes"),
            "skills/notes/logo.png": b"\x89PNG\xff\x00",
            "skills/tables/SKILL.md": manifest("tables"),
        }
    )
    return repository


@pytest.fixture
def repositories(tmp_path: Path) -> Repositories:
    return Repositories(
        tmp_path / "data" / "staging",
        deny_all_hosts,
        AllowedFolders([tmp_path / "allowed"], tmp_path / "data"),
    )


def source(
    repository: Repository, *, ref: str | None = None, path: str = "", commit: str | None = None
) -> GitSource:
    return GitSource(url=f"file://{repository.path}", ref=ref, path=path, commit=commit)


async def test_all_skills_of_a_commit_are_read(
    repositories: Repositories, origin: Repository, tmp_path: Path
):
    fetched = await repositories.fetch(source(origin))
    assert fetched.source == source(origin, commit=origin.git("rev-parse", "HEAD"))
    assert [(one.name, one.path, sorted(one.files), one.problems) for one in fetched.skills] == [
        ("notes", "skills/notes", ["SKILL.md", "logo.png"], []),
        ("tables", "skills/tables", ["SKILL.md"], []),
    ]
    assert fetched.skills[0].files["logo.png"] == b"\x89PNG\xff\x00"
    assert await asyncio.to_thread(os.listdir, tmp_path / "data" / "staging") == []


async def test_branches_tags_commits_and_paths_are_found(repositories: Repositories, origin: Repository):
    first = origin.git("rev-parse", "HEAD")
    origin.git("tag", "--annotate", "--message=One", "v1")
    origin.git("checkout", "--quiet", "-b", "next")
    origin.commit({"skills/notes/SKILL.md": manifest("notes", "Better.")})
    origin.git("checkout", "--quiet", "main")
    for ref, body in (
        ("v1", "Do it."),
        (first, "Do it."),
        ("next", "Better."),
        ("refs/heads/next", "Better."),
    ):
        fetched = await repositories.fetch(source(origin, ref=ref, path="skills/notes/"))
        assert [one.name for one in fetched.skills] == ["notes"]
        assert body.encode() in fetched.skills[0].files["SKILL.md"]
        assert fetched.source.path == "skills/notes"
    with pytest.raises(Unavailable):
        await repositories.fetch(source(origin, ref="nothing"))
    with pytest.raises(Invalid):
        await repositories.fetch(source(origin, path="docs"))


async def test_links_and_submodules_are_rejected_per_skill(repositories: Repositories, origin: Repository):
    (origin.path / "skills" / "notes" / "passwd").symlink_to("/etc/passwd")
    commit = origin.git("rev-parse", "HEAD")
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{commit},skills/tables/inner")
    origin.git("add", "skills/notes/passwd")
    origin.git("commit", "--quiet", "--message=Links")
    notes, tables = (await repositories.fetch(source(origin))).skills
    assert notes.mistake
    assert notes.mistake.message == "passwd: it is a link; a skill must contain its files."
    assert "passwd" not in notes.files
    assert tables.mistake
    assert "submodule" in tables.mistake.message


async def test_repository_configuration_is_not_executed(
    repositories: Repositories, origin: Repository, tmp_path: Path
):
    """Set up filters, hooks and helpers that would create a marker file."""
    mark = tmp_path / "mark"
    touch = f"touch {mark}"
    origin.git("config", "uploadpack.packObjectsHook", f"{touch}; true")
    origin.git("config", "core.fsmonitor", touch)
    origin.git("config", "core.sshCommand", touch)
    origin.git("config", "filter.evil.smudge", touch)
    for hook in ("post-checkout", "reference-transaction", "pre-auto-gc", "post-index-change"):
        path = origin.path / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{touch}\n")
        path.chmod(0o755)
    files: dict[str, str | bytes] = {
        ".gitattributes": "* filter=evil\n",
        ".gitmodules": f'[submodule "x"]\n\tpath = x\n\turl = ext::sh -c "{touch}"\n',
    }
    origin.write(files)
    origin.git("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "add", "--all")
    tree = origin.git("-c", "core.fsmonitor=false", "write-tree")
    commit = origin.git("commit-tree", tree, "-m", "Evil")
    (origin.path / ".git" / "refs" / "heads" / "evil").write_text(f"{commit}\n")
    mark.unlink(missing_ok=True)
    fetched = await repositories.fetch(source(origin, ref="evil"))
    assert len(fetched.skills) == 2
    assert not mark.exists()


async def test_git_lfs_pointer_gets_a_warning(repositories: Repositories, origin: Repository):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"
    origin.commit({"skills/notes/large.bin": pointer})
    found = (await repositories.fetch(source(origin))).skills[0]
    assert [(problem.message, problem.is_warning) for problem in found.problems] == [
        ("large.bin is stored in Git LFS and is not fetched.", True)
    ]


async def test_folder_outside_the_roots_is_not_fetched(
    repositories: Repositories, origin: Repository, tmp_path: Path
):
    outside = tmp_path / "outside"
    await asyncio.to_thread(origin.git, "clone", "--quiet", "--bare", str(origin.path), str(outside))
    link = tmp_path / "allowed" / "link"
    link.symlink_to(outside)
    pointer = tmp_path / "allowed" / "pointer"
    pointer.mkdir()
    (pointer / ".git").write_text(f"gitdir: {outside}\n")
    for path in (outside, link, pointer, tmp_path / "allowed" / ".." / "outside"):
        with pytest.raises(Denied):
            await repositories.fetch(GitSource(url=f"file://{path}"))
    with pytest.raises(NotFound):
        await repositories.fetch(GitSource(url=f"file://{tmp_path}/allowed/nothing"))
    with pytest.raises(ForgeError):
        await repositories.fetch(GitSource(url=f"file://{tmp_path}/allowed"))


async def test_bare_repository_is_fetched(repositories: Repositories, origin: Repository, tmp_path: Path):
    bare = tmp_path / "allowed" / "bare.git"
    origin.git("clone", "--quiet", "--bare", str(origin.path), str(bare))
    assert len((await repositories.fetch(GitSource(url=f"file://{bare}"))).skills) == 2
    (bare / "objects" / "info" / "alternates").write_text("/elsewhere\n")
    with pytest.raises(Invalid):
        await repositories.fetch(GitSource(url=f"file://{bare}"))


@pytest.mark.parametrize(
    "url", ["https://internal.example/a", "git@internal.example:a", "ssh://internal.example:23/a"]
)
async def test_forbidden_host_is_not_contacted(repositories: Repositories, url: str):
    with pytest.raises(Denied, match=r"internal\.example:(443|22|23) is not reached"):
        await repositories.fetch(GitSource(url=url))


async def test_git_connects_to_the_address_that_was_checked(tmp_path: Path):
    """Git must not resolve the name again: this one does not exist."""
    connected = asyncio.Event()

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    pinned = Repositories(tmp_path / "staging", resolve_to_localhost, AllowedFolders([], tmp_path))
    async with server:
        for url in (f"https://no-such-host.invalid:{port}/a", f"ssh://git@no-such-host.invalid:{port}/a"):
            connected.clear()
            with pytest.raises(Unavailable):
                await pinned.fetch(GitSource(url=url))
            assert connected.is_set()


async def test_https_fetch_needs_a_git_that_can_pin_addresses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text("#!/bin/sh\necho git version 2.36.6\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    repositories = Repositories(tmp_path / "staging", resolve_to_localhost, AllowedFolders([], tmp_path))
    with pytest.raises(GitTooOld) as refused:
        await repositories.fetch(GitSource(url="https://no-such-host.invalid/a"))
    assert "git 2.37 or newer" in str(refused.value.hint)


async def test_slow_download_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "FETCH_S", 0.5)
    repositories = Repositories(tmp_path / "staging", resolve_to_localhost, AllowedFolders([], tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(Unavailable, match="git fetch took more than") as late:
            await repositories.fetch(GitSource(url=f"https://no-such-host.invalid:{port}/a"))
    assert "zip" in str(late.value.hint)


async def test_too_large_repository_is_rejected(
    repositories: Repositories, origin: Repository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "MAX_READ", 10)
    with pytest.raises(TooLarge):
        await repositories.fetch(source(origin))
    monkeypatch.setattr(module, "MAX_FETCHED", 10)
    with pytest.raises(TooLarge):
        await repositories.fetch(source(origin))
