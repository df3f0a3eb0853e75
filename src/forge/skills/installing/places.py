"""Folders of the server that skills may be installed from: inside the roots the settings allow, and never Forge's own."""

import os
from collections.abc import Sequence
from pathlib import Path

from forge.errors import Denied, Invalid, NotFound, TooLarge
from forge.skills.contents import LEFT_OUT
from forge.skills.installing.archive import MAX_ENTRIES, MAX_ENTRY, MAX_UNPACKED
from forge.workspace.entries import Bounds, EntryKind
from forge.workspace.files import Files
from forge.workspace.observed_place import find_place

_HINT = "Whoever runs this server allows more in its settings; or send a zip."


class Roots:
    """Links are followed first: what counts is where something is."""

    def __init__(self, roots: Sequence[Path], data_dir: Path) -> None:
        self._roots = tuple(root.resolve() for root in roots)
        self._data_dir = data_dir.resolve()

    def find(self, text: str) -> Path:
        """A folder or a file that may be read. Raises Denied, also for what is not there."""
        try:
            real = Path(text).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise Invalid(f"{text[:200]!r} is no path of the server.", field="path") from error
        self._check(real, text)
        if not real.exists():
            raise NotFound(f"There is nothing at {text[:200]!r} on the server.", field="path")
        return real

    def repository(self, folder: Path) -> Path:
        """The inside of a repository: wherever its parts are, all of them may be read."""
        real = self.find(str(folder))
        if (real / "HEAD").is_file() and (real / "objects").is_dir():
            inside = common = real
        else:
            found = find_place(real)
            if found.root != real:
                raise Invalid(f"{str(folder)[:200]!r} is no repository.", field="url")
            inside, common = found.git_dir, found.common_dir
        for each in (inside, common, (common / "objects").resolve()):
            self._check(each, str(folder))
        if os.path.lexists(common / "objects" / "info" / "alternates"):
            raise Invalid(
                f"{str(folder)[:200]!r} borrows its history from another repository.",
                hint="Clone it whole, or send a zip.",
                field="url",
            )
        return inside

    def read_file(self, path: Path, limit: int) -> bytes:
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise TooLarge(f"{path.name[:200]!r} has more than {limit >> 20} MB.", field="path")
        return data

    def read_folder(self, folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
        """All files below, and what is there and was not read, with the reason."""
        files: dict[str, bytes] = {}
        refused: dict[str, str] = {}
        left = MAX_UNPACKED
        with Files(folder) as below:
            for entry in below.walk(bounds=Bounds(entries=MAX_ENTRIES + 1, ignored=LEFT_OUT)):
                if len(files) + len(refused) >= MAX_ENTRIES:
                    raise TooLarge(f"There are more than {MAX_ENTRIES:,} files in the folder.", field="path")
                if entry.kind is EntryKind.DIR:
                    continue
                if entry.kind is not EntryKind.FILE:
                    refused[entry.path] = "it is a link, or no regular file."
                    continue
                content = below.read(entry.path, limit=MAX_ENTRY, follow=False)
                if content.hash is None:
                    refused[entry.path] = f"it has more than {MAX_ENTRY >> 20} MB."
                    continue
                files[entry.path] = content.data
                left -= content.size
                if left < 0:
                    raise TooLarge(f"The folder holds more than {MAX_UNPACKED >> 20} MB.", field="path")
        return files, refused

    def _check(self, real: Path, asked: str) -> None:
        """Told in the words of whoever asks: where a link leads is not theirs to know."""
        is_inside = any(real.is_relative_to(root) for root in self._roots)
        if not is_inside or real.is_relative_to(self._data_dir):
            raise Denied(
                f"{asked[:200]!r} is outside of the folders that skills may be installed from, or leads out of them.",
                hint=_HINT,
                field="path",
            )
