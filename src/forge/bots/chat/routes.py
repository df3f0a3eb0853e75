"""HTTP routes for conversations. Their events are published on `session:<id>`."""

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response, status

from forge.bots.chat.models import (
    Message,
    NewRetry,
    NewTurn,
    SearchHit,
    Session,
    SessionChange,
    SessionDetail,
    Turn,
)
from forge.bots.chat.service import Chats
from forge.bots.chat.sessions import Sessions
from forge.bots.management.routes import BotRef
from forge.bots.management.routes import Service as Bots
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Id, Limit, OptionalLimit

router = APIRouter(prefix="/api/v1", tags=["chat"])


def _chats(request: Request) -> Chats:
    return request.app.state.chats


def _sessions(request: Request) -> Sessions:
    return request.app.state.chat_sessions


Talk = Annotated[Chats, Depends(_chats)]
Talks = Annotated[Sessions, Depends(_sessions)]


@router.post("/bots/{bot}/chat", status_code=status.HTTP_201_CREATED)
async def chat(caller: Writer, bot: BotRef, body: NewTurn, bots: Bots, chats: Talk) -> Envelope[Turn]:
    """Send a message to a bot. The answer is written in the background: follow `session:<id>`, or list the messages later."""
    turn = await chats.ask(caller.account_id, await bots.find(caller.account_id, bot), body)
    return reply(turn, session=f"/api/v1/sessions/{turn.session.id}")


@router.get("/bots/{bot}/sessions")
async def list_sessions(
    caller: Reader, bot: BotRef, bots: Bots, sessions: Talks, cursor: CursorParam, limit: Limit = 50
) -> Envelope[list[Session]]:
    """List the conversations with a bot, latest first."""
    found = await bots.find(caller.account_id, bot)
    return reply_page(await sessions.find(found, cursor=cursor, limit=limit))


@router.get("/bots/{bot}/search")
async def search_messages(
    caller: Reader,
    bot: BotRef,
    bots: Bots,
    sessions: Talks,
    q: Annotated[str, Query(min_length=1, max_length=200)],
    limit: Limit = 20,
) -> Envelope[list[SearchHit]]:
    """Search the messages of all conversations with a bot."""
    return reply(await sessions.search(await bots.find(caller.account_id, bot), q, limit=limit))


@router.get("/sessions/{session_id}")
async def get_session(caller: Reader, session_id: Id, sessions: Talks) -> Envelope[SessionDetail]:
    return reply(await sessions.get(caller.account_id, session_id))


@router.patch("/sessions/{session_id}")
async def change_session(
    caller: Writer, session_id: Id, body: SessionChange, sessions: Talks
) -> Envelope[Session]:
    """Change the title, or the branch that is shown."""
    return reply(await sessions.change(caller.account_id, session_id, body))


@router.delete("/sessions/{session_id}")
async def delete_session(caller: Writer, session_id: Id, sessions: Talks) -> Envelope[Session]:
    """Delete a conversation permanently. Memories extracted from it are kept."""
    return reply(await sessions.delete(caller.account_id, session_id))


@router.get("/sessions/{session_id}/messages")
async def list_messages(
    caller: Reader, session_id: Id, sessions: Talks, limit: OptionalLimit = None
) -> Envelope[list[Message]]:
    """List the messages of the branch that is shown, oldest first; with `limit`, only the latest ones."""
    return reply((await sessions.messages(caller.account_id, session_id))[-limit if limit else None :])


@router.post("/sessions/{session_id}/stop")
async def stop_answer(caller: Writer, session_id: Id, chats: Talk) -> Envelope[Message]:
    """Stop the answer that is being written. The text written so far is kept."""
    return reply(await chats.stop(caller.account_id, session_id, by=caller.name))


@router.post("/sessions/{session_id}/retry", status_code=status.HTTP_201_CREATED)
async def retry_answer(caller: Writer, session_id: Id, body: NewRetry, chats: Talk) -> Envelope[Turn]:
    """Generate another answer to the same question. The old answer is kept as a sibling."""
    return reply(await chats.retry(caller.account_id, session_id, body.message_id))


@router.post("/sessions/{session_id}/resume", status_code=status.HTTP_201_CREATED)
async def resume_answer(caller: Writer, session_id: Id, chats: Talk) -> Envelope[Turn]:
    """Continue the last answer where it was stopped or interrupted."""
    return reply(await chats.resume(caller.account_id, session_id))


@router.post("/sessions/{session_id}/remember", status_code=status.HTTP_202_ACCEPTED)
async def remember_session(caller: Writer, session_id: Id, chats: Talk, sessions: Talks) -> Envelope[Session]:
    """Extract facts from a conversation now instead of when it has been idle."""
    await chats.extract_facts(caller.account_id, session_id)
    return reply(await sessions.get(caller.account_id, session_id))


@router.get(
    "/sessions/{session_id}/export",
    response_class=Response,
    responses={200: {"content": {"text/markdown": {}, "application/json": {}}}},
)
async def export_session(
    caller: Reader,
    session_id: Id,
    sessions: Talks,
    format: Annotated[Literal["markdown", "json"], Query()] = "markdown",
) -> Response:
    """Export the branch that is shown as a file."""
    text = await sessions.export(caller.account_id, session_id, markdown=format == "markdown")
    kind, ending = (
        ("text/markdown; charset=utf-8", "md") if format == "markdown" else ("application/json", "json")
    )
    name = f'attachment; filename="conversation-{session_id}.{ending}"'
    return Response(text, media_type=kind, headers={"Content-Disposition": name})
