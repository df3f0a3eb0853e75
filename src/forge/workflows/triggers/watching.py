"""Starts workflows because files change: keeps a watch for each trigger, and says why it cannot."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json, hash_text
from forge.kernel.text import storable
from forge.store.outage import survives_outage
from forge.workflows.definition.models import FileWatchTrigger
from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.models import TriggerType
from forge.workflows.triggers import store
from forge.workflows.triggers.firing import Firing
from forge.workflows.triggers.launching import Launch, unclear, wants
from forge.workflows.triggers.roots import Looked, Root, look_at
from forge.workflows.triggers.store import TriggerRow
from forge.workflows.triggers.watch_thread import Failed, FileChange, Heard, Watching, WatchThread

log = logging.getLogger(__name__)

PAUSE_S = 0.5
AGAIN_S = 60.0
"""After watching has failed."""
MINUTE_S = 60.0
MAX_A_MINUTE = 1000
TOO_MANY = f"More than {MAX_A_MINUTE:,} files changed within a minute: for the others nothing was started."

Key = tuple[str, int, str]
"""A workflow, a position in it, and what stands there."""


@dataclass
class Watch:
    row: TriggerRow
    config: FileWatchTrigger
    thread: WatchThread | None = None
    roots: tuple[Root, ...] = ()
    problem: str | None = None
    is_told: bool = False
    """Its problem, or that there is none."""
    failure: str | None = None
    """Why it could not be watched the last time, until it can."""
    failed_at: float = 0.0
    minute: float = 0.0
    started: int = 0
    """Since then."""


@dataclass
class FileWatcher:
    launch: Launch
    own_dir: Path
    clock: Callable[[], datetime] = field(default=now)
    _watches: dict[Key, Watch] = field(default_factory=dict[Key, Watch], init=False)
    _heard: "asyncio.Queue[tuple[Key, Heard]]" = field(
        default_factory=lambda: asyncio.Queue[tuple[Key, Heard]](), init=False
    )

    async def watch_on(self) -> None:
        """Runs until cancelled."""
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._look_on())
                both.create_task(self._answer_on())
        finally:
            for watch in self._watches.values():
                _stop(watch)

    async def _look_on(self) -> None:
        while True:
            await self._look_after()
            await asyncio.sleep(PAUSE_S)

    async def _answer_on(self) -> None:
        while True:
            key, heard = await self._heard.get()
            if (watch := self._watches.get(key)) is not None:
                await self._answer(watch, heard)

    @survives_outage
    async def _look_after(self) -> None:
        """Watch what triggers ask for, as it is now, and nothing else."""
        async with self.launch.database.read() as tx:
            rows = {_key(row): row for row in await store.list_live(tx, TriggerType.FILE_WATCH)}
        for key in self._watches.keys() - rows.keys():
            _stop(self._watches.pop(key))
        for key, row in rows.items():
            config = FileWatchTrigger.model_validate(row.config)
            watch = self._watches.setdefault(key, Watch(row, config))
            watch.row = row
        wanted = {key: watch.config.paths for key, watch in self._watches.items()}
        looked = await asyncio.to_thread(_look, wanted, self.own_dir.resolve())
        for key, found in looked.items():
            self._keep(key, self._watches[key], found)
            await self._show(self._watches[key])

    def _keep(self, key: Key, watch: Watch, looked: Looked) -> None:
        if watch.failed_at and time.monotonic() - watch.failed_at < AGAIN_S and watch.roots == looked.roots:
            return
        _set_problem(watch, looked.problem or watch.failure)
        if watch.thread is not None and watch.roots == looked.roots:
            return
        before = frozenset(watch.thread.known) if watch.thread is not None else None
        _stop(watch)
        watch.roots, watch.failed_at = looked.roots, 0.0
        if looked.roots:
            tell = partial(self._tell, asyncio.get_running_loop(), key)
            watch.thread = WatchThread(
                looked.roots, watch.config.patterns, self.own_dir.resolve(), tell, before
            )
            watch.thread.begin()

    def _tell(self, loop: asyncio.AbstractEventLoop, key: Key, heard: Heard) -> None:
        """From the thread of a watch, which may outlive the loop by a moment."""
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._heard.put_nowait, (key, heard))

    async def _show(self, watch: Watch) -> None:
        if watch.is_told:
            return
        watch.is_told = True
        if watch.problem is not None:
            await self.launch.refuse(watch.row, watch.problem, again=False)
        elif watch.row.error is not None:
            async with self.launch.database.begin() as tx:
                await store.change(tx, watch.row, error=None)

    async def _answer(self, watch: Watch, heard: Heard) -> None:
        if isinstance(heard, Watching):
            watch.failure = None
            return
        if isinstance(heard, Failed):
            watch.failure = heard.reason
            _set_problem(watch, heard.reason)
            _stop(watch)
            watch.failed_at = time.monotonic()
            return
        for file in heard.files:
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
            if not await wants(watch.row, watch.config.when, storable(file.path), at, payload):
                return
            await self.launch.start_or_tell(watch.row, _firing(watch.row, file, payload, at))
        except ExpressionError as error:
            await self._refuse(watch.row, unclear(error))
        except ForgeError as error:
            log.exception("cannot start the workflow %s for a file", watch.row.workflow_name)
            await self._refuse(watch.row, error.message)

    @survives_outage
    async def _refuse(self, row: TriggerRow, reason: str) -> None:
        await self.launch.refuse(row, reason, again=False)


def _key(row: TriggerRow) -> Key:
    return row.workflow_id, row.position, hash_json(row.config)


def _look(paths: dict[Key, list[str]], own_dir: Path) -> dict[Key, Looked]:
    return {key: look_at(each, own_dir) for key, each in paths.items()}


def _stop(watch: Watch) -> None:
    if watch.thread is not None:
        watch.thread.stop()
        watch.thread = None


def _set_problem(watch: Watch, problem: str | None) -> None:
    if problem != watch.problem:
        watch.problem, watch.is_told = problem, False


def _is_within_limit(watch: Watch) -> bool:
    at = time.monotonic()
    if at - watch.minute >= MINUTE_S:
        watch.minute, watch.started = at, 0
    watch.started += 1
    return watch.started <= MAX_A_MINUTE


def _firing(row: TriggerRow, file: FileChange, payload: dict[str, JsonValue], at: datetime) -> Firing:
    """Servers that see the same files start one run for a change; of a file that is gone they cannot tell."""
    which = hash_text(f"{storable(file.path)} {row.position}")
    return Firing(
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
