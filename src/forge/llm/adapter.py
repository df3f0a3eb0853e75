"""Call model providers through pydantic-ai and their clients. Importing this module takes seconds, so import it lazily.

Each call makes exactly one HTTP request. Retries, failover and budgets belong to the gateway and to the durable step
around it, so all retries of the libraries are disabled here.
"""

import asyncio
import json
import re
from collections import defaultdict
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, cast

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai import messages as wire
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from forge.kernel.ids import new_id
from forge.kernel.text import repair_surrogates
from forge.llm.errors import ModelFault
from forge.llm.local_servers import API_URLS
from forge.llm.messages import (
    AssistantMessage,
    DeltaKind,
    StopReason,
    StreamListener,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)
from forge.llm.models import Prompt, Provider, ProviderKind, ServerKind, ToolSpec, Usage
from forge.llm.provider_errors import LIBRARY_ERRORS, translated
from forge.llm.repetition import RepetitionDetector

NO_KEY = "none"
"""The clients require a key, even for endpoints without authentication."""
CONNECT_TIMEOUT_S = 10.0
FIRST_TOKEN_TIMEOUT_S = 600.0
LOCAL_FIRST_TOKEN_TIMEOUT_S = 1800.0
"""A local model may have to be loaded, and to process a long conversation with a few tokens per second."""
PAUSE_TIMEOUT_S = 300.0
"""Maximum pause between two pieces of an answer. Keep-alive pings do not count."""
MAX_ANSWER_S = 3600.0
"""Maximum duration of an answer."""

MAX_ERROR_LENGTH = 300
CALL_ID = r"[A-Za-z0-9_-]{1,64}"
PROVIDER_STOPS = {
    "refusal": StopReason.REFUSED,
    "model_context_window_exceeded": StopReason.CONTEXT_FULL,
    "pause_turn": StopReason.PAUSED,
}
STOPS = {
    "stop": StopReason.END,
    "tool_call": StopReason.TOOLS,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.REFUSED,
}


@dataclass
class Received:
    """The answer received so far: complete, or the basis for the cost of a failed call."""

    parts: list[Text | Thinking | ToolCall] = field(default_factory=list[Text | Thinking | ToolCall])
    usage: Usage = field(default_factory=Usage)
    stop: StopReason | None = None
    shown: bool = False
    """A part of the answer was shown to a user."""
    began: bool = False
    """The provider started to answer, so it may charge for the call."""

    @property
    def message(self) -> AssistantMessage:
        return AssistantMessage(parts=list(self.parts))


class Connections:
    """HTTP connections to providers, kept open between calls."""

    def __init__(self) -> None:
        limits = httpx2.Limits(max_connections=200, max_keepalive_connections=50)
        # Cookies would leak from one account to another.
        no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._http = httpx2.AsyncClient(limits=limits, cookies=no_cookies)

    async def close(self) -> None:
        await self._http.aclose()

    def model(self, provider: Provider, name: str, key: SecretStr | None) -> Model:
        secret = key.get_secret_value() if key else NO_KEY
        timeout = httpx2.Timeout(
            connect=CONNECT_TIMEOUT_S,
            read=first_token_timeout_s(provider),
            write=60.0,
            pool=CONNECT_TIMEOUT_S,
        )
        if provider.kind is ProviderKind.ANTHROPIC:
            client = AsyncAnthropic(
                api_key=secret,
                base_url=provider.base_url or API_URLS[provider.kind],
                http_client=self._http,
                max_retries=0,
                timeout=timeout,
            )
            client.auth_token = None  # send nothing from the environment along with an account's key
            client._custom_headers = {}  # pyright: ignore[reportPrivateUsage]  (no public way)
            return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
        openai = AsyncOpenAI(
            api_key=secret,
            base_url=provider.base_url or API_URLS[provider.kind],
            http_client=self._http,
            max_retries=0,
            timeout=timeout,
        )
        openai.organization = openai.project = None
        openai._custom_headers = {}  # pyright: ignore[reportPrivateUsage]
        # Servers for local models know only the older `max_tokens`.
        profile = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=provider.server is None)
        return OpenAIChatModel(
            name,
            provider=OpenAIProvider(openai_client=openai),
            profile=profile if provider.server else None,
        )


def first_token_timeout_s(provider: Provider) -> float:
    return LOCAL_FIRST_TOKEN_TIMEOUT_S if provider.server else FIRST_TOKEN_TIMEOUT_S


@dataclass(frozen=True)
class ModelConnection:
    """A client for one model, with the key to redact from its errors."""

    model: Model
    provider: Provider
    ref: str
    """`provider:model`."""
    key: SecretStr | None

    @property
    def kind(self) -> ProviderKind:
        return self.provider.kind

    def redacted(self, text: str) -> str:
        """Remove the key from an error, because a provider may repeat what it was sent."""
        if self.key is not None and (secret := self.key.get_secret_value()):
            text = text.replace(secret, "[key]")
        return text[:MAX_ERROR_LENGTH]


async def receive(
    line: ModelConnection, prompt: Prompt, received: Received, listener: StreamListener
) -> None:
    """Make one streaming request. `received` is updated continuously, so that it is valid after a failure."""
    is_prefilled = prompt.continues and line.provider.server is not None
    messages = to_wire(prompt.messages[:-1] if is_prefilled else prompt.messages, line.kind, prompt.settled)
    settings, parameters = _settings(line.kind, prompt), _parameters(line.kind, prompt)
    if is_prefilled and line.provider.server is ServerKind.VLLM:  # the others do it without being asked
        settings |= OpenAIChatModelSettings(
            extra_body={"add_generation_prompt": False, "continue_final_message": True}
        )
    forwarder = _DeltaForwarder(listener, prompt.answer, is_text=line.kind is ProviderKind.OPENAI)
    with _translate_errors(line):
        async with (
            asyncio.timeout(MAX_ANSWER_S),
            line.model.request_stream(messages, settings, parameters) as stream,
        ):
            received.began = True
            is_repetition = False
            try:
                is_repetition = await _pump(stream, received, forwarder, first_token_timeout_s(line.provider))
            finally:
                _take(stream, received, line.kind)
                if is_repetition:
                    received.stop = StopReason.REPEATED
    received.parts = _with_unique_ids(received.parts, prompt)
    if received.stop is None:
        raise ModelFault("The model's answer is incomplete: the stream ended without a stop reason.")


async def _pump(
    stream: StreamedResponse, received: Received, forwarder: "_DeltaForwarder", timeout_s: float
) -> bool:
    """Forward the stream to its end, or until the model repeats itself: then return True."""
    events, detectors = aiter(stream), defaultdict[int, RepetitionDetector](RepetitionDetector)
    while True:
        try:
            async with asyncio.timeout(timeout_s):
                event = await anext(events)
        except StopAsyncIteration:
            return False
        timeout_s = PAUSE_TIMEOUT_S
        received.shown = await forwarder.forward(event) or received.shown
        if isinstance(event, wire.PartDeltaEvent) and detectors[event.index].add(_new_text(event)):
            return True


def _new_text(event: wire.PartDeltaEvent) -> str:
    match event.delta:
        case wire.TextPartDelta(content_delta=text):
            return text
        case wire.ThinkingPartDelta(content_delta=str(text)) | wire.ToolCallPartDelta(args_delta=str(text)):
            return text
        case _:
            return ""


class _DeltaForwarder:
    """Forwards the text of a stream, or the pieces of a structured answer, to a listener."""

    def __init__(self, listener: StreamListener, answer: ToolSpec | None, *, is_text: bool) -> None:
        self._listener = listener
        self._answer = answer
        self._is_text = is_text
        """Whether the structured answer is the text itself instead of a tool call."""
        self._index: int | None = None
        """Index of the part that is the structured answer."""

    async def forward(self, event: object) -> bool:
        """Forward a stream event. Return True if it showed text to a user; pieces of a structured answer do not count,
        because the complete answer replaces them."""
        if (piece := self._piece(event)) is not None:
            if piece and self._listener.on_answer:
                await self._listener.on_answer(piece)
            return False
        delta = _delta(event)
        if not delta or not delta[1] or not self._listener.on_delta:
            return False
        await self._listener.on_delta(*delta)
        return delta[0] == "text"

    def _piece(self, event: object) -> str | None:
        if self._answer is None:
            return None
        match event:
            case wire.PartStartEvent(index=index, part=wire.TextPart(content=text)) if self._is_text:
                self._index = index
                return text
            case wire.PartStartEvent(index=index, part=wire.ToolCallPart(tool_name=name, args=arguments)):
                self._index = index if name == self._answer.name else self._index
                return arguments if self._index == index and isinstance(arguments, str) else ""
            case wire.PartDeltaEvent(index=index, delta=wire.TextPartDelta(content_delta=text)):
                return text if index == self._index else None
            case wire.PartDeltaEvent(index=index, delta=wire.ToolCallPartDelta(args_delta=str(text))):
                return text if index == self._index else ""
            case _:
                return None


def _delta(event: object) -> tuple[DeltaKind, str] | None:
    match event:
        case wire.PartStartEvent(part=wire.TextPart(content=text)):
            return "text", text
        case wire.PartDeltaEvent(delta=wire.TextPartDelta(content_delta=text)):
            return "text", text
        case wire.PartStartEvent(part=wire.ThinkingPart(content=text)):
            return "thinking", text
        case wire.PartDeltaEvent(delta=wire.ThinkingPartDelta(content_delta=str(text))):
            return "thinking", text
        case _:
            return None


def _take(stream: StreamedResponse, received: Received, kind: ProviderKind) -> None:
    response = stream.get()
    received.parts = [ours for part in response.parts if (ours := from_wire(part)) is not None]
    received.usage = _usage(response.usage)
    received.stop = _stop(response, kind)


def _stop(response: wire.ModelResponse, kind: ProviderKind) -> StopReason | None:
    """Return the stop reason; None if the stream ended without one, which must not count as a complete answer."""
    raw = (response.provider_details or {}).get("finish_reason")
    if (known := PROVIDER_STOPS.get(str(raw))) is not None:
        return known
    if response.state == "suspended":
        return StopReason.PAUSED
    stop = STOPS.get(response.finish_reason or "")
    if raw is None and stop is StopReason.END and kind is ProviderKind.OPENAI:
        return None  # the library's default for a stream without a finish reason
    has_calls = any(isinstance(part, wire.ToolCallPart) for part in response.parts)
    if stop is StopReason.END and has_calls:
        return StopReason.TOOLS  # some local servers say "stop" after a tool call
    return stop


def _usage(usage: RequestUsage) -> Usage:
    """Convert usage: the library includes cached tokens in the input, Forge counts four disjoint kinds."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return Usage(
        input=max(0, usage.input_tokens - cached),
        output=usage.output_tokens,
        cache_read=usage.cache_read_tokens,
        cache_write=usage.cache_write_tokens,
    )


def _with_unique_ids(
    parts: list[Text | Thinking | ToolCall], prompt: Prompt
) -> list[Text | Thinking | ToolCall]:
    """Give each tool call a unique id that every provider accepts; some models repeat theirs."""
    earlier = (message for message in prompt.messages if isinstance(message, AssistantMessage))
    seen = {call.id for message in earlier for call in message.tool_calls}
    named: list[Text | Thinking | ToolCall] = []
    for part in parts:
        if isinstance(part, ToolCall):
            if part.id in seen or not re.fullmatch(CALL_ID, part.id):
                part = part.model_copy(update={"id": f"call_{new_id()}"})
            seen.add(part.id)
        named.append(part)
    return named


def _settings(kind: ProviderKind, prompt: Prompt) -> ModelSettings:
    settings = AnthropicModelSettings(max_tokens=prompt.max_output, max_retries=0)
    if prompt.temperature is not None:
        settings["temperature"] = prompt.temperature
    if kind is ProviderKind.ANTHROPIC:
        settings |= AnthropicModelSettings(anthropic_cache=True, anthropic_cache_instructions=True)
    return settings


def _parameters(kind: ProviderKind, prompt: Prompt) -> ModelRequestParameters:
    common: dict[str, Any] = {
        "function_tools": [
            _tool(tool.model_copy(update={"parameters": _open(tool.parameters)})) for tool in prompt.tools
        ],
        "instruction_parts": [wire.InstructionPart(prompt.system)] if prompt.system else None,
    }
    if prompt.answer is None:
        return ModelRequestParameters(**common)
    if kind is ProviderKind.OPENAI:  # small local models follow a grammar but cannot call tools
        output = OutputObjectDefinition(
            json_schema=prompt.answer.parameters,
            name=prompt.answer.name,
            description=prompt.answer.description,
        )
        return ModelRequestParameters(**common, output_mode="native", output_object=output)
    return ModelRequestParameters(
        **common, output_mode="tool", output_tools=[_tool(prompt.answer)], allow_text_output=False
    )


def _open(schema: Any) -> Any:
    """State that an object accepts any property where a schema leaves it out: the library closes such objects."""
    if isinstance(schema, list):
        return [_open(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    opened = {name: _open(value) for name, value in cast("dict[str, Any]", schema).items()}
    return {"additionalProperties": True, **opened} if opened.get("type") == "object" else opened


def _tool(tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
    )


@contextmanager
def _translate_errors(line: ModelConnection) -> Generator[None]:
    """Translate the library's errors into Forge's, which say how to react."""
    try:
        yield
    except TimeoutError as error:
        raise ModelFault("The model timed out.") from error
    except LIBRARY_ERRORS as error:
        raise translated(error, line.provider, line.ref, line.redacted) from error


def from_wire(part: wire.ModelResponsePart) -> Text | Thinking | ToolCall | None:
    match part:
        case wire.TextPart():
            return Text(text=repair_surrogates(part.content)) if part.content.strip() else None
        case wire.ThinkingPart():
            return Thinking(
                text=repair_surrogates(part.content),
                id=part.id,
                signature=part.signature,
                provider=part.provider_name,
            )
        case wire.ToolCallPart():
            arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
            return ToolCall(
                id=part.tool_call_id,
                name=repair_surrogates(part.tool_name),
                arguments=repair_surrogates(arguments) or "{}",
            )
        case _:
            return None


def to_wire(
    messages: Sequence[UserMessage | AssistantMessage], kind: ProviderKind, settled: Sequence[int]
) -> list[wire.ModelMessage]:
    """Convert messages. Consecutive messages of the user become one: providers require alternating roles."""
    marked = settled if kind is ProviderKind.ANTHROPIC else ()
    sent: list[wire.ModelMessage] = []
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            sent.append(_response(message, kind))
            continue
        parts = _request_parts(message)
        if i in marked:
            parts.append(wire.UserPromptPart([wire.CachePoint()]))
        if sent and isinstance(last := sent[-1], wire.ModelRequest):
            sent[-1] = wire.ModelRequest([*last.parts, *parts])
        else:
            sent.append(wire.ModelRequest(parts))
    return sent if kind is ProviderKind.ANTHROPIC else [_join_texts(message) for message in sent]


def _join_texts(message: wire.ModelMessage) -> wire.ModelMessage:
    """Join consecutive texts: each would become a message, and some models reject two of the same role in a row."""
    if not isinstance(message, wire.ModelRequest):
        return message
    parts: list[wire.ModelRequestPart] = []
    for part in message.parts:
        match parts[-1:], part:
            case [wire.UserPromptPart(content=str(before))], wire.UserPromptPart(content=str(text)):
                parts[-1] = wire.UserPromptPart(f"{before}\n\n{text}")
            case _:
                parts.append(part)
    return wire.ModelRequest(parts)


def _request_parts(message: UserMessage) -> list[wire.ModelRequestPart]:
    parts: list[wire.ModelRequestPart] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            outcome = "failed" if part.failed else "success"
            parts.append(wire.ToolReturnPart(part.name, part.text, part.call_id, outcome=outcome))
        else:
            parts.append(wire.UserPromptPart(part.text))
    return parts


def _response(message: AssistantMessage, kind: ProviderKind) -> wire.ModelResponse:
    parts: list[wire.ModelResponsePart] = []
    for part in message.parts:
        match part:
            case Text():
                parts.append(wire.TextPart(part.text))
            case Thinking() if part.provider not in (None, kind.value):
                pass  # thinking must not be sent to another provider
            case Thinking():
                parts.append(
                    wire.ThinkingPart(
                        part.text, id=part.id, signature=part.signature, provider_name=part.provider
                    )
                )
            case ToolCall():
                parts.append(wire.ToolCallPart(part.name, _valid_arguments(part.arguments), part.id))
    return wire.ModelResponse(parts)


def _valid_arguments(arguments: str) -> str:
    """Return the arguments as the model wrote them, unless providers would reject them: infinite numbers, not an object."""
    try:
        found = json.loads(arguments)
        json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError):
        return json.dumps({"INVALID_JSON": arguments})
    return arguments if isinstance(found, dict) else json.dumps({"INVALID_JSON": arguments})
