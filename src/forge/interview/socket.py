"""The WebSocket `/ws/builder/{session_id}`: an interview as a live conversation.

Turns are delivered from the interview's event stream only, so several clients of one session see the same
turns in the same order. Nothing here waits for a model: the heartbeat continues, and a pending model call can
be cancelled.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import aclosing
from typing import Annotated, Any, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from sqlalchemy.exc import SQLAlchemyError

from forge.errors import (
    ForgeError,
    Gone,
    Internal,
    Invalid,
    Malformed,
    NotFound,
    TooLarge,
    TooSlow,
    Unavailable,
)
from forge.events.models import EphemeralEvent, Event
from forge.http.caller import Caller
from forge.http.scope import Scope
from forge.http.websocket_connection import WebSocketConnection, close_reason
from forge.interview.domain.build_config import BuilderConfig, SkillBuildRequest
from forge.interview.domain.dialogue import Answer, Mode
from forge.interview.domain.state import InterviewSpeaker, Made
from forge.interview.drafts import interview_stream
from forge.interview.models import (
    SESSION_PATTERN,
    Assembled,
    GivenDescription,
    InterviewDeleted,
    InterviewDelta,
    InterviewFinished,
    InterviewTurned,
    NewAnswer,
    NewSession,
)
from forge.interview.service import Interviews
from forge.kernel.validation import first_problem

log = logging.getLogger(__name__)

MAX_MESSAGE = 100_000

router = APIRouter()


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid")


class StartBot(_Message):
    type: Literal["start_bot"]
    description: GivenDescription = ""
    speaker: InterviewSpeaker | None = None


class StartSkill(_Message):
    type: Literal["start_skill"]
    description: GivenDescription = ""
    speaker: InterviewSpeaker | None = None


class GiveAnswer(_Message):
    type: Literal["answer"]
    answer: Answer
    turn: int | None = Field(default=None, ge=0)


class AssembleBot(_Message):
    type: Literal["assemble_bot"]
    config: BuilderConfig | None = None


class CreateSkill(_Message):
    type: Literal["create_skill"]
    skill_request: SkillBuildRequest | None = None


class Resume(_Message):
    type: Literal["resume"]


class Cancel(_Message):
    type: Literal["cancel"]


class Ping(_Message):
    type: Literal["ping"]


Message = StartBot | StartSkill | GiveAnswer | AssembleBot | CreateSkill | Resume | Cancel | Ping
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


@router.websocket("/ws/builder/{session_id}")
async def talk_to_forge(socket: WebSocket, session_id: str) -> None:
    await socket.accept()
    try:
        caller: Caller = await socket.app.state.authenticate(socket)
        caller.must_have(Scope.READ)
        if not re.fullmatch(SESSION_PATTERN, session_id):
            raise Invalid("The id of an interview must be a UUID.")
    except ForgeError as error:
        await socket.close(error.ws_close_code(), reason=close_reason(error.message))
        return
    interviews: Interviews = socket.app.state.interviews

    async def check_credential() -> None:
        await socket.app.state.accounts.check_credential(caller)

    await BuilderConnection(socket, interviews, caller, session_id.lower(), check_credential).serve()


class BuilderConnection(WebSocketConnection):
    heartbeat = '{"type": "pong"}'

    def __init__(
        self,
        socket: WebSocket,
        interviews: Interviews,
        caller: Caller,
        session_id: str,
        check_credential: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(socket, check_credential)
        self._interviews = interviews
        self._caller = caller
        self._session_id = session_id
        self._is_owner = False
        self._tasks = {asyncio.create_task(self._follow())}

    def running_tasks(self) -> Iterable[asyncio.Task[None]]:
        return self._tasks

    async def handle_message(self, text: str) -> None:
        """Handle a message. An invalid one is answered with an error; connection and draft stay unchanged."""
        try:
            if len(text) > MAX_MESSAGE:
                raise TooLarge(f"A message may have at most {MAX_MESSAGE:,} characters.")
            message = _parse(text)
            if not isinstance(message, Ping | Resume):
                self._caller.must_have(Scope.WRITE)
            await self._handle(message)
        except ForgeError as error:
            await self._send_error(error)

    async def _handle(self, message: Message) -> None:
        account_id, interviews = self._caller.account_id, self._interviews
        match message:
            case Ping():
                await self.send({"type": "pong"})
            case StartBot(description=description, speaker=speaker):
                await self._start(Mode.BOT, description, speaker)
            case StartSkill(description=description, speaker=speaker):
                await self._start(Mode.SKILL, description, speaker)
            case GiveAnswer(answer=answer, turn=turn):
                new = NewAnswer(answer=answer, turn=turn)
                await interviews.answer(account_id, self._session_id, new, waits=False)
            case Resume():
                await self._send_turn()
            case Cancel():
                await interviews.cancel(account_id, self._session_id)
            case AssembleBot(config=config):
                self._in_background(self._assemble(config))
            case CreateSkill(skill_request=request):
                self._in_background(self._create(request))

    async def _start(self, mode: Mode, description: str, speaker: InterviewSpeaker | None) -> None:
        new = NewSession(description=description, mode=mode, speaker=speaker)
        await self._interviews.start(self._caller.account_id, new, session_id=self._session_id, waits=False)

    async def _assemble(self, config: BuilderConfig | None) -> None:
        await self._create_result(
            lambda: self._interviews.assemble(
                self._caller.account_id, self._session_id, config, by=self._caller.name, dry_run=False
            )
        )

    async def _create(self, request: SkillBuildRequest | None) -> None:
        await self._create_result(
            lambda: self._interviews.create_skill(
                self._caller.account_id, self._session_id, request, by=self._caller.name, dry_run=False
            )
        )

    async def _create_result(self, make: Callable[[], Awaitable[Assembled]]) -> None:
        """Create and let the stream deliver the result; a repeated request is answered here."""
        try:
            before = await self._interviews.view(self._caller.account_id, self._session_id)
            made = await make()
            if before.made is not None and made.result is not None:
                await self.send(_result_message(made.result))
        except ForgeError as error:
            await self._send_error(error)

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        """Close the connection when a background task failed."""
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, WebSocketDisconnect):
            log.error("interview task failed", exc_info=error)
            self.close_with(Internal("Something went wrong; reconnect."))

    async def _send_turn(self) -> None:
        view = await self._interviews.view(self._caller.account_id, self._session_id)
        await self.send_text(_session_message("turn", InterviewTurned(session=view)))

    async def _send_error(self, error: ForgeError) -> None:
        await self.send({"type": "error", "message": error.message, "code": error.code, "hint": error.hint})

    async def _follow(self) -> None:
        events = self._interviews.drafts.events
        stream = interview_stream(self._session_id)
        try:
            after = await events.last_seq(stream)
            await self._send_state()
            async with aclosing(events.hub.follow(stream, after)) as follower:
                async for batch in follower:
                    for event in batch:
                        await self._check_owner()
                        await self._forward(event)
        except ForgeError as error:
            self.close_with(error)
        except TimeoutError:
            self.close_with(TooSlow("The client reads too slowly; reconnect."))
        except SQLAlchemyError:
            log.exception("cannot follow %s", stream)
            self.close_with(Unavailable("The database is not responding; reconnect."))
        except (WebSocketDisconnect, RuntimeError):
            pass  # the receiving side notices it too and closes the connection

    async def _send_state(self) -> None:
        """Send the session if it exists. A session of another account is reported as not found."""
        try:
            view = await self._interviews.view(self._caller.account_id, self._session_id)
        except NotFound:
            if not await self._interviews.is_free(self._session_id):
                raise
            return
        except ForgeError as error:
            await self._send_error(error)
            return
        await self.send_text(_session_message("state", InterviewTurned(session=view)))

    async def _check_owner(self) -> None:
        """Recheck ownership: another account may have taken an id that was free on connecting."""
        if not self._is_owner and not await self._interviews.may_watch(
            self._caller.account_id, self._session_id
        ):
            raise NotFound("There is no such interview.")
        self._is_owner = True

    async def _forward(self, event: Event | EphemeralEvent) -> None:
        match event.type:
            case InterviewTurned.type:
                fact = InterviewTurned.model_validate(event.data)
                is_turn = fact.session.due is None and fact.session.made is None
                await self.send_text(_session_message("turn" if is_turn else "state", fact))
            case InterviewDelta.type:
                await self.send({"type": "delta", "text": event.data["text"]})
            case InterviewFinished.type:
                await self.send(_result_message(InterviewFinished.model_validate(event.data).made))
            case InterviewDeleted.type:
                self.close_with(Gone("This interview was deleted."))
            case _:
                pass


def _parse(text: str) -> Message:
    try:
        return _MESSAGE.validate_json(text)
    except ValidationError as error:
        misfit = first_problem(error)
        if misfit.kind == "json_invalid":
            raise Malformed("The message is not valid JSON.") from error
        if not misfit.path:
            raise Malformed(
                "Unknown message type.", hint="`type` must be one of start_bot, start_skill, answer …"
            ) from error
        raise Invalid(str(misfit)) from error


def _session_message(kind: str, fact: InterviewTurned) -> str:
    """Serialize the session. A turn is repeated at the top level for older clients."""
    session = fact.session.model_dump_json()
    if kind == "state":
        return f'{{"type":"state","session":{session}}}'
    turn = fact.session.turn.model_dump_json() if fact.session.turn else "null"
    return f'{{"type":"turn","turn":{turn},"session":{session}}}'


def _result_message(made: Made) -> dict[str, Any]:
    if made.skill is not None:
        return {"type": "skill_created", "result": made.skill.model_dump(mode="json")}
    bots = [bot.model_dump(mode="json") for bot in made.bots]
    return {"type": "bot_assembled", "result": {**bots[0], "bots": bots}}
