"""Conditions of triggers (`when`)."""

import asyncio

import pytest

from forge.kernel.clock import now
from forge.workflows.models import TriggerType
from forge.workflows.triggers.launcher import condition_holds
from forge.workflows.triggers.store import TriggerRow

pytestmark = pytest.mark.anyio

TRIGGER = TriggerRow(
    workflow_id="w",
    position=0,
    account_id="a",
    type=TriggerType.EVENT,
    config={},
    next_at=None,
    last_fired_at=None,
    error=None,
    workflow_name="digest",
)


async def test_condition_does_not_block_event_loop():
    when = "size(event.items.map(a, event.items.map(b, a * b))) == 100"
    evaluation = asyncio.ensure_future(
        condition_holds(TRIGGER, when, "*", now(), {"items": list(range(100))})
    )
    turns = 0
    while not evaluation.done():
        await asyncio.sleep(0)
        turns += 1
    assert evaluation.result() is True
    assert turns > 10
