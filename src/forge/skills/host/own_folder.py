"""The folder each skill has for itself, and the other folders somebody opened to it."""

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from forge.errors import Denied
from forge.kernel.removing import remove_tree
from forge.sandbox.walking import walk
from forge.workspace.errors import QuotaExceeded
from forge.workspace.files import Files
from forge.workspace.quota import Quota

MAX_BYTES = 16 << 20
MAX_FILES = 2000
MAX_TEXT = 1 << 20
"""Of one file that is read or written through the host."""


class OwnFolder:
    """Made when it is first needed. All of it blocks."""

    def __init__(self, files_dir: Path, account_id: str, skill: str) -> None:
        self._files_dir = files_dir
        self._account_id = account_id
        self._skill = skill

    @cached_property
    def path(self) -> Path:
        self._files_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = self._files_dir.resolve()
        for name in (self._account_id, self._skill):
            folder = folder / name
            folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    @cached_property
    def files(self) -> Files:
        quota = Quota(files=MAX_FILES, total_bytes=MAX_BYTES, file_bytes=MAX_TEXT)
        return Files(self.path, quota=quota, private=True)

    def remove(self) -> None:
        """With all that is in it; not an error when it was never made."""
        folder = self._files_dir / self._account_id / self._skill
        if folder.exists():
            remove_tree(folder)
        with suppress(OSError):  # other skills of this account have theirs
            folder.parent.rmdir()

    def check_room(self) -> None:
        """Programs write without asking, so it is looked at before they start and after they ended."""
        files = size = 0
        for seen in walk((self.path,), since=0.0):
            files += seen.files
            size += seen.bytes
            if files > MAX_FILES or size > MAX_BYTES or seen.is_closed:
                raise QuotaExceeded(
                    f"The folder of the skill {self._skill} is full: it may hold {MAX_FILES:,} files and "
                    f"{MAX_BYTES >> 20} MB.",
                    hint=f"Delete what is not needed in {self.path}",
                )


_OF_THE_MACHINE = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""No files, but the kernel's: in them are the variables and open files of every process, Forge's too."""


def open_root(root: str, data_dir: Path) -> Path:
    """A folder somebody granted, as it really is. What holds Forge's own data, or lies in it, is open to no skill;
    nor is what holds the machine's."""
    try:
        real, data = Path(root).resolve(), data_dir.resolve()
    except (OSError, RuntimeError) as error:  # the latter for links that lead to themselves
        raise Denied(f"{root} cannot be looked at: {error}") from error
    if data.is_relative_to(real) or real.is_relative_to(data):
        raise Denied(
            f"{root} holds data of Forge itself, which no skill gets at.",
            hint="Grant a folder inside it that holds only what the skill needs.",
        )
    if any(real.is_relative_to(folder) for folder in _OF_THE_MACHINE):
        raise Denied(
            f"{root} is no folder of files: the machine itself is in it, which no skill gets at.",
            hint="Grant a folder that holds only what the skill needs.",
        )
    return real


def open_roots(roots: Iterable[str], data_dir: Path) -> list[Path]:
    """Those that are there."""
    return [real for root in roots if (real := open_root(root, data_dir)).is_dir()]
