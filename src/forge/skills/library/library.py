"""The library of skills: those in the data directory, and the starters. Read from disk on every access."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from forge.errors import Conflict, ForgeError, Internal
from forge.skills.format.contents import Snapshot, encode_texts, snapshot_of
from forge.skills.format.manifest import read_skill_md
from forge.skills.library.folders import (
    ManifestFile,
    SkillFolders,
    WriteResult,
    check_unchanged,
    checked_name,
    name_taken,
    not_found,
)
from forge.skills.models import SKILL_MD, Skill, SkillFiles, SkillSource


class Library:
    """A skill in the data directory hides the starter of the same name."""

    def __init__(self, data_dir: Path) -> None:
        self._folders = SkillFolders(data_dir / "skills")

    def path(self, name: str) -> Path:
        """Return the folder of a skill, whether it exists or not."""
        return self._folders.path(name)

    async def names(self) -> list[str]:
        """Return all names, sorted, including those of unreadable skills."""
        return sorted({*await asyncio.to_thread(self._folders.names), *starters()})

    async def all(self) -> list[Skill]:
        """Return the readable skills, by name."""
        found = await self.find_many(await self.names())
        return [skill for skill in found.values() if isinstance(skill, Skill)]

    async def find_many(self, names: Iterable[str]) -> dict[str, Skill | ForgeError]:
        """Return each of the skills, or the error that keeps it from being read."""
        return await asyncio.to_thread(self._find_many, list(names))

    async def find(self, name: str) -> Skill:
        """Return a skill. Raises NotFound, or Invalid if it cannot be read."""
        found = (await self.find_many([name]))[name]
        if isinstance(found, ForgeError):
            raise found
        return found

    async def exists(self, name: str) -> bool:
        """Return whether there is a skill or starter of this name, readable or not."""
        return name in starters() or await asyncio.to_thread(self._folders.has, name)

    async def read(self, name: str) -> SkillFiles:
        """Return its text files."""
        return await asyncio.to_thread(self._read, name)

    async def write(self, skill: SkillFiles, *, replace: bool = False) -> WriteResult:
        """Write a skill atomically. Raises Conflict if a different skill of this name exists, unless `replace` is set;
        binary files of a replaced skill are kept."""
        return await asyncio.to_thread(self._write, skill, replace)

    async def snapshot(self, name: str) -> Snapshot:
        """Return all of its files. Cached until the folder changes. Raises NotFound or TooLarge."""
        return await asyncio.to_thread(self._snapshot, name)

    async def put(self, name: str, files: Mapping[str, bytes], *, replace: bool) -> WriteResult:
        """Write a whole folder atomically, text and binary files. No file of a replaced skill is kept."""
        return await asyncio.to_thread(self._put, name, files, replace)

    async def save(self, name: str, texts: Mapping[str, str], base_hash: str) -> WriteResult:
        """Replace the text files; binary files are kept. Raises Conflict unless the folder has this hash. A starter is
        copied into the data directory."""
        return await asyncio.to_thread(self._save, name, texts, base_hash)

    async def ensure_stored(self, name: str) -> WriteResult:
        """Make sure the skill is in the data directory: a starter is copied."""
        return await asyncio.to_thread(self._ensure_stored, name)

    async def remove(self, name: str) -> None:
        """Delete a skill from the data directory. Raises NotFound, and Conflict for a starter."""
        await asyncio.to_thread(self._remove, name)

    def _find_many(self, names: list[str]) -> dict[str, Skill | ForgeError]:
        seen = self._folders.read_manifests(names)
        return {name: _skill(name, seen[name]) for name in names}

    def _read(self, name: str) -> SkillFiles:
        if self._is_unmodified_starter(name):
            return starter_files(name)
        return self._folders.read(name)

    def _write(self, skill: SkillFiles, replace: bool) -> WriteResult:
        if self._is_unmodified_starter(skill.name) and not replace and skill != starter_files(skill.name):
            raise name_taken(skill.name)
        return self._folders.write(skill, replace=replace)

    def _snapshot(self, name: str) -> Snapshot:
        if self._is_unmodified_starter(name):
            return snapshot_of(name, _starter_bytes(name))
        return self._folders.snapshot(name)

    def _put(self, name: str, files: Mapping[str, bytes], replace: bool) -> WriteResult:
        if self._is_unmodified_starter(name) and not replace and files != _starter_bytes(name):
            raise name_taken(name)
        return self._folders.put(name, files, replace=replace)

    def _save(self, name: str, texts: Mapping[str, str], base_hash: str) -> WriteResult:
        if not self._is_unmodified_starter(name):
            return self._folders.save(name, texts, base_hash)
        check_unchanged(name, _starter_bytes(name), base_hash)
        return self._folders.write(SkillFiles(name=name, files=dict(texts)), replace=False)

    def _remove(self, name: str) -> None:
        if self._is_unmodified_starter(name):
            raise Conflict(
                f"The skill {name} comes with Forge and cannot be removed.",
                hint="Detach it from bots that should not use it.",
            )
        self._folders.remove(name)

    def _is_unmodified_starter(self, name: str) -> bool:
        return name in starters() and not self._folders.has(name)

    def _ensure_stored(self, name: str) -> WriteResult:
        if self._folders.has(checked_name(name)):
            return WriteResult(self.path(name), is_new=False, is_changed=False)
        return self._folders.write(self._read(name), replace=False)


def _starter_bytes(name: str) -> dict[str, bytes]:
    return encode_texts(starter_files(name).files)


def _skill(name: str, seen: ManifestFile | ForgeError | None) -> Skill | ForgeError:
    if seen is None:
        return starters().get(name) or not_found(name)
    if isinstance(seen, ForgeError):
        return seen
    found = read_skill_md(seen.text, name)
    if found.manifest is None:
        return found.error
    return Skill(manifest=found.manifest, body=found.body, source=SkillSource.LIBRARY, files=seen.files)


_STARTERS = Path(__file__).parent.parent / "starters"


@cache
def starters() -> dict[str, Skill]:
    """Return the starters by name, sorted. Each consists of instructions in a single file."""
    return {path.name: _read_starter(path) for path in sorted(_STARTERS.iterdir())}


def starter_files(name: str) -> SkillFiles:
    """Return the files of an existing starter."""
    return SkillFiles(name=name, files={SKILL_MD: _text(_STARTERS / name)})


def _read_starter(path: Path) -> Skill:
    found = read_skill_md(_text(path), path.name)
    if found.manifest is None:
        raise Internal(f"The starter {path.name} cannot be read: {found.problems[0].message}")
    return Skill(manifest=found.manifest, body=found.body, source=SkillSource.STARTER, files=[])


def _text(path: Path) -> str:
    return (path / SKILL_MD).read_text(encoding="utf-8")
