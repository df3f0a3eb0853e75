"""Answer requests from the script: check key and model, find the turn, apply faults, render the reply."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

from forge.demo.anthropic_api import AnthropicDialect, CountRequest, read_request
from forge.demo.dialect import ApiError, ApiErrorKind, Dialect, RenderedReply
from forge.demo.exchange import Conversation, JsonObject
from forge.demo.faults import (
    BAD_GATEWAY_PAGE,
    FaultCounter,
    refusal_for,
    spoil_reply,
    spoil_stream,
    spoil_whole,
)
from forge.demo.local_servers import check_prompt_size, model_fields, own_page
from forge.demo.model_script import Fault, FaultKind, Script
from forge.demo.openai_api import OpenAIDialect
from forge.demo.playback import Piece, Playback
from forge.demo.prompt_cache import count_prompt_tokens
from forge.demo.reply_writer import ScriptPosition, find_position, write_reply
from forge.demo.request_log import Entry, RequestLog
from forge.errors import Malformed
from forge.kernel.hashing import hash_json

FALLBACK_MODELS = ("scripted",)


Operation = Callable[[Dialect, Entry, dict[str, str]], Playback]
"""Handles one path of the API; the last argument contains the headers of every response."""


class Responder:
    """The script with its state: request log, prompt caches, fault counters."""

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

    def respond(
        self, verb: Operation, dialect: Dialect, entry: Entry, headers: Mapping[str, str], raw: bytes
    ) -> Playback:
        """Authenticate and run an operation; render errors in the format of the API."""
        request_id = f"req_{entry.number:06d}"
        try:
            self._authenticate(dialect, headers)
            entry.body = _parse(raw) if raw else {}
            playback = verb(dialect, entry, dialect.headers(request_id))
        except Malformed as error:
            playback = _error_playback(
                dialect, entry, ApiError(ApiErrorKind.BAD_REQUEST, error.message), request_id
            )
        except ApiError as error:
            playback = _error_playback(dialect, entry, error, request_id)
        entry.status = playback.status
        return playback

    def _authenticate(self, dialect: Dialect, headers: Mapping[str, str]) -> None:
        if self.script.keys and dialect.key(headers) not in self.script.keys:
            raise ApiError(ApiErrorKind.UNAUTHORIZED, dialect.wrong_key(headers))

    def _check_model(self, name: str) -> None:
        if self.script.models and name not in self.script.models:
            raise ApiError(ApiErrorKind.NOT_FOUND, f"model: {name}")

    def answer(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        conversation = dialect.read(entry.body)
        self._check_model(conversation.model)
        check_prompt_size(self.script, entry.body, dialect.name)
        position = find_position(self.script, conversation)
        fault = self._faults.next_due(position)
        _log_position(entry, conversation, position, fault)
        if fault is not None and fault.kind is FaultKind.BAD_GATEWAY:
            return Playback(502, {"content-type": "text/html"}, (Piece(BAD_GATEWAY_PAGE),))
        if fault is not None and (error := refusal_for(fault, is_stream=conversation.wants_stream)):
            raise error
        rendered = self._render(dialect, entry, conversation, position, fault)
        entry.usage, entry.stop_reason = rendered.usage, rendered.reply.stop
        if conversation.wants_stream:
            return self._streamed(dialect, rendered, headers, position, fault)
        playback = _json_playback(200, dialect.answer(rendered), headers)
        return playback if fault is None else spoil_whole(playback, fault)

    def count_tokens(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        read_request(entry.body, CountRequest)
        return _json_playback(200, {"input_tokens": count_prompt_tokens(entry.body)}, headers)

    def list_models(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        page = dialect.models(self._model_names)
        page["data"] = [entry | model_fields(self.script) for entry in page["data"]]
        return _json_playback(200, page, headers)

    def show_model(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        name = entry.path.removeprefix("/v1/models/")
        self._check_model(name)
        return _json_playback(200, dialect.models([name])["data"][0] | model_fields(self.script), headers)

    def other_path(self, dialect: Dialect, entry: Entry, headers: dict[str, str]) -> Playback:
        page = own_page(self.script, self._model_names, entry.path)
        if page is not None:
            return _json_playback(200, page, headers)
        raise ApiError(ApiErrorKind.NOT_FOUND, f"Not found: {entry.path}")

    @property
    def _model_names(self) -> list[str]:
        return list(self.script.models or FALLBACK_MODELS)

    def _render(
        self,
        dialect: Dialect,
        entry: Entry,
        conversation: Conversation,
        position: ScriptPosition,
        fault: Fault | None,
    ) -> RenderedReply:
        reply = write_reply(position, conversation)
        if fault is not None:
            reply = spoil_reply(reply, fault)
        usage = dialect.account(entry.body, time.time())
        return RenderedReply(
            message_id=hash_json([position.conversation, position.turn, conversation.is_continued])[:24],
            model=conversation.model,
            reply=reply,
            usage=usage.model_copy(update={"output_tokens": reply.output_tokens}),
            created=int(entry.at.timestamp()),
            piece_chars=self.script.piece_chars,
            wants_usage=conversation.wants_usage,
        )

    def _streamed(
        self,
        dialect: Dialect,
        rendered: RenderedReply,
        headers: dict[str, str],
        position: ScriptPosition,
        fault: Fault | None,
    ) -> Playback:
        planned = position.plan.delay_s if position.plan is not None else None
        delay_s = self.script.delay_s if planned is None else planned
        pieces = [
            replace(each, wait_s=delay_s) if each.is_content else each for each in dialect.stream(rendered)
        ]
        events = {**headers, "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
        playback = Playback(200, events, tuple(pieces))
        if fault is None:
            return playback
        error = dialect.error_event(ApiErrorKind.OVERLOADED, fault.message or "Overloaded")
        return spoil_stream(playback, fault, error)


def _parse(raw: bytes) -> JsonObject:
    try:
        body = json.loads(raw)
    except ValueError as error:
        raise Malformed(f"The request body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise Malformed("The request body must be a JSON object.")
    return cast(JsonObject, body)


def _log_position(
    entry: Entry, conversation: Conversation, position: ScriptPosition, fault: Fault | None
) -> None:
    entry.model, entry.is_stream = conversation.model, conversation.wants_stream
    entry.scene, entry.turn, entry.conversation = position.scene, position.turn, position.conversation
    entry.fault = fault.kind if fault is not None else None


def _json_playback(status: int, content: object, headers: Mapping[str, str]) -> Playback:
    data = json.dumps(content, ensure_ascii=False).encode()
    return Playback(
        status,
        {**headers, "content-type": "application/json", "content-length": str(len(data))},
        (Piece(data),),
    )


def _error_playback(dialect: Dialect, entry: Entry, error: ApiError, request_id: str) -> Playback:
    entry.error = error.message
    headers = dialect.headers(request_id)
    if error.retry_after_s is not None:
        headers["retry-after"] = f"{error.retry_after_s:g}"
    content = error.body or dialect.error(error.kind, error.message, request_id)
    return _json_playback(dialect.status(error.kind), content, headers)
