"""Code that git ignores: no part of what evidence is bound to, and yet it may decide how the tests end."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from forge.audits.facts.models import LANGUAGES

_SETTINGS = frozenset({".cfg", ".ini", ".toml", ".pth"})
_USUAL = frozenset(
    [
        ".venv",
        "venv",
        "env",
        ".tox",
        ".nox",
        "node_modules",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".cache",
        ".eggs",
        "build",
        "dist",
        "target",
        "coverage",
        "htmlcov",
        ".next",
        ".nuxt",
        ".vite",
        ".turbo",
        ".parcel-cache",
        ".idea",
        ".vscode",
        ".git",
    ]
)
"""Environments, caches and what is built: every project has some, and commands are run with them on purpose."""


def ignored_code(names: Iterable[str]) -> list[str]:
    """Source files and settings of tools; of folders those that are none of the usual ones."""
    return sorted(name for name in names if _counts(PurePosixPath(name), is_folder=name.endswith("/")))


def _counts(path: PurePosixPath, *, is_folder: bool) -> bool:
    if any(part in _USUAL or part.endswith(".egg-info") for part in path.parts):
        return False
    return is_folder or path.suffix.lower() in LANGUAGES or path.suffix.lower() in _SETTINGS
