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
from typing import Any

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from sqlalchemy.exc import SQLAlchemyError

from forge.errors import (
    Conflict,
    ForgeError,
    Gone,
    Internal,
    Invalid,
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
from forge.interview.domain.dialogue import Mode
from forge.interview.drafts import interview_stream
from forge.interview.models import (
    SESSION_PATTERN,
    Assembled,
    InterviewDeleted,
    InterviewDelta,
    InterviewFinished,
    InterviewTurned,
    NewAnswer,
    NewSession,
    SessionView,
)
from forge.interview.service import Interviews
from forge.interview.socket_messages import (
    AssembleBot,
    Cancel,
    CreateSkill,
    GiveAnswer,
    Message,
    Ping,
    Reconfigure,
    Resume,
    StartBot,
    StartSkill,
    Style,
    delta_reply,
    error_reply,
    heartbeat,
    pong,
    read_message,
    result_reply,
    state_reply,
    turn_reply,
    validate_message,
)

log = logging.getLogger(__name__)

MAX_MESSAGE = 100_000
MAX_QUEUED = 32
"""Messages that may wait; further ones are read from the connection later."""

router = APIRouter()


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
        self._style = Style.SNAKE_CASE
        self.heartbeat = heartbeat(self._style)
        self._shown: int | None = None
        """The revision of the turn that was last sent."""
        self._inbox: asyncio.Queue[tuple[str, int | None]] = asyncio.Queue(MAX_QUEUED)
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_background(self._follow())
        self._in_background(self._handle_queued())

    def running_tasks(self) -> Iterable[asyncio.Task[None]]:
        return self._tasks

    async def handle_message(self, text: str) -> None:
        """Queue a message with the turn that was shown when it arrived.

        The second click of a double click may be handled after the next turn was sent, but does not answer it.
        """
        await self._inbox.put((text, self._shown))

    async def _handle_queued(self) -> None:
        """Handle messages in order. An invalid one is answered with an error; connection and draft stay unchanged."""
        while True:
            text, shown = await self._inbox.get()
            try:
                if len(text) > MAX_MESSAGE:
                    raise TooLarge(f"A message may have at most {MAX_MESSAGE:,} characters.")
                value, self._style = read_message(text)
                self.heartbeat = heartbeat(self._style)
                message = validate_message(value)
                if not isinstance(message, Ping | Resume):
                    self._caller.must_have(Scope.WRITE)
                await self._handle(message, shown)
            except ForgeError as error:
                await self._send_error(error)

    async def _handle(self, message: Message, shown: int | None) -> None:
        account_id, interviews = self._caller.account_id, self._interviews
        match message:
            case Ping():
                await self.send_text(pong(self._style))
            case StartBot(description=description, speaker=speaker):
                await self._start(NewSession(description=description, speaker=speaker))
            case StartSkill(description=description, skill=skill, speaker=speaker):
                await self._start(
                    NewSession(description=description, mode=Mode.SKILL, skill=skill, speaker=speaker)
                )
            case Reconfigure(bot_slug=slug, description=description, speaker=speaker):
                await self._start(
                    NewSession(description=description, mode=Mode.RECONFIGURE, bot_slug=slug, speaker=speaker)
                )
            case GiveAnswer(answer=answer, turn=turn):
                await self._answer(NewAnswer(answer=answer, turn=shown if turn is None else turn))
            case Resume():
                await self._resume(await interviews.view(account_id, self._session_id))
            case Cancel():
                await interviews.cancel(account_id, self._session_id)
            case AssembleBot(config=config):
                self._in_background(self._assemble(config))
            case CreateSkill(skill_request=request):
                self._in_background(self._create(request))

    async def _start(self, new: NewSession) -> None:
        await self._interviews.start(self._caller.account_id, new, session_id=self._session_id, waits=False)

    async def _answer(self, new: NewAnswer) -> None:
        """Apply an answer. If it changes nothing, there is no event, so the turn is sent again."""
        if new.turn is None:
            await self._interviews.view(self._caller.account_id, self._session_id)  # raises NotFound
            raise Conflict(
                "No turn was sent over this connection yet.",
                hint="Wait for the current turn, or name the `turn` you answer.",
            )
        view = await self._interviews.answer(self._caller.account_id, self._session_id, new, waits=False)
        if view.revision == new.turn:
            await self._send_session(view)

    async def _resume(self, session: SessionView) -> None:
        """Send the current turn, or what was created to a client that has no message for the state of a session."""
        if session.made is not None and self._style is not Style.SNAKE_CASE:
            await self.send_text(result_reply(session.made, self._style))
        else:
            await self._send_session(session)

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
                await self.send_text(result_reply(made.result, self._style))
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

    async def _send_session(self, session: SessionView) -> None:
        """Send the current turn, or the state of an interview that has none at the moment."""
        if session.due is None and session.made is None:
            self._shown = session.revision
            await self.send_text(turn_reply(session, self._style))
        elif (state := state_reply(session, self._style)) is not None:
            await self.send_text(state)

    async def _send_error(self, error: ForgeError) -> None:
        await self.send_text(error_reply(error, self._style))

    async def _follow(self) -> None:
        events = self._interviews.drafts.events
        stream = interview_stream(self._session_id)
        try:
            after = await events.last_seq(stream)
            await self._send_existing()
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

    async def _send_existing(self) -> None:
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
        await self._send_session(view)

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
                await self._send_session(InterviewTurned.model_validate(event.data).session)
            case InterviewDelta.type:
                if (delta := delta_reply(event.data["text"], self._style)) is not None:
                    await self.send_text(delta)
            case InterviewFinished.type:
                made = InterviewFinished.model_validate(event.data).made
                await self.send_text(result_reply(made, self._style))
            case InterviewDeleted.type:
                self.close_with(Gone("This interview was deleted."))
            case _:
                pass
