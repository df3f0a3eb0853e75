"""The library of skills: those in the data directory, read anew whenever it is asked, and the starters behind them."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from forge.errors import ForgeError, Invalid
from forge.skills.folders import Kept, Seen, SkillFolders, checked_name, missing, taken
from forge.skills.manifest import SKILL_MD, read_skill_md
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

    async def take(self, name: str) -> Kept:
        """Have it in the data directory: a starter is copied, what is there stays as it is."""
        return await asyncio.to_thread(self._take, name)

    async def remove(self, name: str) -> None:
        """From the data directory, for good. Raises NotFound."""
        await asyncio.to_thread(self._folders.remove, name)

    def _look(self, names: list[str]) -> dict[str, Skill | ForgeError]:
        seen = self._folders.look(names)
        return {name: _skill(name, seen[name]) for name in names}

    def _read(self, name: str) -> SkillFiles:
        if name in starters() and not self._folders.has(name):
            return starter_files(name)
        return self._folders.read(name)

    def _write(self, skill: SkillFiles, replace: bool) -> Kept:
        is_starters = skill.name in starters() and not self._folders.has(skill.name)
        if is_starters and not replace and skill != starter_files(skill.name):
            raise taken(skill.name)
        return self._folders.write(skill, replace=replace)

    def _take(self, name: str) -> Kept:
        if self._folders.has(checked_name(name)):
            return Kept(self.path(name), is_new=False, is_changed=False)
        return self._folders.write(self._read(name), replace=False)


def _skill(name: str, seen: Seen | ForgeError | None) -> Skill | ForgeError:
    if seen is None:
        return starters().get(name) or missing(name)
    if isinstance(seen, ForgeError):
        return seen
    found = read_skill_md(seen.text, name)
    if found.manifest is None:
        problem = found.problems[0]
        return Invalid(f"Its {SKILL_MD}, line {problem.line}: {problem.message}", hint=problem.hint)
    return Skill(manifest=found.manifest, body=found.body, source=SkillSource.LIBRARY, files=seen.files)
