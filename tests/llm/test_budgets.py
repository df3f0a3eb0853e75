"""Budgets hold under races, crashes and failures."""

import asyncio
from datetime import UTC, datetime

import pytest
from tests.support.gateway import ACCOUNT, open_gateway, spender

from forge.kernel.clock import now
from forge.llm.budgets import BudgetLimits, Budgets, CallEstimate
from forge.llm.errors import BudgetExceeded
from forge.llm.models import CallStatus, Role, Spent, Usage
from forge.llm.store import Settlement
from forge.store.database import Store


def order(micros: int) -> CallEstimate:
    return CallEstimate(Role.BUILDER, "scripted", "scripted", "hash", micros)


def settled(micros: int) -> Settlement:
    return Settlement(CallStatus.SETTLED, Usage(input=10, output=5), micros, now())


async def spent(budgets: Budgets) -> dict[str, Spent]:
    return {one.budget: one for one in await budgets.spent(ACCOUNT)}


async def test_call_reserves_worst_case_and_settles_actual_cost(store: Store):
    budgets = Budgets(store, BudgetLimits(1, 2, 3))
    call_id = await budgets.reserve(spender(run_id="run-1"), order(600_000))
    under_way = (await spent(budgets))["day"]
    await budgets.settle(spender(run_id="run-1"), call_id, settled(200_000))
    await budgets.settle(spender(run_id="run-1"), call_id, settled(200_000))
    after = (await spent(budgets))["day"]
    assert (under_way.spent_micros, under_way.reserved_micros) == (0, 600_000)
    assert (after.spent_micros, after.reserved_micros, after.limit_micros) == (200_000, 0, 2_000_000)


async def test_over_budget_call_is_rejected_without_changes(store: Store):
    budgets = Budgets(store, BudgetLimits(1, 2, 3))
    call_id = await budgets.reserve(spender("a", run_id="run-1"), order(700_000))
    with pytest.raises(BudgetExceeded) as caught:
        await budgets.reserve(spender("b", run_id="run-1"), order(400_000))
    short = caught.value.shortfall
    assert (short.budget, short.spent_micros, short.limit_micros) == ("run", 700_000, 1_000_000)
    day = (await spent(budgets))["day"]
    assert day.reserved_micros == 700_000
    await budgets.settle(spender("a", run_id="run-1"), call_id, settled(100_000))
    await budgets.reserve(spender("b", run_id="run-1"), order(400_000))


@pytest.mark.parametrize(
    ("budget", "limits"), [("day", BudgetLimits(9, 1, 9)), ("server", BudgetLimits(9, 9, 1))]
)
async def test_budgets_are_independent(store: Store, budget: str, limits: BudgetLimits):
    budgets = Budgets(store, limits)
    await budgets.reserve(spender("a"), order(900_000))
    with pytest.raises(BudgetExceeded) as caught:
        await budgets.reserve(spender("b"), order(200_000))
    assert caught.value.shortfall.budget == budget


async def test_concurrent_calls_start_only_within_the_budget(store: Store):
    budgets = Budgets(store, BudgetLimits(1, 9, 9))

    async def attempt(number: int) -> bool:
        try:
            await budgets.reserve(spender(str(number), run_id="run-1"), order(300_000))
        except BudgetExceeded:
            return False
        return True

    started = await asyncio.gather(*(attempt(number) for number in range(12)))
    assert sum(started) == 3


async def test_next_attempt_settles_a_lost_call_at_worst_case(store: Store):
    async with open_gateway(store, limits=BudgetLimits(1, 9, 9)) as under:
        await under.budgets.reserve(spender("step", run_id="run-1"), order(300_000))
        again = await under.budgets.reserve(spender("step", run_id="run-1"), order(300_000))
        await under.budgets.settle(spender("step", run_id="run-1"), again, settled(50_000))
        calls = await under.calls()
        day = (await spent(under.budgets))["day"]
    assert [(call.status, call.cost_micros) for call in calls] == [
        (CallStatus.LOST, 300_000),
        (CallStatus.SETTLED, 50_000),
    ]
    assert (day.spent_micros, day.reserved_micros) == (350_000, 0)


async def test_run_budget_can_be_raised(store: Store):
    budgets = Budgets(store, BudgetLimits(1, 9, 9))
    with pytest.raises(BudgetExceeded) as refused:
        await budgets.reserve(spender(run_id="run-1"), order(1_500_000))
    async with store.begin() as tx:
        await budgets.raise_limit(tx, refused.value.shortfall.ledger, 1_000_000)
    await budgets.reserve(spender(run_id="run-1"), order(1_500_000))
    with pytest.raises(BudgetExceeded):
        await budgets.reserve(spender(run_id="run-2"), order(1_500_000))


async def test_daily_budget_resets_at_midnight_utc(store: Store):
    moment = datetime(2026, 11, 15, 23, 59, tzinfo=UTC)
    budgets = Budgets(store, BudgetLimits(9, 1, 9), clock=lambda: moment)
    await budgets.reserve(spender("a"), order(900_000))
    with pytest.raises(BudgetExceeded):
        await budgets.reserve(spender("b"), order(900_000))
    moment = datetime(2026, 11, 16, 0, 0, tzinfo=UTC)
    await budgets.reserve(spender("b"), order(900_000))


async def test_abandoned_call_is_settled_after_hours(store: Store):
    moment = datetime(2026, 11, 15, 8, 0, tzinfo=UTC)
    budgets = Budgets(store, BudgetLimits(9, 9, 9), clock=lambda: moment)
    await budgets.reserve(spender("a"), order(900_000))
    await budgets.write_off_abandoned()
    assert (await spent(budgets))["day"].reserved_micros == 900_000
    moment = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
    await budgets.write_off_abandoned()
    day = (await spent(budgets))["day"]
    assert (day.reserved_micros, day.spent_micros) == (0, 900_000)
