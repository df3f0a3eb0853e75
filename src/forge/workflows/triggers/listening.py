"""Starts workflows because of what happens: follows each account's stream from where it was left.

How far it was looked at is kept in the database, with the runs that were started; a run is also known by the number of
its event. So an event is answered once, whether the server was killed or several servers listen.
"""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pydantic import JsonValue
from sqlalchemy.exc import SQLAlchemyError

from forge.errors import Conflict, ForgeError, NotFound
from forge.events.models import Event
from forge.kernel.background import end
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.runs.service import Runs
from forge.store.engine import Tx, is_outage
from forge.store.outage import survives_outage
from forge.workflows.definition.models import MAX_DEPTH, EventTrigger
from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.models import TriggerType
from forge.workflows.triggers import store
from forge.workflows.triggers.causes import Causes, Circumstances
from forge.workflows.triggers.firing import Firing
from forge.workflows.triggers.happenings import REFUSED, is_about, names_of
from forge.workflows.triggers.launching import Also, Launch, unclear, wants
from forge.workflows.triggers.store import TriggerRow

log = logging.getLogger(__name__)

PAUSE_S = 0.5
TOO_DEEP = f"It would be the end of a chain of more than {MAX_DEPTH} runs that caused one another."

MINUTE = timedelta(minutes=1)
MAX_A_MINUTE = 120
TOO_OFTEN = f"Events started it {MAX_A_MINUTE} times within a minute; what else happened is left out."

Interested = tuple[TriggerRow, EventTrigger]


@dataclass
class Follower:
    """Follows one account."""

    account_id: str
    seen: int
    saved: int
    task: asyncio.Task[None] | None = None


@dataclass
class Listener:
    launch: Launch
    runs: Runs
    _followers: dict[str, Follower] = field(default_factory=dict[str, Follower], init=False)

    async def listen_on(self) -> None:
        """Runs until cancelled."""
        try:
            while True:
                await self._look_after()
                await asyncio.sleep(PAUSE_S)
        finally:
            await end([one.task for one in self._followers.values() if one.task])

    @survives_outage
    async def _look_after(self) -> None:
        """Follow the accounts that have triggers, and only those; keep how far it was looked."""
        async with self.launch.database.read() as tx:
            cursors = await store.cursors(tx)
        for account_id in self._followers.keys() - cursors.keys():
            await self._stop(account_id)
        for account_id, seq in cursors.items():
            follower = self._followers.get(account_id)
            if follower is not None and follower.task is not None and not follower.task.done():
                await self._save(follower)
                continue
            if follower is not None and follower.task is not None:
                _report_end(follower.task)
            self._begin(account_id, seq)

    def _begin(self, account_id: str, seq: int) -> None:
        follower = Follower(account_id, seq, seq)
        follower.task = asyncio.create_task(self._follow(follower), name=f"triggers:{account_id}")
        self._followers[account_id] = follower

    async def _stop(self, account_id: str) -> None:
        follower = self._followers.pop(account_id)
        if follower.task:
            await end([follower.task])

    async def _save(self, follower: Follower) -> None:
        seen = follower.seen
        if seen > follower.saved:
            async with self.launch.database.begin() as tx:
                await store.move_cursor(tx, follower.account_id, seen)
            follower.saved = seen

    async def _follow(self, follower: Follower) -> None:
        events = self.launch.events
        try:
            async for batch in events.hub.follow(account_stream(follower.account_id), follower.seen):
                found = [one for one in batch if isinstance(one, Event)]
                if found:
                    await self.handle(follower.account_id, found)
                    follower.seen = found[-1].seq
        except Conflict:  # the stream was deleted and began anew: from its beginning then
            async with self.launch.database.begin() as tx:
                await store.move_cursor(tx, follower.account_id, 0, back=True)
        except NotFound:  # what would come next was forgotten
            await self._skip_forgotten(follower)

    async def _skip_forgotten(self, follower: Follower) -> None:
        """The number first: what is told in between is found by reading."""
        stream = account_stream(follower.account_id)
        async with self.launch.database.begin() as tx:
            last = await self.launch.events.last_seq(stream, within=tx)
            if not await self.launch.events.read(tx, stream, after=follower.seen, limit=1):
                await store.move_cursor(tx, follower.account_id, last)

    @survives_outage
    async def handle(self, account_id: str, events: Sequence[Event]) -> None:
        """In order. What was registered before an event happened is seen here: it was committed before."""
        async with self.launch.database.read() as tx:
            rows = await store.list_live(tx, TriggerType.EVENT, account_id)
        triggers = [(row, EventTrigger.model_validate(row.config)) for row in rows]
        causes = Causes(self.launch.database, self.runs)
        for event in events:
            names = names_of(event)
            named = [one for one in triggers if one[1].event_type in names]
            if named:
                await self._answer(event, named, await causes.find(account_id, event))

    async def _answer(self, event: Event, named: list[Interested], around: Circumstances) -> None:
        interested = [one for one in named if _concerns(*one, around)]
        for number, (trigger, config) in enumerate(interested, start=1):
            is_last = number == len(interested)
            await self._start(
                trigger, config, event, around.depth, _moving(trigger, event.seq, is_last=is_last)
            )

    async def _start(
        self, trigger: TriggerRow, config: EventTrigger, event: Event, depth: int, moving: Also
    ) -> None:
        aloud = event.type != REFUSED  # a refusal that causes refusals would never end
        try:
            if not await wants(trigger, config.when, config.source, event.at, event.data):
                return
        except ExpressionError as error:
            await self.launch.refuse(trigger, unclear(error), aloud=aloud, again=False)
            return
        if depth > MAX_DEPTH:
            await self.launch.refuse(trigger, TOO_DEEP, aloud=aloud, again=False)
            return
        if await self._is_too_often(trigger):
            await self.launch.refuse(trigger, TOO_OFTEN, aloud=aloud, again=False)
            return
        try:
            await self.launch.start_or_tell(trigger, _firing(config, event, depth), moving, aloud=aloud)
        except ForgeError as error:
            log.exception("cannot start the workflow %s for an event", trigger.workflow_name)
            await self.launch.refuse(trigger, error.message, aloud=aloud)

    async def _is_too_often(self, trigger: TriggerRow) -> bool:
        """Workflows that answer each other's events multiply."""
        at = now()
        async with self.launch.database.read() as tx:
            return await store.count_by_events(tx, trigger.workflow_id, at - MINUTE, at) >= MAX_A_MINUTE


def _concerns(trigger: TriggerRow, config: EventTrigger, around: Circumstances) -> bool:
    """What a workflow does itself is not news to it, unless it asks for just that."""
    is_own = around.workflow_id == trigger.workflow_id
    if is_own and config.source != f"workflow:{trigger.workflow_name}":
        return False
    return is_about(config.source, around.subjects)


def _firing(config: EventTrigger, event: Event, depth: int) -> Firing:
    about: dict[str, JsonValue] = {
        "type": TriggerType.EVENT.value,
        "source": config.source,
        "fired_at": event.at.isoformat(),
        "event_type": config.event_type,
        "seq": event.seq,
    }
    return Firing(
        type=TriggerType.EVENT,
        source=config.event_type + (f" of {config.source}" if config.source != "*" else ""),
        payload=event.data,
        about=about,
        dedupe_key=f"event:{event.seq}:{event.at.isoformat()}:{config.event_type}:{config.source}",
        depth=depth,
    )


def _moving(trigger: TriggerRow, seq: int, *, is_last: bool) -> Also:
    async def move(tx: Tx) -> bool:
        looked = await store.lock_cursor(tx, trigger.account_id)
        if looked is None or looked >= seq:
            return False  # another server was here
        if is_last:
            await store.move_cursor(tx, trigger.account_id, seq)
        return True

    return move


def _report_end(task: asyncio.Task[None]) -> None:
    """It is begun again."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, SQLAlchemyError) and is_outage(error):
        log.warning("the database is away, events are looked at later: %s", error)
    elif error is not None:
        log.error("the triggers of events stumbled, and go on", exc_info=error)
