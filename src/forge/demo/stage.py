"""Takes a request to its answer: who asks, where in the script it is, what goes wrong, what is said."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from forge.demo.anthropic_dialect import AnthropicDialect
from forge.demo.anthropic_request import CountRequest, read_request
from forge.demo.cache import count_prompt_tokens
from forge.demo.conversation import Conversation, JsonObject
from forge.demo.dialect import Dialect, Refusal, Take, Trouble
from forge.demo.direction import Cue, find_cue, write_reply
from forge.demo.faults import (
    BAD_GATEWAY_PAGE,
    FaultCounter,
    refusal_for,
    spoil_reply,
    spoil_stream,
    spoil_whole,
)
from forge.demo.log import Entry, RequestLog
from forge.demo.openai_dialect import OpenAIDialect
from forge.demo.playback import Piece, Playback
from forge.demo.script import Fault, FaultKind, Script
from forge.errors import Malformed
from forge.kernel.hashing import hash_json

FALLBACK_MODELS = ("scripted",)


Verb = Callable[[Dialect, Entry, dict[str, str]], Playback]
"""What a path of the API does; the last argument are the headers every answer has."""


class Stage:
    """The script, and the little that is remembered: the log, the caches, how often faults have happened."""

    def __init__(self, script: Script, log: RequestLog) -> None:
        self.script = script
        self.log = log
        self.stopping = asyncio.Event()
        self.anthropic: Dialect = AnthropicDialect()
        self.openai: Dialect = OpenAIDialect()
        self._faults = FaultCounter()

    def reset(self) -> None:
        self.log.clear()
        self._faults.forget()
        self.anthropic.forget()
        self.openai.forget()

    def perform(
        self, verb: Verb, dialect: Dialect, entry: Entry, headers: Mapping[str, str], raw: bytes
    ) -> Playback:
        """Let somebody in who has a right key, and do what they ask; refusals have the shape of their API."""
        request_id = f"req_{entry.number:06d}"
        try:
            self._admit(dialect, headers)
            entry.body = _parse(raw) if raw else {}
            playback = verb(dialect, entry, dialect.headers(request_id))
        except Malformed as error:
            playback = _refuse(dialect, entry, Refusal(Trouble.BAD_REQUEST, error.message), request_id)
        except Refusal as refused:
            playback = _refuse(dialect, entry, refused, request_id)
        entry.status = playback.status
        return playback

    def _admit(self, dialect: Dialect, headers: Mapping[str, str]) -> None:
        if self.script.keys and dialect.key(headers) not in self.script.keys:
            raise Refusal(Trouble.UNAUTHORIZED, dialect.wrong_key(headers))

    def _check_model(self, name: str) -> None:
        if self.script.models and name not in self.script.models:
            raise Refusal(Trouble.NOT_FOUND, f"model: {name}")

    def answer(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        talk = dialect.read(entry.body)
        self._check_model(talk.model)
        cue = find_cue(self.script, talk)
        fault = self._faults.due(cue)
        _note(entry, talk, cue, fault)
        if fault is not None and fault.kind is FaultKind.BAD_GATEWAY:
            return Playback(502, {"content-type": "text/html"}, (Piece(BAD_GATEWAY_PAGE),))
        if fault is not None and (refused := refusal_for(fault, is_stream=talk.wants_stream)):
            raise refused
        take = self._take(dialect, entry, talk, cue, fault)
        entry.usage, entry.stop_reason = take.usage, take.reply.stop
        if talk.wants_stream:
            return self._streamed(dialect, take, headers, cue, fault)
        playback = _as_json(200, dialect.answer(take), headers)
        return playback if fault is None else spoil_whole(playback, fault)

    def count_tokens(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        read_request(entry.body, CountRequest)
        return _as_json(200, {"input_tokens": count_prompt_tokens(entry.body)}, headers)

    def list_models(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        return _as_json(200, dialect.models(list(self.script.models or FALLBACK_MODELS)), headers)

    def show_model(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        name = entry.path.removeprefix("/v1/models/")
        self._check_model(name)
        return _as_json(200, dialect.models([name])["data"][0], headers)

    def unknown_path(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        raise Refusal(Trouble.NOT_FOUND, f"Not found: {entry.path}")

    def _take(
        self, dialect: Dialect, entry: Entry, talk: Conversation, cue: Cue, fault: Fault | None
    ) -> Take:
        reply = write_reply(cue, talk)
        if fault is not None:
            reply = spoil_reply(reply, fault)
        usage = dialect.account(entry.body, time.time())
        return Take(
            message_id=hash_json([cue.conversation, cue.turn, talk.is_continued])[:24],
            model=talk.model,
            reply=reply,
            usage=usage.model_copy(update={"output_tokens": reply.output_tokens}),
            created=int(entry.at.timestamp()),
            piece_chars=self.script.piece_chars,
            wants_usage=talk.wants_usage,
        )

    def _streamed(
        self, dialect: Dialect, take: Take, headers: dict[str, str], cue: Cue, fault: Fault | None
    ) -> Playback:
        planned = cue.plan.delay_s if cue.plan is not None else None
        delay_s = self.script.delay_s if planned is None else planned
        pieces = [replace(each, wait_s=delay_s) if each.is_content else each for each in dialect.stream(take)]
        events = {**headers, "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        playback = Playback(200, events, tuple(pieces))
        if fault is None:
            return playback
        error = dialect.error_event(Trouble.OVERLOADED, fault.message or "Overloaded")
        return spoil_stream(playback, fault, error)


def _parse(raw: bytes) -> JsonObject:
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise Malformed(f"The request body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise Malformed("The request body must be a JSON object.")
    return cast(JsonObject, body)


def _note(entry: Entry, talk: Conversation, cue: Cue, fault: Fault | None) -> None:
    entry.model, entry.is_stream = talk.model, talk.wants_stream
    entry.scene, entry.turn, entry.conversation = cue.scene, cue.turn, cue.conversation
    entry.fault = fault.kind if fault is not None else None


def _as_json(status: int, content: object, headers: Mapping[str, str]) -> Playback:
    data = json.dumps(content, ensure_ascii=False).encode()
    return Playback(
        status,
        {**headers, "content-type": "application/json", "content-length": str(len(data))},
        (Piece(data),),
    )


def _refuse(dialect: Dialect, entry: Entry, refused: Refusal, request_id: str) -> Playback:
    entry.error = refused.message
    headers = dialect.headers(request_id)
    if refused.retry_after_s is not None:
        headers["retry-after"] = f"{refused.retry_after_s:g}"
    content = dialect.error(refused.trouble, refused.message, request_id)
    return _as_json(dialect.status(refused.trouble), content, headers)
