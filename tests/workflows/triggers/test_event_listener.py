"""Event triggers start each event once, continue after downtime, and cannot cycle."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from tests.support.engine import open_engine
from tests.support.timeouts import PATIENCE_S
from tests.workflows.triggers.conftest import ACCOUNT, STREAM, Environment, insert_run

from forge.bots.models import BotChanged
from forge.errors import Conflict
from forge.events.models import EventData
from forge.kernel.background import in_background
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.runs.models import Run, RunChanged, RunStatus
from forge.runs.service import Runs
from forge.store.database import Store
from forge.workflows.definition.models import MAX_DEPTH
from forge.workflows.models import TriggerType, WorkflowChanged, WorkflowRefused
from forge.workflows.tables import workflow_cursors, workflow_runs
from forge.workflows.triggers.event_listener import MAX_A_MINUTE, TOO_DEEP, TOO_OFTEN, EventListener

pytestmark = pytest.mark.anyio


def trigger(event_type: str, source: str = "*", **more: Any) -> dict[str, Any]:
    return {"type": "event", "event_type": event_type, "source": source, **more}


def bot(slug: str = "atlas", part: Any = "soul") -> BotChanged:
    return BotChanged(bot_id="1", slug=slug, part=part)


async def publish(environment: Environment, *events: EventData) -> int:
    async with environment.store.begin() as tx:
        return await environment.events.append(tx, STREAM, *events)


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def cursor(environment: Environment) -> int | None:
    async with environment.store.read() as tx:
        return (await tx.execute(sa.select(workflow_cursors.c.seq))).scalar_one_or_none()


@pytest.fixture
async def runs(store: Store) -> AsyncIterator[Runs]:
    async with open_engine(store) as engine:
        yield engine.runs


@asynccontextmanager
async def listening(environment: Environment, runs: Runs) -> AsyncIterator[None]:
    async with in_background(EventListener(environment.launcher, runs).run_forever(), "listener"):
        yield


async def wait_until_processed(environment: Environment, seq: int) -> None:
    """Wait until all events up to there were processed."""

    async def is_there() -> bool:
        return (await cursor(environment) or 0) >= seq

    await eventually(is_there)


async def workflow_run(environment: Environment, workflow_id: str, depth: int = 0, **more: Any) -> Run:
    run_id = new_id()
    async with environment.store.begin() as tx:
        await insert_run(tx, ACCOUNT, run_id, "workflow", **more)
        await tx.execute(
            sa.insert(workflow_runs).values(
                run_id=run_id,
                workflow_id=workflow_id,
                workflow_name="cause",
                number=1,
                trigger="manual",
                source="",
                payload={},
                inputs={},
                about={},
                depth=depth,
                created_at=now(),
            )
        )
    return make_run(run_id, "workflow")


def make_run(
    run_id: str, kind: str, status: RunStatus = RunStatus.COMPLETED, parent_id: str | None = None
) -> Run:
    return Run(
        id=run_id,
        kind=kind,
        title=kind,
        status=status,
        parent_id=parent_id,
        attempt=1,
        progress=None,
        output={"n": 1},
        error=None,
        created_at=now(),
        started_at=None,
        finished_at=None,
    )


async def test_event_starts_only_matching_triggers(environment: Environment, runs: Runs):
    matching = await environment.save(trigger("bot.changed", "bot:atlas"), name="matching")
    await environment.save(trigger("bot.changed", "bot:other"), name="other")
    await environment.save(trigger("skill.changed"), name="skill")
    await environment.save(trigger("bot.changed", when='event.part == "user"'), name="unmet")
    await environment.save(trigger("bot.changed"), name="off", is_enabled=False)
    async with listening(environment, runs):
        seq = await publish(environment, bot())
        await wait_until_processed(environment, seq)
    (run,) = await environment.runs()
    assert (run.workflow_id, run.trigger, run.source) == (
        matching,
        TriggerType.EVENT,
        "bot.changed of bot:atlas",
    )
    assert run.payload == {"bot_id": "1", "slug": "atlas", "part": "soul"}
    assert (run.about["event_type"], run.about["seq"], run.depth) == ("bot.changed", seq, 0)


async def test_events_during_downtime_are_processed_once(environment: Environment, runs: Runs):
    await environment.save(trigger("bot.changed"))
    last = await publish(environment, *[bot()] * 7)
    for _ in range(2):
        async with listening(environment, runs):
            await wait_until_processed(environment, last)
    assert len(await environment.runs()) == 7


async def test_repeated_events_after_crash_start_nothing(environment: Environment, runs: Runs):
    await environment.save(trigger("bot.changed"))
    last = await publish(environment, bot(), bot())
    async with listening(environment, runs):
        await wait_until_processed(environment, last)
    async with environment.store.begin() as tx:  # as if killed before the cursor was stored
        await tx.execute(sa.update(workflow_cursors).values(seq=0))
    async with listening(environment, runs):
        await wait_until_processed(environment, last)
    assert len(await environment.runs()) == 2


async def test_several_listeners_start_one_run_per_event(environment: Environment, runs: Runs):
    await environment.save(trigger("bot.changed"), name="a")
    await environment.save(trigger("bot.changed"), name="b")
    async with listening(environment, runs), listening(environment, runs), listening(environment, runs):
        last = await publish(environment, *[bot()] * 5)
        await wait_until_processed(environment, last)
        await eventually(lambda: count(environment, 10))
        await asyncio.sleep(0.2)
    assert len(await environment.runs()) == 10


async def count(environment: Environment, number: int) -> bool:
    return len(await environment.runs()) >= number


async def test_new_trigger_ignores_past_events(environment: Environment, runs: Runs):
    await publish(environment, bot())
    async with listening(environment, runs):
        for n in range(3):
            await environment.save(trigger("bot.changed", f"bot:b{n}"), name=f"w{n}")
            await publish(environment, bot(f"b{n}"))
            await eventually(lambda n=n: count(environment, n + 1))
    assert len(await environment.runs()) == 3


async def test_listener_continues_after_retention(environment: Environment, runs: Runs):
    await environment.save(trigger("bot.changed"))
    await publish(environment, bot(), bot())
    async with environment.store.begin() as tx:
        await environment.events.delete_events(tx, STREAM)
    async with listening(environment, runs):
        await wait_until_processed(environment, 2)
        await publish(environment, bot("new"))
        await eventually(lambda: count(environment, 1))
    assert [run.payload["slug"] for run in await environment.runs()] == ["new"]


async def test_end_of_run_triggers_other_workflow(environment: Environment, runs: Runs):
    cause = await environment.save({"type": "manual"}, name="cause")
    matching = await environment.save(trigger("run.completed", "workflow:cause"), name="next")
    await environment.save(trigger("run.failed", "workflow:cause"), name="failed")
    run = await workflow_run(environment, cause)
    child = new_id()
    async with environment.store.begin() as tx:
        await insert_run(tx, ACCOUNT, child, "chat", parent_id=run.id)
    async with listening(environment, runs):
        last = await publish(
            environment, RunChanged(run=run), RunChanged(run=make_run(child, "chat", parent_id=run.id))
        )
        await wait_until_processed(environment, last)
    (started,) = await environment.runs(matching)
    assert (started.depth, started.payload["run"]["output"]) == (1, {"n": 1})
    assert len(await environment.runs()) == 2


async def test_own_events_are_ignored_unless_requested(environment: Environment, runs: Runs):
    default = await environment.save(trigger("run.completed"), name="default")
    kind = await environment.save(trigger("run.completed", "kind:*"), name="kind")
    own = await environment.save(trigger("run.completed", "workflow:cause"), name="cause")
    ended = [await workflow_run(environment, one) for one in (default, kind, own)]
    async with listening(environment, runs):
        last = await publish(environment, *(RunChanged(run=run) for run in ended))
        await wait_until_processed(environment, last)
    started = {one: len(await environment.runs(one)) - 1 for one in (default, kind, own)}
    assert started == {default: 2, kind: 2, own: 3}


async def test_chain_of_runs_is_limited_and_reported_once(environment: Environment, runs: Runs):
    cause = await environment.save({"type": "manual"}, name="cause")
    last_in_chain = await environment.save(trigger("run.completed", "workflow:cause"), name="next")
    almost = await workflow_run(environment, cause, depth=MAX_DEPTH - 1)
    deep = [await workflow_run(environment, cause, depth=MAX_DEPTH) for _ in range(2)]
    async with listening(environment, runs):
        last = await publish(environment, *(RunChanged(run=run) for run in (almost, *deep)))
        await wait_until_processed(environment, last)
    (started,) = await environment.runs(last_in_chain)
    assert started.depth == MAX_DEPTH
    assert [event.data["reason"] for event in await environment.published("workflow.refused")] == [TOO_DEEP]
    assert (await environment.view(last_in_chain)).error == TOO_DEEP


async def test_event_runs_are_rate_limited(environment: Environment, runs: Runs):
    """Two workflows that react to each other's events would multiply."""
    workflow_id = await environment.save(trigger("bot.changed"))
    async with listening(environment, runs):
        await wait_until_processed(
            environment, await publish(environment, *(bot() for _ in range(MAX_A_MINUTE + 3)))
        )
    assert len(await environment.runs(workflow_id)) == MAX_A_MINUTE
    assert [event.data["reason"] for event in await environment.published("workflow.refused")] == [TOO_OFTEN]


async def test_rate_limit_ignores_runs_from_before_clock_change(environment: Environment, runs: Runs):
    workflow_id = await environment.save(trigger("bot.changed"))
    async with listening(environment, runs):
        await wait_until_processed(
            environment, await publish(environment, *(bot() for _ in range(MAX_A_MINUTE)))
        )
        async with environment.store.begin() as tx:
            await tx.execute(sa.update(workflow_runs).values(created_at=now() + timedelta(hours=3)))
        await wait_until_processed(environment, await publish(environment, bot()))
    assert len(await environment.runs(workflow_id)) == MAX_A_MINUTE + 1


async def test_bot_conversation_is_attributed_to_active_runs(environment: Environment, runs: Runs):
    workflow_id = await environment.save(trigger("bot.changed"))
    await workflow_run(environment, "other", depth=3)
    await workflow_run(environment, "other", depth=4, finished_at=now())
    async with listening(environment, runs):
        await wait_until_processed(
            environment, await publish(environment, bot(part="session"), bot(part="soul"))
        )
    assert [run.depth for run in await environment.runs(workflow_id)] == [4, 0]


async def test_refusal_does_not_cause_another_refusal(environment: Environment, runs: Runs):
    await environment.save(trigger("workflow.refused"), name="a")
    await environment.save(trigger("workflow.refused"), name="b")
    environment.refusal = Conflict("It runs already.")
    event = WorkflowRefused(workflow_id="x", name="x", trigger=TriggerType.CRON, reason="r")
    async with listening(environment, runs):
        await wait_until_processed(environment, await publish(environment, event))
    assert len(await environment.published("workflow.refused")) == 1 and len(environment.fired) == 2


async def test_failing_condition_is_reported_once(environment: Environment, runs: Runs):
    broken = await environment.save(trigger("bot.changed", when="event.nothing.here == 1"), name="broken")
    await environment.save(trigger("bot.changed"), name="fine")
    async with listening(environment, runs):
        await wait_until_processed(environment, await publish(environment, bot(), bot()))
    assert len(await environment.runs()) == 2
    assert len(await environment.published("workflow.refused")) == 1
    assert "condition" in str((await environment.view(broken)).error)


async def test_refused_event_does_not_block_next_event(environment: Environment, runs: Runs):
    workflow_id = await environment.save(trigger("workflow.changed"))
    environment.refusal = Conflict("It runs already.")
    event = WorkflowChanged(workflow_id="x", name="x", change="updated")
    async with listening(environment, runs):
        await wait_until_processed(environment, await publish(environment, event))
        assert (await environment.view(workflow_id)).error == "It runs already."
        environment.refusal = None
        await wait_until_processed(environment, await publish(environment, event))
    assert len(await environment.runs()) == 1
    assert len(await environment.published("workflow.refused")) == 1
