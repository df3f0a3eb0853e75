"""A running server with scripted models and a workspace for agent runs."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.models import open_models
from tests.support.server import Server, wait_until

from forge.kernel.ids import new_id

MODEL = "scripted:coder"
FINAL_STATUSES = ("completed", "failed", "cancelled")


@dataclass(frozen=True)
class AgentServer:
    server: Server
    workspace_id: str
    files: Path

    def start(self, task: str, **options: Any) -> str:
        """Start an agent run and return its id."""
        body = {"workspace_id": self.workspace_id, "task": task, **options}
        return self.server.call("POST", "/api/v1/agents", body)["id"]

    def finish(self, run_id: str) -> None:
        path = f"/api/v1/runs/{run_id}"
        wait_until(
            lambda: self.server.call("GET", path)["run"]["status"] in FINAL_STATUSES,
            what="the end of the agent run",
        )


@contextmanager
def open_agent_server(server: Server, scenes: dict[str, Any], **files: str) -> Generator[AgentServer]:
    """Serve the scenes; each needs its own `match`, because several agents may run at a time."""
    with open_models({"scenes": scenes}) as models:
        provider = {"kind": "anthropic", "base_url": models.url}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        server.call("PUT", "/api/v1/models/roles/builder", {"chain": [MODEL]})
        workspace = server.call("POST", "/api/v1/workspaces", {"name": f"workspace {new_id()[-6:]}"})
        agent_server = AgentServer(server, workspace["id"], Path(workspace["path"]))
        for name, text in files.items():
            (agent_server.files / name.replace("__", ".")).write_text(text)
        yield agent_server
