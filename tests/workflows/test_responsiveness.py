"""Large runs do not block the event loop."""

import asyncio
from typing import Any

import pytest

from forge.workflows.definition.models import MAX_STEPS, Definition
from forge.workflows.definition.reader import read_data
from forge.workflows.dry_run import dry_run
from forge.workflows.engine.execution_context import YIELD_EVERY
from forge.workflows.expressions import templates
from forge.workflows.models import DryRun

pytestmark = pytest.mark.anyio


def definition(**fields: Any) -> Definition:
    read = read_data(fields).definition
    assert read is not None
    return read


async def count_turns_during(run: "asyncio.Task[DryRun]") -> int:
    """Count how often another task got to run until the dry run ended."""
    turns = 0
    while not run.done():
        await asyncio.sleep(0)
        turns += 1
    return turns


async def test_starting_many_steps_does_not_block_event_loop():
    steps = [{"id": f"s{i}", "type": "wait", "config": {"seconds": 0}} for i in range(MAX_STEPS)]
    run = asyncio.create_task(dry_run(definition(name="wide", steps=steps), {}, {}))
    assert await count_turns_during(run) >= MAX_STEPS / YIELD_EVERY
    assert len(run.result().steps) == MAX_STEPS


async def test_expensive_templates_do_not_block_event_loop(monkeypatch: pytest.MonkeyPatch):
    """The time limit covers all placeholders together."""
    monkeypatch.setattr(templates, "MAX_FILLING_S", 0.5)
    work = "{{ trigger.a.map(x, trigger.a.map(y, x * y)).size() }} " * 100
    steps = [{"id": "get", "type": "http", "config": {"url": "https://example.com", "body": work}}]
    run = asyncio.create_task(dry_run(definition(name="busy", steps=steps), {"a": list(range(100))}, {}))
    assert await count_turns_during(run) >= 100
    (step,) = run.result().steps
    assert step.error and "took too long" in step.error.message
