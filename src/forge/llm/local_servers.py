"""Ask a model server which models it has and how large their context windows are.

OpenAI's API does not tell, but servers for local models do, each in its own way. Answers are untrusted: what cannot be
read is unknown.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import httpx2
from pydantic import SecretStr

from forge.llm.errors import ModelFault, ModelKeyRefused, ModelRejected
from forge.llm.models import REF_PATTERN, Provider, ProviderKind, ServerKind, ServerModel

API_URLS = {
    ProviderKind.ANTHROPIC: "https://api.anthropic.com",
    ProviderKind.OPENAI: "https://api.openai.com/v1",
}
"""Explicit, so that an environment variable cannot redirect API keys."""
SERVER_URLS = {
    ServerKind.LLAMA_CPP: "http://127.0.0.1:8080/v1",
    ServerKind.OLLAMA: "http://127.0.0.1:11434/v1",
    ServerKind.VLLM: "http://127.0.0.1:8000/v1",
    ServerKind.LM_STUDIO: "http://127.0.0.1:1234/v1",
}
SERVER_TITLES = {
    ServerKind.LLAMA_CPP: "llama.cpp",
    ServerKind.OLLAMA: "Ollama",
    ServerKind.VLLM: "vLLM",
    ServerKind.LM_STUDIO: "LM Studio",
}
OWNERS = {"llamacpp": ServerKind.LLAMA_CPP, "vllm": ServerKind.VLLM}
TIMEOUT_S = 10.0
MAX_MODELS = 200
UNLOADED_WINDOW = 4096
"""Ollama and LM Studio load a model with this window unless they are configured otherwise. They say more once it is
loaded."""

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Discovery:
    server: ServerKind | None
    models: list[ServerModel]


async def discover(provider: Provider, key: SecretStr | None) -> Discovery:
    """List the models of a provider. Raise if it does not answer."""
    async with httpx2.AsyncClient(timeout=TIMEOUT_S, headers=_headers(provider, key)) as http:
        server = _Server(http, provider)
        entries = await server.list_models()
        kind = await server.detect(entries) if provider.base_url else None
        return Discovery(kind, (await server.describe(kind, entries))[:MAX_MODELS])


class _Server:
    def __init__(self, http: httpx2.AsyncClient, provider: Provider) -> None:
        self._http = http
        self._provider = provider
        base = (provider.base_url or API_URLS[provider.kind]).rstrip("/")
        self._list_url = f"{base}/models" if provider.kind is ProviderKind.OPENAI else f"{base}/v1/models"
        self._root = base.removesuffix("/v1")

    async def list_models(self) -> list[Json]:
        try:
            response = await self._http.get(self._list_url)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            detail = str(error) or type(error).__name__
            raise ModelFault(
                f"The model server at {self._root} cannot be reached: {detail}",
                hint="Check that it is running, and its address.",
            ) from error
        if response.status_code in (401, 403):
            raise ModelKeyRefused(
                "The provider rejected the API key.", hint="Set it: forge secrets set, or Settings."
            )
        if response.status_code == 503:
            raise ModelFault(f"The model server at {self._root} is still loading the model.")
        page = _json(response)
        if page is None or not isinstance(page.get("data"), list):
            raise ModelRejected(
                f"{self._list_url} does not list models (HTTP {response.status_code}).",
                hint="The base URL of a server with OpenAI's API usually ends in /v1.",
            )
        return _entries(page, "data")

    async def detect(self, entries: list[Json]) -> ServerKind | None:
        if self._provider.server is not None or self._provider.kind is not ProviderKind.OPENAI:
            return self._provider.server
        for entry in entries:
            if (kind := OWNERS.get(str(entry.get("owned_by")))) is not None:
                return kind
        if "version" in await self._get("/api/version"):
            return ServerKind.OLLAMA
        if any("state" in entry for entry in _entries(await self._get("/api/v0/models"), "data")):
            return ServerKind.LM_STUDIO
        return ServerKind.LLAMA_CPP if "default_generation_settings" in await self._get("/props") else None

    async def describe(self, kind: ServerKind | None, entries: list[Json]) -> list[ServerModel]:
        names = [name for entry in entries if (name := _name(entry))]
        match kind:
            case ServerKind.LLAMA_CPP:
                return [await self._of_llama_cpp(name, is_only=len(names) == 1) for name in names]
            case ServerKind.OLLAMA:
                loaded = {_name(entry): entry for entry in _entries(await self._get("/api/ps"), "models")}
                return [await self._of_ollama(name, loaded.get(name)) for name in names]
            case ServerKind.LM_STUDIO:
                found = _entries(await self._get("/api/v0/models"), "data")
                return [_of_lm_studio(entry) for entry in found if entry.get("type") != "embeddings"]
            case ServerKind.VLLM | None:
                return [
                    ServerModel(name=name, context_window=_window(entry), is_loaded=kind is not None)
                    for entry in entries
                    if (name := _name(entry))
                ]

    async def _of_llama_cpp(self, name: str, *, is_only: bool) -> ServerModel:
        props = await self._get("/props", {} if is_only else {"model": name})
        settings = _object(props.get("default_generation_settings"))
        return ServerModel(name=name, context_window=_size(settings.get("n_ctx")), is_loaded=bool(settings))

    async def _of_ollama(self, name: str, loaded: Json | None) -> ServerModel:
        if loaded is not None and (window := _size(loaded.get("context_length"))):
            return ServerModel(name=name, context_window=window, is_loaded=True)
        parameters = str((await self._post("/api/show", {"model": name})).get("parameters"))
        chosen = re.search(r"^num_ctx\s+(\d+)", parameters, re.MULTILINE)
        window = int(chosen.group(1)) if chosen else UNLOADED_WINDOW
        return ServerModel(name=name, context_window=window, is_loaded=loaded is not None)

    async def _get(self, path: str, params: Mapping[str, str] | None = None) -> Json:
        return await self._ask("GET", path, params=params or {})

    async def _post(self, path: str, body: Json) -> Json:
        return await self._ask("POST", path, json=body)

    async def _ask(self, method: str, path: str, **options: Any) -> Json:
        """Return the page at this path; an empty one if there is none."""
        try:
            response = await self._http.request(method, self._root + path, **options)
        except httpx2.HTTPError:
            return {}
        return (_json(response) or {}) if response.status_code == 200 else {}


def _of_lm_studio(entry: Json) -> ServerModel:
    is_loaded = entry.get("state") == "loaded"
    window = _size(entry.get("loaded_context_length")) if is_loaded else None
    return ServerModel(name=_name(entry) or "", context_window=window or UNLOADED_WINDOW, is_loaded=is_loaded)


def _window(entry: Json) -> int | None:
    """Return what vLLM, OpenRouter and similar gateways report."""
    sizes = (_size(entry.get(field)) for field in ("max_model_len", "context_length", "context_window"))
    return next((size for size in sizes if size), None)


def _headers(provider: Provider, key: SecretStr | None) -> dict[str, str]:
    secret = key.get_secret_value() if key else ""
    if provider.kind is ProviderKind.ANTHROPIC:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": secret} if secret else {})}
    return {"authorization": f"Bearer {secret}"} if secret else {}


def _json(response: httpx2.Response) -> Json | None:
    try:
        found = response.json()
    except ValueError:
        return None
    return cast("Json", found) if isinstance(found, dict) else None


def _entries(page: Json, field: str) -> list[Json]:
    found = page.get(field)
    entries = cast("list[object]", found) if isinstance(found, list) else []
    return [cast("Json", entry) for entry in entries if isinstance(entry, dict)]


def _object(value: object) -> Json:
    return cast("Json", value) if isinstance(value, dict) else {}


def _name(entry: Json) -> str | None:
    """Return the name of a model, unless Forge cannot refer to it."""
    name = entry.get("id") or entry.get("model") or entry.get("name")
    return name if isinstance(name, str) and re.fullmatch(REF_PATTERN, name) else None


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 1000 else None
