"""Schedules start runs: once each, on time, and after a pause as they say."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from tests.support.patience import PATIENCE_S
from tests.workflows.triggers.conftest import House, at

from forge.errors import Conflict, Unavailable
from forge.kernel.background import in_background
from forge.workflows.models import TriggerType
from forge.workflows.triggers.clock import LEFT_OUT, CronClock

pytestmark = pytest.mark.anyio


def cron(schedule: str = "hourly", catch_up: str = "once", **more: object) -> dict[str, object]:
    return {"type": "cron", "schedule": schedule, "catch_up": catch_up, **more}


async def run_at(house: House, moment: datetime) -> None:
    clock = CronClock(house.launch, clock=lambda: moment)
    while await clock.sweep():
        pass


def scheduled(runs: list[object]) -> list[datetime]:
    return [datetime.fromisoformat(run.about["scheduled_at"]) for run in runs]  # type: ignore[attr-defined]


async def test_what_is_due_starts_with_its_inputs_and_is_due_again(house: House):
    workflow_id = await house.save(cron(inputs={"city": "Berlin"}))
    await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await run_at(house, at("2026-01-01T08:59:59.9"))
    assert await house.runs() == []
    await run_at(house, at("2026-01-01T09:00:00.4"))
    (run,) = await house.runs()
    assert (run.trigger, run.source, run.payload) == (TriggerType.CRON, "hourly", {"city": "Berlin"})
    assert run.about == {
        "type": "cron",
        "source": "hourly",
        "fired_at": "2026-01-01T09:00:00.400000+00:00",
        "scheduled_at": "2026-01-01T09:00:00+00:00",
    }
    view = await house.view(workflow_id)
    assert view.next_at == at("2026-01-01T10:00:00") and view.last_fired_at and view.error is None


@pytest.mark.parametrize(("catch_up", "hours"), [("skip", []), ("once", [12]), ("all", [9, 10, 11, 12])])
async def test_after_a_pause_it_catches_up_as_it_says(house: House, catch_up: str, hours: list[int]):
    workflow_id = await house.save(cron(catch_up=catch_up))
    await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await run_at(house, at("2026-01-01T12:30:00"))
    await run_at(house, at("2026-01-01T12:30:01"))
    assert scheduled(await house.runs()) == [at(f"2026-01-01T{hour:02}:00:00") for hour in hours]
    assert (await house.view(workflow_id)).next_at == at("2026-01-01T13:00:00")


async def test_a_clock_that_was_set_back_keeps_no_schedule_waiting_and_starts_nothing_twice(house: House):
    workflow_id = await house.save(cron())
    await house.set_next_at(workflow_id, at("2026-01-01T11:00:00"))
    await run_at(house, at("2026-01-01T12:00:01"))
    await CronClock(house.launch).put_back(at("2026-01-01T09:30:00"))
    assert (await house.view(workflow_id)).next_at == at("2026-01-01T10:00:00")
    for hour in (10, 11, 12, 13):
        await run_at(house, at(f"2026-01-01T{hour}:00:01"))
    assert scheduled(await house.runs()) == [at(f"2026-01-01T{hour}:00:00") for hour in (12, 10, 11, 13)]


async def test_a_clock_that_is_set_back_is_noticed(house: House):
    workflow_id = await house.save(cron())
    moments = iter([at("2026-01-01T12:30:00")] * 3)
    clock = CronClock(house.launch, clock=lambda: next(moments, at("2026-01-01T09:30:00")))
    await house.set_next_at(workflow_id, at("2026-01-01T13:00:00"))
    async with in_background(clock.tick_on(), "schedules"), asyncio.timeout(PATIENCE_S):
        while (await house.view(workflow_id)).next_at != at("2026-01-01T10:00:00"):
            await asyncio.sleep(0.05)


async def test_of_too_many_the_latest_are_started_and_that_is_said_until_the_next_one(house: House):
    workflow_id = await house.save(cron("minutely", "all"))
    await house.set_next_at(workflow_id, at("2026-01-01T00:00:00"))
    await run_at(house, at("2026-01-01T04:00:30"))
    found = scheduled(await house.runs())
    assert (len(found), found[0], found[-1]) == (100, at("2026-01-01T02:21:00"), at("2026-01-01T04:00:00"))
    assert (await house.view(workflow_id)).error == LEFT_OUT
    assert [event.data["reason"] for event in await house.told("workflow.refused")] == [LEFT_OUT]
    await run_at(house, at("2026-01-01T04:01:00"))
    assert (await house.view(workflow_id)).error is None


async def test_two_schedules_that_are_due_together_both_start(house: House):
    workflow_id = await house.save(cron("hourly"), cron("0 * * * *"))
    await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await run_at(house, at("2026-01-01T09:00:00"))
    assert len(await house.runs()) == 2


async def test_a_refusal_is_told_and_the_schedule_goes_on(house: House):
    workflow_id = await house.save(cron())
    await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    house.refusing = Conflict("It runs already.")
    await run_at(house, at("2026-01-01T09:00:00"))
    view = await house.view(workflow_id)
    assert (view.error, view.next_at, view.last_fired_at) == (
        "It runs already.",
        at("2026-01-01T10:00:00"),
        None,
    )
    (told,) = await house.told()
    assert told.type == "workflow.refused"
    assert told.data == {
        "workflow_id": workflow_id,
        "name": "w",
        "trigger": "cron",
        "reason": "It runs already.",
    }
    house.refusing = None
    await run_at(house, at("2026-01-01T10:00:00"))
    assert len(await house.runs()) == 1 and (await house.view(workflow_id)).error is None


async def test_what_fails_for_now_is_tried_again(house: House):
    workflow_id = await house.save(cron())
    await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    house.refusing = Unavailable("Later.")
    clock = CronClock(house.launch, clock=lambda: at("2026-01-01T09:00:01"))
    assert await clock.sweep()
    assert (await house.view(workflow_id)).next_at == at("2026-01-01T09:00:00")
    house.refusing = None
    assert await clock.sweep()
    assert len(await house.runs()) == 1


async def test_what_is_switched_off_or_deleted_does_not_start(house: House):
    off, gone = await house.save(cron(), name="off"), await house.save(cron(), name="gone")
    for workflow_id in (off, gone):
        await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await house.save(cron(), name="off", workflow_id=off, is_enabled=False)
    await house.delete(gone)
    await run_at(house, at("2026-01-01T09:00:00"))
    assert await house.runs() == []


async def test_servers_side_by_side_start_each_time_once(house: House):
    workflow_id = await house.save(cron("minutely", "all"))
    await house.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    moment = at("2026-01-01T09:19:30")
    await asyncio.gather(*(run_at(house, moment) for _ in range(3)))
    assert scheduled(await house.runs()) == [at(f"2026-01-01T09:{minute:02}:00") for minute in range(20)]


async def eventually(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.02)


async def test_the_clock_notices_a_new_schedule_and_is_on_time(house: House):
    async with in_background(CronClock(house.launch).tick_on(), "clock"):
        await house.save(cron("every second"))
        await eventually(lambda: len(house.fired) >= 3)
    times = [
        (
            datetime.fromisoformat(str(one.about["fired_at"])),
            datetime.fromisoformat(str(one.about["scheduled_at"])),
        )
        for one in house.fired
    ]
    assert all(fired >= due for fired, due in times)
    due = [due for _, due in times]
    assert due == [due[0] + timedelta(seconds=n) for n in range(len(due))]
