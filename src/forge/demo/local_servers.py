"""Imitate what servers for local models have besides OpenAI's API: their own endpoints, and their errors for prompts
that exceed the context window."""

from forge.demo.dialect import ApiError, ApiErrorKind
from forge.demo.exchange import JsonObject, estimate_tokens
from forge.demo.model_script import LocalServer, Script

VERSION = "scripted"


def model_fields(script: Script) -> JsonObject:
    """Return what a server adds to each entry of `/v1/models`."""
    match script.server:
        case LocalServer.LLAMA_CPP:
            return {"owned_by": "llamacpp", "meta": {"n_ctx_train": 131_072}}
        case LocalServer.VLLM:
            return {"owned_by": "vllm", "max_model_len": script.context_window}
        case LocalServer.OLLAMA:
            return {"owned_by": "library"}
        case LocalServer.LM_STUDIO:
            return {"owned_by": "organization_owner"}
        case None:
            return {}


def own_page(script: Script, names: list[str], path: str) -> JsonObject | None:
    """Return the content of an endpoint that only this server has."""
    match script.server, path:
        case LocalServer.LLAMA_CPP, "/props":
            return {
                "default_generation_settings": {"n_ctx": script.context_window},
                "total_slots": 1,
                "model_alias": names[0],
            }
        case LocalServer.VLLM, "/version":
            return {"version": VERSION}
        case LocalServer.OLLAMA, "/api/version":
            return {"version": VERSION}
        case LocalServer.OLLAMA, "/api/ps":
            return {"models": [{"model": names[0], "context_length": script.context_window}]}
        case LocalServer.OLLAMA, "/api/show":
            return {"capabilities": ["completion", "tools"], "parameters": "temperature 0.7"}
        case LocalServer.LM_STUDIO, "/api/v0/models":
            return {"object": "list", "data": [_lm_studio_model(script, name) for name in names]}
        case LocalServer.LM_STUDIO, _:  # it answers unknown paths with status 200
            return {"error": f"Unexpected endpoint or method. ({path})"}
        case _:
            return None


def _lm_studio_model(script: Script, name: str) -> JsonObject:
    loaded = {"id": name, "type": "llm", "state": "loaded", "max_context_length": 131_072}
    return {**loaded, "loaded_context_length": script.context_window}


def check_prompt_size(script: Script, body: JsonObject, api: str) -> None:
    """Raise the server's error for a prompt that exceeds the context window. Ollama drops its beginning instead."""
    window = script.context_window
    if window is None or script.server is LocalServer.OLLAMA:
        return
    tokens = sum(estimate_tokens(body[name]) for name in ("system", "messages", "tools") if body.get(name))
    output = body.get("max_completion_tokens") or body.get("max_tokens") or 0
    needed = tokens + output if script.server is LocalServer.VLLM else tokens
    if needed > window and api == "anthropic":
        raise ApiError(ApiErrorKind.BAD_REQUEST, f"prompt is too long: {tokens} tokens > {window} maximum")
    if needed > window:
        raise _overflow(script.server, tokens, output, window)


def _overflow(server: LocalServer | None, tokens: int, output: int, window: int) -> ApiError:
    match server:
        case LocalServer.LLAMA_CPP:
            message = (
                f"request ({tokens} tokens) exceeds the available context size ({window} tokens), "
                "try increasing it"
            )
            error = {"code": 400, "message": message, "type": "exceed_context_size_error"}
            body: JsonObject = {"error": {**error, "n_prompt_tokens": tokens, "n_ctx": window}}
        case LocalServer.LM_STUDIO:
            message = (
                f"Trying to keep the first {tokens} tokens when context the overflows. However, the model is "
                f"loaded with context length of only {window} tokens, which is not enough."
            )
            body = {"error": message}
        case LocalServer.VLLM:
            message = (
                f"This model's maximum context length is {window} tokens. However, you requested {output} output "
                f"tokens and your prompt contains at least {tokens} input tokens, for a total of at least "
                f"{tokens + output} tokens. Please reduce the length of the input prompt or the number of requested "
                "output tokens."
            )
            error = {"message": message, "type": "BadRequestError", "param": "input_tokens", "code": 400}
            body = {"error": error}
        case _:
            message = (
                f"This model's maximum context length is {window} tokens. However, your messages resulted in "
                f"{tokens} tokens. Please reduce the length of the messages."
            )
            error = {"message": message, "type": "invalid_request_error", "param": "messages"}
            body = {"error": {**error, "code": "context_length_exceeded"}}
    return ApiError(ApiErrorKind.BAD_REQUEST, message, body=body)
