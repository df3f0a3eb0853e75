"""Resources of the server that a skill can use: its own folder, granted folders and environment variables."""

from collections.abc import Iterable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import get_args

from pydantic import SecretStr

from forge.accounts.vault import is_secret_name
from forge.config import Settings, setting_name
from forge.errors import Denied
from forge.kernel.tree_removal import remove_tree
from forge.sandbox.process.resource_scans import walk
from forge.skills.execution import HostError
from forge.workspace.filesystem.errors import QuotaExceeded
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.quota import Quota

MAX_BYTES = 16 << 20
MAX_FILES = 2000
MAX_TEXT = 1 << 20
"""Maximum size of a file that is read or written through the host."""


class OwnFolder:
    """A skill's own folder, created on first use. All methods block."""

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
        """Delete the folder with its contents, if it exists."""
        folder = self._files_dir / self._account_id / self._skill
        if folder.exists():
            remove_tree(folder)
        with suppress(OSError):  # not empty: other skills of the account use it
            folder.parent.rmdir()

    def check_quota(self) -> None:
        """Raise QuotaExceeded if the folder is full. Called before and after programs, whose writes cannot be intercepted."""
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


_SYSTEM_FOLDERS = tuple(map(Path, ("/proc", "/sys", "/dev")))
"""Kernel file systems: they expose the variables and open files of every process, including Forge's."""


def open_root(root: str, data_dir: Path) -> Path:
    """Return the real path of a granted folder. Raises Denied if it contains or is inside Forge's data directory, or
    belongs to the kernel."""
    try:
        real, data = Path(root).resolve(), data_dir.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a link loop
        raise Denied(f"{root} cannot be resolved: {error}") from error
    if data.is_relative_to(real) or real.is_relative_to(data):
        raise Denied(
            f"{root} contains data of Forge, which skills cannot access.",
            hint="Grant a folder that contains only what the skill needs.",
        )
    if any(real.is_relative_to(folder) for folder in _SYSTEM_FOLDERS):
        raise Denied(
            f"{root} is a system folder, which skills cannot access.",
            hint="Grant a folder that contains only what the skill needs.",
        )
    return real


def open_roots(roots: Iterable[str], data_dir: Path) -> list[Path]:
    """Return the granted folders that exist."""
    return [real for root in roots if (real := open_root(root, data_dir)).is_dir()]


_SECRETS = frozenset(
    setting_name(name, field)
    for name, field in Settings.model_fields.items()
    if SecretStr in get_args(field.annotation)
)


def check_variable(name: str) -> None:
    """Raise HostError for Forge's own settings and for secrets. Ignores case, as reading settings does."""
    folded = name.upper()
    if folded.startswith("FORGE_"):
        raise HostError(f"{name} is a setting of Forge, which skills cannot read.")
    if folded in _SECRETS or is_secret_name(folded):
        raise HostError(f"{name} is a secret: store it in the vault and grant get_secret.")
