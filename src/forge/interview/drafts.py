"""Interviews as they are kept: read, locked, saved, each change told to whoever follows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.interview import store
from forge.interview.models import InterviewsChanged, InterviewTurned, SessionView
from forge.interview.reading import read_state
from forge.interview.state import SCHEMA_VERSION, State
from forge.interview.store import DraftRow
from forge.interview.views import session_view
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.store.engine import Store, Tx


def interview_stream(session_id: str) -> str:
    return f"interview:{session_id}"


@dataclass(frozen=True)
class Draft:
    row: DraftRow
    state: State

    @property
    def view(self) -> SessionView:
        return session_view(self.row, self.state)


class Drafts:
    def __init__(self, database: Store, events: EventLog, *, clock: Callable[[], datetime] = now) -> None:
        self.database = database
        self.events = events
        self.clock = clock

    async def create(self, tx: Tx, account_id: str, state: State, run_id: str | None = None) -> Draft:
        at = self.clock()
        row = DraftRow(
            session_id=state.session_id,
            account_id=account_id,
            state_json=state.model_dump_json(),
            schema_version=SCHEMA_VERSION,
            revision=1,
            run_id=run_id,
            created_at=at,
            updated_at=at,
            finished_at=None,
        )
        if not await store.insert(tx, row):
            raise Conflict(
                "There is an interview with this id already.", hint="Resume it, or choose another id."
            )
        return await self._tell(tx, Draft(row, state))

    async def find(self, account_id: str, session_id: str) -> Draft:
        async with self.database.read() as tx:
            return self._own(account_id, await store.find(tx, session_id.lower()))

    async def lock(self, tx: Tx, account_id: str, session_id: str) -> Draft:
        return self._own(account_id, await store.find(tx, session_id.lower(), lock=True))

    def _own(self, account_id: str, row: DraftRow | None) -> Draft:
        if row is None or row.account_id != account_id:
            raise NotFound("There is no such interview.", hint="List those under way: forge drafts")
        return Draft(row, read_state(row))

    async def save(
        self, tx: Tx, draft: Draft, state: State, *, run_id: str | None = None, **more: Any
    ) -> Draft:
        """Of a draft that is locked. Told in its own stream, and to the pages of the account."""
        state = state.but(schema_version=SCHEMA_VERSION)
        values: dict[str, Any] = {
            "state_json": state.model_dump_json(),
            "schema_version": SCHEMA_VERSION,
            "revision": draft.row.revision + 1,
            "run_id": run_id,
            "updated_at": self.clock(),
            **more,
        }
        await store.change(tx, draft.row.session_id, **values)
        return await self._tell(tx, Draft(replace(draft.row, **values), state))

    async def _tell(self, tx: Tx, draft: Draft) -> Draft:
        fact = InterviewTurned(session=draft.view)
        await self.events.append(tx, interview_stream(draft.row.session_id), fact)
        self.tell_account(tx, draft.row)
        return draft

    def tell_account(self, tx: Tx, row: DraftRow) -> None:
        """That its list of drafts is another."""
        changed = InterviewsChanged(session_id=row.session_id)
        self.events.append_last(tx, account_stream(row.account_id), changed)
