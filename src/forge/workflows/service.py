"""What people do with definitions: make, read, change, switch, delete."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from forge.accounts.address import OwnAddress
from forge.errors import Conflict, Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.runs.journal import account_stream
from forge.runs.models import Run
from forge.runs.service import Runs
from forge.store.engine import Store, Tx
from forge.workflows import store
from forge.workflows.definition.models import BotOwner, Definition
from forge.workflows.definition.place import Place
from forge.workflows.definition.reading import Read, read_data, read_source
from forge.workflows.definition.schema import schema
from forge.workflows.definition.writing import write
from forge.workflows.knowing import Knowing
from forge.workflows.models import (
    Change,
    Reading,
    WorkflowCard,
    WorkflowChanged,
    WorkflowDetail,
    WorkflowVersion,
    WorkflowVersionDetail,
    WorkflowWish,
)
from forge.workflows.store import VersionRow, WorkflowRow
from forge.workflows.templates import TEMPLATES, WorkflowTemplate
from forge.workflows.triggers.registering import register, unregister, views
from forge.workflows.views import card, count_gates


@dataclass(frozen=True)
class Workflows:
    database: Store
    events: EventLog
    runs: Runs
    knowing: Knowing
    address: OwnAddress

    async def find_all(self, account_id: str, *, words: str, owner: str | None) -> list[WorkflowCard]:
        async with self.database.read() as tx:
            cards = await self._cards(tx, account_id, await store.find_all(tx, account_id, owner))
        wanted = words.casefold().split()
        return [
            one for one in cards if all(word in f"{one.name} {one.description}".casefold() for word in wanted)
        ]

    async def create(self, account_id: str, wish: WorkflowWish, *, by: str) -> WorkflowDetail:
        definition, source = await _usable(wish, None)
        at = now()
        row = WorkflowRow(
            id=new_id(),
            account_id=account_id,
            name=definition.name,
            owner=_owner(definition),
            number=1,
            is_enabled=True,
            created_at=at,
            updated_at=at,
        )
        async with self.database.begin() as tx:
            if not await store.insert(tx, row):
                raise _taken(definition.name)
            await self._save(tx, row, definition, source, by=by)
            self._tell(tx, row, "created")
        return await self.get(account_id, row.id)

    async def read(self, account_id: str, wish: WorkflowWish) -> Reading:
        read, source = await asyncio.to_thread(_read, wish, wish.source)
        problems = list(read.problems)
        if read.definition is not None:
            problems += await self.knowing.unknown(account_id, read.definition, source)
        return Reading(
            is_usable=read.is_usable,
            problems=problems,
            definition=read.definition.as_json() if read.definition else None,
            source=source,
        )

    def schema(self) -> dict[str, Any]:
        return schema()

    def templates(self) -> list[WorkflowTemplate]:
        return list(TEMPLATES)

    async def get(self, account_id: str, ref: str) -> WorkflowDetail:
        async with self.database.read() as tx:
            row = await the_workflow(tx, account_id, ref)
            (shown,) = await self._cards(tx, account_id, [row])
            version = (await store.newest_versions(tx, [row]))[row.id]
        return WorkflowDetail(
            **shown.model_dump(),
            definition=version.definition,
            source=version.source,
            warnings=await self.knowing.unknown(account_id, version.parsed, version.source),
        )

    async def update(self, account_id: str, ref: str, wish: WorkflowWish, *, by: str) -> WorkflowDetail:
        """Runs under way keep the version they were started with."""
        async with self.database.read() as tx:
            before = await the_workflow(tx, account_id, ref)
            newest = (await store.newest_versions(tx, [before]))[before.id]
        definition, source = await _usable(wish, newest.source)
        if source == newest.source and wish.expected_number in (None, before.number):
            return await self.get(account_id, before.id)  # nothing changes
        async with self.database.begin() as tx:
            row = await the_workflow(tx, account_id, before.id, lock=True)
            if wish.expected_number is not None and wish.expected_number != row.number:
                raise Conflict(
                    f"Somebody saved version {row.number} of {row.name} meanwhile.",
                    hint="Load it again, and change that one.",
                    detail={"number": row.number},
                )
            if await store.names_taken(tx, account_id, definition.name, but=row.id):
                raise _taken(definition.name)
            changed = _changed(row, definition)
            await store.change(tx, row.id, name=changed.name, owner=changed.owner, number=changed.number)
            await self._save(tx, changed, definition, source, by=by)
            self._tell(tx, changed, "updated")
        return await self.get(account_id, before.id)

    async def switch(self, account_id: str, ref: str, *, is_enabled: bool) -> WorkflowDetail:
        async with self.database.begin() as tx:
            row = await the_workflow(tx, account_id, ref, lock=True)
            if row.is_enabled != is_enabled:
                await store.change(tx, row.id, is_enabled=is_enabled)
                definition = (await store.newest_versions(tx, [row]))[row.id].parsed
                await register(tx, self.events, account_id, row.id, definition, is_enabled=is_enabled)
                self._tell(tx, row, "enabled" if is_enabled else "disabled")
        return await self.get(account_id, row.id)

    async def delete(self, account_id: str, ref: str, *, by: str) -> None:
        """Nothing starts it any more, then what runs is cancelled."""
        async with self.database.begin() as tx:
            row = await the_workflow(tx, account_id, ref, lock=True)
            await unregister(tx, self.events, account_id, row.id)
            await store.change(tx, row.id, deleted_at=now())
            active = await store.active(tx, row.id)
            self._tell(tx, row, "deleted")
        for run_id in active:
            with suppress(Conflict, NotFound):  # it has ended meanwhile
                await self.runs.cancel(account_id, run_id, by=by)
        async with self.database.begin() as tx:
            await store.purge(tx)

    async def versions(self, account_id: str, ref: str) -> list[WorkflowVersion]:
        async with self.database.read() as tx:
            row = await the_workflow(tx, account_id, ref)
            return await store.list_versions(tx, row.id)

    async def version(self, account_id: str, ref: str, number: int) -> WorkflowVersionDetail:
        async with self.database.read() as tx:
            row = await the_workflow(tx, account_id, ref)
            found = await store.find_version(tx, row.id, number)
        if found is None:
            raise NotFound(f"{row.name} has no version {number}.")
        return WorkflowVersionDetail(
            **found.view().model_dump(), definition=found.definition, source=found.source
        )

    async def _save(self, tx: Tx, row: WorkflowRow, definition: Definition, source: str, *, by: str) -> None:
        version = VersionRow(
            number=row.number,
            version=definition.version,
            definition=definition.as_json(),
            source=source,
            by=by,
            at=now(),
        )
        await store.insert_version(tx, row.id, version)
        await register(tx, self.events, row.account_id, row.id, definition, is_enabled=row.is_enabled)

    async def _cards(self, tx: Tx, account_id: str, rows: Sequence[WorkflowRow]) -> list[WorkflowCard]:
        ids = [row.id for row in rows]
        versions = await store.newest_versions(tx, rows)
        triggers = await views(tx, ids, self.address.url())
        strips = await store.strip(tx, ids)
        runs = await self.runs.read(tx, [run_id for strip in strips.values() for run_id in strip])
        gates = await self.runs.open_gates(tx, account_id)
        waiting = count_gates(gates, await store.workflows_of(tx, [gate.run_id for gate in gates]))

        def last(workflow_id: str) -> list[Run]:
            return [runs[run_id] for run_id in strips.get(workflow_id, []) if run_id in runs]

        return [
            card(row, versions[row.id], triggers[row.id], last(row.id), waiting.get(row.id, 0))
            for row in rows
        ]

    def _tell(self, tx: Tx, row: WorkflowRow, change: Change) -> None:
        fact = WorkflowChanged(workflow_id=row.id, name=row.name, change=change)
        self.events.append_last(tx, account_stream(row.account_id), fact)


async def the_workflow(tx: Tx, account_id: str, ref: str, *, lock: bool = False) -> WorkflowRow:
    row = await store.find(tx, account_id, ref, lock=lock)
    if row is None:
        raise NotFound(f"There is no workflow {ref}.", hint="forge workflow list shows those there are.")
    return row


def refuse(problems: Sequence[Place]) -> Invalid:
    """What is wrong with a definition; the first of it in words, all of it as data."""
    wrong = [problem for problem in problems if not problem.is_warning]
    first = wrong[0]
    more = f" And {len(wrong) - 1} more." if len(wrong) > 1 else ""
    return Invalid(
        f"Line {first.line}, column {first.column}: {first.message}{more}",
        hint=first.hint,
        field=first.path,
        detail={"problems": [problem.model_dump() for problem in problems]},
    )


async def _usable(wish: WorkflowWish, before: str | None) -> tuple[Definition, str]:
    """Reading takes a while: not on the loop."""
    read, source = await asyncio.to_thread(_read, wish, before)
    if read.definition is None or not read.is_usable:
        raise refuse(read.problems)
    return read.definition, source


def _read(wish: WorkflowWish, before: str | None) -> tuple[Read, str]:
    """Of both forms the JSON counts, and is written into the YAML."""
    if wish.definition is None:
        if wish.source is None:
            raise Invalid("There is no definition.", hint="Send `source` (YAML) or `definition` (JSON).")
        read = read_source(wish.source)
        return read, read.source
    read = read_data(wish.definition)
    if read.definition is None:
        return read, read.source
    source = write(read.definition, wish.source if wish.source is not None else before)
    return read_source(source), source


def _changed(row: WorkflowRow, definition: Definition) -> WorkflowRow:
    return replace(row, name=definition.name, owner=_owner(definition), number=row.number + 1)


def _owner(definition: Definition) -> str | None:
    return definition.owner.slug if isinstance(definition.owner, BotOwner) else None


def _taken(name: str) -> Conflict:
    return Conflict(
        f"There is a workflow called {name} already.", hint="Change that one, or take another name."
    )
