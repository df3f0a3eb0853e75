"""Zip archives: hostile entries are rejected by name, and exports can be unpacked again."""

import io
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable

import pytest

from forge.errors import Invalid
from forge.skills.format.zip_archive import MAX_ENTRIES, pack, unpack

MANIFEST = b"---\nname: notes\ndescription: Takes notes.\n---\n\nTake notes.\n"


def archive(*entries: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as target:
        for name, data in entries:
            entry = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            entry.compress_type = method
            target.writestr(entry, data)
    return packed.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = mode << 16
    return entry


def renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Replace an entry name by one that no library would write."""
    assert len(old) == len(new)
    assert data.count(old) == 2
    return data.replace(old, new)


def test_packed_files_round_trip_reproducibly():
    files = {"SKILL.md": MANIFEST, "assets/ü.png": b"\x89PNG\xff", "empty": b"", "dist/run.js": b"run()"}
    packed = pack(files, below="notes")
    assert unpack(packed) == {f"notes/{path}": data for path, data in files.items()}
    assert packed == pack(dict(reversed(files.items())), below="notes")


def test_folders_and_macos_metadata_are_skipped():
    packed = archive(("notes/", b""), ("notes/SKILL.md", MANIFEST), ("__MACOSX/notes/._SKILL.md", b"x"))
    assert unpack(packed) == {"notes/SKILL.md": MANIFEST}


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/../../evil",
        "/etc/evil",
        "C:/evil",
        "c:evil",
        "a//b",
        "./a",
        "a/./b",
        "nul",
        "a/CON.txt",
        "a/com1",
        "a/b.",
        "a/b ",
        "a/b:stream",
        "a\nb",
        "x" * 300,
        "a/" * 200 + "b",
    ],
)
def test_unsafe_path_is_rejected_by_name(name: str):
    with pytest.raises(Invalid) as caught:
        unpack(archive(("ok.md", b"x"), (name, b"x")))
    assert repr(name)[1:20] in caught.value.message


@pytest.mark.parametrize("name", [b"a\\b\\evil", b"..\\evil.md", b"a\x00evil.md"])
def test_backslash_or_nul_in_a_name_is_rejected(name: bytes):
    packed = renamed(archive(("x" * len(name), b"x")), b"x" * len(name), name)
    with pytest.raises(Invalid):
        unpack(packed)


@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        (stat.S_IFLNK | 0o777, "it is a link"),
        (stat.S_IFCHR | 0o666, "it is neither a file nor a folder"),
        (stat.S_IFBLK | 0o666, "it is neither a file nor a folder"),
        (stat.S_IFIFO | 0o666, "it is neither a file nor a folder"),
        (stat.S_IFSOCK | 0o666, "it is neither a file nor a folder"),
    ],
)
def test_special_file_is_rejected(mode: int, reason: str):
    with pytest.raises(Invalid) as caught:
        unpack(archive((special("notes/passwd", mode), b"/etc/passwd")))
    assert caught.value.message == f"The archive entry 'notes/passwd' was rejected: {reason}."


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("a/b", "a/b"),
        ("a/README.md", "A/readme.md"),
        ("a/ﬁ", "a/fi"),
        ("é", "e\u0301"),
        ("a", "a/b"),
        ("A", "a/b"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_colliding_entries_are_rejected(first: str, second: str):
    with pytest.raises(Invalid):
        unpack(archive((first, b"1"), (second, b"2")))


def test_encryption_and_unknown_compression_are_rejected():
    plain = archive(("a.md", b"x"))
    entry = plain.index(b"PK\x01\x02")
    with pytest.raises(Invalid, match="encrypted"):
        unpack(plain[: entry + 8] + b"\x01" + plain[entry + 9 :])
    with pytest.raises(Invalid, match="compression method"):
        unpack(archive(("a.md", b"x"), method=zipfile.ZIP_LZMA))


def test_zip_bomb_is_stopped_while_unpacking():
    with pytest.raises(Invalid, match="ratio exceeds 200"):
        unpack(archive(("bomb", bytes(10 << 20))))
    with pytest.raises(Invalid, match="16 MB"):
        unpack(archive(("large", bytes((16 << 20) + 1)), method=zipfile.ZIP_STORED))
    with pytest.raises(Invalid, match="64 MB"):
        unpack(archive(*((str(number), bytes(1 << 20)) for number in range(65))))


def test_wrong_entry_size_is_rejected():
    valid = archive(("lie", bytes(2000)))
    directory = valid.index(b"PK\x01\x02")
    for size in (10, 100_000):
        invalid = valid[: directory + 24] + struct.pack("<L", size) + valid[directory + 28 :]
        with pytest.raises(Invalid):
            unpack(invalid)


def test_overlapping_entries_are_rejected():
    """Many entries that share the same bytes are a zip bomb of a few kilobytes."""
    valid = archive(("one", bytes(1 << 20)))
    directory, end = valid.index(b"PK\x01\x02"), valid.rindex(b"PK\x05\x06")
    listed = valid[directory:end]
    many = listed * 3
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 3, 3, len(many), directory, 0)
    with pytest.raises(Invalid, match="position is wrong"):
        unpack(valid[:directory] + many + tail)


def test_huge_directory_is_rejected_without_reading_it():
    record = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", *[0] * 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    many = record * 500_000
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 10, 10, len(many), 0, 0)
    tracemalloc.start()
    try:
        with pytest.raises(Invalid, match=f"{MAX_ENTRIES:,} entries"):
            unpack(many + tail)
        assert tracemalloc.get_traced_memory()[1] < 60 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: b"PK",
        lambda data: data[:-10],
        lambda data: b"#!/bin/sh\n" + data,
        lambda data: data[:40] + b"\xff" + data[41:],
        lambda data: data[:-22] + b"PK\x06\x07" + bytes(16) + data[-22:],
    ],
)
def test_invalid_archive_is_rejected(damage: Callable[[bytes], bytes]):
    with pytest.raises(Invalid):
        unpack(damage(archive(("notes/SKILL.md", MANIFEST))))
