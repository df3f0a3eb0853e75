"""Start workflows on events, by following the event stream of each account.

The position in the stream is stored in the transaction that starts a run, and the run's `dedupe_key` has the event's
number. So an event starts a run once, even if the server is killed or several servers listen.
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
from forge.kernel.background import cancel_and_wait
from forge.kernel.clock import now
from forge.messages.service import causing_run
from forge.runs.journal import account_stream
from forge.runs.models import Run
from forge.runs.service import Runs
from forge.store.database import Store, Tx, is_outage, survives_outage
from forge.workflows.definition.models import MAX_DEPTH, EventTrigger
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.models import KIND, TriggerType
from forge.workflows.triggers import store
from forge.workflows.triggers.event_names import REFUSED, is_about, names_of, run_in, subjects_of
from forge.workflows.triggers.launcher import (
    TriggerLauncher,
    TriggerRequest,
    TriggerUpdate,
    condition_error,
    condition_holds,
)
from forge.workflows.triggers.store import CausingRun, TriggerRow

MAX_RECENT_RUNS = 200
"""How many recent runs are searched for those that were active at the time of an event."""
_CONVERSATION_PARTS = frozenset({"session", "memory"})
"""Parts of a bot that change when a person or a run talks to it."""


@dataclass(frozen=True)
class EventContext:
    subjects: set[str]
    workflow_id: str | None
    """The workflow that the event is about, or whose run caused it."""
    depth: int
    """The depth of a run started by the event."""


@dataclass(frozen=True)
class CauseFinder:
    database: Store
    runs: Runs

    async def find(self, account_id: str, event: Event) -> EventContext:
        subjects = set(subjects_of(event))
        if event.type == "bot.changed" and event.data["part"] in _CONVERSATION_PARTS:
            return EventContext(subjects, None, await self._depth_of_active_runs(account_id, event))
        async with self.database.read() as tx:
            run_id = run_in(event)
            if run_id is None and "conversation_id" in event.data:
                run_id = await causing_run(tx, event.data["conversation_id"])
            if run_id is None:
                return EventContext(subjects, event.data.get("workflow_id"), 0)
            chain = await self._chain(tx, run_id)
            known = await store.causing_runs(tx, [run.id for run in chain])
        subjects |= _described(chain, known)
        nearest = next((known[run.id] for run in chain if run.id in known), None)
        if nearest is None:
            return EventContext(subjects, None, 0)
        return EventContext(subjects, nearest.workflow_id, nearest.depth + 1)

    async def _chain(self, tx: Tx, run_id: str) -> list[Run]:
        """Return the run and its ancestors, nearest first."""
        chain: list[Run] = []
        following: str | None = run_id
        while following is not None and (run := (await self.runs.read(tx, [following])).get(following)):
            chain.append(run)
            following = run.parent_id
        return chain

    async def _depth_of_active_runs(self, account_id: str, event: Event) -> int:
        """Return one more than the greatest depth among the workflow runs that were active.

        Such events do not record their cause, so any active run may be it.
        """
        recent = (await self.runs.find(account_id, kind=KIND, limit=MAX_RECENT_RUNS)).items
        active_ids = [
            run.id
            for run in recent
            if run.created_at <= event.at and (run.finished_at is None or run.finished_at >= event.at)
        ]
        async with self.database.read() as tx:
            known = await store.causing_runs(tx, active_ids)
        return max((run.depth + 1 for run in known.values()), default=0)


def _described(chain: list[Run], known: dict[str, CausingRun]) -> set[str]:
    """Return the subjects of the run itself. Ancestors do not count: a run started by a workflow step is not the workflow."""
    if not chain:
        return set()
    own = {f"kind:{chain[0].kind}"}
    return own | ({f"workflow:{known[chain[0].id].workflow_name}"} if chain[0].id in known else set())


log = logging.getLogger(__name__)

PAUSE_S = 0.5
TOO_DEEP = f"The event was caused by a chain of {MAX_DEPTH} or more workflow runs; nothing was started."

MINUTE = timedelta(minutes=1)
MAX_A_MINUTE = 120
TOO_OFTEN = f"Events started this workflow {MAX_A_MINUTE} times within a minute; further events were ignored."

MatchedTrigger = tuple[TriggerRow, EventTrigger]


@dataclass
class Follower:
    """Follows the event stream of one account."""

    account_id: str
    seen: int
    saved: int
    task: asyncio.Task[None] | None = None


@dataclass
class EventListener:
    launcher: TriggerLauncher
    runs: Runs
    _followers: dict[str, Follower] = field(default_factory=dict[str, Follower], init=False)

    async def run_forever(self) -> None:
        """Follow all accounts that have event triggers, until cancelled."""
        try:
            while True:
                await self._sync()
                await asyncio.sleep(PAUSE_S)
        finally:
            await cancel_and_wait([one.task for one in self._followers.values() if one.task])

    @survives_outage
    async def _sync(self) -> None:
        """Start and stop followers as needed, and save their positions."""
        async with self.launcher.database.read() as tx:
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
            await cancel_and_wait([follower.task])

    async def _save(self, follower: Follower) -> None:
        seen = follower.seen
        if seen > follower.saved:
            async with self.launcher.database.begin() as tx:
                await store.move_cursor(tx, follower.account_id, seen)
            follower.saved = seen

    async def _follow(self, follower: Follower) -> None:
        events = self.launcher.events
        try:
            async for batch in events.hub.follow(account_stream(follower.account_id), follower.seen):
                found = [one for one in batch if isinstance(one, Event)]
                if found:
                    await self.handle(follower.account_id, found)
                    follower.seen = found[-1].seq
        except Conflict:  # the stream was deleted and recreated: start from its beginning
            async with self.launcher.database.begin() as tx:
                await store.move_cursor(tx, follower.account_id, 0, back=True)
        except NotFound:  # the next events were removed by retention
            await self._skip_forgotten(follower)

    async def _skip_forgotten(self, follower: Follower) -> None:
        """Skip events that were removed. The last number is read first, so that an event appended meanwhile is found."""
        stream = account_stream(follower.account_id)
        async with self.launcher.database.begin() as tx:
            last = await self.launcher.events.last_seq(stream, within=tx)
            if not await self.launcher.events.read(tx, stream, after=follower.seen, limit=1):
                await store.move_cursor(tx, follower.account_id, last)

    @survives_outage
    async def handle(self, account_id: str, events: Sequence[Event]) -> None:
        """Process events in order.

        The triggers are read once for the batch: a trigger registered before an event was committed before it.
        """
        async with self.launcher.database.read() as tx:
            rows = await store.list_live(tx, TriggerType.EVENT, account_id)
        triggers = [(row, EventTrigger.model_validate(row.config)) for row in rows]
        cause_finder = CauseFinder(self.launcher.database, self.runs)
        for event in events:
            names = names_of(event)
            named = [one for one in triggers if one[1].event_type in names]
            if named:
                await self._handle_event(event, named, await cause_finder.find(account_id, event))

    async def _handle_event(self, event: Event, named: list[MatchedTrigger], context: EventContext) -> None:
        matched = [one for one in named if _concerns(*one, context)]
        for number, (trigger, config) in enumerate(matched, start=1):
            is_last = number == len(matched)
            await self._start(
                trigger, config, event, context.depth, _advance(trigger, event.seq, is_last=is_last)
            )

    async def _start(
        self, trigger: TriggerRow, config: EventTrigger, event: Event, depth: int, advance: TriggerUpdate
    ) -> None:
        publish = event.type != REFUSED  # publishing a refusal of a refusal would never end
        try:
            if not await condition_holds(trigger, config.when, config.source, event.at, event.data):
                return
        except ExpressionError as error:
            await self.launcher.refuse(trigger, condition_error(error), publish=publish, repeat=False)
            return
        if depth > MAX_DEPTH:
            await self.launcher.refuse(trigger, TOO_DEEP, publish=publish, repeat=False)
            return
        if await self._is_too_often(trigger):
            await self.launcher.refuse(trigger, TOO_OFTEN, publish=publish, repeat=False)
            return
        try:
            await self.launcher.start_or_refuse(
                trigger, _trigger_request(config, event, depth), advance, publish=publish
            )
        except ForgeError as error:
            log.exception("cannot start the workflow %s for an event", trigger.workflow_name)
            await self.launcher.refuse(trigger, error.message, publish=publish)

    async def _is_too_often(self, trigger: TriggerRow) -> bool:
        """Limit the runs per minute, because workflows that react to each other's events multiply."""
        at = now()
        async with self.launcher.database.read() as tx:
            return await store.count_by_events(tx, trigger.workflow_id, at - MINUTE, at) >= MAX_A_MINUTE


def _concerns(trigger: TriggerRow, config: EventTrigger, context: EventContext) -> bool:
    """Return whether a trigger matches. A workflow ignores its own events unless `source` names the workflow itself."""
    is_own = context.workflow_id == trigger.workflow_id
    if is_own and config.source != f"workflow:{trigger.workflow_name}":
        return False
    return is_about(config.source, context.subjects)


def _trigger_request(config: EventTrigger, event: Event, depth: int) -> TriggerRequest:
    about: dict[str, JsonValue] = {
        "type": TriggerType.EVENT.value,
        "source": config.source,
        "fired_at": event.at.isoformat(),
        "event_type": config.event_type,
        "seq": event.seq,
    }
    return TriggerRequest(
        type=TriggerType.EVENT,
        source=config.event_type + (f" of {config.source}" if config.source != "*" else ""),
        payload=event.data,
        about=about,
        dedupe_key=f"event:{event.seq}:{event.at.isoformat()}:{config.event_type}:{config.source}",
        depth=depth,
    )


def _advance(trigger: TriggerRow, seq: int, *, is_last: bool) -> TriggerUpdate:
    async def move(tx: Tx) -> bool:
        position = await store.lock_cursor(tx, trigger.account_id)
        if position is None or position >= seq:
            return False  # another server has processed this event
        if is_last:
            await store.move_cursor(tx, trigger.account_id, seq)
        return True

    return move


def _report_end(task: asyncio.Task[None]) -> None:
    """Log why a follower ended. It is restarted."""
    error = None if task.cancelled() else task.exception()
    if isinstance(error, SQLAlchemyError) and is_outage(error):
        log.warning("the database is unavailable; event triggers continue later: %s", error)
    elif error is not None:
        log.error("following events for triggers failed; restarting", exc_info=error)
