"""A simulation of Anthropic's prompt cache, with time as an argument; used by the server and benchmarks.

A prompt is a chain of blocks (tools, system, messages); each prefix has a hash. Breakpoints mark the prefixes to write;
a request reads the longest live prefix within 20 blocks before one of its breakpoints.
"""

import hashlib
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from forge.demo.exchange import JsonObject, estimate_tokens
from forge.errors import Malformed
from forge.kernel.hashing import canonical_json

MAX_BREAKPOINTS = 4
LOOK_BACK_BLOCKS = 20
MINIMUM_TOKENS = 1024
TTL_S = {"5m": 300.0, "1h": 3600.0}
_NOT_CACHEABLE = {"thinking", "redacted_thinking"}


class Usage(BaseModel):
    """Usage of a request. `input_tokens` excludes cache reads and writes; the three kinds add up to the prompt."""

    model_config = ConfigDict(frozen=True)

    input_tokens: int = 0
    cache_read_input_tokens: int = 0
    ephemeral_5m_input_tokens: int = 0
    ephemeral_1h_input_tokens: int = 0
    output_tokens: int = 0

    @property
    def cache_creation_input_tokens(self) -> int:
        return self.ephemeral_5m_input_tokens + self.ephemeral_1h_input_tokens

    @property
    def prompt_tokens(self) -> int:
        return self.input_tokens + self.cache_read_input_tokens + self.cache_creation_input_tokens

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


@dataclass(frozen=True)
class _Prefix:
    hash: str
    tokens: int
    ttl: str | None
    """The time to live of the breakpoint at its end, if any."""
    is_cacheable: bool


@dataclass
class _Entry:
    expires_at: float
    ttl_s: float


class CacheSimulator:
    """Simulates the cache over a series of requests."""

    def __init__(self, *, look_back_blocks: int = LOOK_BACK_BLOCKS, writes_every_block: bool = False) -> None:
        self._look_back_blocks = look_back_blocks
        self._writes_every_block = writes_every_block
        self._entries: dict[str, _Entry] = {}

    def account(self, body: JsonObject, now: float) -> Usage:
        """Count a request of the Messages API made at `now` (seconds), and update the cache."""
        prefixes = _chain(body)
        breakpoints = _breakpoints(body, prefixes)
        read = self._read(prefixes, breakpoints, now)
        written = {"5m": 0, "1h": 0}
        done = read
        for index, ttl in breakpoints:
            if prefixes[index].tokens < MINIMUM_TOKENS:
                continue
            written[ttl] += max(0, prefixes[index].tokens - done)
            done = max(done, prefixes[index].tokens)
            self._write(prefixes, index, now + TTL_S[ttl], TTL_S[ttl])
        return Usage(
            input_tokens=(prefixes[-1].tokens if prefixes else 0) - done,
            cache_read_input_tokens=read,
            ephemeral_5m_input_tokens=written["5m"],
            ephemeral_1h_input_tokens=written["1h"],
        )

    def _read(self, prefixes: list[_Prefix], breakpoints: list[tuple[int, str]], now: float) -> int:
        for index, _ in reversed(breakpoints):
            for position in range(index, max(-1, index - self._look_back_blocks), -1):
                entry = self._entries.get(prefixes[position].hash)
                if entry is not None and entry.expires_at > now:
                    entry.expires_at = now + entry.ttl_s  # a read extends the time to live
                    return prefixes[position].tokens
        return 0

    def _write(self, prefixes: list[_Prefix], index: int, expires_at: float, ttl_s: float) -> None:
        first = 0 if self._writes_every_block else index
        for prefix in prefixes[first : index + 1]:
            if prefix.tokens >= MINIMUM_TOKENS:
                self._entries[prefix.hash] = _Entry(expires_at, ttl_s)


def count_prompt_tokens(body: JsonObject) -> int:
    prefixes = _chain(body)
    return prefixes[-1].tokens if prefixes else 0


def _chain(body: JsonObject) -> list[_Prefix]:
    state = hashlib.sha256(canonical_json(body.get("model")).encode())
    prefixes: list[_Prefix] = []
    tokens = 0
    in_messages = False
    for section, block in _blocks(body):
        if section not in ("tools", "system") and not in_messages:
            in_messages = True  # other settings invalidate only what comes after tools and system
            settings = [
                body.get(name) for name in ("tool_choice", "thinking", "output_config", "output_format")
            ]
            state.update(canonical_json(settings).encode())
        bare = _without_cache_control(block)
        state.update(canonical_json([section, bare]).encode())
        tokens += estimate_tokens(bare)
        prefixes.append(_Prefix(state.hexdigest(), tokens, _ttl(block), _is_cacheable(block)))
    return prefixes


def _blocks(body: JsonObject) -> list[tuple[str, JsonObject]]:
    blocks = [("tools", tool) for tool in _objects(body.get("tools"))]
    blocks += [("system", block) for block in _as_blocks(body.get("system"))]
    for message in _objects(body.get("messages")):
        blocks += [(str(message.get("role")), block) for block in _as_blocks(message.get("content"))]
    return blocks


def _as_blocks(content: Any) -> list[JsonObject]:
    return [{"type": "text", "text": content}] if isinstance(content, str) and content else _objects(content)


def _objects(value: Any) -> list[JsonObject]:
    items = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast(JsonObject, item) for item in items if isinstance(item, dict)]


def _without_cache_control(value: Any) -> Any:
    if isinstance(value, dict):
        items = cast(JsonObject, value).items()
        return {key: _without_cache_control(item) for key, item in items if key != "cache_control"}
    if isinstance(value, list):
        return [_without_cache_control(item) for item in cast("list[Any]", value)]
    return value


def _ttl(block: JsonObject) -> str | None:
    """Return the time to live of a block's breakpoint, or of one inside it (in a tool result)."""
    marks = [
        block.get("cache_control"),
        *(inner.get("cache_control") for inner in _objects(block.get("content"))),
    ]
    return next((_ttl_of_mark(mark) for mark in reversed(marks) if mark), None)


def _ttl_of_mark(mark: Any) -> str:
    ttl = cast(JsonObject, mark).get("ttl", "5m") if isinstance(mark, dict) else None
    if ttl not in TTL_S:
        raise Malformed("cache_control.ttl: Input should be '5m' or '1h'")
    return ttl


def _is_cacheable(block: JsonObject) -> bool:
    return block.get("type") not in _NOT_CACHEABLE and block.get("text") != ""


def _breakpoints(body: JsonObject, prefixes: list[_Prefix]) -> list[tuple[int, str]]:
    found = [(index, prefix.ttl) for index, prefix in enumerate(prefixes) if prefix.ttl is not None]
    if any(not prefixes[index].is_cacheable for index, _ in found):
        raise Malformed("cache_control cannot be set for thinking blocks or empty text blocks")
    if mark := body.get("cache_control"):
        last = max((index for index, prefix in enumerate(prefixes) if prefix.is_cacheable), default=None)
        if last is not None and (not found or found[-1][0] != last):
            found.append((last, _ttl_of_mark(mark)))
    if len(found) > MAX_BREAKPOINTS:
        raise Malformed(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. Found {len(found)}."
        )
    ttls = [ttl for _, ttl in found]
    if ttls != sorted(ttls):  # "1h" sorts before "5m"
        raise Malformed("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
    return found
