"""Translate the errors of model providers into Forge's. Imports pydantic-ai, so import it lazily."""

import re
from collections.abc import Callable
from typing import Any, cast

import httpx2
from pydantic_ai import exceptions as pydantic_ai_errors

from forge.errors import ForgeError
from forge.llm.errors import ContextFull, ModelFault, ModelKeyRefused, ModelRejected, ModelUnknown
from forge.llm.models import Provider

LIBRARY_ERRORS = (
    *(pydantic_ai_errors.ModelAPIError, pydantic_ai_errors.UnexpectedModelBehavior),
    *(httpx2.TransportError, httpx2.StreamError),
)
TRANSIENT_STATUSES = (408, 409, 425, 429)
CONTEXT_STATUSES = (400, 413, 422, 500)
CONTEXT_SIZES = (
    re.compile(r"request \((?P<sent>\d+) tokens\) exceeds the available context size \((?P<window>\d+)"),
    re.compile(
        r"maximum context length is (?P<window>\d+) tokens(?:.*?(?:contains at least|contains|resulted in) "
        r"(?P<sent>\d+))?",
        re.DOTALL,
    ),
    re.compile(r"keep the first (?P<sent>\d+) tokens.*context length of only (?P<window>\d+)", re.DOTALL),
    re.compile(r"prompt is too long: (?P<sent>\d+) tokens > (?P<window>\d+)"),
    re.compile(r"exceeds the available context size"),
)
"""How llama.cpp, vLLM and OpenAI, LM Studio, and Anthropic say that a prompt is too long."""


def translated(error: Exception, provider: Provider, ref: str, redacted: Callable[[str], str]) -> ForgeError:
    """Return Forge's error. `redacted` removes the API key from what a provider says."""
    detail = redacted(_detail(error))
    if (full := _context_full(error, ref)) is not None:
        return full
    match error:
        case pydantic_ai_errors.ModelAuthenticationError():
            return ModelKeyRefused(
                "The provider rejected the API key.", hint="Set it again: forge secrets set, or Settings."
            )
        case pydantic_ai_errors.ModelQuotaExceededError():
            return ModelKeyRefused(f"The provider's quota is exhausted: {detail}")
        case pydantic_ai_errors.ModelNotFoundError():
            return ModelUnknown(f"The provider has no such model: {detail}")
        case pydantic_ai_errors.ModelRequestRejectedError():
            return ModelRejected(f"The provider rejected the request: {detail}")
        case pydantic_ai_errors.ModelAPIError():
            return _fault(error, provider, detail)
        case pydantic_ai_errors.UnexpectedModelBehavior():
            return ModelFault(f"The model's answer cannot be parsed: {detail}")
        case _:
            return ModelFault(f"The connection to the model failed: {detail}")


def _fault(error: pydantic_ai_errors.ModelAPIError, provider: Provider, detail: str) -> ForgeError:
    status = error.status_code if isinstance(error, pydantic_ai_errors.ModelHTTPError) else None
    if status and 400 <= status < 500 and status not in TRANSIENT_STATUSES:
        return ModelRejected(f"The provider rejected the request: {detail}")
    server = (
        f"The model server at {provider.base_url}" if provider.base_url else f"The API of {provider.name}"
    )
    match error:
        case pydantic_ai_errors.ModelConnectionError(phase="connect" | "pool" | None):
            message = f"{server} cannot be reached: {detail}"
        case pydantic_ai_errors.ModelConnectionError():
            message = f"The connection to the model broke off: {detail}"
        case pydantic_ai_errors.ModelUnavailableError() if "loading" in detail.lower():
            message = f"{server} is still loading the model."
        case _:
            message = f"{server} does not answer: {detail}"
    return ModelFault(message, retry_after_s=error.retry_after)


def _context_full(error: Exception, ref: str) -> ContextFull | None:
    """Return the error for a prompt that is too long; libraries recognize only some servers' wording."""
    is_known = isinstance(error, pydantic_ai_errors.ModelContextWindowExceededError)
    if not isinstance(error, pydantic_ai_errors.ModelHTTPError):
        return ContextFull(ref) if is_known else None
    if not is_known and error.status_code not in CONTEXT_STATUSES:
        return None
    text = str(error.body)
    for pattern in CONTEXT_SIZES:
        if found := pattern.search(text):
            sizes = {name: int(value) for name, value in found.groupdict().items() if value}
            return ContextFull(ref, sent=sizes.get("sent"), window=sizes.get("window"))
    return ContextFull(ref) if is_known else None


def _detail(error: Exception) -> str:
    """Return what the provider says, without the library's wrapping."""
    match error:
        case pydantic_ai_errors.ModelHTTPError():
            return _message(error.body) or f"HTTP {error.status_code}"
        case _:
            return str(error) or type(error).__name__


def _message(body: object) -> str:
    """Find the message in an error's body: `{"error": {"message": …}}`, or a part of it."""
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        return _message(fields.get("error") or fields.get("message"))
    return body.strip() if isinstance(body, str) and not body.lstrip().startswith("<") else ""
