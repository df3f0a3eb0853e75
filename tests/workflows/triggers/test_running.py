"""What goes on beside the server goes on after a defect, and ends with the server."""

import asyncio

import pytest
from tests.support.patience import PATIENCE_S

from forge.kernel.background import in_background
from forge.workflows.triggers import running
from forge.workflows.triggers.running import go_on

pytestmark = pytest.mark.anyio


async def test_work_that_stumbles_goes_on_and_ends_when_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr(running, "AGAIN_S", 0.01)
    begun: list[str] = []

    async def work() -> None:
        try:
            begun.append("begun")
            if begun.count("begun") < 3:
                raise ValueError("a defect")
            await asyncio.sleep(60)
        finally:
            begun.append("ended")

    async with in_background(go_on(work, "schedules"), "schedules"), asyncio.timeout(PATIENCE_S):
        while begun.count("begun") < 3:
            await asyncio.sleep(0.01)
    assert begun == ["begun", "ended"] * 3
    assert [record.getMessage() for record in caplog.records] == ["schedules stumbled, and go on in 0 s"] * 2
