"""Save the origin, tier and grants of skills, and publish that they changed."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.skills import store
from forge.skills.capabilities import (
    check_grants_of,
    create_grants,
    grants_as_requested,
    requested_capabilities,
)
from forge.skills.format.manifest import read_skill_md
from forge.skills.library.library import Library
from forge.skills.models import SKILL_MD, Capability, Grant, Origin, OwnSource, Tier
from forge.skills.store import Record
from forge.skills.views import SkillChanged
from forge.store.database import Tx


@dataclass(frozen=True)
class NewRecord:
    """The record of a skill, without its times."""

    name: str
    source: Origin
    tier: Tier
    version: str
    folder_hash: str


class SkillRecords:
    """Write the folder before its record: a kill in between leaves a skill without trust and grants."""

    def __init__(self, events: EventLog) -> None:
        self._events = events

    async def save(
        self, tx: Tx, account_id: str, standing: NewRecord, grants: Sequence[Grant] | None = None
    ) -> None:
        """Save a record. `grants` replace the stored ones; None keeps them."""
        at = now()
        record = Record(**vars(standing), installed_at=at, changed_at=at)
        await store.save_record(tx, account_id, record)
        if grants is not None:
            await store.replace_grants(tx, account_id, standing.name, grants)
        self.publish_change(tx, account_id, standing.name, "skill")

    def publish_change(
        self, tx: Tx, account_id: str, name: str, part: Literal["skill", "grants", "removed"]
    ) -> None:
        fact = SkillChanged(skill=name, part=part)
        self._events.append_last(tx, account_stream(account_id), fact)


class OwnSkills:
    def __init__(self, library: Library, recording: SkillRecords) -> None:
        self._library = library
        self._recording = recording

    async def check_change(self, tx: Tx, account_id: str, name: str) -> None:
        """Raise Denied unless the account may change a skill of the library."""
        await store.check_change(tx, account_id, name)

    async def save(
        self, tx: Tx, account_id: str, name: str, allowed: Collection[Capability], *, by: str
    ) -> None:
        """Record a skill of the library, with the capabilities allowed while it was created."""
        snapshot = await self._library.snapshot(name)
        manifest = read_skill_md(snapshot.files[SKILL_MD].decode(), name).manifest
        if manifest is None:
            return
        asks = requested_capabilities(manifest, ())
        grants = create_grants(
            name,
            manifest.kind,
            asks,
            grants_as_requested(manifest.kind, asks, allowed),
            folder_hash=snapshot.folder_hash,
            by=by,
            at=now(),
        )
        check_grants_of(account_id, grants)
        record = NewRecord(
            name,
            source=OwnSource(),
            tier=Tier.LOCAL,
            version=manifest.version,
            folder_hash=snapshot.folder_hash,
        )
        await self._recording.save(tx, account_id, record, grants)
