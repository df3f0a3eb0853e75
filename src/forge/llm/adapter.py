"""The one module that speaks to providers, through pydantic-ai and their clients. Importing it takes seconds: do it late.

It makes exactly one HTTP request per call. Retries, failover and money belong to the gateway and to the durable
step around it, so everything that would make the libraries try again by themselves is switched off here.
"""

import asyncio
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic import SecretStr
from pydantic_ai import exceptions as pydantic_ai_errors
from pydantic_ai import messages as wire
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.usage import RequestUsage

from forge.kernel.ids import new_id
from forge.llm.errors import ContextFull, ModelFault, ModelKeyRefused, ModelRejected, ModelUnknown
from forge.llm.listening import DeltaKind, Listener
from forge.llm.messages import AssistantMessage, StopReason, Text, Thinking, ToolCall
from forge.llm.models import Prompt, Provider, ProviderKind, ToolSpec, Usage
from forge.llm.wire import from_wire, to_wire

ANTHROPIC_URL = "https://api.anthropic.com"
OPENAI_URL = "https://api.openai.com/v1"
"""Said here, so that a variable in the environment cannot send a key elsewhere."""
NO_KEY = "none"
"""Endpoints that want no key still need the client to be given one."""
CONNECT_S = 10.0
FIRST_EVENT_S = 600.0
"""Until the first word: a local model may have to read a long conversation first."""
SILENCE_S = 300.0
"""Longest pause between two pieces of an answer. Pings of a provider do not count: they only say that it is there."""
WHOLE_S = 3600.0
"""Longest answer."""

MAX_SAID = 300
CALL_ID = r"[A-Za-z0-9_-]{1,64}"
RAW_STOPS = {
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


_THEIRS = (
    *(pydantic_ai_errors.ModelAPIError, pydantic_ai_errors.UnexpectedModelBehavior),
    *(httpx2.TransportError, httpx2.StreamError),
)


@dataclass
class Received:
    """What has arrived so far: whole when the stream ended well, and the basis of the bill when it did not."""

    parts: list[Text | Thinking | ToolCall] = field(default_factory=list[Text | Thinking | ToolCall])
    usage: Usage = field(default_factory=Usage)
    stop: StopReason | None = None
    shown: bool = False
    """Somebody saw a part of the answer."""
    began: bool = False
    """The provider answered, so it may bill."""

    @property
    def message(self) -> AssistantMessage:
        return AssistantMessage(parts=list(self.parts))


class Connections:
    """Clients to providers, kept open between calls, closed with the process."""

    def __init__(self) -> None:
        timeout = httpx2.Timeout(connect=CONNECT_S, read=FIRST_EVENT_S, write=60.0, pool=CONNECT_S)
        limits = httpx2.Limits(max_connections=200, max_keepalive_connections=50)
        # Cookies would pass from account to account.
        none_kept = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
        self._http = httpx2.AsyncClient(timeout=timeout, limits=limits, cookies=none_kept)
        self._timeout = timeout

    async def close(self) -> None:
        await self._http.aclose()

    def model(self, provider: Provider, name: str, key: SecretStr | None) -> Model:
        secret = key.get_secret_value() if key else NO_KEY
        if provider.kind is ProviderKind.ANTHROPIC:
            client = AsyncAnthropic(
                api_key=secret,
                base_url=provider.base_url or ANTHROPIC_URL,
                http_client=self._http,
                max_retries=0,
                timeout=self._timeout,
            )
            client.auth_token = None  # nothing of the environment may travel with somebody's key
            client._custom_headers = {}  # pyright: ignore[reportPrivateUsage]  (the only way)
            return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
        openai = AsyncOpenAI(
            api_key=secret,
            base_url=provider.base_url or OPENAI_URL,
            http_client=self._http,
            max_retries=0,
            timeout=self._timeout,
        )
        openai.organization = openai.project = None
        openai._custom_headers = {}  # pyright: ignore[reportPrivateUsage]
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=openai))


@dataclass(frozen=True)
class Line:
    """A connection to one model, and the key that must not be heard on it."""

    model: Model
    kind: ProviderKind
    key: SecretStr | None

    def hushed(self, text: str) -> str:
        """A provider's error may repeat what it was sent."""
        if self.key is not None and (secret := self.key.get_secret_value()):
            text = text.replace(secret, "[key]")
        return text[:MAX_SAID]


async def receive(line: Line, prompt: Prompt, received: Received, listener: Listener) -> None:
    """One streamed request. `received` fills as it goes, so that a failed call leaves what came of it."""
    messages = to_wire(prompt.messages, line.kind, prompt.settled)
    settings, parameters = _settings(line.kind, prompt), _parameters(line.kind, prompt)
    telling = _Telling(listener, prompt.answer, is_text=line.kind is ProviderKind.OPENAI)
    with _own_errors(line):
        async with (
            asyncio.timeout(WHOLE_S),
            line.model.request_stream(messages, settings, parameters) as stream,
        ):
            received.began = True
            try:
                await _pump(stream, received, telling)
            finally:
                _take(stream, received)
    received.parts = _with_own_ids(received.parts, prompt)
    if received.stop is None:
        raise ModelFault("The model's answer broke off: the stream ended without saying why.")


async def _pump(stream: StreamedResponse, received: Received, telling: "_Telling") -> None:
    events, patience_s = aiter(stream), FIRST_EVENT_S
    while True:
        try:
            async with asyncio.timeout(patience_s):
                event = await anext(events)
        except StopAsyncIteration:
            return
        patience_s = SILENCE_S
        received.shown = await telling.tell(event) or received.shown


class _Telling:
    """Tells a listener what of a stream is for people, and what is a piece of an answer in a form."""

    def __init__(self, listener: Listener, answer: ToolSpec | None, *, is_text: bool) -> None:
        self._listener = listener
        self._answer = answer
        self._is_text = is_text
        """The answer is the text itself, and not the call of a tool."""
        self._index: int | None = None
        """Of the part that is the answer."""

    async def tell(self, event: object) -> bool:
        """Whether somebody has seen words of the answer by it. Pieces of a form are none: the whole replaces them."""
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


def _take(stream: StreamedResponse, received: Received) -> None:
    response = stream.get()
    received.parts = [ours for part in response.parts if (ours := from_wire(part)) is not None]
    received.usage = _usage(response.usage)
    received.stop = _stop(response)


def _stop(response: wire.ModelResponse) -> StopReason | None:
    """None when the stream ended without a reason: a broken answer that must not pass for a whole one."""
    raw = (response.provider_details or {}).get("finish_reason")
    if (known := RAW_STOPS.get(str(raw))) is not None:
        return known
    if response.state == "suspended":
        return StopReason.PAUSED
    stop = STOPS.get(response.finish_reason or "")
    has_calls = any(isinstance(part, wire.ToolCallPart) for part in response.parts)
    if stop is StopReason.END and has_calls:
        return StopReason.TOOLS  # some local servers say "stop" after a tool call
    return stop


def _usage(usage: RequestUsage) -> Usage:
    """The library counts cached tokens into the input; we keep the four kinds apart."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return Usage(
        input=max(0, usage.input_tokens - cached),
        output=usage.output_tokens,
        cache_read=usage.cache_read_tokens,
        cache_write=usage.cache_write_tokens,
    )


def _with_own_ids(
    parts: list[Text | Thinking | ToolCall], prompt: Prompt
) -> list[Text | Thinking | ToolCall]:
    """Each call needs an id that no other has and that every provider takes: some models repeat theirs."""
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
    given: dict[str, Any] = {
        "function_tools": [_tool(tool) for tool in prompt.tools],
        "instruction_parts": [wire.InstructionPart(prompt.system)] if prompt.system else None,
    }
    if prompt.answer is None:
        return ModelRequestParameters(**given)
    if kind is ProviderKind.OPENAI:  # small local models follow a grammar, but do not call tools
        asked = OutputObjectDefinition(
            json_schema=prompt.answer.parameters,
            name=prompt.answer.name,
            description=prompt.answer.description,
        )
        return ModelRequestParameters(**given, output_mode="native", output_object=asked)
    return ModelRequestParameters(
        **given, output_mode="tool", output_tools=[_tool(prompt.answer)], allow_text_output=False
    )


def _tool(tool: ToolSpec) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name, description=tool.description, parameters_json_schema=tool.parameters
    )


@contextmanager
def _own_errors(line: Line) -> Generator[None]:
    """Turns the library's errors into ours, by what is to be done about them."""
    try:
        yield
    except TimeoutError as error:
        raise ModelFault("The model has said nothing for too long.") from error
    except _THEIRS as error:
        raise _translated(error, line.hushed(str(error))) from error


def _translated(error: Exception, said: str) -> Exception:
    match error:
        case pydantic_ai_errors.ModelContextWindowExceededError():
            return ContextFull("The conversation is longer than the model's window.")
        case pydantic_ai_errors.ModelAuthenticationError():
            return ModelKeyRefused(
                "The provider does not accept the key.", hint="Set it again: forge secrets set, or Settings."
            )
        case pydantic_ai_errors.ModelQuotaExceededError():
            return ModelKeyRefused(f"The provider says that the credit is used up: {said}")
        case pydantic_ai_errors.ModelNotFoundError():
            return ModelUnknown(f"The provider has no such model: {said}")
        case pydantic_ai_errors.ModelRequestRejectedError():
            return ModelRejected(f"The provider did not take the request: {said}")
        case pydantic_ai_errors.ModelAPIError():
            return _fault(error, said)
        case pydantic_ai_errors.UnexpectedModelBehavior():
            return ModelFault(f"The model's answer cannot be read: {said}")
        case _:
            return ModelFault(f"The connection to the model broke: {said or type(error).__name__}")


def _fault(error: pydantic_ai_errors.ModelAPIError, said: str) -> Exception:
    status = error.status_code if isinstance(error, pydantic_ai_errors.ModelHTTPError) else None
    if status and 400 <= status < 500 and status not in (408, 409, 425, 429):
        return ModelRejected(f"The provider did not take the request: {said}")
    return ModelFault(f"The model's provider does not answer: {said}", retry_after_s=error.retry_after)
