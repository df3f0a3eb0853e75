"""Takes a request to its answer: who asks, where in the script it is, what goes wrong, what is said."""

import asyncio
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import cast

from forge.demo.anthropic_dialect import AnthropicDialect
from forge.demo.conversation import Conversation, JsonObject
from forge.demo.dialect import Dialect, Take, Trouble
from forge.demo.direction import Cue, find_cue, write_reply
from forge.demo.faults import BAD_GATEWAY_PAGE, REFUSALS, FaultCounter, spoil_reply, spoil_stream, spoil_whole
from forge.demo.log import Entry, RequestLog
from forge.demo.playback import Piece, Playback
from forge.demo.script import Fault, FaultKind, Script
from forge.errors import Malformed
from forge.kernel.hashing import hash_json

FALLBACK_MODELS = ("scripted",)


@dataclass(frozen=True)
class Refusal(Exception):
    trouble: Trouble
    message: str
    retry_after_s: float | None = None


class Stage:
    """The script, and the little that is remembered: the log, the caches, how often faults have happened."""

    def __init__(self, script: Script, log: RequestLog) -> None:
        self.script = script
        self.log = log
        self.stopping = asyncio.Event()
        self.anthropic: Dialect = AnthropicDialect()
        self._faults = FaultCounter()

    def reset(self) -> None:
        self.log.clear()
        self._faults.forget()
        self.anthropic.forget()

    def model_names(self) -> list[str]:
        return list(self.script.models or FALLBACK_MODELS)

    def perform(self, dialect: Dialect, entry: Entry, headers: Mapping[str, str], raw: bytes) -> Playback:
        """The answer to a request; what was found out about it is noted in its entry."""
        request_id = f"req_{entry.number:06d}"
        try:
            self.admit(dialect, headers)
            entry.body = parse_body(raw)
            playback = self._answer(dialect, entry, request_id)
        except Malformed as error:
            playback = refusal(dialect, Refusal(Trouble.BAD_REQUEST, error.message), request_id)
            entry.error = error.message
        except Refusal as refused:
            playback = refusal(dialect, refused, request_id)
            entry.error = refused.message
        entry.status = playback.status
        return playback

    def admit(self, dialect: Dialect, headers: Mapping[str, str]) -> None:
        key = dialect.key(headers)
        if self.script.keys and key not in self.script.keys:
            message = "invalid x-api-key" if key else "x-api-key header is required"
            raise Refusal(Trouble.UNAUTHORIZED, message)

    def _answer(self, dialect: Dialect, entry: Entry, request_id: str) -> Playback:
        talk = dialect.read(entry.body)
        if self.script.models and talk.model not in self.script.models:
            raise Refusal(Trouble.NOT_FOUND, f"model: {talk.model}")
        cue = find_cue(self.script, talk)
        fault = self._faults.due(cue)
        _note(entry, talk, cue, fault)
        if fault is not None and fault.kind is FaultKind.BAD_GATEWAY:
            return Playback(502, {"content-type": "text/html"}, (Piece(BAD_GATEWAY_PAGE),))
        if fault is not None and fault.kind in REFUSALS:
            trouble, message = REFUSALS[fault.kind]
            raise Refusal(trouble, fault.message or message, fault.retry_after_s)
        take = self._take(dialect, entry, talk, cue, fault)
        entry.usage, entry.stop_reason = take.usage, take.reply.stop
        headers = dialect.headers(request_id)
        if talk.wants_stream:
            return self._streamed(dialect, take, headers, cue, fault)
        return _whole(dialect, take, headers, fault)

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


def parse_body(raw: bytes) -> JsonObject:
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


def _whole(dialect: Dialect, take: Take, headers: dict[str, str], fault: Fault | None) -> Playback:
    if fault is not None and fault.kind is FaultKind.ERROR_EVENT:
        raise Refusal(Trouble.OVERLOADED, fault.message or "Overloaded")
    playback = as_json(200, dialect.answer(take), headers)
    return playback if fault is None else spoil_whole(playback, fault)


def as_json(status: int, content: object, headers: Mapping[str, str] | None = None) -> Playback:
    data = json.dumps(content, ensure_ascii=False).encode()
    return Playback(
        status,
        {**(headers or {}), "content-type": "application/json", "content-length": str(len(data))},
        (Piece(data),),
    )


def refusal(dialect: Dialect, refused: Refusal, request_id: str) -> Playback:
    headers = dialect.headers(request_id)
    if refused.retry_after_s is not None:
        headers["retry-after"] = f"{refused.retry_after_s:g}"
        headers["retry-after-ms"] = str(math.ceil(refused.retry_after_s * 1000))
    content = dialect.error(refused.trouble, refused.message, request_id)
    return as_json(dialect.status(refused.trouble), content, headers)
