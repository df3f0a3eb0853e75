"""A running server whose bots answer from a script."""

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

    def make_bot(self, name: str = "Atlas", **more: Any) -> dict[str, Any]:
        return self.server.call("POST", "/api/v1/bots", {"name": name, **more})

    def ask(self, slug: str, text: str, **more: Any) -> dict[str, Any]:
        """The answer, when it has ended."""
        turn = self.server.call("POST", f"/api/v1/bots/{slug}/chat", {"text": text, **more})
        return self.ended(turn["session"]["id"])

    def messages(self, session_id: str) -> list[dict[str, Any]]:
        return self.server.call("GET", f"/api/v1/sessions/{session_id}/messages")

    def ended(self, session_id: str) -> dict[str, Any]:
        def last() -> dict[str, Any] | None:
            message = self.messages(session_id)[-1]
            return None if message["status"] == "writing" else message

        return wait_until(last, what="the answer's end")

    def sessions(self, slug: str) -> list[dict[str, Any]]:
        return self.server.call("GET", f"/api/v1/bots/{slug}/sessions")


@contextmanager
def open_chat_server(server: Server, scenes: dict[str, Any], **script: Any) -> Generator[ChatServer]:
    """Bots and their chores use one scripted model; what no scene fits gets an answer that says so."""
    with open_models({"scenes": scenes, **script}) as models:
        provider = {"kind": "anthropic", "base_url": models.url}
        server.call("PUT", "/api/v1/models/providers/scripted", provider)
        server.call("PUT", f"/api/v1/models/prices?model={MODEL}", {"input": 3, "output": 15})
        for role in ("bot", "utility"):
            server.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [MODEL]})
        yield ChatServer(server, models)
