"""The name git would give to a tree, computed rather than written: a git that writes an object which is there already
sets the time of the file that holds it, and that file is not ours."""

import hashlib
from collections.abc import Iterable

GITLINK = b"160000"
"""The mode of a repository in a repository."""
StagedEntry = tuple[bytes, bytes, bytes]
"""Mode, id in hexadecimal digits, path."""


class _Open:
    """A folder whose last entry is not known yet."""

    def __init__(self, name: bytes) -> None:
        self.name = name
        self.entries: list[bytes] = []


def hash_tree(entries: Iterable[StagedEntry], object_format: str) -> str:
    """Of entries in the order of an index, which is that of trees too: a folder counts as if its name ended in `/`."""
    folders = [_Open(b"")]
    current = b""
    for mode, blob, path in entries:
        folder, _, name = path.rpartition(b"/")
        if folder != current:
            _go_to(folders, folder.split(b"/") if folder else [], object_format)
            current = folder
        folders[-1].entries.append(b"%b %b\0%b" % (mode, name, bytes.fromhex(blob.decode())))
    _go_to(folders, [], object_format)
    return _digest(folders[0], object_format).hex()


def _go_to(folders: list[_Open], names: list[bytes], object_format: str) -> None:
    shared = 0
    for one, name in zip(folders[1:], names, strict=False):
        if one.name != name:
            break
        shared += 1
    while len(folders) > shared + 1:
        done = folders.pop()
        folders[-1].entries.append(b"40000 %b\0%b" % (done.name, _digest(done, object_format)))
    folders.extend(_Open(name) for name in names[shared:])


def _digest(folder: _Open, object_format: str) -> bytes:
    data = b"".join(folder.entries)
    return hashlib.new(object_format, b"tree %d\0" % len(data) + data, usedforsecurity=False).digest()
