"""Follows an answer while it is written: the pieces as they come, then the whole. For commands, over HTTP."""

import time
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass

from forge.bots.chat.models import ChatAnswered, ChatDelta, ChatSkillUsed, Message, SkillUse
from forge.bots.models import MessageStatus
from forge.errors import ForgeError, NotFound, Unavailable
from forge.events.models import Event
from forge.terminal.client import Client
from forge.terminal.follower import RawEvent

ASK_AGAIN_S = 1.0
"""A piece was missed: the server keeps what there is of an answer about as often."""


def _ignore(_: object) -> None:
    pass


@dataclass(frozen=True)
class Listener:
    """Who wants to know meanwhile. Pieces of the text come in order and without a gap; `on_again` is told all of it when
    a model that was asked again says something else."""

    on_text: Callable[[str], None] = _ignore
    on_again: Callable[[str], None] = _ignore
    on_thinking: Callable[[str], None] = _ignore
    on_lost: Callable[[ForgeError], None] = _ignore
    on_skill: Callable[[SkillUse], None] = _ignore


class Line:
    """The stream of one conversation, kept open between questions so that no piece of the next answer is missed."""

    def __init__(self, client: Client, session_id: str) -> None:
        self._client = client
        self._session_id = session_id
        self._events: Generator[Event] | None = None
        self._answer = ""
        self._text = ""
        self._listener = Listener()
        self._asked_at = 0.0

    def wait_for(self, answer: Message, listener: Listener, *, is_resumed: bool = False) -> Message:
        """An answer that is being written, when it has ended, in whatever way; across restarts of the server."""
        self._answer, self._text, self._listener = answer.id, answer.text, listener
        try:
            for event in self._open():
                if event.type == ChatSkillUsed.type:
                    self._used(ChatSkillUsed.model_validate(event.data))
                if event.type == ChatAnswered.type:
                    ended = ChatAnswered.model_validate(event.data).answer
                    if ended.id == answer.id and (not is_resumed or self._has_ended(ended)):
                        return ended
        except BaseException:  # a generator that was left by an error is over
            self.close()
            raise
        raise NotFound("This conversation was deleted.")

    @property
    def text(self) -> str:
        """What was heard of the answer."""
        return self._text

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None

    def _open(self) -> Generator[Event]:
        if self._events is None:
            stream = f"session:{self._session_id}"
            self._events = self._client.follow(stream, Event, on_lost=self._lost, on_ephemeral=self._heard)
        return self._events

    def _used(self, told: ChatSkillUsed) -> None:
        if told.message_id == self._answer:
            self._listener.on_skill(told.use)

    def _lost(self, error: ForgeError) -> None:
        self._listener.on_lost(error)

    def _heard(self, event: RawEvent) -> None:
        if event["type"] != ChatDelta.type:
            return
        delta = ChatDelta.model_validate(event["data"])
        if delta.message_id != self._answer:
            return
        if delta.kind == "thinking":
            self._listener.on_thinking(delta.text)
            return
        if delta.offset > len(self._text):
            self._catch_up()
        self._extend(delta.offset, delta.text)

    def _extend(self, offset: int, text: str) -> None:
        """Nothing when there is a gap: the end has it all."""
        before, heard = self._text[:offset], self._text[offset:]
        if offset > len(self._text) or heard.startswith(text):
            return
        self._text = before + text
        if text.startswith(heard):
            self._listener.on_text(text[len(heard) :])
        else:
            self._listener.on_again(self._text)

    def _catch_up(self) -> None:
        if time.monotonic() - self._asked_at > ASK_AGAIN_S:
            self._asked_at = time.monotonic()
            with suppress(Unavailable):
                self._extend(0, find_message(self._client, self._session_id, self._answer).text)

    def _has_ended(self, ended: Message) -> bool:
        """An answer that is resumed has ended before, and what is told of that comes first."""
        now = find_message(self._client, self._session_id, ended.id)
        return now.status is not MessageStatus.WRITING and now.finished_at == ended.finished_at


def find_message(client: Client, session_id: str, message_id: str) -> Message:
    for message in client.get(f"/sessions/{session_id}/messages", list[Message]):
        if message.id == message_id:
            return message
    raise NotFound(f"There is no message {message_id} in what is shown of this conversation.")
