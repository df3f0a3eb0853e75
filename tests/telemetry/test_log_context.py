"""Log bindings belong to a context, not to a thread."""

import asyncio
import logging
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest

from forge.telemetry import bind, current

Entries = Callable[..., list[dict[str, Any]]]

log = logging.getLogger("forge.test")


def test_bindings_nest_and_end():
    with bind(request_id="r1", step=1):
        with bind(step=2, run_id="w1"):
            assert dict(current()) == {"request_id": "r1", "step": 2, "run_id": "w1"}
        with bind(step=None):
            assert dict(current()) == {"request_id": "r1"}
    assert dict(current()) == {}


def test_binding_ends_after_an_exception():
    with pytest.raises(ValueError), bind(run_id="w1"):
        raise ValueError
    assert dict(current()) == {}


async def test_tasks_inherit_bindings_and_keep_their_own(entries: Entries):
    together = asyncio.Barrier(2)

    async def work(run_id: str) -> None:
        with bind(run_id=run_id):
            await together.wait()
            log.info("working")
            await together.wait()

    with bind(request_id="r1"):
        await asyncio.gather(work("w1"), work("w2"))
        log.info("done")
    seen = [(entry["message"], entry["request_id"], entry.get("run_id")) for entry in entries()]
    assert sorted(seen[:2]) == [("working", "r1", "w1"), ("working", "r1", "w2")]
    assert seen[2:] == [("done", "r1", None)]


async def test_thread_of_the_loop_inherits_bindings(entries: Entries):
    with bind(run_id="w1"):
        await asyncio.to_thread(log.info, "in a thread")
    assert [entry["run_id"] for entry in entries()] == ["w1"]


def test_new_context_has_no_bindings():
    empty = copy_context()
    with bind(run_id="w1"):
        assert dict(empty.run(current)) == {}
