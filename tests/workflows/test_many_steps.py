"""Runs with very many steps, and whoever else is served by the same process."""

import asyncio
from typing import Any

import pytest

from forge.workflows.definition.models import MAX_STEPS, Definition
from forge.workflows.definition.reading import read_data
from forge.workflows.dry import dry_run
from forge.workflows.engine.ground import AT_ONCE
from forge.workflows.expressions import filling
from forge.workflows.models import DryRun

pytestmark = pytest.mark.anyio


def definition(**fields: Any) -> Definition:
    read = read_data(fields).definition
    assert read is not None
    return read


async def turns_beside(run: "asyncio.Task[DryRun]") -> int:
    """How often somebody else has got their turn until it was over."""
    turns = 0
    while not run.done():
        await asyncio.sleep(0)
        turns += 1
    return turns


async def test_others_get_their_turn_between_steps_that_could_all_begin_at_once():
    steps = [{"id": f"s{i}", "type": "wait", "config": {"seconds": 0}} for i in range(MAX_STEPS)]
    run = asyncio.create_task(dry_run(definition(name="wide", steps=steps), {}, {}))
    assert await turns_beside(run) >= MAX_STEPS / AT_ONCE
    assert len(run.result().steps) == MAX_STEPS


async def test_others_get_their_turn_while_templates_are_much_work(monkeypatch: pytest.MonkeyPatch):
    """And there is an end to it, however many placeholders share the work."""
    monkeypatch.setattr(filling, "MAX_FILLING_S", 0.5)
    work = "{{ trigger.a.map(x, trigger.a.map(y, x * y)).size() }} " * 100
    steps = [{"id": "get", "type": "http", "config": {"url": "https://example.com", "body": work}}]
    run = asyncio.create_task(dry_run(definition(name="busy", steps=steps), {"a": list(range(100))}, {}))
    assert await turns_beside(run) >= 100
    (step,) = run.result().steps
    assert step.error and "Filling in was stopped" in step.error.message
