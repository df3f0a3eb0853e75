import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.support.chats import data
from tests.support.interviewing import BUILDER, Person, connect_interviewer
from tests.support.interviews import NAME, STORIES, interview_script, ready
from tests.support.live import Live
from tests.support.models import StartModels
from tests.support.patience import PATIENCE_S
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from forge.http import connection
from forge.kernel.ids import new_id

TURNS = [
    NAME,
    ready(purpose="Tell a story before sleep."),
]


class Line:
    """What a client sees of an interview."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, kind: str, **more: Any) -> None:
        await self._socket.send(json.dumps({"type": kind, **more}))

    async def send_text(self, text: str) -> None:
        await self._socket.send(text)

    async def next(self) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            return json.loads(await self._socket.recv())

    async def hear(self, kind: str) -> Any:
        """The next of this kind; states and pieces before it are passed over."""
        while True:
            frame = await self.next()
            if frame["type"] == kind:
                return frame
            assert frame["type"] in ("state", "delta", "pong"), frame


@asynccontextmanager
async def open_line(live_forge: Live, session_id: str, key: str | None = None) -> AsyncIterator[Line]:
    address = f"{live_forge.url.replace('http', 'ws', 1)}/ws/builder/{session_id}"
    headers = {"Authorization": f"Bearer {live_forge.key if key is None else key}"}
    async with connect(address, additional_headers=headers, open_timeout=PATIENCE_S) as socket:
        yield Line(socket)


async def test_a_bot_from_the_first_word_to_the_last(live_forge: Live):
    session_id = new_id()
    async with open_line(live_forge, session_id) as line, live_forge.client() as client:
        await line.send("start_bot", description=STORIES)
        turn = (await line.hear("turn"))["turn"]
        while turn["action"] == "ask_question":
            await line.send("answer", answer={"OptionIndex": 0})
            turn = (await line.hear("turn"))["turn"]
        assert turn["action"] == "ready_to_assemble"
        await line.send("assemble_bot", config=turn["config"])
        made = (await line.hear("bot_assembled"))["result"]
        assert {"bot_id", "bot_slug", "bot_name", "skills_attached"} <= set(made)
        await line.send("assemble_bot", config=turn["config"])
        assert (await line.hear("bot_assembled"))["result"]["bot_id"] == made["bot_id"]
        assert [bot["id"] for bot in data(await client.get("/api/v1/bots"))] == [made["bot_id"]]


async def test_a_skill_by_conversation(live_forge: Live):
    async with open_line(live_forge, new_id()) as line:
        await line.send("start_skill", description="Count the words of a text")
        turn = (await line.hear("turn"))["turn"]
        while turn["action"] != "ready_to_create_skill":
            answer = {"FreeText": "It counts words"} if turn["action"] == "clarify" else {"OptionIndex": 0}
            await line.send("answer", answer=answer)
            turn = (await line.hear("turn"))["turn"]
        await line.send("assemble_bot")
        assert (await line.hear("error"))["code"] == "wrong_mode"
        await line.send("create_skill", skill_request=turn["skill_request"])
        made = (await line.hear("skill_created"))["result"]
        assert made["name"] == turn["skill_request"]["name"]


async def test_a_dropped_line_is_taken_up_where_it_was(live_forge: Live):
    session_id = new_id()
    async with open_line(live_forge, session_id) as line:
        await line.send("start_skill", description="Count the words of a text")
        await line.hear("turn")
        await line.send("answer", answer={"OptionIndex": 0})
        turn = (await line.hear("turn"))["turn"]
    async with open_line(live_forge, session_id.upper()) as line:
        state = await line.next()
        assert state["type"] == "state"
        assert state["session"]["mode"] == "skill"
        assert state["session"]["turn"] == turn
        await line.send("resume")
        assert (await line.hear("turn"))["turn"] == turn


async def test_two_lines_and_a_wizard_see_the_same_turns(live_forge: Live):
    session_id = new_id()
    async with (
        open_line(live_forge, session_id) as one,
        open_line(live_forge, session_id) as two,
        live_forge.client() as client,
    ):
        await one.send("start_bot", description=STORIES)
        first = await one.hear("turn")
        assert await two.hear("turn") == first
        await two.send("answer", answer={"OptionIndex": 0})
        assert await one.hear("turn") == await two.hear("turn")
        person = Person(client, {"session_id": session_id, "mode": "bot"})
        await person.look()
        await person.choose()
        assert (await one.hear("turn"))["turn"] == person.turn
        assert (await two.hear("turn"))["turn"] == person.turn


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "malformed"),
        ("[]", "malformed"),
        ('{"type": "sing"}', "malformed"),
        ('{"description": "x"}', "malformed"),
        ('{"type": "answer", "answer": {"OptionIndex": 77}}', "bad_answer"),
        ('{"type": "answer", "answer": {"OptionIndex": "one"}}', "invalid"),
        ('{"type": "answer"}', "invalid"),
        ('{"type": "create_skill"}', "wrong_mode"),
        ('{"type": "assemble_bot"}', "conflict"),
        ('{"type": "assemble_bot", "config": {"name": "x"}}', "invalid"),
        ('{"type": "cancel"}', "conflict"),
        ('{"type": "start_bot", "description": "again"}', "conflict"),
        (json.dumps({"type": "start_bot", "description": "x" * 120_000}), "too_large"),
        (json.dumps({"type": "answer", "answer": {"FreeText": "x" * 90_000}}), "invalid"),
    ],
)
async def test_what_is_wrong_is_said_and_neither_line_nor_draft_is_lost(
    live_forge: Live, text: str, code: str
):
    async with open_line(live_forge, new_id()) as line:
        await line.send("start_bot", description=STORIES)
        turn = (await line.hear("turn"))["turn"]
        await line.send_text(text)
        error = await line.hear("error")
        assert error["code"] == code
        assert error["message"]
        await line.send("ping")
        assert (await line.next())["type"] == "pong"
        await line.send("resume")
        assert (await line.hear("turn"))["turn"] == turn


async def test_without_a_draft_there_is_nothing_to_resume_or_answer(live_forge: Live):
    async with open_line(live_forge, new_id()) as line:
        for kind, more in (
            ("resume", {}),
            ("answer", {"answer": "Back"}),
            ("assemble_bot", {}),
            ("cancel", {}),
        ):
            await line.send(kind, **more)
            assert (await line.hear("error"))["code"] == "not_found"


async def test_a_stranger_is_not_let_in(live_forge: Live):
    with pytest.raises(ConnectionClosed) as closed:
        async with open_line(live_forge, new_id(), key="forge_nobody") as line:
            await line.next()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


async def test_an_id_is_a_uuid(live_forge: Live):
    with pytest.raises(ConnectionClosed) as closed:
        async with open_line(live_forge, "not-a-uuid") as line:
            await line.next()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4422


async def test_whoever_watches_is_told_that_it_was_deleted(live_forge: Live):
    session_id = new_id()
    async with open_line(live_forge, session_id) as line, live_forge.client() as client:
        await line.send("start_bot", description=STORIES)
        await line.hear("turn")
        data(await client.delete(f"{BUILDER}/sessions/{session_id}"))
        with pytest.raises(ConnectionClosed) as closed:
            await line.hear("turn")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4410


async def test_the_model_is_heard_while_it_writes_and_the_heart_goes_on_beating(
    live_forge: Live, model_server: StartModels, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(connection, "HEARTBEAT_S", 0.1)
    server = model_server(interview_script(TURNS, delay_s=0.1))
    async with live_forge.client() as client, open_line(live_forge, new_id()) as line:
        await connect_interviewer(client, server)
        await line.send("start_bot", description=STORIES)
        pieces, beats = list[str](), 0
        while (frame := await line.next())["type"] != "turn":
            if frame["type"] == "delta":
                pieces.append(frame["text"])
            beats += frame["type"] == "pong" and bool(pieces)
        assert len(pieces) > 1
        assert "".join(pieces) == frame["turn"]["question"]
        assert beats


async def test_a_thought_can_be_cancelled(live_forge: Live, model_server: StartModels):
    server = model_server(interview_script(TURNS, faults={1: {"kind": "stall", "seconds": 60}}))
    async with live_forge.client() as client, open_line(live_forge, new_id()) as line:
        await connect_interviewer(client, server)
        await line.send("start_bot", description=STORIES)
        asked = (await line.hear("turn"))["turn"]
        await line.send("answer", answer={"OptionIndex": 0})
        assert (await line.hear("state"))["session"]["due"] == "ask"
        await line.send("ping")
        assert (await line.next())["type"] == "pong"
        await line.send("cancel")
        assert (await line.hear("turn"))["turn"] == asked
