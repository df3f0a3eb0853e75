"""Helpers to define workflows briefly, start them and wait for them."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tests.support.live_forge import Live
from tests.support.timeouts import PATIENCE_S

from forge.events.models import Event

Steps = list[dict[str, Any]]


STEP_FIELDS = ("condition", "retry", "on_error", "timeout_secs")


def step(step_id: str, kind: str, after: str | list[str] | None = None, **more: Any) -> dict[str, Any]:
    """Build a step; keys that do not belong to the step itself go into its config."""
    in_config = {"conditional": ("condition",), "loop": ("condition",), "approval": ("timeout_secs",)}
    names = [name for name in STEP_FIELDS if name in more and name not in in_config.get(kind, ())]
    own = {name: more.pop(name) for name in names}
    depends_on = [after] if isinstance(after, str) else after or []
    return {"id": step_id, "type": kind, "depends_on": depends_on, "config": more, **own}


def code(step_id: str, body: str, after: str | list[str] | None = None, **more: Any) -> dict[str, Any]:
    """Build a JavaScript code step; `body` is the body of `run(input)`."""
    source = f"export function run(input) {{ {body} }}"
    return step(step_id, "code", after, language="javascript", source=source, **more)


class WorkflowClient:
    """Calls the workflow API of a running Forge."""

    def __init__(self, live: Live) -> None:
        self.live = live

    async def request(self, method: str, path: str, **more: Any) -> Any:
        async with self.live.client() as client:
            response = await client.request(method, f"/api/v1{path}", **more)
        content = response.json()
        assert response.status_code < 400, content["errors"]
        return content["data"]

    async def refused(self, method: str, path: str, **more: Any) -> tuple[int, dict[str, Any]]:
        async with self.live.client() as client:
            response = await client.request(method, f"/api/v1{path}", **more)
        assert response.status_code >= 400, response.text
        return response.status_code, response.json()["errors"][0]

    async def create(self, name: str, steps: Steps, **more: Any) -> Any:
        return await self.request(
            "POST", "/workflows", json={"definition": {"name": name, "steps": steps, **more}}
        )

    async def trigger(self, ref: str, **payload: Any) -> str:
        submitted = await self.request("POST", f"/workflows/{ref}/trigger", json=payload)
        assert submitted["status"] == "submitted"
        return submitted["run_id"]

    async def until(self, run_id: str, *statuses: str, seconds: float = PATIENCE_S) -> Any:
        """Wait until the run has one of these statuses, by default until it has ended, and return it."""
        wanted = statuses or ("completed", "failed", "cancelled")
        async with asyncio.timeout(seconds):
            while (run := await self.request("GET", f"/workflow-runs/{run_id}"))["status"] not in wanted:
                await asyncio.sleep(0.02)
        return run

    async def run(
        self, name: str, steps: Steps, payload: Mapping[str, Any] | None = None, **more: Any
    ) -> Any:
        """Create a workflow, start it and wait for the end of the run."""
        await self.create(name, steps, **more)
        return await self.until(await self.trigger(name, **(payload or {})))

    async def steps(self, run: Any) -> dict[str, Any]:
        """Return the steps of a run by key, with inputs and outputs."""
        found, page = dict[str, Any](), {"limit": "200"}
        async with self.live.client() as client:
            while True:
                response = await client.get(f"/api/v1/workflow-runs/{run['id']}/steps", params=page)
                content = response.raise_for_status().json()
                found |= {one["key"]: one for one in content["data"]}
                if (cursor := content["meta"]["next_cursor"]) is None:
                    return found
                page["cursor"] = cursor

    async def outputs(self, run: Any) -> dict[str, Any]:
        return {key: one["output"] for key, one in (await self.steps(run)).items()}

    async def events(self, run: Any) -> list[Event]:
        forge = self.live.forge
        async with forge.store.read() as tx:
            return await forge.events.read(tx, f"run:{run['id']}", limit=100_000)


def statuses(run: Any) -> dict[str, str]:
    return {one["key"]: one["status"] for one in run["steps"]}
