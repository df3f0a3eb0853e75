"""Runs with very many steps, and whoever else is served by the same process."""

import asyncio

import pytest

from forge.workflows.definition.models import MAX_STEPS
from forge.workflows.definition.reading import read_data
from forge.workflows.dry import dry_run
from forge.workflows.engine.ground import AT_ONCE

pytestmark = pytest.mark.anyio


async def test_others_get_their_turn_between_steps_that_could_all_begin_at_once():
    steps = [{"id": f"s{i}", "type": "wait", "config": {"seconds": 0}} for i in range(MAX_STEPS)]
    definition = read_data({"name": "wide", "steps": steps}).definition
    assert definition is not None
    run = asyncio.ensure_future(dry_run(definition, {}, {}))
    turns = 0
    while not run.done():
        await asyncio.sleep(0)
        turns += 1
    assert len(run.result().steps) == MAX_STEPS
    assert turns >= MAX_STEPS / AT_ONCE
