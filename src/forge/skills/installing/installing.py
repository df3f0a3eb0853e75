"""Fetches skills from wherever they are, and lays them out to be looked at. Nothing of them is executed or installed."""

import asyncio
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace

from forge.errors import ForgeError, Invalid, NotFound
from forge.kernel.hashing import hash_bytes
from forge.skills.contents import text_of
from forge.skills.installing.archive import MAX_ARCHIVE, unpack
from forge.skills.installing.describing import describe
from forge.skills.installing.found import Found, find_skills
from forge.skills.installing.places import Roots
from forge.skills.installing.registries import Parcel, Registries
from forge.skills.installing.repositories import Repositories
from forge.skills.installing.staging import Stage, Stages, Waiting
from forge.skills.installing.views import PathSource, Staged, StagedSkill
from forge.skills.knowing import Knowing
from forge.skills.library import Library
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD, SkillProblem
from forge.skills.relations.needs import Need, needs_of
from forge.skills.sources import FolderSource, GitSource, Origin, RegistrySource, ZipSource

MAX_NEEDED = 50
"""Of what comes along because a skill depends on it."""


@dataclass(frozen=True)
class Installing:
    stages: Stages
    repositories: Repositories
    registries: Registries
    roots: Roots
    library: Library
    knowing: Knowing

    async def fetch(self, account_id: str, source: GitSource | RegistrySource | PathSource) -> Staged:
        match source:
            case GitSource():
                skills = await self._from_repository(source)
            case RegistrySource():
                skills = await self._from_registry(account_id, source)
            case PathSource():
                skills = await asyncio.to_thread(self._from_path, source.path)
        return await self._keep(account_id, skills)

    async def take_zip(self, account_id: str, name: str, data: bytes, *, folder: str = "") -> Staged:
        """`folder`: of the one it was made from, on the machine of whoever sends it."""
        source = FolderSource(path=folder) if folder else ZipSource(name=name, sha256=hash_bytes(data))
        return await self._keep(account_id, await asyncio.to_thread(_from_zip, data, source))

    async def fetch_again(self, account_id: str, source: Origin) -> Staged:
        """The latest from where it came from: of the branch it was on, or the newest version of its registry."""
        match source:
            case GitSource():
                return await self.fetch(account_id, source.model_copy(update={"commit": None}))
            case RegistrySource():
                await self.registries.refresh(account_id, source.registry)
                newest = source.model_copy(update={"version": "", "sha256": None})
                return await self.fetch(account_id, newest)
            case _:
                raise Invalid(
                    "It did not come from a repository or a registry, so there is nowhere to look for a newer one.",
                    hint="Install the new one over it: --force.",
                )

    async def look(self, account_id: str, stage_id: str) -> Staged:
        """As it is now: the library may have changed since it was fetched."""
        return await self._told(await self.stages.open(account_id, stage_id))

    async def _keep(self, account_id: str, skills: list[Waiting]) -> Staged:
        if not skills:
            raise NotFound(
                "There is no folder with a SKILL.md.", hint="A skill is a folder with that file in it."
            )
        return await self._told(await self.stages.keep(account_id, _once(skills)))

    async def _from_repository(self, source: GitSource) -> list[Waiting]:
        fetched = await self.repositories.fetch(source)
        return [
            Waiting(found, fetched.source.model_copy(update={"path": found.path})) for found in fetched.skills
        ]

    async def _from_registry(self, account_id: str, source: RegistrySource) -> list[Waiting]:
        """With what it needs and the library does not have."""
        wanted = [await self.registries.fetch(account_id, source)]
        found: dict[str, Waiting] = {}
        while wanted:
            parcel = wanted.pop()
            found[parcel.offer.name] = await asyncio.to_thread(_from_parcel, parcel)
            for need in needs_of(parcel.offer.dependencies):
                if need.name in found or len(found) + len(wanted) > MAX_NEEDED:
                    continue
                if await self._has(need):
                    continue
                if more := await self.registries.fetch_needed(account_id, source.registry, need):
                    wanted.append(more)
        return list(found.values())

    def _from_path(self, text: str) -> list[Waiting]:
        path = self.roots.find(text)
        if path.is_file():
            data = self.roots.read_file(path, MAX_ARCHIVE)
            return _from_zip(data, ZipSource(name=path.name[:255], sha256=hash_bytes(data)))
        files, refused = self.roots.read_folder(path)
        return [
            Waiting(found, FolderSource(path=str(path / found.path)))
            for found in find_skills(files, refused=refused)
        ]

    async def _told(self, stage: Stage) -> Staged:
        names = set(await self.library.names())
        told = await describe(self.knowing, stage.skills)
        skills = [
            _compared(one, waiting, await self._there(waiting.found.name, names))
            for one, waiting in zip(told, stage.skills, strict=True)
        ]
        return Staged(id=stage.id, skills=skills, expires_at=stage.expires_at)

    async def _there(self, name: str, names: Container[str]) -> Mapping[str, bytes] | None:
        """The one in the library. One that cannot be read has no file in common with any other."""
        if name not in names:
            return None
        try:
            return (await self.library.snapshot(name)).files
        except ForgeError:
            return {}

    async def _has(self, need: Need) -> bool:
        there = await self._there(need.name, await self.library.names())
        version = _version_in(there, need.name) if there else None
        return version is not None and need.takes(version)


def _compared(told: StagedSkill, waiting: Waiting, there: Mapping[str, bytes] | None) -> StagedSkill:
    """With what of it is in the library already."""
    found = waiting.found
    update: dict[str, object] = {
        "valid": told.valid and found.mistake is None,
        "problems": sorted(
            dict.fromkeys([*found.problems, *told.problems]), key=lambda problem: problem.is_warning
        ),
    }
    if there is not None:
        paths = sorted({*there, *found.files})
        update["replaces"] = _version_in(there, found.name) or "unknown"
        update["is_same"] = there == found.files
        update["changes"] = [path for path in paths if there.get(path) != found.files.get(path)]
    return told.model_copy(update=update)


def _from_zip(data: bytes, source: Origin) -> list[Waiting]:
    return [Waiting(found, source) for found in find_skills(unpack(data))]


def _from_parcel(parcel: Parcel) -> Waiting:
    offer = parcel.offer
    found = next((one for one in find_skills(unpack(parcel.data)) if one.name == offer.name), None)
    if found is None:
        raise Invalid(f"The archive of {offer.name} {offer.version} has no skill of this name in it.")
    says = _version_in(found.files, found.name)
    if says in (None, offer.version):
        return Waiting(found, parcel.source)
    message = f"The registry calls it {offer.version}, and it calls itself {says}."
    problems = [*found.problems, SkillProblem(message=message, is_warning=True)]
    return Waiting(replace(found, problems=problems), parcel.source)


def _once(skills: Iterable[Waiting]) -> list[Waiting]:
    """By path. One that lies there twice counts once; two of one name cannot both be installed."""
    first: dict[str, Found] = {}
    kept: list[Waiting] = []
    for waiting in sorted(skills, key=lambda each: (each.found.path.count("/"), each.found.path)):
        found = waiting.found
        other = first.setdefault(found.name, found)
        if other is found:
            kept.append(waiting)
        elif other.files != found.files:
            message = f"There is another skill of this name, in {other.path or 'the top folder'}."
            hint = "Install from this folder alone to have this one."
            problems = [*found.problems, SkillProblem(message=message, hint=hint)]
            kept.append(Waiting(replace(found, problems=problems), waiting.source))
    return sorted(kept, key=lambda each: each.found.path)


def _version_in(files: Mapping[str, bytes], name: str) -> str | None:
    text = text_of(files[SKILL_MD]) if SKILL_MD in files else None
    manifest = read_skill_md(text, name).manifest if text is not None else None
    return manifest.version if manifest else None
