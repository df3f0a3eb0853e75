"""Follows an answer while it is written: the pieces as they come, then the whole. For commands, over HTTP."""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from forge.bots.chat.models import ChatAnswered, ChatDelta, Message, MessageStatus, Turn
from forge.errors import ForgeError, NotFound
from forge.events.models import Event
from forge.terminal.client import Client
from forge.terminal.follow import RawEvent


@dataclass(frozen=True)
class Listener:
    """Who wants to know meanwhile."""

    on_delta: Callable[[ChatDelta], None] = lambda _: None
    on_lost: Callable[[ForgeError], None] = lambda _: None


class Line:
    """The stream of one conversation, kept open between questions so that no piece of the next answer is missed."""

    def __init__(self, client: Client, session_id: str, listener: Listener) -> None:
        self._client = client
        self._session_id = session_id
        self._listener = listener
        self._events: Generator[Event] | None = None
        self._answer_id = ""

    def wait_for(self, turn: Turn, *, is_resumed: bool = False) -> Message:
        """The answer of a turn when it has ended, in whatever way; across restarts of the server."""
        self._answer_id = turn.answer.id
        try:
            for event in self._open():
                if event.type == ChatAnswered.type:
                    answer = ChatAnswered.model_validate(event.data).answer
                    if answer.id == turn.answer.id and (not is_resumed or self._has_ended(answer)):
                        return answer
        except BaseException:  # a generator that was left by an error is over
            self.close()
            raise
        raise NotFound("This conversation was deleted.")

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None

    def _open(self) -> Generator[Event]:
        if self._events is None:
            self._events = self._client.follow(
                f"session:{self._session_id}",
                Event,
                on_lost=self._listener.on_lost,
                on_whisper=self._heard,
            )
        return self._events

    def _heard(self, event: RawEvent) -> None:
        if event["type"] == ChatDelta.type:
            delta = ChatDelta.model_validate(event["data"])
            if delta.message_id == self._answer_id:
                self._listener.on_delta(delta)

    def _has_ended(self, answer: Message) -> bool:
        """An answer that is resumed has ended before, and what is told of that comes first."""
        now = find_message(self._client, self._session_id, answer.id)
        return now.status is not MessageStatus.WRITING and now.finished_at == answer.finished_at


def find_message(client: Client, session_id: str, message_id: str) -> Message:
    for message in client.get(f"/sessions/{session_id}/messages", list[Message]):
        if message.id == message_id:
            return message
    raise NotFound(f"There is no message {message_id} in what is shown of this conversation.")
