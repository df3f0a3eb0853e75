"""The library of skills: those in the data directory, read anew whenever it is asked, and the starters behind them."""

import asyncio
from collections.abc import Iterable, Mapping
from pathlib import Path

from forge.errors import Conflict, ForgeError
from forge.skills.contents import Snapshot, encoded, snapshot_of
from forge.skills.folders import Kept, Seen, SkillFolders, check_base, checked_name, missing, taken
from forge.skills.manifest import read_skill_md
from forge.skills.models import Skill, SkillFiles, SkillSource
from forge.skills.starters import starter_files, starters


class Library:
    """A skill of somebody's own hides the starter of its name."""

    def __init__(self, data_dir: Path) -> None:
        self._folders = SkillFolders(data_dir / "skills")

    def path(self, name: str) -> Path:
        """Where it is, or would be."""
        return self._folders.path(name)

    async def names(self) -> list[str]:
        """Of all there are, sorted, whether they can be read or not."""
        return sorted({*await asyncio.to_thread(self._folders.names), *starters()})

    async def all(self) -> list[Skill]:
        """Those that can be read, by name."""
        found = await self.look(await self.names())
        return [skill for skill in found.values() if isinstance(skill, Skill)]

    async def look(self, names: Iterable[str]) -> dict[str, Skill | ForgeError]:
        """Each of these, or why it cannot be had."""
        return await asyncio.to_thread(self._look, list(names))

    async def find(self, name: str) -> Skill:
        """Raises NotFound, or Invalid when there is one that cannot be read."""
        found = (await self.look([name]))[name]
        if isinstance(found, ForgeError):
            raise found
        return found

    async def exists(self, name: str) -> bool:
        """In the data directory or among the starters, readable or not."""
        return name in starters() or await asyncio.to_thread(self._folders.has, name)

    async def read(self, name: str) -> SkillFiles:
        """All of its files that are text."""
        return await asyncio.to_thread(self._read, name)

    async def write(self, skill: SkillFiles, *, replace: bool = False) -> Kept:
        """All of it or nothing. What is there already, just so, is left alone; another of this name is a Conflict,
        unless it is to be replaced. Of a replaced one, the files that are no text stay."""
        return await asyncio.to_thread(self._write, skill, replace)

    async def snapshot(self, name: str) -> Snapshot:
        """All of its files as they are now. Quick as long as nothing changes. Raises NotFound or TooLarge."""
        return await asyncio.to_thread(self._snapshot, name)

    async def put(self, name: str, files: Mapping[str, bytes], *, replace: bool) -> Kept:
        """A whole folder, text or not: all of it or nothing. What is replaced is gone whole."""
        return await asyncio.to_thread(self._put, name, files, replace)

    async def save(self, name: str, texts: Mapping[str, str], base_hash: str) -> Kept:
        """The text files as they are to be; those not named are removed, and what is no text stays. Raises Conflict
        when the folder is not the one of this hash any more. A starter becomes somebody's own."""
        return await asyncio.to_thread(self._save, name, texts, base_hash)

    async def take(self, name: str) -> Kept:
        """Have it in the data directory: a starter is copied, what is there stays as it is."""
        return await asyncio.to_thread(self._take, name)

    async def remove(self, name: str) -> None:
        """From the data directory, for good. Raises NotFound, and Conflict for a starter."""
        await asyncio.to_thread(self._remove, name)

    def _look(self, names: list[str]) -> dict[str, Skill | ForgeError]:
        seen = self._folders.look(names)
        return {name: _skill(name, seen[name]) for name in names}

    def _read(self, name: str) -> SkillFiles:
        if self._is_starters(name):
            return starter_files(name)
        return self._folders.read(name)

    def _write(self, skill: SkillFiles, replace: bool) -> Kept:
        if self._is_starters(skill.name) and not replace and skill != starter_files(skill.name):
            raise taken(skill.name)
        return self._folders.write(skill, replace=replace)

    def _snapshot(self, name: str) -> Snapshot:
        if self._is_starters(name):
            return snapshot_of(name, _starter_bytes(name))
        return self._folders.snapshot(name)

    def _put(self, name: str, files: Mapping[str, bytes], replace: bool) -> Kept:
        if self._is_starters(name) and not replace and files != _starter_bytes(name):
            raise taken(name)
        return self._folders.put(name, files, replace=replace)

    def _save(self, name: str, texts: Mapping[str, str], base_hash: str) -> Kept:
        if not self._is_starters(name):
            return self._folders.save(name, texts, base_hash)
        check_base(name, _starter_bytes(name), base_hash)
        return self._folders.write(SkillFiles(name=name, files=dict(texts)), replace=False)

    def _remove(self, name: str) -> None:
        if self._is_starters(name):
            raise Conflict(
                f"The skill {name} came with Forge, and stays.", hint="Only bots that have it can use it."
            )
        self._folders.remove(name)

    def _is_starters(self, name: str) -> bool:
        return name in starters() and not self._folders.has(name)

    def _take(self, name: str) -> Kept:
        if self._folders.has(checked_name(name)):
            return Kept(self.path(name), is_new=False, is_changed=False)
        return self._folders.write(self._read(name), replace=False)


def _starter_bytes(name: str) -> dict[str, bytes]:
    return encoded(starter_files(name).files)


def _skill(name: str, seen: Seen | ForgeError | None) -> Skill | ForgeError:
    if seen is None:
        return starters().get(name) or missing(name)
    if isinstance(seen, ForgeError):
        return seen
    found = read_skill_md(seen.text, name)
    if found.manifest is None:
        return found.error
    return Skill(manifest=found.manifest, body=found.body, source=SkillSource.LIBRARY, files=seen.files)
