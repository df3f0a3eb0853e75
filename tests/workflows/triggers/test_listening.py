"""Events start workflows: once each, from where it was left, and never in a circle."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from tests.support.engine import open_engine
from tests.support.patience import PATIENCE_S
from tests.workflows.triggers.conftest import ACCOUNT, STREAM, House, insert_run

from forge.bots.models import BotChanged
from forge.errors import Conflict
from forge.events.models import EventData
from forge.kernel.background import in_background
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.runs.models import Run, RunChanged, RunStatus
from forge.runs.service import Runs
from forge.store.engine import Store
from forge.workflows.definition.models import MAX_DEPTH
from forge.workflows.models import TriggerType, WorkflowChanged, WorkflowRefused
from forge.workflows.tables import workflow_cursors, workflow_runs
from forge.workflows.triggers.listening import MAX_A_MINUTE, TOO_DEEP, TOO_OFTEN, Listener

pytestmark = pytest.mark.anyio


def trigger(event_type: str, source: str = "*", **more: Any) -> dict[str, Any]:
    return {"type": "event", "event_type": event_type, "source": source, **more}


def bot(slug: str = "atlas", part: Any = "soul") -> BotChanged:
    return BotChanged(bot_id="1", slug=slug, part=part)


async def tell(house: House, *facts: EventData) -> int:
    async with house.store.begin() as tx:
        return await house.events.append(tx, STREAM, *facts)


async def eventually(condition: Callable[[], Awaitable[object]]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not await condition():
            await asyncio.sleep(0.02)


async def cursor(house: House) -> int | None:
    async with house.store.read() as tx:
        return (await tx.execute(sa.select(workflow_cursors.c.seq))).scalar_one_or_none()


@pytest.fixture
async def runs(store: Store) -> AsyncIterator[Runs]:
    async with open_engine(store) as engine:
        yield engine.runs


@asynccontextmanager
async def listening(house: House, runs: Runs) -> AsyncIterator[None]:
    async with in_background(Listener(house.launch, runs).listen_on(), "listener"):
        yield


async def looked(house: House, seq: int) -> None:
    """Until it was looked at everything up to there."""

    async def is_there() -> bool:
        return (await cursor(house) or 0) >= seq

    await eventually(is_there)


async def workflow_run(house: House, workflow_id: str, depth: int = 0, **more: Any) -> Run:
    run_id = new_id()
    async with house.store.begin() as tx:
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
    return a_run(run_id, "workflow")


def a_run(
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


async def test_an_event_starts_what_asks_for_it_and_nothing_else(house: House, runs: Runs):
    wanted = await house.save(trigger("bot.changed", "bot:atlas"), name="wanted")
    await house.save(trigger("bot.changed", "bot:other"), name="other")
    await house.save(trigger("skill.changed"), name="skill")
    await house.save(trigger("bot.changed", when='event.part == "user"'), name="unmet")
    await house.save(trigger("bot.changed"), name="off", is_enabled=False)
    async with listening(house, runs):
        seq = await tell(house, bot())
        await looked(house, seq)
    (run,) = await house.runs()
    assert (run.workflow_id, run.trigger, run.source) == (
        wanted,
        TriggerType.EVENT,
        "bot.changed of bot:atlas",
    )
    assert run.payload == {"bot_id": "1", "slug": "atlas", "part": "soul"}
    assert (run.about["event_type"], run.about["seq"], run.depth) == ("bot.changed", seq, 0)


async def test_what_happened_while_nobody_listened_is_answered_once(house: House, runs: Runs):
    await house.save(trigger("bot.changed"))
    last = await tell(house, *[bot()] * 7)
    for _ in range(2):
        async with listening(house, runs):
            await looked(house, last)
    assert len(await house.runs()) == 7


async def test_events_that_come_again_after_a_kill_start_nothing_twice(house: House, runs: Runs):
    await house.save(trigger("bot.changed"))
    last = await tell(house, bot(), bot())
    async with listening(house, runs):
        await looked(house, last)
    async with house.store.begin() as tx:  # killed before it was written down how far it came
        await tx.execute(sa.update(workflow_cursors).values(seq=0))
    async with listening(house, runs):
        await looked(house, last)
    assert len(await house.runs()) == 2


async def test_listeners_side_by_side_start_each_event_once(house: House, runs: Runs):
    await house.save(trigger("bot.changed"), name="a")
    await house.save(trigger("bot.changed"), name="b")
    async with listening(house, runs), listening(house, runs), listening(house, runs):
        last = await tell(house, *[bot()] * 5)
        await looked(house, last)
        await eventually(lambda: count(house, 10))
        await asyncio.sleep(0.2)
    assert len(await house.runs()) == 10


async def count(house: House, number: int) -> bool:
    return len(await house.runs()) >= number


async def test_a_new_trigger_has_no_past_and_is_live_at_once(house: House, runs: Runs):
    await tell(house, bot())
    async with listening(house, runs):
        for n in range(3):
            await house.save(trigger("bot.changed", f"bot:b{n}"), name=f"w{n}")
            await tell(house, bot(f"b{n}"))
            await eventually(lambda n=n: count(house, n + 1))
    assert len(await house.runs()) == 3


async def test_a_stream_that_was_forgotten_goes_on_with_what_is_there(house: House, runs: Runs):
    await house.save(trigger("bot.changed"))
    await tell(house, bot(), bot())
    async with house.store.begin() as tx:
        await house.events.forget(tx, STREAM)
    async with listening(house, runs):
        await looked(house, 2)
        await tell(house, bot("new"))
        await eventually(lambda: count(house, 1))
    assert [run.payload["slug"] for run in await house.runs()] == ["new"]


async def test_a_run_that_ends_starts_what_waits_for_that_workflow(house: House, runs: Runs):
    cause = await house.save({"type": "manual"}, name="cause")
    wanted = await house.save(trigger("run.completed", "workflow:cause"), name="next")
    await house.save(trigger("run.failed", "workflow:cause"), name="failed")
    run = await workflow_run(house, cause)
    child = new_id()
    async with house.store.begin() as tx:
        await insert_run(tx, ACCOUNT, child, "chat", parent_id=run.id)
    async with listening(house, runs):
        last = await tell(house, RunChanged(run=run), RunChanged(run=a_run(child, "chat", parent_id=run.id)))
        await looked(house, last)
    (started,) = await house.runs(wanted)
    assert (started.depth, started.payload["run"]["output"]) == (1, {"n": 1})
    assert len(await house.runs()) == 2


async def test_a_workflow_is_not_started_by_what_it_does_itself_unless_it_says_so(house: House, runs: Runs):
    deaf = await house.save(trigger("run.completed"), name="deaf")
    kind = await house.save(trigger("run.completed", "kind:*"), name="kind")
    own = await house.save(trigger("run.completed", "workflow:cause"), name="cause")
    ended = [await workflow_run(house, one) for one in (deaf, kind, own)]
    async with listening(house, runs):
        last = await tell(house, *(RunChanged(run=run) for run in ended))
        await looked(house, last)
    started = {one: len(await house.runs(one)) - 1 for one in (deaf, kind, own)}
    assert started == {deaf: 2, kind: 2, own: 3}


async def test_a_chain_of_causes_comes_to_an_end_and_that_is_told_once(house: House, runs: Runs):
    cause = await house.save({"type": "manual"}, name="cause")
    last_in_chain = await house.save(trigger("run.completed", "workflow:cause"), name="next")
    almost = await workflow_run(house, cause, depth=MAX_DEPTH - 1)
    deep = [await workflow_run(house, cause, depth=MAX_DEPTH) for _ in range(2)]
    async with listening(house, runs):
        last = await tell(house, *(RunChanged(run=run) for run in (almost, *deep)))
        await looked(house, last)
    (started,) = await house.runs(last_in_chain)
    assert started.depth == MAX_DEPTH
    assert [event.data["reason"] for event in await house.told("workflow.refused")] == [TOO_DEEP]
    assert (await house.view(last_in_chain)).error == TOO_DEEP


async def test_events_do_not_start_a_workflow_more_often_than_it_can_bear(house: House, runs: Runs):
    """Two that answer each other's events would start ever more of each other."""
    workflow_id = await house.save(trigger("bot.changed"))
    async with listening(house, runs):
        await looked(house, await tell(house, *(bot() for _ in range(MAX_A_MINUTE + 3))))
    assert len(await house.runs(workflow_id)) == MAX_A_MINUTE
    assert [event.data["reason"] for event in await house.told("workflow.refused")] == [TOO_OFTEN]


async def test_runs_from_before_the_clock_was_set_back_are_not_of_this_minute(house: House, runs: Runs):
    workflow_id = await house.save(trigger("bot.changed"))
    async with listening(house, runs):
        await looked(house, await tell(house, *(bot() for _ in range(MAX_A_MINUTE))))
        async with house.store.begin() as tx:
            await tx.execute(sa.update(workflow_runs).values(created_at=now() + timedelta(hours=3)))
        await looked(house, await tell(house, bot()))
    assert len(await house.runs(workflow_id)) == MAX_A_MINUTE + 1


async def test_talk_with_a_bot_counts_as_done_by_the_runs_that_go_on(house: House, runs: Runs):
    workflow_id = await house.save(trigger("bot.changed"))
    await workflow_run(house, "other", depth=3)
    await workflow_run(house, "other", depth=4, finished_at=now())
    async with listening(house, runs):
        await looked(house, await tell(house, bot(part="session"), bot(part="soul")))
    assert [run.depth for run in await house.runs(workflow_id)] == [4, 0]


async def test_refusals_do_not_cause_refusals(house: House, runs: Runs):
    await house.save(trigger("workflow.refused"), name="a")
    await house.save(trigger("workflow.refused"), name="b")
    house.refusing = Conflict("It runs already.")
    fact = WorkflowRefused(workflow_id="x", name="x", trigger=TriggerType.CRON, reason="r")
    async with listening(house, runs):
        await looked(house, await tell(house, fact))
    assert len(await house.told("workflow.refused")) == 1 and len(house.fired) == 2


async def test_a_condition_that_cannot_be_worked_out_is_told_once_and_the_rest_goes_on(
    house: House, runs: Runs
):
    broken = await house.save(trigger("bot.changed", when="event.nothing.here == 1"), name="broken")
    await house.save(trigger("bot.changed"), name="fine")
    async with listening(house, runs):
        await looked(house, await tell(house, bot(), bot()))
    assert len(await house.runs()) == 2
    assert len(await house.told("workflow.refused")) == 1
    assert "condition" in str((await house.view(broken)).error)


async def test_a_refused_event_is_told_and_the_next_one_is_answered(house: House, runs: Runs):
    workflow_id = await house.save(trigger("workflow.changed"))
    house.refusing = Conflict("It runs already.")
    fact = WorkflowChanged(workflow_id="x", name="x", change="updated")
    async with listening(house, runs):
        await looked(house, await tell(house, fact))
        assert (await house.view(workflow_id)).error == "It runs already."
        house.refusing = None
        await looked(house, await tell(house, fact))
    assert len(await house.runs()) == 1
    assert len(await house.told("workflow.refused")) == 1
