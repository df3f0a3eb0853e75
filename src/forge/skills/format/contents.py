"""Check and hash the files of a skill folder."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from forge.documents.problems import find_unusable_text
from forge.errors import Invalid, TooLarge
from forge.skills.format.manifest import read_skill_md
from forge.skills.models import SKILL_MD
from forge.skills.views import SkillFileView
from forge.workspace.filesystem.entries import IGNORED
from forge.workspace.filesystem.paths import Parts, ProtectedNames, parse

MAX_SKILL_BYTES = 200_000
"""Maximum size of SKILL.md."""
MAX_FILE_BYTES = 1_000_000
"""Maximum size of a text file."""
MAX_BYTES = 4_000_000
"""Maximum size of all text files together."""
MAX_FILES = 200
MAX_ANY_BYTES = 16 << 20
"""Maximum size of a file."""
MAX_TOTAL_BYTES = 32 << 20
"""Maximum size of all files together."""

IGNORED_FOLDERS = IGNORED - {"dist", "build"}
"""Directories that are not part of a skill. Build output is: it may be what runs."""
_PROTECTED = ProtectedNames()


@dataclass(frozen=True)
class Snapshot:
    """The files of a skill at one moment."""

    name: str
    files: Mapping[str, bytes]
    """By path, with forward slashes, sorted."""
    folder_hash: str


def snapshot_of(name: str, files: Mapping[str, bytes]) -> Snapshot:
    return Snapshot(name, dict(sorted(files.items())), hash_files(files))


def hash_files(files: Mapping[str, bytes]) -> str:
    """Hash paths and contents, each with its length so that no two folders collide."""
    found = hashlib.sha256()
    for path, data in sorted(files.items()):
        name = path.encode()
        found.update(b"%d:%b%d:" % (len(name), name, len(data)))
        found.update(data)
    return found.hexdigest()


def encode_texts(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {path: text.encode() for path, text in texts.items()}


def text_of(data: bytes) -> str | None:
    """Decode a text file; None if it is binary or too long to edit."""
    if len(data) > MAX_FILE_BYTES:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return None if find_unusable_text(text) else text


def is_part_of_skill(parts: Parts) -> bool:
    """Return whether no directory of the path is in IGNORED_FOLDERS."""
    return not any(part in IGNORED_FOLDERS for part in parts[:-1])


def check_texts(name: str, files: Mapping[str, str]) -> None:
    """Raise unless these text files are a valid skill."""
    sizes = {path: len(text.encode(errors="replace")) for path, text in files.items()}
    if sum(sizes.values()) > MAX_BYTES:
        raise TooLarge(f"The text files of a skill exceed {MAX_BYTES // 1_000_000} MB in total.")
    for path, text in files.items():
        check_path(path)
        if path != SKILL_MD and sizes[path] > MAX_FILE_BYTES:
            raise file_too_large(path, MAX_FILE_BYTES)
        if problem := find_unusable_text(text):
            raise Invalid(f"{path}, line {problem.line}: {problem.message}", hint=problem.hint)
    check_files(name, encode_texts(files))


def check_files(name: str, files: Mapping[str, bytes]) -> None:
    """Raise unless these files, text or binary, are a valid skill."""
    check_sizes({path: len(data) for path, data in files.items()})
    for path in files:
        check_path(path)
    if SKILL_MD not in files:
        raise Invalid(f"A skill needs a {SKILL_MD}.")
    if mistake := read_skill_md(manifest_text(files[SKILL_MD]), name).mistake:
        raise Invalid(f"{SKILL_MD}, {mistake.located_message}", hint=mistake.hint)


def check_sizes(sizes: Mapping[str, int]) -> None:
    if len(sizes) > MAX_FILES:
        raise TooLarge(f"The skill has more than {MAX_FILES} files.")
    for path, size in sizes.items():
        most = MAX_SKILL_BYTES if path == SKILL_MD else MAX_ANY_BYTES
        if size > most:
            raise file_too_large(path, most)
    if sum(sizes.values()) > MAX_TOTAL_BYTES:
        raise TooLarge(f"The files of a skill exceed {MAX_TOTAL_BYTES >> 20} MB in total.")


def file_too_large(path: str, most: int) -> TooLarge:
    return TooLarge(f"{path[:200]} has more than {most // 1000:,} kB.", hint="Spread it over several files.")


def check_path(path: str) -> None:
    parts = parse(path)
    if "/".join(parts) != path:
        raise Invalid(f"{path[:200]!r} is not a valid file path.", hint="Write it as scripts/run.py.")
    _PROTECTED.check(parts)
    if not is_part_of_skill(parts):
        ignored = next(part for part in parts if part in IGNORED_FOLDERS)
        raise Invalid(f"Files in {ignored!r} are not part of a skill.", hint="Choose another folder.")


def manifest_text(data: bytes) -> str:
    if len(data) > MAX_SKILL_BYTES:
        raise Invalid(f"Its {SKILL_MD} has more than {MAX_SKILL_BYTES // 1000} kB.")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Invalid(f"Its {SKILL_MD} is not text in UTF-8.") from error


def file_views(files: Mapping[str, bytes]) -> list[SkillFileView]:
    return [
        SkillFileView(path=path, bytes=len(data), is_text=text_of(data) is not None)
        for path, data in files.items()
    ]
