"""Fetch skills from repositories, registries, folders and archives, and stage them for review. Nothing is executed."""

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from forge.errors import ForgeError, Invalid, NotFound
from forge.kernel.hashing import hash_bytes
from forge.skills.format.contents import Snapshot, file_views, snapshot_of, text_of
from forge.skills.format.manifest import read_skill_md
from forge.skills.format.validation import validate
from forge.skills.format.zip_archive import MAX_ARCHIVE, unpack
from forge.skills.installation.registries import Registries, VerifiedArchive
from forge.skills.installation.repositories import Repositories
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.installation.skill_finder import FoundSkill, find_skills
from forge.skills.installation.staging import Stage, StageEntry, Stages
from forge.skills.installation.views import PathSource, Staged, StagedSkill
from forge.skills.library.library import Library
from forge.skills.models import (
    SKILL_MD,
    FolderSource,
    GitSource,
    Origin,
    RegistrySource,
    SkillProblem,
    ZipSource,
)
from forge.skills.relations.semver import Requirement, parse_requirements
from forge.skills.skill_state import BrokenSkill, ReadableSkill, SkillStates

MAX_NEEDED = 50
"""Maximum number of dependencies to fetch along with a skill."""


@dataclass(frozen=True)
class SkillFetcher:
    stages: Stages
    repositories: Repositories
    registries: Registries
    roots: AllowedFolders
    library: Library
    states: SkillStates

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
        """Stage an uploaded zip. `folder` is the sender's folder it was packed from."""
        source = FolderSource(path=folder) if folder else ZipSource(name=name, sha256=hash_bytes(data))
        return await self._keep(account_id, await asyncio.to_thread(_from_zip, data, source))

    async def fetch_again(self, account_id: str, source: Origin) -> Staged:
        """Fetch the latest version from the skill's origin: its branch or its registry."""
        match source:
            case GitSource():
                return await self.fetch(account_id, source.model_copy(update={"commit": None}))
            case RegistrySource():
                await self.registries.refresh(account_id, source.registry)
                newest = source.model_copy(update={"version": "", "sha256": None})
                return await self.fetch(account_id, newest)
            case _:
                raise Invalid(
                    "It was not installed from a repository or a registry, so it cannot be updated.",
                    hint="Install the new version over it: --force.",
                )

    async def look(self, account_id: str, stage_id: str) -> Staged:
        """Return a stage, compared with the current library."""
        return await self._describe_stage(await self.stages.open(account_id, stage_id))

    async def _keep(self, account_id: str, skills: list[StageEntry]) -> Staged:
        if not skills:
            raise NotFound("No folder contains a SKILL.md.", hint="A skill is a folder with a SKILL.md.")
        return await self._describe_stage(await self.stages.keep(account_id, _without_duplicates(skills)))

    async def _from_repository(self, source: GitSource) -> list[StageEntry]:
        fetched = await self.repositories.fetch(source)
        return [
            StageEntry(found, fetched.source.model_copy(update={"path": found.path}))
            for found in fetched.skills
        ]

    async def _from_registry(self, account_id: str, source: RegistrySource) -> list[StageEntry]:
        """Fetch a skill, and its dependencies that the library does not have."""
        wanted = [await self.registries.fetch(account_id, source)]
        found: dict[str, StageEntry] = {}
        while wanted:
            parcel = wanted.pop()
            found[parcel.offer.name] = await asyncio.to_thread(_from_parcel, parcel)
            for requirement in parse_requirements(parcel.offer.dependencies):
                if requirement.name in found or len(found) + len(wanted) > MAX_NEEDED:
                    continue
                if await self._is_satisfied(requirement):
                    continue
                if more := await self.registries.fetch_needed(account_id, source.registry, requirement):
                    wanted.append(more)
        return list(found.values())

    def _from_path(self, text: str) -> list[StageEntry]:
        path = self.roots.find(text)
        if path.is_file():
            data = self.roots.read_file(path, MAX_ARCHIVE)
            return _from_zip(data, ZipSource(name=path.name[:255], sha256=hash_bytes(data)))
        files, refused = self.roots.read_folder(path)
        return [
            StageEntry(found, FolderSource(path=str(path / found.path)))
            for found in find_skills(files, refused=refused)
        ]

    async def _describe_stage(self, stage: Stage) -> Staged:
        names = set(await self.library.names())
        described = await describe_skills(self.states, stage.skills)
        skills = [
            _compared(one, waiting, await self._files_in_library(waiting.found.name, names))
            for one, waiting in zip(described, stage.skills, strict=True)
        ]
        return Staged(id=stage.id, skills=skills, expires_at=stage.expires_at)

    async def _files_in_library(self, name: str, names: Container[str]) -> Mapping[str, bytes] | None:
        """Return the files of the skill in the library; None if there is none, empty if it cannot be read."""
        if name not in names:
            return None
        try:
            return (await self.library.snapshot(name)).files
        except ForgeError:
            return {}

    async def _is_satisfied(self, requirement: Requirement) -> bool:
        there = await self._files_in_library(requirement.name, await self.library.names())
        version = _version_in(there, requirement.name) if there else None
        return version is not None and requirement.accepts(version)


def _compared(described: StagedSkill, waiting: StageEntry, there: Mapping[str, bytes] | None) -> StagedSkill:
    """Add the comparison with the skill in the library."""
    found = waiting.found
    update: dict[str, object] = {
        "valid": described.valid and found.mistake is None,
        "problems": sorted(
            dict.fromkeys([*found.problems, *described.problems]), key=lambda problem: problem.is_warning
        ),
    }
    if there is not None:
        paths = sorted({*there, *found.files})
        update["replaces"] = _version_in(there, found.name) or "unknown"
        update["is_same"] = there == found.files
        update["changes"] = [path for path in paths if there.get(path) != found.files.get(path)]
    return described.model_copy(update=update)


def _from_zip(data: bytes, source: Origin) -> list[StageEntry]:
    return [StageEntry(found, source) for found in find_skills(unpack(data))]


def _from_parcel(parcel: VerifiedArchive) -> StageEntry:
    offer = parcel.offer
    found = next((one for one in find_skills(unpack(parcel.data)) if one.name == offer.name), None)
    if found is None:
        raise Invalid(f"The archive of {offer.name} {offer.version} does not contain this skill.")
    says = _version_in(found.files, found.name)
    if says in (None, offer.version):
        return StageEntry(found, parcel.source)
    message = f"The registry lists version {offer.version}, but its SKILL.md says {says}."
    problems = [*found.problems, SkillProblem(message=message, is_warning=True)]
    return StageEntry(replace(found, problems=problems), parcel.source)


def _without_duplicates(skills: Iterable[StageEntry]) -> list[StageEntry]:
    """Remove duplicates, by path. Different skills with the same name get a problem, except the first."""
    first: dict[str, FoundSkill] = {}
    kept: list[StageEntry] = []
    for waiting in sorted(skills, key=lambda each: (each.found.path.count("/"), each.found.path)):
        found = waiting.found
        other = first.setdefault(found.name, found)
        if other is found:
            kept.append(waiting)
        elif other.files != found.files:
            message = f"Another skill has this name, in {other.path or 'the top folder'}."
            hint = "To install this one, install from this folder alone."
            problems = [*found.problems, SkillProblem(message=message, hint=hint)]
            kept.append(StageEntry(replace(found, problems=problems), waiting.source))
    return sorted(kept, key=lambda each: each.found.path)


def _version_in(files: Mapping[str, bytes], name: str) -> str | None:
    text = text_of(files[SKILL_MD]) if SKILL_MD in files else None
    manifest = read_skill_md(text, name).manifest if text is not None else None
    return manifest.version if manifest else None


async def describe_skills(states: SkillStates, skills: Sequence[StageEntry]) -> list[StagedSkill]:
    """Validate and compare each skill with the library and the other skills of the stage."""
    there = await states.snapshots()
    return await asyncio.to_thread(_describe, states, skills, there)


def _describe(
    states: SkillStates, skills: Sequence[StageEntry], there: Mapping[str, Snapshot]
) -> list[StagedSkill]:
    """Describe each skill together with the others, which may be its dependencies."""
    fetched = {one.found.name: snapshot_of(one.found.name, one.found.files) for one in skills}
    known = states.preview(fetched, there)
    return [_staged(one, fetched[one.found.name], known[one.found.name]) for one in skills]


def _staged(waiting: StageEntry, snapshot: Snapshot, known: ReadableSkill | BrokenSkill) -> StagedSkill:
    found = waiting.found
    report = validate(found.name, found.files)
    staged = StagedSkill(
        name=found.name,
        path=found.path,
        valid=report.valid,
        problems=report.problems,
        manifest=report.manifest,
        folder_hash=snapshot.folder_hash,
        files=file_views(found.files),
        asks=report.asks,
        source=waiting.source,
    )
    if isinstance(known, BrokenSkill):
        problems = [*_broken(known), *report.problems] if report.valid else report.problems
        return staged.model_copy(update={"valid": False, "problems": problems})
    needs = [*known.parents, *known.dependencies]
    return staged.model_copy(update={"asks": known.requested, "needs": needs, "conflicts": known.conflicts})


def _broken(broken: BrokenSkill) -> list[SkillProblem]:
    return [SkillProblem(message=broken.error.message, hint=broken.error.hint)]
