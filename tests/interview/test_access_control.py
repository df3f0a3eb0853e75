"""Access control: interviews belong to one account over every interface."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from tests.interview.test_builder_socket import open_socket
from tests.support.chat_client import data, problem
from tests.support.interview_client import BUILDER, Interviewee
from tests.support.live_forge import Live
from websockets.exceptions import ConnectionClosed

from forge.accounts import keys
from forge.accounts.models import NewKey
from forge.accounts.tables import accounts
from forge.http.caller import Caller
from forge.http.scope import CallerMethod, Scope
from forge.interview.domain.state import Due
from forge.interview.tables import builder_drafts
from forge.kernel.clock import now
from forge.kernel.ids import new_id

STRANGER = "account-2"
DESCRIPTION = "A bot that invents bedtime stories for my children"


async def create_key(live_forge: Live, account_id: str, scope: Scope) -> str:
    caller = Caller(account_id, "Someone", frozenset({Scope.ADMIN}), CallerMethod.API_KEY, "key")
    async with live_forge.forge.store.begin() as tx:
        return (await keys.create(tx, caller, NewKey(name="key", scopes=[scope]), now())).key


async def other_account_key(live_forge: Live) -> str:
    async with live_forge.forge.store.begin() as tx:
        row = {"id": STRANGER, "name": "Stranger", "role": "owner", "created_at": now()}
        await tx.execute(sa.insert(accounts).values(**row))
    return await create_key(live_forge, STRANGER, Scope.ADMIN)


def endpoints(session_id: str) -> list[tuple[str, str, Any]]:
    path = f"{BUILDER}/sessions/{session_id}"
    return [
        ("POST", f"{path}/answer", {"answer": {"OptionIndex": 0}}),
        ("POST", f"{path}/assemble", {}),
        ("POST", f"{path}/assemble?dry_run=true", {}),
        ("POST", f"{path}/create-skill", {}),
        ("POST", f"{path}/speaker", {"speaker": "guide"}),
        ("POST", f"{path}/cancel", None),
        ("GET", path, None),
        ("GET", f"{path}/replay", None),
        ("GET", f"/api/v1/events?stream=interview:{session_id}", None),
    ]


async def responses(client: httpx2.AsyncClient, session_id: str) -> set[tuple[int, str]]:
    return {
        problem(await client.request(method, path, json=body)) for method, path, body in endpoints(session_id)
    }


async def test_other_accounts_cannot_access_an_interview(live_forge: Live):
    key = await other_account_key(live_forge)
    async with live_forge.client() as mine, live_forge.client(Authorization=f"Bearer {key}") as other:
        interviewee = Interviewee(mine)
        await interviewee.start(DESCRIPTION)
        session_id = interviewee.view["session_id"]
        assert await responses(other, session_id) == {(404, "not_found")}
        assert data(await other.get(f"{BUILDER}/drafts")) == []
        response = await other.post(f"{BUILDER}/sessions/{session_id}/reconfigure", json={"bot_slug": "a"})
        assert response.status_code == 404
        data(await other.delete(f"{BUILDER}/sessions/{session_id}"))
        with pytest.raises(ConnectionClosed) as closed:
            async with open_socket(live_forge, session_id.upper(), key) as socket:
                await socket.next()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4404
        before = interviewee.view
        await interviewee.refresh()
        assert interviewee.view == before


async def test_socket_on_a_free_id_does_not_receive_another_accounts_interview(live_forge: Live):
    key, session_id = await other_account_key(live_forge), new_id()
    async with (
        open_socket(live_forge, session_id, key) as other,
        open_socket(live_forge, session_id) as mine,
    ):
        for socket in (other, mine):
            await socket.send("ping")
            assert await socket.next() == {"type": "pong"}
        await mine.send("start_bot", description=DESCRIPTION)
        await mine.receive("turn")
        with pytest.raises(ConnectionClosed) as closed:
            await other.next()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 4404


async def test_read_only_key_cannot_change_an_interview(live_forge: Live):
    key = await create_key(live_forge, live_forge.account_id, Scope.READ)
    async with live_forge.client() as mine, live_forge.client(Authorization=f"Bearer {key}") as reading:
        interviewee = Interviewee(mine)
        await interviewee.start(DESCRIPTION)
        session_id = interviewee.view["session_id"]
        path = f"{BUILDER}/sessions/{session_id}"
        for method, where, body in [
            *((method, where, body) for method, where, body in endpoints(session_id) if method == "POST"),
            ("POST", f"{BUILDER}/sessions", {}),
            ("POST", f"{path}/reconfigure", {"bot_slug": "a"}),
            ("DELETE", path, None),
            ("DELETE", f"{BUILDER}/memory", None),
            ("DELETE", f"{BUILDER}/memory/{new_id()}", None),
        ]:
            assert problem(await reading.request(method, where, json=body)) == (403, "denied"), where
        async with open_socket(live_forge, session_id, key) as socket:
            assert (await socket.next())["type"] == "turn"
            for message in (
                {"type": "answer", "answer": {"OptionIndex": 0}},
                {"type": "assemble_bot"},
                {"type": "create_skill"},
                {"type": "start_bot"},
                {"type": "start_skill"},
                {"type": "cancel"},
            ):
                await socket.send_text(json.dumps(message))
                assert (await socket.next())["code"] == "denied"
        assert data(await reading.get(path)) == interviewee.view


async def test_deleting_removes_all_answers(live_forge: Live):
    async with live_forge.client() as client:
        interviewee = Interviewee(client)
        await interviewee.start(DESCRIPTION)
        session_id = interviewee.view["session_id"]
        data(await client.delete(interviewee.path))
    async with live_forge.forge.store.read() as tx:
        events = await live_forge.forge.events.read(tx, f"interview:{session_id}", after=0, limit=100)
    assert [event.type for event in events] == ["interview.deleted"]


async def test_session_id_is_unique_under_concurrency(live_forge: Live):
    session_id = new_id()
    async with live_forge.client() as client:
        interviewee = Interviewee(client)
        await interviewee.start(DESCRIPTION)
        await interviewee.finish()
        slug = (await interviewee.create())["bot_slug"]
        path = f"{BUILDER}/sessions/{session_id}/reconfigure"
        found = await asyncio.gather(*(client.post(path, json={"bot_slug": slug}) for _ in range(4)))
        assert sorted(answer.status_code for answer in found) == [201, 409, 409, 409]


async def test_draft_whose_run_was_deleted_is_recovered(live_forge: Live):
    async with live_forge.client() as client:
        interviewee = Interviewee(client)
        await interviewee.start(DESCRIPTION)
        asked = await interviewee.choose()
        async with live_forge.forge.store.begin() as tx:
            found = await live_forge.forge.interviews.drafts.lock(
                tx, live_forge.account_id, interviewee.view["session_id"]
            )
            thinking = found.state.replace(due=Due.ASK, asked=found.state.exchanges[-1].asked)
            await tx.execute(
                sa.update(builder_drafts).values(state_json=thinking.model_dump_json(), run_id=new_id())
            )
        recovered = await interviewee.refresh()
        assert interviewee.view["due"] is None
        assert recovered != asked
        assert await interviewee.choose() == asked
        data(await client.delete(interviewee.path))
