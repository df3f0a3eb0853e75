"""Archives: what is hostile in one is named and refused, and what was exported comes back."""

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
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as target:
        for name, data in entries:
            entry = name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name)
            entry.compress_type = method
            target.writestr(entry, data)
    return made.getvalue()


def special(name: str, mode: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)
    entry.create_system = 3
    entry.external_attr = mode << 16
    return entry


def renamed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Under a name that no library would write."""
    assert len(old) == len(new)
    assert data.count(old) == 2
    return data.replace(old, new)


def test_what_was_exported_comes_back_and_is_always_the_same():
    files = {"SKILL.md": MANIFEST, "assets/ü.png": b"\x89PNG\xff", "empty": b"", "dist/run.js": b"run()"}
    made = pack(files, below="notes")
    assert unpack(made) == {f"notes/{path}": data for path, data in files.items()}
    assert made == pack(dict(reversed(files.items())), below="notes")


def test_folders_are_no_files_and_what_macos_adds_is_left_out():
    made = archive(("notes/", b""), ("notes/SKILL.md", MANIFEST), ("__MACOSX/notes/._SKILL.md", b"x"))
    assert unpack(made) == {"notes/SKILL.md": MANIFEST}


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
def test_a_name_that_leads_elsewhere_is_refused_by_name(name: str):
    with pytest.raises(Invalid) as caught:
        unpack(archive(("ok.md", b"x"), (name, b"x")))
    assert repr(name)[1:20] in caught.value.message


@pytest.mark.parametrize("name", [b"a\\b\\evil", b"..\\evil.md", b"a\x00evil.md"])
def test_a_name_that_only_a_hostile_tool_writes_is_refused(name: bytes):
    made = renamed(archive(("x" * len(name), b"x")), b"x" * len(name), name)
    with pytest.raises(Invalid):
        unpack(made)


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
def test_what_is_no_file_is_refused(mode: int, reason: str):
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
def test_two_entries_that_would_be_one_file_are_refused(first: str, second: str):
    with pytest.raises(Invalid):
        unpack(archive((first, b"1"), (second, b"2")))


def test_an_encrypted_entry_and_an_unusual_method_are_refused():
    plain = archive(("a.md", b"x"))
    entry = plain.index(b"PK\x01\x02")
    with pytest.raises(Invalid, match="encrypted"):
        unpack(plain[: entry + 8] + b"\x01" + plain[entry + 9 :])
    with pytest.raises(Invalid, match="compression method"):
        unpack(archive(("a.md", b"x"), method=zipfile.ZIP_LZMA))


def test_a_bomb_is_stopped_while_it_unpacks():
    with pytest.raises(Invalid, match="ratio exceeds 200"):
        unpack(archive(("bomb", bytes(10 << 20))))
    with pytest.raises(Invalid, match="16 MB"):
        unpack(archive(("large", bytes((16 << 20) + 1)), method=zipfile.ZIP_STORED))
    with pytest.raises(Invalid, match="64 MB"):
        unpack(archive(*((str(number), bytes(1 << 20)) for number in range(65))))


def test_an_entry_that_lies_about_its_size_is_damaged():
    honest = archive(("lie", bytes(2000)))
    directory = honest.index(b"PK\x01\x02")
    for size in (10, 100_000):
        lying = honest[: directory + 24] + struct.pack("<L", size) + honest[directory + 28 :]
        with pytest.raises(Invalid):
            unpack(lying)


def test_entries_that_share_their_bytes_are_refused():
    """A bomb that costs nothing to send: ten thousand entries, all the same bytes."""
    honest = archive(("one", bytes(1 << 20)))
    directory, end = honest.index(b"PK\x01\x02"), honest.rindex(b"PK\x05\x06")
    listed = honest[directory:end]
    many = listed * 3
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 3, 3, len(many), directory, 0)
    with pytest.raises(Invalid, match="position is wrong"):
        unpack(honest[:directory] + many + tail)


def test_a_list_of_a_million_entries_is_not_even_read():
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
    "spoil",
    [
        lambda data: b"",
        lambda data: b"PK",
        lambda data: data[:-10],
        lambda data: b"#!/bin/sh\n" + data,
        lambda data: data[:40] + b"\xff" + data[41:],
        lambda data: data[:-22] + b"PK\x06\x07" + bytes(16) + data[-22:],
    ],
)
def test_what_is_no_archive_or_more_than_one_is_refused(spoil: Callable[[bytes], bytes]):
    with pytest.raises(Invalid):
        unpack(spoil(archive(("notes/SKILL.md", MANIFEST))))
