"""HTTP routes of interviews. Progress is published to the stream `interview:<id>`."""

import re
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import AfterValidator

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.http.parameters import Id, Limit, OptionalLimit
from forge.interview.models import (
    SESSION_PATTERN,
    Assembled,
    DraftSummary,
    MemoryEntry,
    NewAnswer,
    NewAssembly,
    NewReconfiguration,
    NewSession,
    NewSkill,
    NewSpeaker,
    SessionDeleted,
    SessionView,
)
from forge.interview.service import Interviews, ShownTurn

router = APIRouter(prefix="/api/v1/builder", tags=["interview"])


def _is_uuid(session_id: str) -> str:
    if not re.fullmatch(SESSION_PATTERN, session_id):
        raise ValueError("the id of an interview must be a UUID")
    return session_id


SessionId = Annotated[
    str, AfterValidator(_is_uuid), Path(description="A UUID.", json_schema_extra={"pattern": SESSION_PATTERN})
]
AS_AGREED, AS_AGREED_SKILL = NewAssembly(), NewSkill()
DryRun = Annotated[bool, Query(description="Return the files without writing them.")]
Wait = Annotated[
    bool, Query(description="Wait for the next turn. Otherwise it is delivered over the WebSocket.")
]


def _interviews(request: Request) -> Interviews:
    return request.app.state.interviews


Service = Annotated[Interviews, Depends(_interviews)]


@router.post("/sessions", status_code=201)
async def create_session(
    caller: Writer, body: NewSession, interviews: Service, wait: Wait = True
) -> Envelope[SessionView]:
    """Start an interview and return its first turn."""
    return _view(await interviews.start(caller.account_id, body, waits=wait))


async def _shown_turn(
    caller: Writer, session_id: SessionId, interviews: Service
) -> AsyncGenerator[ShownTurn]:
    with interviews.shown_turns.hold(session_id.lower()) as turn:
        yield turn


Shown = Annotated[ShownTurn, Depends(_shown_turn, scope="request")]


@router.post("/sessions/{session_id}/answer")
async def submit_answer(
    caller: Writer,
    session_id: SessionId,
    body: NewAnswer,
    interviews: Service,
    shown: Shown,
    wait: Wait = True,
) -> Envelope[SessionView]:
    """Answer the current turn and wait for the next one. With `wait=false`, fetch the session later
    instead.

    Send the `revision` of the turn as `turn`: an answer to an earlier turn is then refused with 409, and a repeated
    request is applied once.
    """
    view = await interviews.answer(caller.account_id, session_id, body, shown=shown, waits=wait)
    return _view(view)


@router.post("/sessions/{session_id}/assemble")
async def assemble(
    caller: Writer,
    session_id: SessionId,
    interviews: Service,
    body: NewAssembly = AS_AGREED,
    dry_run: DryRun = False,
) -> Envelope[Assembled]:
    """Create the bots that were agreed on. Idempotent: repeated requests return the same result."""
    made = await interviews.assemble(
        caller.account_id, session_id, body.config, by=caller.name, dry_run=dry_run
    )
    slugs = [bot.bot_slug for bot in made.result.bots] if made.result else []
    return reply(made, **({"bot": f"/api/v1/bots/{slugs[0]}"} if slugs else {}))


@router.post("/sessions/{session_id}/create-skill")
async def create_skill(
    caller: Writer,
    session_id: SessionId,
    interviews: Service,
    body: NewSkill = AS_AGREED_SKILL,
    dry_run: DryRun = False,
) -> Envelope[Assembled]:
    """Create the skill that was agreed on. Idempotent: repeated requests return the same result."""
    made = await interviews.create_skill(
        caller.account_id, session_id, body.skill_request, by=caller.name, dry_run=dry_run
    )
    return reply(made)


@router.get("/sessions/{session_id}")
async def get_session(caller: Reader, session_id: SessionId, interviews: Service) -> Envelope[SessionView]:
    """Return an interview with its current turn."""
    return _view(await interviews.view(caller.account_id, session_id))


@router.delete("/sessions/{session_id}")
async def delete_session(
    caller: Writer, session_id: SessionId, interviews: Service
) -> Envelope[SessionDeleted]:
    """Delete an interview. Idempotent: succeeds even if the session does not exist."""
    await interviews.delete(caller.account_id, session_id)
    return reply(SessionDeleted(session_id=session_id))


@router.post("/sessions/{session_id}/reconfigure", status_code=201)
async def reconfigure(
    caller: Writer, session_id: SessionId, body: NewReconfiguration, interviews: Service
) -> Envelope[SessionView]:
    """Start an interview about an existing bot. The client chooses the session id."""
    return _view(await interviews.reconfigure(caller.account_id, session_id, body))


@router.post("/sessions/{session_id}/speaker")
async def switch_speaker(
    caller: Writer, session_id: SessionId, body: NewSpeaker, interviews: Service
) -> Envelope[SessionView]:
    """Switch who asks the questions from the next turn on: a model or Forge's guide."""
    return _view(await interviews.switch(caller.account_id, session_id, body.speaker))


@router.post("/sessions/{session_id}/cancel")
async def cancel_thinking(
    caller: Writer, session_id: SessionId, interviews: Service
) -> Envelope[SessionView]:
    """Stop waiting for the model and take back the last answer. The interview stays open."""
    return _view(await interviews.cancel(caller.account_id, session_id))


@router.get("/sessions/{session_id}/replay")
async def replay_session(caller: Reader, session_id: SessionId, interviews: Service) -> Envelope[Assembled]:
    """Recreate the files from the saved answers and compare them with what was written."""
    return reply(await interviews.replay(caller.account_id, session_id))


@router.get("/drafts")
async def list_drafts(
    caller: Reader, interviews: Service, limit: OptionalLimit = None
) -> Envelope[list[DraftSummary]]:
    """List unfinished interviews, the most recent first."""
    return reply((await interviews.list_drafts(caller.account_id))[:limit])


@router.get("/memory")
async def list_memory(caller: Reader, interviews: Service, limit: Limit = 50) -> Envelope[list[MemoryEntry]]:
    """List what is remembered of finished interviews."""
    return reply(await interviews.memory(caller.account_id, limit))


@router.delete("/memory/{entry_id}")
async def forget_one(caller: Writer, entry_id: Id, interviews: Service) -> Envelope[int]:
    """Delete a memory entry."""
    return reply(await interviews.forget(caller.account_id, entry_id))


@router.delete("/memory")
async def forget_all(caller: Writer, interviews: Service) -> Envelope[int]:
    """Delete all memory entries and return how many there were."""
    return reply(await interviews.forget(caller.account_id, None))


def _view(view: SessionView) -> Envelope[SessionView]:
    path = f"/api/v1/builder/sessions/{view.session_id}"
    return reply(view, self=path, answer=f"{path}/answer")
