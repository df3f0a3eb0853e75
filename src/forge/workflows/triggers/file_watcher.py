"""Start workflows when files change. Keeps one watch per trigger and reports paths that cannot be watched."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json, hash_text
from forge.kernel.text import storable
from forge.store.database import survives_outage
from forge.workflows.definition.models import FileWatchTrigger
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.models import TriggerType
from forge.workflows.triggers import store
from forge.workflows.triggers.launcher import (
    TriggerLauncher,
    TriggerRequest,
    condition_error,
    condition_holds,
)
from forge.workflows.triggers.store import TriggerRow
from forge.workflows.triggers.watch_thread import (
    FileChange,
    ResolvedRoots,
    Root,
    WatchFailed,
    WatchMessage,
    WatchStarted,
    WatchThread,
    resolve_roots,
)
from forge.workspace.filesystem.allowed_roots import AllowedRoots

log = logging.getLogger(__name__)

PAUSE_S = 0.5
RETRY_DELAY_S = 60.0
"""Delay before a failed watch is tried again."""
MINUTE_S = 60.0
MAX_A_MINUTE = 1000
TOO_MANY = f"More than {MAX_A_MINUTE:,} files changed within a minute; further changes were ignored."

Key = tuple[str, int, str]
"""Workflow id, position of the trigger, hash of its config."""


@dataclass
class Watch:
    row: TriggerRow
    config: FileWatchTrigger
    thread: WatchThread | None = None
    roots: tuple[Root, ...] = ()
    problem: str | None = None
    is_published: bool = False
    """Whether the current problem, or its absence, was published."""
    failure: str | None = None
    """Why watching failed the last time; None once it works."""
    failed_at: float = 0.0
    minute: float = 0.0
    started: int = 0
    """Runs started since `minute`."""


@dataclass
class FileWatcher:
    launcher: TriggerLauncher
    allowed_roots: AllowedRoots
    clock: Callable[[], datetime] = field(default=now)
    _watches: dict[Key, Watch] = field(default_factory=dict[Key, Watch], init=False)
    _messages: "asyncio.Queue[tuple[Key, WatchMessage]]" = field(
        default_factory=lambda: asyncio.Queue[tuple[Key, WatchMessage]](), init=False
    )

    async def run_forever(self) -> None:
        """Watch the files of all triggers until cancelled."""
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._sync_forever())
                both.create_task(self._handle_forever())
        finally:
            for watch in self._watches.values():
                _stop(watch)

    async def _sync_forever(self) -> None:
        while True:
            await self._sync()
            await asyncio.sleep(PAUSE_S)

    async def _handle_forever(self) -> None:
        while True:
            key, message = await self._messages.get()
            if (watch := self._watches.get(key)) is not None:
                await self._handle(watch, message)

    @survives_outage
    async def _sync(self) -> None:
        """Start, restart and stop watches to match the triggers and the file system."""
        async with self.launcher.database.read() as tx:
            rows = {_key(row): row for row in await store.list_live(tx, TriggerType.FILE_WATCH)}
        for key in self._watches.keys() - rows.keys():
            _stop(self._watches.pop(key))
        for key, row in rows.items():
            config = FileWatchTrigger.model_validate(row.config)
            watch = self._watches.setdefault(key, Watch(row, config))
            watch.row = row
        wanted = {key: watch.config.paths for key, watch in self._watches.items()}
        resolved = await asyncio.to_thread(_resolve_all, wanted, self.allowed_roots)
        for key, found in resolved.items():
            self._update_watch(key, self._watches[key], found)
            await self._publish_problem(self._watches[key])

    def _update_watch(self, key: Key, watch: Watch, resolved: ResolvedRoots) -> None:
        if (
            watch.failed_at
            and time.monotonic() - watch.failed_at < RETRY_DELAY_S
            and watch.roots == resolved.roots
        ):
            return
        _set_problem(watch, resolved.problem or watch.failure)
        if watch.thread is not None and watch.roots == resolved.roots:
            return
        before = frozenset(watch.thread.known) if watch.thread is not None else None
        _stop(watch)
        watch.roots, watch.failed_at = resolved.roots, 0.0
        if resolved.roots:
            notify = partial(self._receive, asyncio.get_running_loop(), key)
            watch.thread = WatchThread(
                resolved.roots, watch.config.patterns, self.allowed_roots, notify, before
            )
            watch.thread.begin()

    def _receive(self, loop: asyncio.AbstractEventLoop, key: Key, message: WatchMessage) -> None:
        """Pass a message to the event loop. Called from a watching thread, which may outlive the loop briefly."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._messages.put_nowait, (key, message))

    async def _publish_problem(self, watch: Watch) -> None:
        if watch.is_published:
            return
        watch.is_published = True
        if watch.problem is not None:
            await self.launcher.refuse(watch.row, watch.problem, repeat=False)
        elif watch.row.error is not None:
            async with self.launcher.database.begin() as tx:
                await store.change(tx, watch.row, error=None)

    async def _handle(self, watch: Watch, message: WatchMessage) -> None:
        if isinstance(message, WatchStarted):
            watch.failure = None
            return
        if isinstance(message, WatchFailed):
            watch.failure = message.reason
            _set_problem(watch, message.reason)
            _stop(watch)
            watch.failed_at = time.monotonic()
            return
        for file in message.files:
            if not _is_within_limit(watch):
                await self._refuse(watch.row, TOO_MANY)
                return
            await self._start(watch, file)

    @survives_outage
    async def _start(self, watch: Watch, file: FileChange) -> None:
        at = self.clock()
        payload: dict[str, JsonValue] = {
            "path": storable(file.path),
            "change": file.change.value,
            "detected_at": at.isoformat(),
        }
        try:
            if not await condition_holds(watch.row, watch.config.when, storable(file.path), at, payload):
                return
            await self.launcher.start_or_refuse(watch.row, _trigger_request(watch.row, file, payload, at))
        except ExpressionError as error:
            await self._refuse(watch.row, condition_error(error))
        except ForgeError as error:
            log.exception("cannot start the workflow %s for a file", watch.row.workflow_name)
            await self._refuse(watch.row, error.message)

    @survives_outage
    async def _refuse(self, row: TriggerRow, reason: str) -> None:
        await self.launcher.refuse(row, reason, repeat=False)


def _key(row: TriggerRow) -> Key:
    return row.workflow_id, row.position, hash_json(row.config)


def _resolve_all(paths: dict[Key, list[str]], allowed_roots: AllowedRoots) -> dict[Key, ResolvedRoots]:
    return {key: resolve_roots(each, allowed_roots) for key, each in paths.items()}


def _stop(watch: Watch) -> None:
    if watch.thread is not None:
        watch.thread.stop()
        watch.thread = None


def _set_problem(watch: Watch, problem: str | None) -> None:
    if problem != watch.problem:
        watch.problem, watch.is_published = problem, False


def _is_within_limit(watch: Watch) -> bool:
    at = time.monotonic()
    if at - watch.minute >= MINUTE_S:
        watch.minute, watch.started = at, 0
    watch.started += 1
    return watch.started <= MAX_A_MINUTE


def _trigger_request(
    row: TriggerRow, file: FileChange, payload: dict[str, JsonValue], at: datetime
) -> TriggerRequest:
    """Create the request. Servers that share files start one run per change, except for deletions, which have no stamp."""
    which = hash_text(f"{storable(file.path)} {row.position}")
    return TriggerRequest(
        type=TriggerType.FILE_WATCH,
        source=storable(file.path),
        payload=payload,
        about={
            "type": TriggerType.FILE_WATCH.value,
            "source": storable(file.path),
            "fired_at": at.isoformat(),
        },
        dedupe_key=f"file:{file.stamp}:{which}" if file.stamp else None,
    )
