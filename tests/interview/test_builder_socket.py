import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.support.chat_client import data
from tests.support.interview_client import BUILDER, Interviewee, connect_interviewer
from tests.support.interview_scripts import NAME, STORIES, interview_script, ready
from tests.support.live_forge import Live
from tests.support.models import StartModels
from tests.support.timeouts import PATIENCE_S
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from forge.http import websocket_connection
from forge.kernel.ids import new_id

TURNS = [
    NAME,
    ready(purpose="Tell a story before sleep."),
]


class SocketClient:
    """A WebSocket client of an interview."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket

    async def send(self, kind: str, **more: Any) -> None:
        await self._socket.send(json.dumps({"type": kind, **more}))

    async def send_text(self, text: str) -> None:
        await self._socket.send(text)

    async def next(self) -> Any:
        async with asyncio.timeout(PATIENCE_S):
            return json.loads(await self._socket.recv())

    async def receive(self, kind: str) -> Any:
        """Return the next message of this type, skipping states and deltas."""
        while True:
            frame = await self.next()
            if frame["type"] == kind:
                return frame
            assert frame["type"] in ("state", "delta", "pong"), frame


@asynccontextmanager
async def open_socket(
    live_forge: Live, session_id: str, key: str | None = None
) -> AsyncIterator[SocketClient]:
    address = f"{live_forge.url.replace('http', 'ws', 1)}/ws/builder/{session_id}"
    headers = {"Authorization": f"Bearer {live_forge.key if key is None else key}"}
    async with connect(address, additional_headers=headers, open_timeout=PATIENCE_S) as socket:
        yield SocketClient(socket)


async def test_bot_interview_over_the_socket(live_forge: Live):
    session_id = new_id()
    async with open_socket(live_forge, session_id) as socket, live_forge.client() as client:
        await socket.send("start_bot", description=STORIES)
        turn = (await socket.receive("turn"))["turn"]
        while turn["action"] == "ask_question":
            await socket.send("answer", answer={"OptionIndex": 0})
            turn = (await socket.receive("turn"))["turn"]
        assert turn["action"] == "ready_to_assemble"
        await socket.send("assemble_bot", config=turn["config"])
        made = (await socket.receive("bot_assembled"))["result"]
        assert {"bot_id", "bot_slug", "bot_name", "skills_attached"} <= set(made)
        await socket.send("assemble_bot", config=turn["config"])
        assert (await socket.receive("bot_assembled"))["result"] == made
        assert data(await client.post(f"{BUILDER}/sessions/{session_id}/assemble"))["result"] == made
        await socket.send("answer", answer={"OptionIndex": 0})
        assert (await socket.receive("error"))["message"] == "This interview is finished."
        assert [bot["id"] for bot in data(await client.get("/api/v1/bots"))] == [made["bot_id"]]


async def test_skill_interview_over_the_socket(live_forge: Live):
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("start_skill", description="Count the words of a text")
        turn = (await socket.receive("turn"))["turn"]
        while turn["action"] != "ready_to_create_skill":
            answer = {"FreeText": "It counts words"} if turn["action"] == "clarify" else {"OptionIndex": 0}
            await socket.send("answer", answer=answer)
            turn = (await socket.receive("turn"))["turn"]
        await socket.send("assemble_bot")
        assert (await socket.receive("error"))["code"] == "wrong_mode"
        await socket.send("create_skill", skill_request=turn["skill_request"])
        made = (await socket.receive("skill_created"))["result"]
        assert made["name"] == turn["skill_request"]["name"]


async def test_dropped_connection_can_be_resumed(live_forge: Live):
    session_id = new_id()
    async with open_socket(live_forge, session_id) as socket:
        await socket.send("start_skill", description="Count the words of a text")
        await socket.receive("turn")
        await socket.send("answer", answer={"OptionIndex": 0})
        turn = (await socket.receive("turn"))["turn"]
    async with open_socket(live_forge, session_id.upper()) as socket:
        first = await socket.next()
        assert (first["type"], first["turn"]) == ("turn", turn)
        assert first["session"]["mode"] == "skill"
        await socket.send("resume")
        assert (await socket.receive("turn"))["turn"] == turn


async def test_all_clients_receive_the_same_turns(live_forge: Live):
    session_id = new_id()
    async with (
        open_socket(live_forge, session_id) as one,
        open_socket(live_forge, session_id) as two,
        live_forge.client() as client,
    ):
        await one.send("start_bot", description=STORIES)
        first = await one.receive("turn")
        assert await two.receive("turn") == first
        await two.send("answer", answer={"OptionIndex": 0})
        assert await one.receive("turn") == await two.receive("turn")
        interviewee = Interviewee(client, {"session_id": session_id, "mode": "bot"})
        await interviewee.refresh()
        await interviewee.choose()
        assert (await one.receive("turn"))["turn"] == interviewee.turn
        assert (await two.receive("turn"))["turn"] == interviewee.turn


async def test_names_of_the_documents_are_accepted_with_a_type(live_forge: Live):
    """The replies use the same names, and only those that the documents define."""
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("StartBot", description=STORIES)
        reply = await socket.next()
        while (turn := reply["turn"])["action"] == "ask_question":
            assert reply["type"] == "Turn"
            await socket.send("Answer", answer={"OptionIndex": 0})
            reply = await socket.next()
        await socket.send("Resume")
        assert (await socket.next())["turn"] == turn
        await socket.send("AssembleBot", config=turn["config"])
        made = await socket.next()
        assert (made["type"], made["result"]["bot_name"]) == ("BotAssembled", turn["config"]["name"])
        await socket.send("Resume")
        assert await socket.next() == made
        await socket.send("AssembleBot", config=turn["config"] | {"name": "Another"})
        assert (await socket.next())["type"] == "Error"


async def test_client_with_the_names_of_the_documents_gets_no_heartbeats(
    live_forge: Live, monkeypatch: pytest.MonkeyPatch
):
    """The documents define no message for it; the protocol's own pings keep the connection open."""
    monkeypatch.setattr(websocket_connection, "HEARTBEAT_S", 0.01)
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("StartBot", description=STORIES)
        for _ in range(20):
            assert (await socket.next())["type"] == "Turn"
            await socket.send("Resume")


async def test_externally_tagged_messages_are_accepted(live_forge: Live):
    async with open_socket(live_forge, new_id()) as socket:

        async def exchange(message: Any) -> Any:
            await socket.send_text(json.dumps(message))
            return await socket.next()

        reply = await exchange({"StartSkill": {"description": "Count the words of a text"}})
        while (turn := reply["Turn"]["turn"])["action"] in ("ask_question", "clarify"):
            answer = {"FreeText": "It counts words"} if turn["action"] == "clarify" else {"OptionIndex": 0}
            reply = await exchange({"Answer": {"answer": answer}})
        assert (turn["action"], turn["config"]) == ("ready_to_assemble", turn["skill_request"])
        assert (await exchange("Resume"))["Turn"]["turn"] == turn
        confirmed = await exchange({"Answer": {"answer": {"Confirm": True}}})
        assert "`create_skill`" in confirmed["Error"]["hint"]
        made = await exchange({"CreateSkill": {"skill_request": turn["skill_request"]}})
        assert made["SkillCreated"]["result"]["name"] == turn["skill_request"]["name"]


async def test_answers_in_snake_case_are_accepted(live_forge: Live):
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("start_bot", description=STORIES)
        first = (await socket.receive("turn"))["turn"]
        await socket.send("answer", answer={"option_index": 0})
        assert (await socket.receive("turn"))["turn"] != first
        await socket.send("answer", answer="back")
        assert (await socket.receive("turn"))["turn"] == first
        await socket.send("answer", answer={"free_text": first["options"][0]["label"]})
        await socket.receive("turn")


async def test_existing_skill_and_bot_can_be_changed(live_forge: Live):
    async with live_forge.client() as client, open_socket(live_forge, new_id()) as socket:
        bot = data(await client.post("/api/v1/bots", json={"name": "Iris"}))
        await socket.send("reconfigure", bot_slug=bot["slug"])
        assert (await socket.receive("turn"))["session"]["mode"] == "reconfigure"
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("start_skill", skill="summarize", description="Shorter")
        session = (await socket.receive("turn"))["session"]
        assert (session["mode"], session["preview"]["name"]) == ("skill", "summarize")


async def test_double_click_on_a_socket_answers_one_question(live_forge: Live):
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("start_bot", description=STORIES)
        await socket.receive("turn")
        for _ in range(2):
            await socket.send("answer", answer={"OptionIndex": 0})
        await socket.receive("turn")
        await socket.send("ping")
        assert (await socket.next())["type"] == "pong"
        await socket.send("resume")
        assert (await socket.receive("turn"))["session"]["question_count"] == 1


async def test_double_click_on_two_sockets_answers_one_question(live_forge: Live):
    session_id = new_id()
    async with open_socket(live_forge, session_id) as one, open_socket(live_forge, session_id) as two:
        await one.send("start_bot", description=STORIES)
        await one.receive("turn")
        await two.receive("turn")
        await asyncio.gather(*(each.send("answer", answer={"OptionIndex": 0}) for each in (one, two)))
        second = (await one.receive("turn"))["session"]
        assert second["question_count"] == 1
        async with open_socket(live_forge, session_id) as three:
            assert (await three.receive("turn"))["session"]["question_count"] == 1


async def test_unknown_message_lists_all_types(live_forge: Live):
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("sing")
        hint = (await socket.receive("error"))["hint"]
    types = "start_bot start_skill reconfigure answer assemble_bot create_skill resume cancel ping"
    assert all(kind in hint for kind in types.split())


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
async def test_invalid_message_gets_an_error_and_keeps_the_connection(live_forge: Live, text: str, code: str):
    async with open_socket(live_forge, new_id()) as socket:
        await socket.send("start_bot", description=STORIES)
        turn = (await socket.receive("turn"))["turn"]
        await socket.send_text(text)
        error = await socket.receive("error")
        assert error["code"] == code
        assert error["message"]
        await socket.send("ping")
        assert (await socket.next())["type"] == "pong"
        await socket.send("resume")
        assert (await socket.receive("turn"))["turn"] == turn


async def test_resume_and_answer_without_a_draft_are_rejected(live_forge: Live):
    async with open_socket(live_forge, new_id()) as socket:
        for kind, more in (
            ("resume", {}),
            ("answer", {"answer": "Back"}),
            ("assemble_bot", {}),
            ("cancel", {}),
        ):
            await socket.send(kind, **more)
            error = await socket.receive("error")
            assert (error["code"], "`start_bot`" in error["hint"]) == ("not_found", True)


async def test_unauthenticated_socket_is_rejected(live_forge: Live):
    with pytest.raises(ConnectionClosed) as closed:
        async with open_socket(live_forge, new_id(), key="forge_unknown") as socket:
            await socket.next()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4401


async def test_session_id_must_be_a_uuid(live_forge: Live):
    with pytest.raises(ConnectionClosed) as closed:
        async with open_socket(live_forge, "not-a-uuid") as socket:
            await socket.next()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4422


async def test_socket_is_closed_when_the_interview_is_deleted(live_forge: Live):
    session_id = new_id()
    async with open_socket(live_forge, session_id) as socket, live_forge.client() as client:
        await socket.send("start_bot", description=STORIES)
        await socket.receive("turn")
        data(await client.delete(f"{BUILDER}/sessions/{session_id}"))
        with pytest.raises(ConnectionClosed) as closed:
            await socket.receive("turn")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4410


async def test_text_is_streamed_and_heartbeat_continues(
    live_forge: Live, model_server: StartModels, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket_connection, "HEARTBEAT_S", 0.1)
    server = model_server(interview_script(TURNS, delay_s=0.1))
    async with live_forge.client() as client, open_socket(live_forge, new_id()) as socket:
        await connect_interviewer(client, server)
        await socket.send("start_bot", description=STORIES)
        pieces, heartbeats = list[str](), 0
        while (frame := await socket.next())["type"] != "turn":
            if frame["type"] == "delta":
                pieces.append(frame["text"])
            heartbeats += frame["type"] == "pong" and bool(pieces)
        assert len(pieces) > 1
        assert "".join(pieces) == frame["turn"]["question"]
        assert heartbeats


async def test_pending_model_call_can_be_cancelled(live_forge: Live, model_server: StartModels):
    server = model_server(interview_script(TURNS, faults={1: {"kind": "stall", "seconds": 60}}))
    async with live_forge.client() as client, open_socket(live_forge, new_id()) as socket:
        await connect_interviewer(client, server)
        await socket.send("start_bot", description=STORIES)
        asked = (await socket.receive("turn"))["turn"]
        await socket.send("answer", answer={"OptionIndex": 0})
        assert (await socket.receive("state"))["session"]["due"] == "ask"
        await socket.send("ping")
        assert (await socket.next())["type"] == "pong"
        await socket.send("cancel")
        assert (await socket.receive("turn"))["turn"] == asked
