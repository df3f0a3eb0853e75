"""Background work is restarted after an error and ends with the server."""

import asyncio

import pytest
from tests.support.timeouts import PATIENCE_S

from forge.kernel.background import in_background
from forge.workflows import component
from forge.workflows.component import run_with_restarts

pytestmark = pytest.mark.anyio


async def test_failed_work_is_restarted_until_cancelled(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(component, "RESTART_DELAY_S", 0.01)
    log: list[str] = []

    async def work() -> None:
        try:
            log.append("begun")
            if log.count("begun") < 3:
                raise ValueError("a defect")
            await asyncio.sleep(60)
        finally:
            log.append("ended")

    async with in_background(run_with_restarts(work, "schedules"), "schedules"), asyncio.timeout(PATIENCE_S):
        while log.count("begun") < 3:
            await asyncio.sleep(0.01)
    assert log == ["begun", "ended"] * 3
    assert [record.getMessage() for record in caplog.records] == ["schedules failed; restarting in 0 s"] * 2
