"""Read skills from folders of the server: only inside the roots the settings allow, and never Forge's data directory."""

import os
from collections.abc import Sequence
from pathlib import Path

from forge.errors import Denied, Invalid, NotFound, TooLarge
from forge.skills.format.contents import IGNORED_FOLDERS
from forge.skills.format.zip_archive import MAX_ENTRIES, MAX_ENTRY, MAX_UNPACKED
from forge.workspace.filesystem.entries import Bounds, EntryKind
from forge.workspace.filesystem.files import Files
from forge.workspace.observed.location import find_repository

_HINT = "The operator of the server can allow more folders in its settings; or upload a zip."


class AllowedFolders:
    """Links are resolved first: the real location is checked."""

    def __init__(self, roots: Sequence[Path], data_dir: Path) -> None:
        self._roots = tuple(root.resolve() for root in roots)
        self._data_dir = data_dir.resolve()

    def find(self, text: str) -> Path:
        """Return the real path of an allowed folder or file. Raises Denied, also for paths outside that do not exist."""
        try:
            real = Path(text).resolve()
        except (OSError, RuntimeError, ValueError) as error:
            raise Invalid(f"{text[:200]!r} is not a valid path.", field="path") from error
        self._check(real, text)
        if not real.exists():
            raise NotFound(f"There is nothing at {text[:200]!r} on the server.", field="path")
        return real

    def repository(self, folder: Path) -> Path:
        """Return the git directory of a repository. All of its parts must be in allowed folders."""
        real = self.find(str(folder))
        if (real / "HEAD").is_file() and (real / "objects").is_dir():
            inside = common = real
        else:
            found = find_repository(real)
            if found.root != real:
                raise Invalid(f"{str(folder)[:200]!r} is not a git repository.", field="url")
            inside, common = found.git_dir, found.common_dir
        for each in (inside, common, (common / "objects").resolve()):
            self._check(each, str(folder))
        if os.path.lexists(common / "objects" / "info" / "alternates"):
            raise Invalid(
                f"{str(folder)[:200]!r} shares objects with another repository.",
                hint="Clone it without shared objects, or upload a zip.",
                field="url",
            )
        return inside

    def read_file(self, path: Path, limit: int) -> bytes:
        with path.open("rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise TooLarge(f"{path.name[:200]!r} is larger than {limit >> 20} MB.", field="path")
        return data

    def read_folder(self, folder: Path) -> tuple[dict[str, bytes], dict[str, str]]:
        """Return all files in the folder, and the paths that were refused, with the reason."""
        files: dict[str, bytes] = {}
        refused: dict[str, str] = {}
        left = MAX_UNPACKED
        with Files(folder) as below:
            for entry in below.walk(bounds=Bounds(entries=MAX_ENTRIES + 1, ignored=IGNORED_FOLDERS)):
                if len(files) + len(refused) >= MAX_ENTRIES:
                    raise TooLarge(f"The folder has more than {MAX_ENTRIES:,} files.", field="path")
                if entry.kind is EntryKind.DIR:
                    continue
                if entry.kind is not EntryKind.FILE:
                    refused[entry.path] = "it is a link or a special file."
                    continue
                content = below.read(entry.path, limit=MAX_ENTRY, follow=False)
                if content.hash is None:
                    refused[entry.path] = f"it is larger than {MAX_ENTRY >> 20} MB."
                    continue
                files[entry.path] = content.data
                left -= content.size
                if left < 0:
                    raise TooLarge(f"The folder is larger than {MAX_UNPACKED >> 20} MB.", field="path")
        return files, refused

    def _check(self, real: Path, asked: str) -> None:
        """Raise Denied unless the path is allowed. The message has the requested path, to not reveal where a link leads."""
        is_inside = any(real.is_relative_to(root) for root in self._roots)
        if not is_inside or real.is_relative_to(self._data_dir):
            raise Denied(
                f"{asked[:200]!r} is outside the folders that skills may be installed from.",
                hint=_HINT,
                field="path",
            )
