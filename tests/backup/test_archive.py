"""The archive format: round trips, and rejection of damaged or malicious archives."""

import gzip
import io
import os
import tarfile
import threading
import zlib
from pathlib import Path, PurePosixPath

import pytest
from tests.support.unprivileged_user import unprivileged_user

from forge.backup.archive import ArchiveExtractor, create_archive, read_archive
from forge.backup.data_files import add_data_files
from forge.backup.layout import is_included
from forge.backup.models import DatabaseCopy, Manifest
from forge.errors import Invalid, NotFound, Unavailable
from forge.kernel.clock import now

ODD_NAME = os.fsdecode(b"odd-\xff\\name")


def write(path: Path, data_dir: Path) -> Manifest:
    database = DatabaseCopy(kind="sqlite", revision="0001")
    with create_archive(path) as writer:
        problems = add_data_files(writer, data_dir, path.parent)
        manifest = Manifest(
            forge="1",
            made_at=now(),
            database=database,
            vault_key_hash=None,
            has_vault_key=False,
            restless=problems.restless,
            unreadable=problems.unreadable,
            links=problems.links,
        )
        return writer.finish(manifest)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data directory with every kind of file system entry."""
    root = tmp_path / "data"
    (root / "workspaces" / "empty").mkdir(parents=True)
    (root / "bots").mkdir(mode=0o750)
    (root / "bots" / ODD_NAME).write_bytes(b"\x00\xff" * 1000)
    (root / "bots" / "run.sh").write_text("#!/bin/sh\n")
    (root / "bots" / "run.sh").chmod(0o755)
    (root / "bots" / ("long-" * 30)).write_text("long name")
    files = root / "workspaces" / "w1" / "tree"
    files.mkdir(parents=True)
    (files / "outside").symlink_to("/etc/hostname")
    (files / "nowhere").symlink_to("../gone")
    (files / "a folder").symlink_to("../..")
    os.mkfifo(root / "bots" / "pipe")
    (root / "logs").mkdir()
    (root / "logs" / "forge.log").write_text("not kept")
    return root


def snapshot(root: Path) -> dict[str, object]:
    """Return a comparable copy of everything in a folder."""
    return {
        os.fsdecode(path.relative_to(root)): str(path.readlink())
        if path.is_symlink()
        else (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(root.rglob("*"))
        if not path.is_fifo()
    }


def test_archive_round_trip(data_dir: Path, tmp_path: Path):
    archive = tmp_path / "a.tar.gz"
    written = write(archive, data_dir)
    extractor = ArchiveExtractor(tmp_path / "out")
    assert read_archive(archive, extractor) == written
    extractor.finish()
    included = {path: state for path, state in snapshot(data_dir).items() if not path.startswith("logs")}
    assert snapshot(tmp_path / "out" / "data") == included
    assert archive.stat().st_mode & 0o777 == 0o600


def test_links_outside_of_workspaces_are_not_included_and_listed(data_dir: Path, tmp_path: Path):
    (data_dir / "bots" / "elsewhere").symlink_to("/etc")
    (data_dir / "skills").symlink_to("/etc")
    written = write(tmp_path / "a.tar.gz", data_dir)
    assert written.links == ["bots/elsewhere", "skills"]
    assert read_archive(tmp_path / "a.tar.gz") == written


def test_changed_or_truncated_archive_is_rejected(data_dir: Path, tmp_path: Path):
    archive, damaged = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    write(archive, data_dir)
    original = archive.read_bytes()
    content = gzip.decompress(original)
    for offset in range(
        10, len(original), len(original) // 60
    ):  # bytes 0-9 are the gzip header with time and system
        damaged.write_bytes(original[:offset] + bytes([original[offset] ^ 0x10]) + original[offset + 1 :])
        if not _decompresses_to(damaged, content):
            with pytest.raises(Invalid, match="is not an intact backup of Forge"):
                read_archive(damaged)
        damaged.write_bytes(original[:offset])
        with pytest.raises(Invalid, match="is not an intact backup of Forge"):
            read_archive(damaged)


def _decompresses_to(path: Path, content: bytes) -> bool:
    """Return whether the file still decompresses to the content: the same data can be compressed in several ways."""
    try:
        return gzip.decompress(path.read_bytes()) == content
    except (OSError, EOFError, zlib.error):
        return False


@pytest.mark.parametrize("name", ["../outside", "/outside", "data/../../outside"])
def test_archive_with_outside_paths_is_rejected_and_writes_nothing(name: str, tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(make_member(name, size=4), io.BytesIO(b"evil"))
    with pytest.raises(Invalid, match="outside"):
        read_archive(archive, ArchiveExtractor(tmp_path / "out"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.tar.gz", "out"]


def test_links_in_an_archive_are_not_followed(tmp_path: Path):
    archive, target = tmp_path / "evil.tar.gz", tmp_path / "target"
    target.mkdir()
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(make_member("data/workspaces/w1/tree/way", tarfile.SYMTYPE, str(target)))
        tar.addfile(make_member("data/workspaces/w1/tree/way/file", size=4), io.BytesIO(b"evil"))
    with pytest.raises(Invalid):
        read_archive(archive, ArchiveExtractor(tmp_path / "out"))
    assert list(target.iterdir()) == []


def make_member(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", *, size: int = 0
) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, size
    return info


@pytest.mark.parametrize(
    "member",
    [
        make_member("data", tarfile.SYMTYPE, "/etc"),
        make_member("database", tarfile.SYMTYPE, "/etc"),
        *(
            make_member(f"data/{name}", tarfile.SYMTYPE, "/etc")
            for name in ("bots", "logs", "workspaces", "workspaces/w1", "workspaces/w1/git", "skills/a/b/c")
        ),
        make_member("data/bots/hard", tarfile.LNKTYPE, "manifest.json"),
        make_member("data/bots/device", tarfile.CHRTYPE),
        make_member("data/bots/pipe", tarfile.FIFOTYPE),
        make_member("vault.key", tarfile.SYMTYPE, "/etc/passwd"),
        make_member("vault.key", tarfile.DIRTYPE),
        make_member("database/forge.db", tarfile.SYMTYPE, "/etc/passwd"),
        make_member("database/other.db"),
        make_member("database/forge/../x.copy"),
        *(
            make_member(f"data/{name}")
            for name in ("forge.db", "vault.key", "server.json", "credentials.json", "lock", "logs/forge.log")
        ),
        make_member("data/restore-unfinished"),
        make_member("data/.restore-unfinished"),
        make_member("data/before-restore-1/forge.db"),
        make_member("data/Forge.DB"),
        make_member("data/LOGS/forge.log"),
        make_member("data/FORGE.TOML"),
        make_member("data/forge.toml", tarfile.DIRTYPE),
        make_member("data/./bots/ada"),
        make_member("data//bots/ada"),
        make_member("anything else"),
    ],
    ids=lambda member: f"{member.name} {member.type.decode()}",
)
def test_member_that_backups_never_contain_is_rejected(member: tarfile.TarInfo, tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(member)
    for extractor in (None, ArchiveExtractor(tmp_path / "out")):
        with pytest.raises(Invalid, match="is not an intact backup"):
            read_archive(archive, extractor)
    assert list((tmp_path / "out").iterdir()) == []


LINK = make_member("data/workspaces/w1/tree/way", tarfile.SYMTYPE, "/etc")


@pytest.mark.parametrize(
    "members",
    [
        [LINK, make_member("data/workspaces/w1/tree/way/file")],
        [make_member("data/workspaces/w1/tree/way/file"), LINK],
        [make_member("data/bots"), make_member("data/bots/ada")],
        [LINK, LINK],
        [make_member("data/bots/ada"), make_member("data/bots/ada")],
        [make_member("manifest.json"), make_member("manifest.json")],
        [make_member("manifest.json"), make_member("data/bots/ada")],
    ],
)
def test_conflicting_members_are_rejected(members: list[tarfile.TarInfo], tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for member in members:
            tar.addfile(member)
    for extractor in (None, ArchiveExtractor(tmp_path / "out")):
        with pytest.raises(Invalid, match="is not an intact backup of Forge: it"):
            read_archive(archive, extractor)


def test_manifest_larger_than_its_archive_can_need_is_rejected_unread(tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    with gzip.open(archive, "wb") as file:
        file.write(make_member("manifest.json", size=17 << 20).tobuf())
    with pytest.raises(Invalid, match="manifest is too large"):
        read_archive(archive)


def test_sizes_of_an_archive_are_limited(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    archive = tmp_path / "a.tar.gz"
    write(archive, data_dir)
    for limit, value in (("MAX_MANIFEST", 100), ("MAX_ENTRIES", 3)):
        with monkeypatch.context() as patch:
            patch.setattr("forge.backup.archive." + limit, value)
            with pytest.raises(Invalid, match="files, or paths that are too long"):
                read_archive(archive)
            with pytest.raises(Unavailable, match="can contain at most"):
                write(tmp_path / "b.tar.gz", data_dir)


def test_large_extended_header_is_rejected_unread(tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    header = make_member("x", tarfile.XHDTYPE, size=3 << 30)
    with gzip.open(archive, "wb") as file:
        file.write(header.tobuf() + bytes(1024))
    with pytest.raises(Invalid, match="header that is too large"):
        read_archive(archive)


def test_unpacking_leaves_disk_space(data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    archive = tmp_path / "a.tar.gz"
    write(archive, data_dir)
    monkeypatch.setattr("forge.backup.archive.MIN_FREE", 1 << 60)
    with pytest.raises(Unavailable, match="No space left"):
        read_archive(archive, ArchiveExtractor(tmp_path / "out"))


def test_other_file_is_rejected_as_archive(tmp_path: Path):
    text_file = tmp_path / "plain"
    text_file.write_text("hello")
    with pytest.raises(Invalid, match="is not an intact backup"):
        read_archive(text_file)
    with pytest.raises(NotFound):
        read_archive(tmp_path / "missing")


def test_newer_format_is_rejected(tmp_path: Path):
    archive = tmp_path / "new.tar.gz"
    text = b'{"format": 2}'
    with tarfile.open(archive, "w:gz") as tar:
        tar.addfile(make_member("manifest.json", size=len(text)), io.BytesIO(text))
    with pytest.raises(Invalid, match="created by a newer Forge"):
        read_archive(archive)


def test_changing_file_is_included_and_listed(data_dir: Path, tmp_path: Path):
    changing_file, stop = data_dir / "busy", threading.Event()
    with changing_file.open("wb") as file:
        file.truncate(40_000_000)  # takes a while to read

    def keep_writing() -> None:
        with changing_file.open("r+b") as file:
            while not stop.is_set():
                file.seek(0)
                file.write(os.urandom(64))
                file.flush()

    writer_thread = threading.Thread(target=keep_writing)
    writer_thread.start()
    try:
        manifest = write(tmp_path / "a.tar.gz", data_dir)
    finally:
        stop.set()
        writer_thread.join()
    assert manifest.restless == ["busy"]
    assert read_archive(tmp_path / "a.tar.gz") == manifest


def test_unreadable_files_are_listed_and_the_rest_is_included():
    with unprivileged_user() as home:
        (home / "data" / "closed").mkdir(parents=True)
        (home / "data" / "closed" / "inside").write_text("never seen")
        (home / "data" / "open").write_text("kept")
        (home / "data" / "sealed").write_text("never seen")
        (home / "data" / "closed").chmod(0)
        (home / "data" / "sealed").chmod(0)
        manifest = write(home / "a.tar.gz", home / "data")
        assert manifest.unreadable == ["closed", "sealed"]
        assert [state.path for state in manifest.entries] == ["data/closed", "data/open"]
        assert read_archive(home / "a.tar.gz") == manifest
        (home / "data" / "closed").chmod(0o700)


def test_error_names_the_file_that_failed(data_dir: Path, tmp_path: Path):
    missing_file = tmp_path / "gone"
    with (
        pytest.raises(Unavailable, match=f"Cannot create the backup: {missing_file}"),
        create_archive(tmp_path / "a.tar.gz"),
    ):
        missing_file.read_bytes()


def test_unwritable_backup_leaves_no_file(data_dir: Path, tmp_path: Path):
    with pytest.raises(Unavailable, match="Cannot write the backup"):
        write(tmp_path / "missing" / "a.tar.gz", data_dir)
    with pytest.raises(RuntimeError), create_archive(tmp_path / "a.tar.gz"):
        raise RuntimeError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize(
    ("path", "included"),
    [
        ("bots/ada/SOUL.md", True),
        ("forge.toml", True),
        ("audit/signing.key", True),
        ("something new", True),
        ("bots/forge.db", True),
        ("forge.db", False),
        ("forge.db-wal", False),
        ("forge.db.schema-0001.backup", False),
        ("vault.key", False),
        ("server.json", False),
        ("before-restore-1", False),
    ],
)
def test_data_directory_is_included_except_process_files(path: str, included: bool):
    assert is_included(PurePosixPath(path)) is included
