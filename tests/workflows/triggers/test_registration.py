"""Registering triggers with a workflow, and their views."""

from datetime import timedelta

import pytest
from tests.workflows.triggers.conftest import ACCOUNT, STREAM, Environment

from forge.errors import Conflict, Invalid
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.workflows.models import TriggerType, TriggerView, WorkflowChanged
from forge.workflows.triggers import store as rows
from forge.workflows.triggers.registration import views

pytestmark = pytest.mark.anyio
DAILY = {"type": "cron", "schedule": "daily at 9am", "timezone": "Europe/Berlin"}
HOOK = {"type": "webhook", "path": "/deploy/api"}
EVENT = {"type": "event", "event_type": "run.changed", "source": "kind:chat"}


async def cursor(environment: Environment) -> int | None:
    async with environment.store.read() as tx:
        return (await rows.cursors(tx)).get(ACCOUNT)


async def publish(environment: Environment) -> int:
    event = WorkflowChanged(workflow_id="x", name="x", change="updated")
    async with environment.store.begin() as tx:
        return await environment.events.append(tx, STREAM, event)


async def test_trigger_views_have_title_and_next_time(environment: Environment):
    file = {"type": "file_watch", "paths": ["/srv/in"], "patterns": ["*.csv"]}
    workflow_id = await environment.save({"type": "manual"}, DAILY, HOOK, EVENT, file)
    async with environment.store.read() as tx:
        shown = (await rows.list_of(tx, [workflow_id])), await _views(environment, workflow_id)
    assert [row.position for row in shown[0]] == [0, 1, 2, 3, 4]
    assert [(view.type, view.title) for view in shown[1]] == [
        (TriggerType.MANUAL, "manual"),
        (TriggerType.CRON, "daily at 9am (Europe/Berlin)"),
        (TriggerType.WEBHOOK, "POST /webhooks/deploy/api"),
        (TriggerType.EVENT, "run.changed of kind:chat"),
        (TriggerType.FILE_WATCH, "files in /srv/in (*.csv)"),
    ]
    assert shown[1][2].url == "http://forge.test/webhooks/deploy/api"
    due = shown[1][1].next_at
    assert due and now() < due <= now() + timedelta(days=1, hours=1)


async def _views(environment: Environment, workflow_id: str) -> list[TriggerView]:
    async with environment.store.read() as tx:
        return (await views(tx, [workflow_id], "http://forge.test/"))[workflow_id]


async def test_unchanged_schedule_keeps_state(environment: Environment):
    workflow_id = await environment.save(DAILY)
    late = now() - timedelta(hours=3)
    await environment.set_next_at(workflow_id, late)
    await environment.save(DAILY, workflow_id=workflow_id)
    assert (await environment.view(workflow_id)).next_at == late
    await environment.save({**DAILY, "schedule": "daily at 10am"}, workflow_id=workflow_id)
    assert ((await environment.view(workflow_id)).next_at or late) > now()


async def test_disabled_schedule_is_not_due(environment: Environment):
    workflow_id = await environment.save(DAILY, is_enabled=False)
    assert (await environment.view(workflow_id)).next_at is None
    await environment.save(DAILY, workflow_id=workflow_id)
    assert ((await environment.view(workflow_id)).next_at or now()) > now()


async def test_webhook_path_is_unique_even_if_disabled(environment: Environment):
    first = await environment.save(HOOK, name="first", is_enabled=False)
    with pytest.raises(Conflict, match="/deploy/api is already used by the workflow first"):
        await environment.save(HOOK, name="second")
    with pytest.raises(Conflict, match=r"that is being saved|second"):
        await environment.save({**HOOK, "path": "/x"}, {**HOOK, "path": "/x"}, name="second")
    await environment.save(HOOK, name="first", workflow_id=first)
    await environment.delete(first)
    await environment.save(HOOK, name="second")


@pytest.mark.parametrize(
    "trigger",
    [
        {"type": "cron", "schedule": "0 0 30 2 *"},
        {"type": "cron", "schedule": "daily", "timezone": "Mars"},
        {"type": "event", "event_type": "run.finished"},
    ],
)
async def test_invalid_trigger_leaves_existing_ones(environment: Environment, trigger: dict[str, object]):
    workflow_id = await environment.save(DAILY)
    with pytest.raises(Invalid):
        await environment.save(trigger, workflow_id=workflow_id)
    assert (await environment.view(workflow_id)).title == "daily at 9am (Europe/Berlin)"


async def test_event_cursor_exists_while_there_are_event_triggers(environment: Environment):
    await publish(environment)
    first = await environment.save(EVENT, name="first")
    assert await cursor(environment) == 1
    await publish(environment)
    second = await environment.save(EVENT, name="second")
    assert await cursor(environment) == 1, "events that the first trigger has not processed are not skipped"
    await environment.save(EVENT, name="first", workflow_id=first, is_enabled=False)
    assert await cursor(environment) == 1
    await environment.delete(second)
    assert await cursor(environment) is None
    await publish(environment)
    await environment.save(EVENT, name="first", workflow_id=first)
    assert await cursor(environment) == await environment.events.last_seq(account_stream(ACCOUNT)) == 3
