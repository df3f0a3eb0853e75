"""The kinds of work, each a coroutine that does one piece of it and returns when it is done."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from tests.support.interview_client import Interviewee
from websockets.asyncio.client import ClientConnection

from benchmarks.soak.server_under_test import BOT, SKILL, WORKFLOW, ServerUnderTest

ENDS = ("run.completed", "run.failed", "run.cancelled")
AT_ONCE = 5
PAGES = (
    "/api/v1/status",
    "/api/v1/runs?limit=50",
    "/api/v1/workflow-runs?limit=20",
    f"/api/v1/bots/{BOT}/sessions",
    f"/api/v1/skills/{SKILL}/runs",
    "/api/v1/gates?limit=50",
    "/api/v1/models/calls",
)

Action = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Activity:
    """Work that is started at a fixed interval, even if the previous piece is not done."""

    every_s: float
    act: Action


@dataclass
class Activities:
    server: ServerUnderTest
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    def by_name(self) -> dict[str, Activity]:
        return {
            "self-test with a question": Activity(3, self.self_test),
            "workflow with every type of step": Activity(4, self.workflow),
            "chat": Activity(3, self.chat),
            "agent with a command": Activity(20, self.agent),
            "audit": Activity(10, self.audit),
            "skill": Activity(2, self.skill),
            "interview that creates a bot": Activity(15, self.interview),
            f"{AT_ONCE} sockets that connect and disconnect": Activity(2, self.sockets),
            "pages": Activity(3, self.pages),
        }

    async def self_test(self) -> None:
        given = {"ask": True, "child": True}
        run = await self.server.post("/api/v1/runs", {"kind": "self_test", "input": given})
        await self._until_completed(run["id"])

    async def workflow(self) -> None:
        submitted = await self.server.post(f"/api/v1/workflows/{WORKFLOW}/trigger")
        await self._until_completed(submitted["run_id"])
        await self.server.get(f"/api/v1/workflow-runs/{submitted['run_id']}/steps")

    async def agent(self) -> None:
        task = {"workspace_id": self.server.workspace_id, "task": "Write a note"}
        await self._until_completed((await self.server.post("/api/v1/agents", task))["id"])

    async def audit(self) -> None:
        run = await self.server.post("/audit/run", {"workspace_id": self.server.project_id})
        await self._until_completed(run["id"])

    async def chat(self) -> None:
        """Ask two questions in one conversation."""
        session_id: str | None = None
        async with self.server.socket() as socket:
            for text in ("Talk to me.", "Go on."):
                body = {"text": text, "session_id": session_id}
                turn = await self.server.post(f"/api/v1/bots/{BOT}/chat", body)
                session_id = turn["session"]["id"]
                wanted = turn["answer"]["id"]
                async for event in _follow(socket, f"session:{session_id}"):
                    if event["type"] == "chat.answered" and event["data"]["answer"]["id"] == wanted:
                        assert event["data"]["answer"]["status"] == "done", event["data"]["answer"]
                        break

    async def skill(self) -> None:
        ran = await self.server.post(f"/api/v1/skills/{SKILL}/run", {"input": {"n": next(self._numbers)}})
        assert ran["end"] == "done", ran

    async def interview(self) -> None:
        """Answer an interview to the end, with an open socket; then delete the bot, which keeps its name reserved."""
        person, number = Interviewee(self.server.client), next(self._numbers)
        await person.start(f"Write poems about the number {number}")
        async with self.server.socket(f"/ws/builder/{person.view['session_id']}"):
            ready = await person.finish()
            made = await person.create(config={**ready["config"], "name": f"Poet {number}"})
        answer = await self.server.client.delete(f"/api/v1/bots/{made['bot_slug']}")
        assert answer.is_success, answer.text

    async def sockets(self) -> None:
        """Replay a few events; half of the sockets disconnect without closing properly."""
        stream, after = f"account:{self.server.account_id}", None
        opened = [await self.server.socket().__aenter__() for _ in range(AT_ONCE)]
        for socket in opened:
            await _subscribe(socket, stream, after=after)
            after = max(0, json.loads(await socket.recv())["last_seq"] - 100)
        for number, socket in enumerate(opened):
            if number % 2:
                await socket.close()
            else:
                socket.transport.abort()
                await socket.wait_closed()

    async def pages(self) -> None:
        for path in PAGES:
            await self.server.get(path)

    async def _until_completed(self, run_id: str) -> None:
        """Wait for the end of the run; answer every gate with its first option."""
        async with self.server.socket() as socket:
            async for event in _follow(socket, f"run:{run_id}"):
                if event["type"] == "gate.opened":
                    gate = event["data"]["gate"]
                    answer = {"option": gate["options"][0]["id"], "shown_hash": gate["shown_hash"]}
                    await self.server.post(f"/api/v1/gates/{gate['id']}/answer", answer)
                if event["type"] in ENDS:
                    assert event["type"] == "run.completed", event
                    return


async def _follow(socket: ClientConnection, stream: str) -> AsyncIterator[Any]:
    await _subscribe(socket, stream, after=0)
    async with asyncio.timeout(300):
        async for text in socket:
            for event in json.loads(text).get("events", []):
                yield event


async def _subscribe(socket: ClientConnection, stream: str, *, after: int | None) -> None:
    await socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": after}))
