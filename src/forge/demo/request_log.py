"""A log of requests and their outcomes: the latest in memory, all of them as JSON lines in an optional file."""

import json
from collections import Counter, deque
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, Field

from forge.demo.exchange import JsonObject
from forge.demo.playback import Outcome
from forge.demo.prompt_cache import Usage
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text

MAX_ENTRIES = 1000
"""Each entry contains a whole conversation."""
LOGGED_HEADERS = (
    "anthropic-beta",
    "anthropic-version",
    "user-agent",
    "x-stainless-retry-count",
    "x-stainless-timeout",
)


class Entry(BaseModel):
    """One request and its answer."""

    number: int
    at: datetime
    api: str
    path: str
    body: JsonObject
    headers: dict[str, str]
    key: str | None
    """A fingerprint: part of the key's hash, and the last four characters of a long key."""
    model: str | None = None
    scene: str | None = None
    turn: int | None = None
    conversation: str | None = None
    is_stream: bool = False
    status: int | None = None
    fault: str | None = None
    error: str | None = None
    usage: Usage | None = None
    stop_reason: str | None = None
    outcome: Outcome = Outcome.RUNNING
    pieces_sent: int = 0
    ended_at: datetime | None = None
    """When the answer was complete or the client disconnected."""

    @property
    def is_paid(self) -> bool:
        """Whether the real API would charge for the request."""
        return self.usage is not None


class Stats(BaseModel):
    """Statistics of the requests in memory."""

    requests: int
    running: int
    paid: int
    repeated: int
    """Turns of a conversation that were charged more than once."""
    disconnected: int
    by_status: dict[int, int] = Field(default_factory=dict[int, int])
    by_scene: dict[str, int] = Field(default_factory=dict[str, int])
    by_fault: dict[str, int] = Field(default_factory=dict[str, int])
    usage: Usage


class RequestLog:
    def __init__(self, path: Path | None = None) -> None:
        self.entries: deque[Entry] = deque(maxlen=MAX_ENTRIES)
        self._path = path
        self._count = 0

    def start(self, api: str, path: str, headers: Mapping[str, str], key: str | None) -> Entry:
        self._count += 1
        kept = {name: headers[name] for name in LOGGED_HEADERS if name in headers}
        entry = Entry(
            number=self._count, at=now(), api=api, path=path, body={}, headers=kept, key=fingerprint(key)
        )
        self.entries.append(entry)
        return entry

    def finish(self, entry: Entry, outcome: Outcome, pieces_sent: int) -> None:
        entry.outcome, entry.pieces_sent, entry.ended_at = outcome, pieces_sent, now()
        if self._path is not None:
            with self._path.open("a") as file:  # closed and thereby flushed after every line
                file.write(json.dumps(entry.model_dump(mode="json"), ensure_ascii=False) + "\n")

    def clear(self) -> None:
        self.entries.clear()

    def stats(self) -> Stats:
        entries = self.entries
        paid = [entry for entry in entries if entry.is_paid]
        turns = Counter((entry.conversation, entry.turn) for entry in paid)
        return Stats(
            requests=len(entries),
            running=sum(entry.outcome is Outcome.RUNNING for entry in entries),
            paid=len(paid),
            repeated=sum(count - 1 for count in turns.values()),
            disconnected=sum(entry.outcome is Outcome.DISCONNECTED for entry in entries),
            by_status=Counter(entry.status for entry in entries if entry.status is not None),
            by_scene=Counter(entry.scene for entry in entries if entry.scene is not None),
            by_fault=Counter(entry.fault for entry in entries if entry.fault is not None),
            usage=sum((entry.usage for entry in paid if entry.usage is not None), Usage()),
        )


def fingerprint(key: str | None) -> str | None:
    if not key:
        return None
    last = key[-4:] if len(key) >= 16 else ""
    return f"sha256:{hash_text(key)[:12]}…{last}"
