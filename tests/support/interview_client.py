"""A client that answers an interview over HTTP, with a scripted model or the guide."""

from dataclasses import dataclass
from typing import Any

import httpx2
from tests.support.chat_client import PRICE, REF, data
from tests.support.models import ModelServer

BUILDER = "/api/v1/builder"


async def connect_interviewer(client: httpx2.AsyncClient, server: ModelServer) -> None:
    provider = {"kind": "anthropic", "base_url": server.url}
    data(await client.put("/api/v1/models/providers/scripted", json=provider))
    data(await client.put("/api/v1/models/prices", params={"model": REF}, json=PRICE))
    for role in ("interviewer", "bot"):
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": [REF]}))


@dataclass
class Interviewee:
    client: httpx2.AsyncClient
    view: Any = None

    @property
    def turn(self) -> Any:
        return self.view["turn"]

    @property
    def path(self) -> str:
        return f"{BUILDER}/sessions/{self.view['session_id']}"

    async def start(self, description: str, **options: Any) -> Any:
        body = {"description": description, **options}
        self.view = data(await self.client.post(f"{BUILDER}/sessions", json=body))
        return self.turn

    async def answer(self, answer: Any) -> Any:
        body = {"answer": answer, "turn": self.view["revision"]}
        self.view = data(await self.client.post(f"{self.path}/answer", json=body))
        return self.turn

    async def choose(self, index: int = 0) -> Any:
        return await self.answer({"OptionIndex": index})

    async def say(self, text: str) -> Any:
        return await self.answer({"FreeText": text})

    async def back(self, phase: str | None = None) -> Any:
        return await self.answer({"Back": {"phase": phase}} if phase else "Back")

    async def refresh(self) -> Any:
        self.view = data(await self.client.get(self.path))
        return self.turn

    async def finish(
        self, clarification: str = "It helps me every day with small things", max_turns: int = 40
    ) -> Any:
        """Answer every question with its first option until the interview is ready."""
        for _ in range(max_turns):
            match self.turn["action"]:
                case "ask_question":
                    await self.choose()
                case "show_preview":
                    await self.answer({"Confirm": True})
                case "clarify":
                    await self.say(clarification)
                case _:
                    return self.turn
        raise AssertionError(f"the interview did not end: {self.turn}")

    async def files(self) -> dict[str, str]:
        """Return the files of a dry run by path."""
        preview = data(await self.client.post(f"{self._create_path}?dry_run=true", json={}))
        return {file["path"]: file["content"] for file in preview["files"]}

    async def create(self, **body: Any) -> Any:
        return data(await self.client.post(self._create_path, json=body))["result"]

    @property
    def _create_path(self) -> str:
        return f"{self.path}/{'create-skill' if self.view['mode'] == 'skill' else 'assemble'}"
