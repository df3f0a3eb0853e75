"""A skill as it is at one moment: its folder, what it inherits, where it came from, and which grants count.

What is granted is bound to the hash of the folder, and of the folders it inherits from: the code that was looked at is
the code that runs.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from forge.errors import ForgeError, Invalid, NotFound
from forge.kernel.hashing import hash_json
from forge.skills import store
from forge.skills.contents import Snapshot, encoded, hash_of, manifest_text, snapshot_of
from forge.skills.library import Library
from forge.skills.manifest import read_skill_md
from forge.skills.models import (
    SKILL_MD,
    Capability,
    Grant,
    Manifest,
    Scope,
    Skill,
    SkillKind,
    SkillSource,
    Tier,
)
from forge.skills.relations.graph import (
    Composed,
    compose,
    conflict_views,
    dependency_views,
    parent_views,
    problem_of,
)
from forge.skills.sources import Origin, OwnSource, StarterSource
from forge.skills.starters import starter_files, starters
from forge.skills.store import Record
from forge.skills.views import AskedView, RelationView, SkillState
from forge.skills.wishes import asks_of
from forge.store.engine import Store

MAX_READ = 4096
"""Manifests that are kept, by the hash of their folder."""


@dataclass(frozen=True)
class Known:
    """One skill that can be read."""

    skill: Skill
    snapshot: Snapshot
    composed: Composed
    folder_hash: str
    """Of its folder; with parents, of all of them together."""
    record: Record | None
    grants: list[Grant]
    problem: str | None
    """What it depends on and is not there, or does not go along with it."""
    library: Mapping[str, Skill]
    """Those it may have to do with."""

    @property
    def manifest(self) -> Manifest:
        return self.skill.manifest

    @property
    def tier(self) -> Tier:
        """What nobody has said anything about is not trusted; nor is what was said of other people's work before it was
        changed."""
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
    def asks(self) -> list[AskedView]:
        return asks_of(self.manifest, self.composed.parents)

    @cached_property
    def counting(self) -> dict[Capability, Scope]:
        """What it may do now."""
        asked = {one.capability for one in self.asks}
        return {
            one.capability: one.scope
            for one in self.grants
            if one.folder_hash == self.folder_hash and one.capability in asked
        }

    @property
    def is_edited(self) -> bool:
        """It was granted something and has been changed since."""
        return any(one.folder_hash != self.folder_hash for one in self.grants)

    @property
    def needs_trust(self) -> bool:
        """It is a program, and is not trusted as one's own."""
        return self.manifest.kind is SkillKind.LOCAL and self.tier is not Tier.LOCAL

    @property
    def state(self) -> SkillState:
        if self.problem is not None:
            return SkillState.BROKEN
        return SkillState.REVIEW if self.review else SkillState.READY

    @property
    def review(self) -> str | None:
        """Why a person should look at what it may do."""
        if self.is_edited:
            return "It was changed since you granted it what it may do."
        missing = [
            one.capability for one in self.asks if one.is_needed and one.capability not in self.counting
        ]
        if missing:
            return f"It cannot run without {missing[0].value}."
        if self.needs_trust:
            return "It is a program, and programs run at the tier local only."
        asked = [one.capability.value for one in self.asks if one.capability is not Capability.LOG]
        return f"It asks for {', '.join(asked)}." if asked and not self.counting else None

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
class Broken:
    """One that is there and cannot be used."""

    error: ForgeError
    snapshot: Snapshot
    """Empty when not even its files can be read."""
    record: Record | None

    @property
    def folder_hash(self) -> str:
        return self.snapshot.folder_hash


@dataclass(frozen=True)
class _Rows:
    records: Mapping[str, Record]
    grants: Mapping[str, list[Grant]]


class Knowing:
    def __init__(self, database: Store, library: Library) -> None:
        self._database = database
        self._library = library
        self._read: OrderedDict[tuple[str, str], Skill | Invalid] = OrderedDict()

    async def one(self, account_id: str, name: str) -> Known:
        """Raises NotFound, or what keeps it from being read."""
        found = await self.look(account_id, name)
        if isinstance(found, Broken):
            raise found.error
        return found

    async def look(self, account_id: str, name: str) -> Known | Broken:
        """Raises NotFound."""
        snapshot = await self._snapshot(name)
        if isinstance(snapshot, NotFound):
            raise snapshot
        async with self._database.read() as tx:
            record = await store.find_record(tx, account_id, name)
            grants = await store.list_grants(tx, account_id, name)
        rows = _Rows({name: record} if record else {}, grants)
        if isinstance(snapshot, ForgeError):
            return Broken(snapshot, snapshot_of(name, {}), record)
        skill = self._skill(snapshot)
        snapshots = {name: snapshot}
        if not isinstance(skill, Invalid) and _has_relations(skill.manifest):
            snapshots = await self.snapshots()
        return (await asyncio.to_thread(self._join, [name], snapshots, rows))[name]

    async def all(self, account_id: str) -> dict[str, Known | Broken]:
        """By name, sorted."""
        async with self._database.read() as tx:
            rows = _Rows(await store.list_records(tx, account_id), await store.list_grants(tx, account_id))
        found, unreadable = await self._read_all()
        known = await asyncio.to_thread(self._join, found, found, rows)
        for name, error in unreadable.items():
            if not isinstance(error, NotFound):  # else it was removed just now
                known[name] = Broken(error, snapshot_of(name, {}), rows.records.get(name))
        return dict(sorted(known.items()))

    def describe(
        self, snapshots: Mapping[str, Snapshot], others: Mapping[str, Snapshot]
    ) -> dict[str, Known | Broken]:
        """Those that are not in the library, as they would be there. Blocks for as long as reading takes."""
        return self._join(snapshots, {**others, **snapshots}, _Rows({}, {}))

    def read(self, snapshots: Mapping[str, Snapshot]) -> dict[str, Skill]:
        """Those whose SKILL.md can be read."""
        read = {name: self._skill(snapshot) for name, snapshot in snapshots.items()}
        return {name: skill for name, skill in read.items() if isinstance(skill, Skill)}

    async def snapshots(self) -> dict[str, Snapshot]:
        """Of all in the library that can be read."""
        found, _ = await self._read_all()
        return found

    def _join(
        self, names: Iterable[str], snapshots: Mapping[str, Snapshot], rows: _Rows
    ) -> dict[str, Known | Broken]:
        skills = self.read(snapshots)
        return {name: self._known(name, snapshots, skills, rows) for name in names}

    def _known(
        self, name: str, snapshots: Mapping[str, Snapshot], skills: Mapping[str, Skill], rows: _Rows
    ) -> Known | Broken:
        snapshot, record = snapshots[name], rows.records.get(name)
        skill = self._skill(snapshot)
        if isinstance(skill, Invalid):
            return Broken(skill, snapshot, record)
        try:
            composed = compose(name, skills)
        except Invalid as error:
            return Broken(error, snapshot, record)
        above = [snapshots[parent.name].folder_hash for parent in composed.parents]
        return Known(
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
        """Those of the library that can be read, and why the others cannot."""
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
            if len(self._read) > MAX_READ:
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
    return hash_of(encoded(starter_files(snapshot.name).files)) == snapshot.folder_hash
