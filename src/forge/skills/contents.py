"""What the folder of a skill may hold, and one hash for all of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from forge.documents.text import unusable_text
from forge.errors import Invalid, TooLarge
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD
from forge.workspace.entries import IGNORED
from forge.workspace.paths import Parts, ProtectedNames, parse

MAX_SKILL_BYTES = 200_000
"""Of SKILL.md."""
MAX_FILE_BYTES = 1_000_000
"""Of a file that counts as text."""
MAX_BYTES = 4_000_000
"""Of all files that are text, together."""
MAX_FILES = 200
MAX_ANY_BYTES = 16 << 20
"""Of any file."""
MAX_TOTAL_BYTES = 32 << 20
"""Of all files, together."""

LEFT_OUT = IGNORED - {"dist", "build"}
"""Directories that never belong to a skill. What was built may: it is what runs."""
_PROTECTED = ProtectedNames()


@dataclass(frozen=True)
class Snapshot:
    """A skill as it was at one moment."""

    name: str
    files: Mapping[str, bytes]
    """By path, with forward slashes, sorted."""
    folder_hash: str


def snapshot_of(name: str, files: Mapping[str, bytes]) -> Snapshot:
    return Snapshot(name, dict(sorted(files.items())), hash_of(files))


def hash_of(files: Mapping[str, bytes]) -> str:
    """The same for the same paths with the same bytes, and for nothing else."""
    found = hashlib.sha256()
    for path, data in sorted(files.items()):
        name = path.encode()
        found.update(b"%d:%b%d:" % (len(name), name, len(data)))
        found.update(data)
    return found.hexdigest()


def encoded(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def text_of(data: bytes) -> str | None:
    """None for what is no text, or too long to be edited."""
    if len(data) > MAX_FILE_BYTES:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if unusable_text(text) else text


def belongs(parts: Parts) -> bool:
    """Whether a path leads through nothing that is left out."""
    return not any(part in LEFT_OUT for part in parts[:-1])


def check_texts(name: str, files: Mapping[str, str]) -> None:
    """Whether these are a skill that can be read again."""
    sizes = {path: len(text.encode(errors="replace")) for path, text in files.items()}
    if sum(sizes.values()) > MAX_BYTES:
        raise TooLarge(f"The text files of a skill have {MAX_BYTES // 1_000_000} MB at most, together.")
    for path, text in files.items():
        check_path(path)
        if path != SKILL_MD and sizes[path] > MAX_FILE_BYTES:
            raise too_long(path, MAX_FILE_BYTES)
        if problem := unusable_text(text):
            raise Invalid(f"{path}, line {problem.line}: {problem.message}", hint=problem.hint)
    check_files(name, encoded(files))


def check_files(name: str, files: Mapping[str, bytes]) -> None:
    """Whether these are a skill, be it text or not."""
    check_sizes({path: len(data) for path, data in files.items()})
    for path in files:
        check_path(path)
    if SKILL_MD not in files:
        raise Invalid(f"A skill needs a {SKILL_MD}.")
    if mistake := read_skill_md(manifest_text(files[SKILL_MD]), name).mistake:
        raise Invalid(f"{SKILL_MD}, {mistake.said}", hint=mistake.hint)


def check_sizes(sizes: Mapping[str, int]) -> None:
    if len(sizes) > MAX_FILES:
        raise TooLarge(f"A skill has {MAX_FILES} files at most.")
    for path, size in sizes.items():
        most = MAX_SKILL_BYTES if path == SKILL_MD else MAX_ANY_BYTES
        if size > most:
            raise too_long(path, most)
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        raise TooLarge(f"The files of a skill have {MAX_TOTAL_BYTES >> 20} MB at most, together.")


def too_long(path: str, most: int) -> TooLarge:
    return TooLarge(f"{path[:200]} has more than {most // 1000:,} kB.", hint="Spread it over several files.")


def check_path(path: str) -> None:
    parts = parse(path)
    if "/".join(parts) != path:
        raise Invalid(f"{path[:200]!r} is not the path of a file.", hint="Write it as scripts/run.py.")
    _PROTECTED.check(parts)
    if not belongs(parts):
        ignored = next(part for part in parts if part in LEFT_OUT)
        raise Invalid(f"Nothing below {ignored!r} belongs to a skill.", hint="Choose another folder.")


def manifest_text(data: bytes) -> str:
    if len(data) > MAX_SKILL_BYTES:
        raise Invalid(f"Its {SKILL_MD} has more than {MAX_SKILL_BYTES // 1000} kB.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"Its {SKILL_MD} is not text in UTF-8.") from error
