"""The event history of a stream; live events are sent over the WebSocket."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import TypeAdapter

from forge.agents.models import EVENTS as AGENT_EVENTS
from forge.app import Forge
from forge.audits.models import EVENTS as AUDIT_EVENTS
from forge.bots.chat.models import EVENTS as CHAT_EVENTS
from forge.bots.models import EVENTS as BOT_EVENTS
from forge.errors import NotFound
from forge.events.models import STREAM_PATTERN, EventData, wire_model
from forge.http.caller import Reader
from forge.http.envelope import Envelope, reply
from forge.interview.models import EVENTS as INTERVIEW_EVENTS
from forge.messages.models import EVENTS as MESSAGE_EVENTS
from forge.runs.models import EVENTS as RUN_EVENTS
from forge.skills.views import EVENTS as SKILL_EVENTS
from forge.workflows.models import EVENTS as WORKFLOW_EVENTS

EVENT_TYPES: tuple[type[EventData], ...] = (
    *RUN_EVENTS,
    *AGENT_EVENTS,
    *AUDIT_EVENTS,
    *SKILL_EVENTS,
    *BOT_EVENTS,
    *CHAT_EVENTS,
    *INTERVIEW_EVENTS,
    *MESSAGE_EVENTS,
    *WORKFLOW_EVENTS,
)
"""All event types, durable and ephemeral. A feature that emits events adds its own here."""

AnyEvent: Any = wire_model(EVENT_TYPES)
StreamParam = Annotated[
    str, Query(pattern=STREAM_PATTERN, description="The stream's name, such as `run:<id>`.")
]

router = APIRouter(prefix="/api/v1", tags=["events"])

StreamGuard = Callable[[str, str], Awaitable[bool]]


@router.get("/events", response_model=Envelope[list[AnyEvent]])
async def list_events(
    caller: Reader,
    request: Request,
    stream: StreamParam,
    after: Annotated[int, Query(ge=0, le=2**53)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 1000,
) -> Any:
    """List the stored events of a stream after a sequence number, in order. Ephemeral events (`seq` null) are not stored."""
    forge: Forge = request.app.state.forge
    await check_stream_access(forge, caller.account_id, stream)
    async with forge.store.read() as tx:
        found = await forge.events.read(tx, stream, after=after, limit=limit)
    return reply([_WIRE.validate_python(event.__dict__, from_attributes=True) for event in found])


_WIRE: TypeAdapter[Any] = TypeAdapter(AnyEvent)


async def check_stream_access(forge: Forge, account_id: str, stream: str) -> None:
    """Raise NotFound unless the account may follow the stream: streams of other accounts look like missing ones."""
    kind, _, stream_id = stream.partition(":")
    guard = _guards(forge).get(kind)
    if guard is None or not await guard(account_id, stream_id):
        raise NotFound(f"There is no stream {stream}.")


def _guards(forge: Forge) -> dict[str, StreamGuard]:
    return {
        "run": forge.runs.may_watch,
        "session": forge.bots.sessions.can_follow,
        "interview": forge.interviews.may_watch,
        "account": _is_same_account,
    }


async def _is_same_account(account_id: str, stream_id: str) -> bool:
    return account_id == stream_id
