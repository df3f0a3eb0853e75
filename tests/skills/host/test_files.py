"""File operations of skills, and attempts to escape from their folders."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.skills.host.hosts import INVOCATION, error_of, host_for, host_services

from forge.skills.host.host import Host
from forge.skills.host.resources import OwnFolder
from forge.skills.models import Capability, Scope

OWN = Path("data/skill-files/account-1/weather")


def host_with(folder: Path, *roots: Path | str, **invocation: str) -> Host:
    scope = Scope(roots=[str(root) for root in roots])
    return host_for(
        host_services(folder),
        {Capability.READ_FILE: scope, Capability.WRITE_FILE: scope},
        invocation=replace(INVOCATION, **invocation),
    )


async def write(host: Host, path: str, text: str) -> None:
    await host.call("file.write", {"path": path, "text": text})


async def test_each_skill_has_its_own_folder(tmp_path: Path):
    host = host_with(tmp_path)
    assert await host.call("file.list", {}) == []
    await write(host, "notes/a.txt", "é\0\n")
    assert await host.call("file.read", {"path": "notes/a.txt"}) == "é\0\n"
    assert await host.call("file.list", {}) == ["notes/"]
    assert await host.call("file.list", {"path": "notes/"}) == ["a.txt"]
    assert (tmp_path / OWN / "notes/a.txt").read_text() == "é\0\n"
    assert (tmp_path / OWN).stat().st_mode & 0o777 == 0o700
    for other in ({"skill": "other"}, {"account_id": "account-2"}):
        assert await host_with(tmp_path, **other).call("file.list", {}) == []


@pytest.mark.parametrize(
    "path",
    ["..", "../other/a", "a/../../other", "/etc/passwd", "~/.ssh/id_rsa", "a\0b", "a\\b", "", "\ud800"],
)
async def test_path_outside_the_folder_is_rejected(tmp_path: Path, path: str):
    host = host_with(tmp_path)
    assert await error_of(host, "file.read", path=path)
    if path not in ("~/.ssh/id_rsa", "\ud800"):
        assert await error_of(host, "file.write", path=path, text="x")
    assert {one.name for one in (tmp_path / "data").iterdir()} <= {"skill-files"}


async def test_writing_does_not_list_the_granted_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    listed: list[object] = []

    def scandir(path: int) -> "os._ScandirIterator[str]":
        listed.append(path)
        return original(path)

    original = os.scandir
    root = tmp_path / "root"
    root.mkdir()
    monkeypatch.setattr("os.scandir", scandir)
    await write(host_with(tmp_path, root), str(root / "a.txt"), "x")
    assert (root / "a.txt").read_text() == "x"
    assert listed == []


async def test_link_out_of_the_folder_is_rejected(tmp_path: Path):
    host = host_with(tmp_path)
    await write(host, "a", "mine")
    (tmp_path / "secret").write_text("not yours")
    own = tmp_path / OWN
    (own / "file").symlink_to(tmp_path / "secret")
    (own / "folder").symlink_to(tmp_path)
    for path in ("file", "folder/secret"):
        assert await error_of(host, "file.read", path=path)
        assert await error_of(host, "file.write", path=path, text="x")
    assert await error_of(host, "file.list", path="folder")
    assert (tmp_path / "secret").read_text() == "not yours"


async def test_only_granted_folders_are_accessible(tmp_path: Path):
    for name in ("open", "open-too", "closed"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    host = host_with(tmp_path, tmp_path / "open", f"{tmp_path}/open-too/")
    assert await host.call("file.read", {"path": f"{tmp_path}/open/./a.txt"}) == "open"
    assert await host.call("file.list", {"path": f"{tmp_path}/open-too"}) == ["a.txt"]
    await write(host, f"{tmp_path}/open/new/b.txt", "b")
    assert (tmp_path / "open/new/b.txt").read_text() == "b"
    for path in ("closed/a.txt", "open/../closed/a.txt", "open-", ""):
        assert await error_of(host, "file.read", path=f"{tmp_path}/{path}")
    (tmp_path / "open/link").symlink_to(tmp_path / "closed")
    assert await error_of(host, "file.read", path=f"{tmp_path}/open/link/a.txt")


@pytest.mark.parametrize("inside", ["", "data", "data/skill-files/account-2", "link"])
async def test_data_directory_of_forge_cannot_be_granted(tmp_path: Path, inside: str):
    (tmp_path / "data").mkdir()
    (tmp_path / "data/vault.key").write_text("key")
    (tmp_path / "link").symlink_to(tmp_path / "data")
    for root in (tmp_path / inside, "/"):
        host = host_with(tmp_path, root)
        for path in (tmp_path / inside / "vault.key", tmp_path / "data/vault.key"):
            error = await error_of(host, "file.read", path=str(path))
            assert "data of Forge" in error or "not in a granted folder" in error
            assert await error_of(host, "file.write", path=str(path), text="x")
    assert (tmp_path / "data/vault.key").read_text() == "key"


@pytest.mark.parametrize("root", ["/proc", "/proc/self", "/sys", "/dev", "link"])
async def test_kernel_file_systems_cannot_be_granted(tmp_path: Path, root: str):
    """They expose the environment of the Forge process."""
    (tmp_path / "link").symlink_to("/proc")
    host = host_with(tmp_path, tmp_path / root)
    for path in ("environ", "self/environ"):
        error = await error_of(host, "file.read", path=str(tmp_path / root / path))
        assert "is a system folder" in error


async def test_very_deep_folder_is_removed(tmp_path: Path):
    own = OwnFolder(tmp_path / "files", "account-1", "weather")
    above = os.open(own.path, os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d", 0o700, dir_fd=above)
        below = os.open("d", os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    own.remove()
    assert not (tmp_path / "files/account-1").exists()


async def test_only_utf8_text_up_to_the_size_limit_is_read_and_written(tmp_path: Path):
    host = host_with(tmp_path, tmp_path / "open")
    (tmp_path / "open").mkdir()
    (tmp_path / "open/large").write_bytes(b"x" * (1 << 20) + b"y")
    (tmp_path / "open/binary").write_bytes(b"\xff\xfe")
    os.mkfifo(tmp_path / "open/pipe")
    assert "more than 1 MB" in await error_of(host, "file.read", path=f"{tmp_path}/open/large")
    assert "not UTF-8 text" in await error_of(host, "file.read", path=f"{tmp_path}/open/binary")
    assert await error_of(host, "file.read", path=f"{tmp_path}/open/pipe")
    assert await error_of(host, "file.read", path="/dev/zero")
    await write(host, "just", "x" * (1 << 20))
    assert await error_of(host, "file.write", path="over", text="x" * (1 << 20) + "y")
    assert await error_of(host, "file.write", path="over", text="é" * (1 << 20))


async def test_size_of_the_skill_folder_is_limited(tmp_path: Path):
    host = host_with(tmp_path)
    for number in range(16):
        await write(host, str(number), "x" * (1 << 20))
    assert "full" in await error_of(host, "file.write", path="one more", text="x")
    assert "full" in await error_of(host_with(tmp_path), "file.write", path="one more", text="x")
    await write(host, "0", "")
    await write(host, "one more", "x")
