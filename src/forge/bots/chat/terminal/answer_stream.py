"""Follow an answer over HTTP while it is written: text deltas first, then the complete message."""

import time
from collections.abc import Generator
from contextlib import suppress

from forge.bots.chat.models import (
    ChatAnswered,
    ChatDelta,
    ChatRetrying,
    ChatSkillUsed,
    Message,
    RetryNote,
    SkillUse,
)
from forge.bots.models import MessageStatus
from forge.errors import ForgeError, NotFound, Unavailable
from forge.events.models import Event
from forge.kernel.clock import now
from forge.terminal.client import Client
from forge.terminal.follower import RawEvent

MIN_REFETCH_INTERVAL_S = 1.0
"""Minimum time between fetches of missed text: the server saves the text of an answer about as often."""


class AnswerView:
    """Shows an answer while it is written. This base class shows nothing."""

    def begin(self, shown: str) -> None:
        """Start; `shown` is text that is on the screen already."""

    def write(self, text: str) -> None:
        """Show the text so far. A retried model call may produce a different text than before."""

    def thinking(self) -> None: ...

    def skill(self, use: SkillUse) -> None:
        """Show that a skill started or finished."""

    def retrying(self, note: RetryNote) -> None:
        """Show that the model did not answer, and when it is asked again."""

    def disconnected(self, message: str) -> None:
        """Show that the connection to the server was lost; it may come back."""

    def end(self, text: str) -> None:
        """Finish; `text` is the complete answer."""


class AnswerStream:
    """The event stream of a conversation. It stays open between questions, so that no piece of the next answer is missed."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self._events: Generator[Event] | None = None
        self._answer_id = ""
        self._text = ""
        self._view = AnswerView()
        self._refetched_at = 0.0

    def wait_for(self, answer: Message, view: AnswerView, *, is_resumed: bool = False) -> Message:
        """Wait until the answer ends, whatever its status, and return it. Survives restarts of the server."""
        self._answer_id, self._text, self._view = answer.id, answer.text, view
        if answer.answer and answer.answer.retry:
            view.retrying(answer.answer.retry)
        try:
            for event in self._open():
                if event.type == ChatSkillUsed.type:
                    used = ChatSkillUsed.model_validate(event.data)
                    if used.message_id == answer.id:
                        view.skill(used.use)
                if event.type == ChatRetrying.type:
                    failed = ChatRetrying.model_validate(event.data)
                    if failed.message_id == answer.id and failed.retry.at > now():  # not a repeated event
                        view.retrying(failed.retry)
                if event.type == ChatAnswered.type:
                    ended = ChatAnswered.model_validate(event.data).answer
                    if ended.id == answer.id and (not is_resumed or self._is_latest_end(ended)):
                        return ended
        except BaseException:  # a generator that raised cannot be continued
            self.close()
            raise
        raise NotFound("This conversation was deleted.")

    @property
    def text(self) -> str:
        """The text of the answer received so far."""
        return self._text

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None

    def _open(self) -> Generator[Event]:
        if self._events is None:
            stream = f"session:{self._session_id}"
            self._events = self._client.follow(
                stream, Event, on_lost=self._handle_disconnect, on_ephemeral=self._handle_ephemeral
            )
        return self._events

    def _handle_disconnect(self, error: ForgeError) -> None:
        self._view.disconnected(f"{error.message} Trying again …")

    def _handle_ephemeral(self, event: RawEvent) -> None:
        if event["type"] != ChatDelta.type:
            return
        delta = ChatDelta.model_validate(event["data"])
        if delta.message_id != self._answer_id:
            return
        if delta.kind == "thinking":
            self._view.thinking()
            return
        if delta.offset > len(self._text):
            self._catch_up()
        self._extend(delta.offset, delta.text)

    def _extend(self, offset: int, text: str) -> None:
        """Add a piece at its offset. A piece after a gap is ignored, because the final message has the whole text."""
        if offset <= len(self._text) and not self._text.startswith(text, offset):
            self._text = self._text[:offset] + text
            self._view.write(self._text)

    def _catch_up(self) -> None:
        if time.monotonic() - self._refetched_at > MIN_REFETCH_INTERVAL_S:
            self._refetched_at = time.monotonic()
            with suppress(Unavailable):
                self._extend(0, find_message(self._client, self._session_id, self._answer_id).text)

    def _is_latest_end(self, ended: Message) -> bool:
        """Return whether this is the current end. A resumed answer has ended before, and the stream repeats that event first."""
        current = find_message(self._client, self._session_id, ended.id)
        return current.status is not MessageStatus.WRITING and current.finished_at == ended.finished_at


def find_message(client: Client, session_id: str, message_id: str) -> Message:
    for message in client.get(f"/sessions/{session_id}/messages", list[Message]):
        if message.id == message_id:
            return message
    raise NotFound(f"There is no message {message_id} on the current branch of this conversation.")
