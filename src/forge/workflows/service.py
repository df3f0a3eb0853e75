"""Create, read, update, enable and delete workflows."""

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
from forge.store.database import Store, Tx
from forge.workflows import store
from forge.workflows.definition.json_schema import schema
from forge.workflows.definition.models import BotOwner, Definition, Place
from forge.workflows.definition.reader import ReadResult, read_data, read_source
from forge.workflows.definition.writer import write
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
from forge.workflows.references import ReferenceChecker
from forge.workflows.starter_templates import TEMPLATES, WorkflowTemplate
from forge.workflows.store import VersionRow, WorkflowRow
from forge.workflows.triggers.registration import register, unregister, views
from forge.workflows.views import card, count_gates


@dataclass(frozen=True)
class Workflows:
    database: Store
    events: EventLog
    runs: Runs
    reference_checker: ReferenceChecker
    address: OwnAddress

    async def find_all(self, account_id: str, *, words: str, owner: str | None) -> list[WorkflowCard]:
        async with self.database.read() as tx:
            cards = await self._cards(tx, account_id, await store.find_all(tx, account_id, owner))
        wanted = words.casefold().split()
        return [
            one for one in cards if all(word in f"{one.name} {one.description}".casefold() for word in wanted)
        ]

    async def create(self, account_id: str, request: WorkflowWish, *, by: str) -> WorkflowDetail:
        definition, source = await _parse_or_raise(request, None)
        await self._check_references(account_id, definition, source)
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
                raise _name_taken(definition.name)
            await self._save(tx, row, definition, source, by=by)
            self._publish_change(tx, row, "created")
        return await self.get(account_id, row.id)

    async def read(self, account_id: str, request: WorkflowWish) -> Reading:
        read, source = await asyncio.to_thread(_parse, request, request.source)
        problems = list(read.problems)
        if read.definition is not None:
            problems += await self.reference_checker.find_problems(account_id, read.definition, source)
        return Reading(
            is_usable=read.definition is not None and all(problem.is_warning for problem in problems),
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
            row = await require_workflow(tx, account_id, ref)
            (shown,) = await self._cards(tx, account_id, [row])
            version = (await store.newest_versions(tx, [row]))[row.id]
        return WorkflowDetail(
            **shown.model_dump(),
            definition=version.definition,
            source=version.source,
            warnings=await self.reference_checker.find_problems(account_id, version.parsed, version.source),
        )

    async def update(self, account_id: str, ref: str, request: WorkflowWish, *, by: str) -> WorkflowDetail:
        """Save a new version. Runs in progress keep the version they were started with."""
        async with self.database.read() as tx:
            before = await require_workflow(tx, account_id, ref)
            newest = (await store.newest_versions(tx, [before]))[before.id]
        definition, source = await _parse_or_raise(request, newest.source)
        if source == newest.source and request.expected_number in (None, before.number):
            return await self.get(account_id, before.id)  # nothing changes
        await self._check_references(account_id, definition, source)
        async with self.database.begin() as tx:
            row = await require_workflow(tx, account_id, before.id, lock=True)
            if request.expected_number is not None and request.expected_number != row.number:
                raise Conflict(
                    f"Version {row.number} of {row.name} was saved in the meantime.",
                    hint="Reload the workflow and apply your changes to the latest version.",
                    detail={"number": row.number},
                )
            if await store.is_name_taken(tx, account_id, definition.name, except_id=row.id):
                raise _name_taken(definition.name)
            changed = _changed(row, definition)
            await store.change(tx, row.id, name=changed.name, owner=changed.owner, number=changed.number)
            await self._save(tx, changed, definition, source, by=by)
            self._publish_change(tx, changed, "updated")
        return await self.get(account_id, before.id)

    async def switch(self, account_id: str, ref: str, *, is_enabled: bool) -> WorkflowDetail:
        async with self.database.begin() as tx:
            row = await require_workflow(tx, account_id, ref, lock=True)
            if row.is_enabled != is_enabled:
                await store.change(tx, row.id, is_enabled=is_enabled)
                definition = (await store.newest_versions(tx, [row]))[row.id].parsed
                await register(tx, self.events, account_id, row.id, definition, is_enabled=is_enabled)
                self._publish_change(tx, row, "enabled" if is_enabled else "disabled")
        return await self.get(account_id, row.id)

    async def delete(self, account_id: str, ref: str, *, by: str) -> None:
        """Remove the triggers, mark the workflow as deleted, then cancel its runs."""
        async with self.database.begin() as tx:
            row = await require_workflow(tx, account_id, ref, lock=True)
            await unregister(tx, self.events, account_id, row.id)
            await store.change(tx, row.id, deleted_at=now())
            active = await store.active(tx, row.id)
            self._publish_change(tx, row, "deleted")
        for run_id in active:
            with suppress(Conflict, NotFound):  # the run has just ended
                await self.runs.cancel(account_id, run_id, by=by)
        async with self.database.begin() as tx:
            await store.purge(tx)

    async def versions(self, account_id: str, ref: str) -> list[WorkflowVersion]:
        async with self.database.read() as tx:
            row = await require_workflow(tx, account_id, ref)
            return await store.list_versions(tx, row.id)

    async def version(self, account_id: str, ref: str, number: int) -> WorkflowVersionDetail:
        async with self.database.read() as tx:
            row = await require_workflow(tx, account_id, ref)
            found = await store.find_version(tx, row.id, number)
        if found is None:
            raise NotFound(f"{row.name} has no version {number}.")
        return WorkflowVersionDetail(
            **found.view().model_dump(), definition=found.definition, source=found.source
        )

    async def _check_references(self, account_id: str, definition: Definition, source: str) -> None:
        problems = await self.reference_checker.find_problems(account_id, definition, source)
        if not all(problem.is_warning for problem in problems):
            raise invalid_definition(problems)

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

    def _publish_change(self, tx: Tx, row: WorkflowRow, change: Change) -> None:
        fact = WorkflowChanged(workflow_id=row.id, name=row.name, change=change)
        self.events.append_last(tx, account_stream(row.account_id), fact)


async def require_workflow(tx: Tx, account_id: str, ref: str, *, lock: bool = False) -> WorkflowRow:
    row = await store.find(tx, account_id, ref, lock=lock)
    if row is None:
        raise NotFound(f"There is no workflow {ref}.", hint="List the workflows: forge workflow list")
    return row


def invalid_definition(problems: Sequence[Place]) -> Invalid:
    """Return an error with the first problem as its message and all problems as detail."""
    errors = [problem for problem in problems if not problem.is_warning]
    first = errors[0]
    more = f" ({len(errors) - 1} more problems.)" if len(errors) > 1 else ""
    return Invalid(
        f"Line {first.line}, column {first.column}: {first.message}{more}",
        hint=first.hint,
        field=first.path,
        detail={"problems": [problem.model_dump() for problem in problems]},
    )


async def _parse_or_raise(request: WorkflowWish, before: str | None) -> tuple[Definition, str]:
    """Parse in a thread: large definitions would block the event loop."""
    read, source = await asyncio.to_thread(_parse, request, before)
    if read.definition is None or not read.is_usable:
        raise invalid_definition(read.problems)
    return read.definition, source


def _parse(request: WorkflowWish, before: str | None) -> tuple[ReadResult, str]:
    """Parse the JSON if given, else the YAML. JSON is merged into the YAML that was sent or saved."""
    if request.definition is None:
        if request.source is None:
            raise Invalid("The definition is missing.", hint="Send `source` (YAML) or `definition` (JSON).")
        read = read_source(request.source)
        return read, read.source
    read = read_data(request.definition)
    if read.definition is None:
        return read, read.source
    source = write(read.definition, request.source if request.source is not None else before)
    return read_source(source), source


def _changed(row: WorkflowRow, definition: Definition) -> WorkflowRow:
    return replace(row, name=definition.name, owner=_owner(definition), number=row.number + 1)


def _owner(definition: Definition) -> str | None:
    return definition.owner.slug if isinstance(definition.owner, BotOwner) else None


def _name_taken(name: str) -> Conflict:
    return Conflict(f"A workflow named {name} already exists.", hint="Update it, or choose another name.")
