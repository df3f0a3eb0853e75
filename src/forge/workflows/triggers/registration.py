"""Register the triggers of a workflow in the transaction that saves it, and list them."""

from collections.abc import Collection
from datetime import datetime
from typing import Any, assert_never

from pydantic import TypeAdapter

from forge.errors import Conflict, Invalid
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json
from forge.runs.journal import account_stream
from forge.store.database import Tx
from forge.workflows.definition.models import (
    CronTrigger,
    Definition,
    EventTrigger,
    FileWatchTrigger,
    ManualTrigger,
    Trigger,
    WebhookTrigger,
)
from forge.workflows.models import TriggerType, TriggerView
from forge.workflows.schedules import read_schedule, title_of_schedule
from forge.workflows.triggers import store
from forge.workflows.triggers.event_names import EVENT_TYPES
from forge.workflows.triggers.store import TriggerRow

WEBHOOKS = "/webhooks"
TRIGGER: TypeAdapter[Trigger] = TypeAdapter(Trigger)


async def register(
    tx: Tx,
    events: EventLog,
    account_id: str,
    workflow_id: str,
    definition: Definition,
    *,
    is_enabled: bool,
) -> None:
    """Replace the triggers of a workflow. Unchanged triggers keep their state.

    Raises Conflict for a webhook path that is taken, Invalid for a bad schedule or event type.
    """
    before = {hash_json(row.config): row for row in await store.list_of(tx, [workflow_id])}
    await store.delete(tx, workflow_id)
    at = now()
    for position, trigger in enumerate(definition.triggers):
        config = trigger.model_dump(mode="json", exclude_none=True)
        known = before.get(hash_json(config))
        values: dict[str, Any] = {
            "workflow_id": workflow_id,
            "position": position,
            "account_id": account_id,
            "type": trigger.type,
            "config": config,
            "path": trigger.path if isinstance(trigger, WebhookTrigger) else None,
            "next_at": _next_at(trigger, known, at) if is_enabled else None,
            "last_fired_at": known.last_fired_at if known else None,
            "error": known.error if known and is_enabled else None,
        }
        _check(trigger)
        if not await store.insert(tx, values):
            await _refuse_path(tx, values["path"])
    has_events = any(isinstance(one, EventTrigger) for one in definition.triggers)
    await _update_cursor(tx, events, account_id, workflow_id, has_own=is_enabled and has_events)


async def unregister(tx: Tx, events: EventLog, account_id: str, workflow_id: str) -> None:
    await store.delete(tx, workflow_id)
    await _update_cursor(tx, events, account_id, workflow_id, has_own=False)


async def views(tx: Tx, workflow_ids: Collection[str], base_url: str) -> dict[str, list[TriggerView]]:
    """Return the triggers with their current state, by workflow id."""
    found: dict[str, list[TriggerView]] = {workflow_id: [] for workflow_id in workflow_ids}
    for row in await store.list_of(tx, workflow_ids):
        found[row.workflow_id].append(_view(row, base_url))
    return found


def _next_at(trigger: Trigger, known: TriggerRow | None, at: datetime) -> datetime | None:
    if not isinstance(trigger, CronTrigger):
        return None
    schedule = read_schedule(trigger.schedule, trigger.timezone)
    return (known.next_at if known else None) or schedule.next_after(at)


def _check(trigger: Trigger) -> None:
    """Check what depends on the server and is therefore not part of validating a definition."""
    if isinstance(trigger, EventTrigger) and trigger.event_type not in EVENT_TYPES:
        raise Invalid(
            f"Unknown event type {trigger.event_type}.",
            hint=f"Event types: {', '.join(EVENT_TYPES)}.",
            field="triggers",
        )


async def _refuse_path(tx: Tx, path: str) -> None:
    name = await store.name_at(tx, path)
    raise Conflict(
        f"The path {path} is already used by the workflow {name or 'that is being saved'}.",
        hint="Choose another path for this webhook.",
        field="triggers",
    )


async def _update_cursor(
    tx: Tx, events: EventLog, account_id: str, workflow_id: str, *, has_own: bool
) -> None:
    """Start or stop following the account's events. A new cursor starts at the last event, so no past event fires."""
    if has_own or await store.has_live_events(tx, account_id, except_id=workflow_id):
        await store.begin_cursor(tx, account_id, await events.last_seq(account_stream(account_id), within=tx))
    else:
        await store.end_cursor(tx, account_id)


def _view(row: TriggerRow, base_url: str) -> TriggerView:
    trigger = TRIGGER.validate_python(row.config)
    url = f"{base_url.rstrip('/')}{WEBHOOKS}{trigger.path}" if isinstance(trigger, WebhookTrigger) else None
    return TriggerView(
        type=TriggerType(trigger.type),
        title=title_of(trigger),
        next_at=row.next_at,
        last_fired_at=row.last_fired_at,
        url=url,
        error=row.error,
    )


def title_of(trigger: Trigger) -> str:
    match trigger:
        case ManualTrigger():
            return "manual"
        case CronTrigger():
            return title_of_schedule(trigger.schedule, trigger.timezone)
        case WebhookTrigger():
            return f"POST {WEBHOOKS}{trigger.path}"
        case EventTrigger():
            return trigger.event_type + (f" of {trigger.source}" if trigger.source != "*" else "")
        case FileWatchTrigger():
            patterns = f" ({', '.join(trigger.patterns)})" if trigger.patterns else ""
            return f"files in {', '.join(trigger.paths)}{patterns}"
        case _:
            assert_never(trigger)
