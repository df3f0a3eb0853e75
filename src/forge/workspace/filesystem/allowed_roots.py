"""The folders of the server that users of the API may name: those inside the roots that the operator allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOTS_SETTING = "FORGE_AUDIT_ROOTS"


@dataclass(frozen=True)
class AllowedRoots:
    """All paths have their links resolved."""

    roots: tuple[Path, ...]
    data_dir: Path
    """Forge's data directory, which is never allowed."""

    @classmethod
    def of(cls, roots: Sequence[Path] | None, start: Path, data_dir: Path) -> "AllowedRoots":
        """If `roots` is None, only the start folder is allowed, unless it contains a home directory."""
        chosen = default_roots(start.resolve()) if roots is None else roots
        return cls(tuple(root.resolve() for root in chosen), data_dir.resolve())

    def allows(self, real: Path) -> bool:
        is_inside = any(real.is_relative_to(root) for root in self.roots)
        return is_inside and not real.is_relative_to(self.data_dir)


def default_roots(start: Path) -> tuple[Path, ...]:
    """Return the start folder, or nothing if it contains the home directory."""
    try:
        home = Path.home().resolve()
    except RuntimeError:
        home = start
    return () if home.is_relative_to(start) else (start,)
