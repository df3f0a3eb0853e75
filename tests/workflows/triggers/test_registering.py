"""Triggers come into force with the workflow, and show how they stand."""

from datetime import timedelta

import pytest
from tests.workflows.triggers.conftest import ACCOUNT, STREAM, House

from forge.errors import Conflict, Invalid
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.workflows.models import TriggerType, TriggerView, WorkflowChanged
from forge.workflows.triggers import store as rows
from forge.workflows.triggers.registering import views

pytestmark = pytest.mark.anyio
DAILY = {"type": "cron", "schedule": "daily at 9am", "timezone": "Europe/Berlin"}
HOOK = {"type": "webhook", "path": "/deploy/api"}
EVENT = {"type": "event", "event_type": "run.changed", "source": "kind:chat"}


async def cursor(house: House) -> int | None:
    async with house.store.read() as tx:
        return (await rows.cursors(tx)).get(ACCOUNT)


async def tell(house: House) -> int:
    fact = WorkflowChanged(workflow_id="x", name="x", change="updated")
    async with house.store.begin() as tx:
        return await house.events.append(tx, STREAM, fact)


async def test_triggers_show_what_they_are_and_when_they_are_due(house: House):
    file = {"type": "file_watch", "paths": ["/srv/in"], "patterns": ["*.csv"]}
    workflow_id = await house.save({"type": "manual"}, DAILY, HOOK, EVENT, file)
    async with house.store.read() as tx:
        shown = (await rows.list_of(tx, [workflow_id])), await _views(house, workflow_id)
    assert [row.position for row in shown[0]] == [0, 1, 2, 3, 4]
    assert [(view.type, view.title) for view in shown[1]] == [
        (TriggerType.MANUAL, "by hand"),
        (TriggerType.CRON, "daily at 9am (Europe/Berlin)"),
        (TriggerType.WEBHOOK, "POST /webhooks/deploy/api"),
        (TriggerType.EVENT, "run.changed of kind:chat"),
        (TriggerType.FILE_WATCH, "files in /srv/in (*.csv)"),
    ]
    assert shown[1][2].url == "http://forge.test/webhooks/deploy/api"
    due = shown[1][1].next_at
    assert due and now() < due <= now() + timedelta(days=1, hours=1)


async def _views(house: House, workflow_id: str) -> list[TriggerView]:
    async with house.store.read() as tx:
        return (await views(tx, [workflow_id], "http://forge.test/"))[workflow_id]


async def test_a_schedule_that_stays_keeps_its_past_and_one_that_changes_has_none(house: House):
    workflow_id = await house.save(DAILY)
    late = now() - timedelta(hours=3)
    await house.set_next_at(workflow_id, late)
    await house.save(DAILY, workflow_id=workflow_id)
    assert (await house.view(workflow_id)).next_at == late
    await house.save({**DAILY, "schedule": "daily at 10am"}, workflow_id=workflow_id)
    assert ((await house.view(workflow_id)).next_at or late) > now()


async def test_what_is_switched_off_is_not_due_and_misses_nothing(house: House):
    workflow_id = await house.save(DAILY, is_enabled=False)
    assert (await house.view(workflow_id)).next_at is None
    await house.save(DAILY, workflow_id=workflow_id)
    assert ((await house.view(workflow_id)).next_at or now()) > now()


async def test_a_path_has_one_workflow_even_while_that_is_switched_off(house: House):
    first = await house.save(HOOK, name="first", is_enabled=False)
    with pytest.raises(Conflict, match="/deploy/api is taken by the workflow first"):
        await house.save(HOOK, name="second")
    with pytest.raises(Conflict, match=r"that is being saved|second"):
        await house.save({**HOOK, "path": "/x"}, {**HOOK, "path": "/x"}, name="second")
    await house.save(HOOK, name="first", workflow_id=first)
    await house.delete(first)
    await house.save(HOOK, name="second")


@pytest.mark.parametrize(
    "trigger",
    [
        {"type": "cron", "schedule": "0 0 30 2 *"},
        {"type": "cron", "schedule": "daily", "timezone": "Mars"},
        {"type": "event", "event_type": "run.finished"},
        {"type": "file_watch", "paths": ["relative/path"]},
        {"type": "file_watch", "paths": ["/"]},
        {"type": "file_watch", "paths": ["/proc/self"]},
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_what_there_was(house: House, trigger: dict[str, object]):
    workflow_id = await house.save(DAILY)
    with pytest.raises(Invalid):
        await house.save(trigger, workflow_id=workflow_id)
    assert (await house.view(workflow_id)).title == "daily at 9am (Europe/Berlin)"


async def test_events_are_looked_at_from_the_first_trigger_on_and_until_the_last(house: House):
    await tell(house)
    first = await house.save(EVENT, name="first")
    assert await cursor(house) == 1
    await tell(house)
    second = await house.save(EVENT, name="second")
    assert await cursor(house) == 1, "what the first has not seen yet is not skipped"
    await house.save(EVENT, name="first", workflow_id=first, is_enabled=False)
    assert await cursor(house) == 1
    await house.delete(second)
    assert await cursor(house) is None
    await tell(house)
    await house.save(EVENT, name="first", workflow_id=first)
    assert await cursor(house) == await house.events.last_seq(account_stream(ACCOUNT)) == 3
