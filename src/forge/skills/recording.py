"""Writes down where a skill came from, how far it is trusted and what it was granted, and tells the pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.skills import store
from forge.skills.models import Grant, Tier
from forge.skills.sources import Origin
from forge.skills.store import Record
from forge.skills.views import SkillChanged
from forge.store.engine import Tx


@dataclass(frozen=True)
class Standing:
    """A skill in the library, as it is now."""

    name: str
    source: Origin
    tier: Tier
    version: str
    folder_hash: str


class Recording:
    """The folder comes first, its record after it: a kill in between leaves a skill without trust and grants."""

    def __init__(self, events: EventLog) -> None:
        self._events = events

    async def keep(
        self, tx: Tx, account_id: str, standing: Standing, grants: Sequence[Grant] | None = None
    ) -> None:
        """Without `grants` those that are there stay; whether they count is up to their hash."""
        at = now()
        record = Record(**vars(standing), installed_at=at, changed_at=at)
        await store.save_record(tx, account_id, record)
        if grants is not None:
            await store.replace_grants(tx, account_id, standing.name, grants)
        self.tell(tx, account_id, standing.name, "skill")

    def tell(self, tx: Tx, account_id: str, name: str, part: Literal["skill", "grants", "removed"]) -> None:
        fact = SkillChanged(skill=name, part=part)
        self._events.append_last(tx, account_stream(account_id), fact)
