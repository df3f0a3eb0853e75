"""Schedules start each occurrence once, on time, and catch up after downtime."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from tests.support.timeouts import PATIENCE_S
from tests.workflows.triggers.conftest import Environment, at

from forge.errors import Conflict, Unavailable
from forge.kernel.background import in_background
from forge.workflows.models import TriggerType
from forge.workflows.triggers.cron import SKIPPED_NOTE, CronScheduler

pytestmark = pytest.mark.anyio


def cron(schedule: str = "hourly", catch_up: str = "once", **more: object) -> dict[str, object]:
    return {"type": "cron", "schedule": schedule, "catch_up": catch_up, **more}


async def run_at(environment: Environment, moment: datetime) -> None:
    scheduler = CronScheduler(environment.launcher, clock=lambda: moment)
    while await scheduler.sweep():
        pass


def scheduled(runs: list[object]) -> list[datetime]:
    return [datetime.fromisoformat(run.about["scheduled_at"]) for run in runs]  # type: ignore[attr-defined]


async def test_due_schedule_starts_run_and_is_planned_again(environment: Environment):
    workflow_id = await environment.save(cron(inputs={"city": "Berlin"}))
    await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await run_at(environment, at("2026-01-01T08:59:59.9"))
    assert await environment.runs() == []
    await run_at(environment, at("2026-01-01T09:00:00.4"))
    (run,) = await environment.runs()
    assert (run.trigger, run.source, run.payload) == (TriggerType.CRON, "hourly", {"city": "Berlin"})
    assert run.about == {
        "type": "cron",
        "source": "hourly",
        "fired_at": "2026-01-01T09:00:00.400000+00:00",
        "scheduled_at": "2026-01-01T09:00:00+00:00",
    }
    view = await environment.view(workflow_id)
    assert view.next_at == at("2026-01-01T10:00:00") and view.last_fired_at and view.error is None


@pytest.mark.parametrize(("catch_up", "hours"), [("skip", []), ("once", [12]), ("all", [9, 10, 11, 12])])
async def test_missed_occurrences_follow_catch_up(environment: Environment, catch_up: str, hours: list[int]):
    workflow_id = await environment.save(cron(catch_up=catch_up))
    await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await run_at(environment, at("2026-01-01T12:30:00"))
    await run_at(environment, at("2026-01-01T12:30:01"))
    assert scheduled(await environment.runs()) == [at(f"2026-01-01T{hour:02}:00:00") for hour in hours]
    assert (await environment.view(workflow_id)).next_at == at("2026-01-01T13:00:00")


async def test_clock_set_back_neither_delays_nor_repeats(
    environment: Environment,
):
    workflow_id = await environment.save(cron())
    await environment.set_next_at(workflow_id, at("2026-01-01T11:00:00"))
    await run_at(environment, at("2026-01-01T12:00:01"))
    await CronScheduler(environment.launcher).replan_after_clock_change(at("2026-01-01T09:30:00"))
    assert (await environment.view(workflow_id)).next_at == at("2026-01-01T10:00:00")
    for hour in (10, 11, 12, 13):
        await run_at(environment, at(f"2026-01-01T{hour}:00:01"))
    assert scheduled(await environment.runs()) == [
        at(f"2026-01-01T{hour}:00:00") for hour in (12, 10, 11, 13)
    ]


async def test_clock_set_back_is_detected(environment: Environment):
    workflow_id = await environment.save(cron())
    moments = iter([at("2026-01-01T12:30:00")] * 3)
    scheduler = CronScheduler(environment.launcher, clock=lambda: next(moments, at("2026-01-01T09:30:00")))
    await environment.set_next_at(workflow_id, at("2026-01-01T13:00:00"))
    async with in_background(scheduler.run_forever(), "schedules"), asyncio.timeout(PATIENCE_S):
        while (await environment.view(workflow_id)).next_at != at("2026-01-01T10:00:00"):
            await asyncio.sleep(0.05)


async def test_skipped_occurrences_are_reported(
    environment: Environment,
):
    workflow_id = await environment.save(cron("minutely", "all"))
    await environment.set_next_at(workflow_id, at("2026-01-01T00:00:00"))
    await run_at(environment, at("2026-01-01T04:00:30"))
    found = scheduled(await environment.runs())
    assert (len(found), found[0], found[-1]) == (100, at("2026-01-01T02:21:00"), at("2026-01-01T04:00:00"))
    assert (await environment.view(workflow_id)).error == SKIPPED_NOTE
    assert [event.data["reason"] for event in await environment.published("workflow.refused")] == [
        SKIPPED_NOTE
    ]
    await run_at(environment, at("2026-01-01T04:01:00"))
    assert (await environment.view(workflow_id)).error is None


async def test_two_schedules_due_together_both_start(environment: Environment):
    workflow_id = await environment.save(cron("hourly"), cron("0 * * * *"))
    await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await run_at(environment, at("2026-01-01T09:00:00"))
    assert len(await environment.runs()) == 2


async def test_refusal_is_published_and_schedule_continues(environment: Environment):
    workflow_id = await environment.save(cron())
    await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    environment.refusal = Conflict("It runs already.")
    await run_at(environment, at("2026-01-01T09:00:00"))
    view = await environment.view(workflow_id)
    assert (view.error, view.next_at, view.last_fired_at) == (
        "It runs already.",
        at("2026-01-01T10:00:00"),
        None,
    )
    (event,) = await environment.published()
    assert event.type == "workflow.refused"
    assert event.data == {
        "workflow_id": workflow_id,
        "name": "w",
        "trigger": "cron",
        "reason": "It runs already.",
    }
    environment.refusal = None
    await run_at(environment, at("2026-01-01T10:00:00"))
    assert len(await environment.runs()) == 1 and (await environment.view(workflow_id)).error is None


async def test_temporary_failure_is_retried(environment: Environment):
    workflow_id = await environment.save(cron())
    await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    environment.refusal = Unavailable("Later.")
    scheduler = CronScheduler(environment.launcher, clock=lambda: at("2026-01-01T09:00:01"))
    assert await scheduler.sweep()
    assert (await environment.view(workflow_id)).next_at == at("2026-01-01T09:00:00")
    environment.refusal = None
    assert await scheduler.sweep()
    assert len(await environment.runs()) == 1


async def test_disabled_or_deleted_workflow_does_not_start(environment: Environment):
    off, gone = await environment.save(cron(), name="off"), await environment.save(cron(), name="gone")
    for workflow_id in (off, gone):
        await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    await environment.save(cron(), name="off", workflow_id=off, is_enabled=False)
    await environment.delete(gone)
    await run_at(environment, at("2026-01-01T09:00:00"))
    assert await environment.runs() == []


async def test_several_servers_start_each_occurrence_once(environment: Environment):
    workflow_id = await environment.save(cron("minutely", "all"))
    await environment.set_next_at(workflow_id, at("2026-01-01T09:00:00"))
    moment = at("2026-01-01T09:19:30")
    await asyncio.gather(*(run_at(environment, moment) for _ in range(3)))
    assert scheduled(await environment.runs()) == [
        at(f"2026-01-01T09:{minute:02}:00") for minute in range(20)
    ]


async def eventually(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0.02)


async def test_new_schedule_is_started_on_time(environment: Environment):
    async with in_background(CronScheduler(environment.launcher).run_forever(), "clock"):
        await environment.save(cron("every second"))
        await eventually(lambda: len(environment.fired) >= 3)
    times = [
        (
            datetime.fromisoformat(str(one.about["fired_at"])),
            datetime.fromisoformat(str(one.about["scheduled_at"])),
        )
        for one in environment.fired
    ]
    assert all(fired >= due for fired, due in times)
    due = [due for _, due in times]
    assert due == [due[0] + timedelta(seconds=n) for n in range(len(due))]
