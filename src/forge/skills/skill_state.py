"""The current state of skills: folder, inherited parts, origin and the grants in effect.

Grants are bound to the hash of the folder and of the folders it inherits from: the code that was reviewed is the code that
runs.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from forge.errors import ForgeError, Invalid, NotFound
from forge.kernel.hashing import hash_json
from forge.skills import store
from forge.skills.capabilities import requested_capabilities
from forge.skills.format.contents import Snapshot, encode_texts, hash_files, manifest_text, snapshot_of
from forge.skills.format.manifest import read_skill_md
from forge.skills.library.library import Library, starter_files, starters
from forge.skills.models import (
    SKILL_MD,
    Capability,
    Grant,
    Manifest,
    Origin,
    OwnSource,
    Scope,
    Skill,
    SkillKind,
    SkillSource,
    StarterSource,
    Tier,
)
from forge.skills.relations.skill_graph import (
    Composed,
    compose,
    conflict_views,
    dependency_views,
    parent_views,
    problem_of,
)
from forge.skills.store import Record
from forge.skills.views import AskedView, RelationView, SkillState
from forge.store.database import Store

MAX_CACHED_MANIFESTS = 4096
"""Number of parsed manifests to cache, by folder hash."""


@dataclass(frozen=True)
class ReadableSkill:
    """A skill of the library that can be read."""

    skill: Skill
    snapshot: Snapshot
    composed: Composed
    folder_hash: str
    """Hash of its folder, or of its folder and those of its parents."""
    record: Record | None
    grants: list[Grant]
    problem: str | None
    """A missing dependency or a conflict."""
    library: Mapping[str, Skill]
    """The skills its relations are resolved in."""

    @property
    def manifest(self) -> Manifest:
        return self.skill.manifest

    @property
    def tier(self) -> Tier:
        """The trust tier. UNTRUSTED without a record, and if a skill of others changed since it was recorded."""
        if self.record is None:
            return Tier.UNTRUSTED
        is_same = self.record.folder_hash == self.snapshot.folder_hash
        return self.record.tier if is_same or isinstance(self.record.source, OwnSource) else Tier.UNTRUSTED

    @property
    def source(self) -> Origin:
        if self.record is not None:
            return self.record.source
        return StarterSource() if _is_starter(self.snapshot) else OwnSource()

    @cached_property
    def requested(self) -> list[AskedView]:
        return requested_capabilities(self.manifest, self.composed.parents)

    @cached_property
    def active_grants(self) -> dict[Capability, Scope]:
        """Grants that are in effect."""
        asked = {one.capability for one in self.requested}
        return {
            one.capability: one.scope
            for one in self.grants
            if one.folder_hash == self.folder_hash and one.capability in asked
        }

    @property
    def is_edited(self) -> bool:
        """Whether it changed since capabilities were granted."""
        return any(one.folder_hash != self.folder_hash for one in self.grants)

    @property
    def needs_trust(self) -> bool:
        """Whether it is a program below the tier LOCAL, which cannot run."""
        return self.manifest.kind is SkillKind.LOCAL and self.tier is not Tier.LOCAL

    @property
    def state(self) -> SkillState:
        if self.problem is not None:
            return SkillState.BROKEN
        return SkillState.REVIEW if self.review_reason else SkillState.READY

    @property
    def review_reason(self) -> str | None:
        """Why a person should review its grants; None if there is no reason."""
        if self.is_edited:
            return "It changed since its capabilities were granted."
        missing = [
            one.capability
            for one in self.requested
            if one.is_needed and one.capability not in self.active_grants
        ]
        if missing:
            return f"It cannot run without {missing[0].value}."
        if self.needs_trust:
            return "It is a program, and programs run only at the tier local."
        asked = [one.capability.value for one in self.requested if one.capability is not Capability.LOG]
        return f"It asks for {', '.join(asked)}." if asked and not self.active_grants else None

    @property
    def dependencies(self) -> list[RelationView]:
        return dependency_views(self.manifest.name, self.library)

    @property
    def conflicts(self) -> list[RelationView]:
        return conflict_views(self.manifest.name, self.library)

    @property
    def parents(self) -> list[RelationView]:
        return parent_views(self.manifest.name, self.library)


@dataclass(frozen=True)
class BrokenSkill:
    """A skill of the library that cannot be read."""

    error: ForgeError
    snapshot: Snapshot
    """Empty if its files cannot be read."""
    record: Record | None

    @property
    def folder_hash(self) -> str:
        return self.snapshot.folder_hash


@dataclass(frozen=True)
class _Rows:
    records: Mapping[str, Record]
    grants: Mapping[str, list[Grant]]


class SkillStates:
    def __init__(self, database: Store, library: Library) -> None:
        self._database = database
        self._library = library
        self._read: OrderedDict[tuple[str, str], Skill | Invalid] = OrderedDict()

    async def get(self, account_id: str, name: str) -> ReadableSkill:
        """Return a skill. Raises NotFound, or the error that keeps it from being read."""
        found = await self.find(account_id, name)
        if isinstance(found, BrokenSkill):
            raise found.error
        return found

    async def find(self, account_id: str, name: str) -> ReadableSkill | BrokenSkill:
        """Return a skill, readable or not. Raises NotFound."""
        snapshot = await self._snapshot(name)
        if isinstance(snapshot, NotFound):
            raise snapshot
        async with self._database.read() as tx:
            record = await store.find_record(tx, account_id, name)
            grants = await store.list_grants(tx, account_id, name)
        rows = _Rows({name: record} if record else {}, grants)
        if isinstance(snapshot, ForgeError):
            return BrokenSkill(snapshot, snapshot_of(name, {}), record)
        skill = self._skill(snapshot)
        snapshots = {name: snapshot}
        if not isinstance(skill, Invalid) and _has_relations(skill.manifest):
            snapshots = await self.snapshots()
        return (await asyncio.to_thread(self._combine, [name], snapshots, rows))[name]

    async def require_change_permission(self, account_id: str, name: str) -> None:
        """Raise Denied unless the account may change a skill of the library."""
        async with self._database.read() as tx:
            await store.check_change(tx, account_id, name)

    async def all(self, account_id: str) -> dict[str, ReadableSkill | BrokenSkill]:
        """Return all skills by name, sorted."""
        async with self._database.read() as tx:
            rows = _Rows(await store.list_records(tx, account_id), await store.list_grants(tx, account_id))
        found, unreadable = await self._read_all()
        known = await asyncio.to_thread(self._combine, found, found, rows)
        for name, error in unreadable.items():
            if not isinstance(error, NotFound):  # otherwise it was removed in between
                known[name] = BrokenSkill(error, snapshot_of(name, {}), rows.records.get(name))
        return dict(sorted(known.items()))

    def preview(
        self, snapshots: Mapping[str, Snapshot], others: Mapping[str, Snapshot]
    ) -> dict[str, ReadableSkill | BrokenSkill]:
        """Return the state that new skills would have in the library. Blocks."""
        return self._combine(snapshots, {**others, **snapshots}, _Rows({}, {}))

    def parse(self, snapshots: Mapping[str, Snapshot]) -> dict[str, Skill]:
        """Parse the skills whose SKILL.md is valid."""
        read = {name: self._skill(snapshot) for name, snapshot in snapshots.items()}
        return {name: skill for name, skill in read.items() if isinstance(skill, Skill)}

    async def snapshots(self) -> dict[str, Snapshot]:
        """Return the snapshots of all readable skills in the library."""
        found, _ = await self._read_all()
        return found

    def _combine(
        self, names: Iterable[str], snapshots: Mapping[str, Snapshot], rows: _Rows
    ) -> dict[str, ReadableSkill | BrokenSkill]:
        skills = self.parse(snapshots)
        return {name: self._state_of(name, snapshots, skills, rows) for name in names}

    def _state_of(
        self, name: str, snapshots: Mapping[str, Snapshot], skills: Mapping[str, Skill], rows: _Rows
    ) -> ReadableSkill | BrokenSkill:
        snapshot, record = snapshots[name], rows.records.get(name)
        skill = self._skill(snapshot)
        if isinstance(skill, Invalid):
            return BrokenSkill(skill, snapshot, record)
        try:
            composed = compose(name, skills)
        except Invalid as error:
            return BrokenSkill(error, snapshot, record)
        above = [snapshots[parent.name].folder_hash for parent in composed.parents]
        return ReadableSkill(
            skill=skill,
            snapshot=snapshot,
            composed=composed,
            folder_hash=hash_json([snapshot.folder_hash, *above]) if above else snapshot.folder_hash,
            record=record,
            grants=rows.grants.get(name, []),
            problem=problem_of(name, skills),
            library=skills,
        )

    async def _read_all(self) -> tuple[dict[str, Snapshot], dict[str, ForgeError]]:
        """Return the readable snapshots, and the errors of the others."""
        read = {name: await self._snapshot(name) for name in await self._library.names()}
        return (
            {name: one for name, one in read.items() if isinstance(one, Snapshot)},
            {name: one for name, one in read.items() if isinstance(one, ForgeError)},
        )

    async def _snapshot(self, name: str) -> Snapshot | ForgeError:
        try:
            return await self._library.snapshot(name)
        except ForgeError as error:
            return error

    def _skill(self, snapshot: Snapshot) -> Skill | Invalid:
        key = (snapshot.name, snapshot.folder_hash)
        found = self._read.get(key)
        if found is None:
            found = self._read[key] = _parsed(snapshot)
            if len(self._read) > MAX_CACHED_MANIFESTS:
                self._read.popitem(last=False)
        return found


def _parsed(snapshot: Snapshot) -> Skill | Invalid:
    try:
        found = read_skill_md(manifest_text(snapshot.files.get(SKILL_MD, b"")), snapshot.name)
    except Invalid as error:
        return error
    if found.manifest is None:
        return found.error
    return Skill(
        manifest=found.manifest,
        body=found.body,
        source=SkillSource.LIBRARY,
        files=[path for path in snapshot.files if path != SKILL_MD],
    )


def _has_relations(manifest: Manifest) -> bool:
    return bool(manifest.dependencies or manifest.parents or manifest.conflicts)


def _is_starter(snapshot: Snapshot) -> bool:
    if snapshot.name not in starters():
        return False
    return hash_files(encode_texts(starter_files(snapshot.name).files)) == snapshot.folder_hash
