"""A running server whose bots answer from a model script."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.models import ModelServer, open_models
from tests.support.server import Server, wait_until

MODEL = "scripted:talker"


@dataclass(frozen=True)
class ChatServer:
    server: Server
    models: ModelServer

    def make_bot(self, name: str = "Atlas", **options: Any) -> dict[str, Any]:
        return self.server.call("POST", "/api/v1/bots", {"name": name, **options})

    def ask(self, slug: str, text: str, **options: Any) -> dict[str, Any]:
        """Send a message, wait for the answer and return it."""
        turn = self.server.call("POST", f"/api/v1/bots/{slug}/chat", {"text": text, **options})
        return self.wait_for_answer(turn["session"]["id"])

    def messages(self, session_id: str) -> list[dict[str, Any]]:
        return self.server.call("GET", f"/api/v1/sessions/{session_id}/messages")

    def wait_for_answer(self, session_id: str) -> dict[str, Any]:
        def finished_message() -> dict[str, Any] | None:
            message = self.messages(session_id)[-1]
            return None if message["status"] == "writing" else message

        return wait_until(finished_message, what="the end of the answer")

    def sessions(self, slug: str) -> list[dict[str, Any]]:
        return self.server.call("GET", f"/api/v1/bots/{slug}/sessions")


@contextmanager
def open_chat_server(server: Server, scenes: dict[str, Any], **script: Any) -> Generator[ChatServer]:
    """Use one scripted model for bots and background tasks; requests without a matching scene get a default answer."""
    with open_models({"scenes": scenes, **script}) as models:
        provider = {"kind": "anthropic", "base_url": models.url}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        for role in ("bot", "utility"):
            server.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [MODEL]})
        yield ChatServer(server, models)
