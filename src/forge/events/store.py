"""SQL of the event log."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from forge.events.models import Event
from forge.events.notifications import STREAM_GROWN_CHANNEL, Notification
from forge.events.tables import events, streams
from forge.store.database import Tx

# Written out because these are the most frequent statements, for any number of streams and events at once. PostgreSQL gets
# arrays instead of a pipeline: it counts a process that freezes within a pipeline as busy, so the idle timeout would
# never release the locks of its streams.
_RESERVE = {
    "sqlite": sa.text(
        "INSERT INTO event_streams (name, last_seq) "
        "SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:given) WHERE true "
        "ON CONFLICT (name) DO UPDATE SET last_seq = last_seq + excluded.last_seq RETURNING name, last_seq"
    ),
    "postgresql": sa.text(
        "INSERT INTO event_streams (name, last_seq) "
        "SELECT * FROM unnest(CAST(:names AS text[]), CAST(:counts AS bigint[])) "
        "ON CONFLICT (name) DO UPDATE SET last_seq = event_streams.last_seq + excluded.last_seq "
        "RETURNING name, last_seq"
    ),
}
_INSERT = sa.insert(events)
_INSERT_AND_NOTIFY = sa.text(
    "WITH inserted AS (INSERT INTO events (stream, seq, at, type, data) "
    "SELECT s, q, a, t, CAST(d AS json) FROM unnest(CAST(:streams AS text[]), CAST(:seqs AS bigint[]), "
    "CAST(:ats AS timestamptz[]), CAST(:types AS text[]), CAST(:data AS text[])) AS e (s, q, a, t, d)) "
    "SELECT pg_notify(:channel, payload) FROM unnest(CAST(:payloads AS text[])) AS n (payload)"
)
# A notification makes the commit wait for the disk, unless synchronous_commit is off.
_NOTIFY_WITHOUT_FSYNC = sa.select(
    sa.func.set_config("synchronous_commit", "off", True),
    sa.func.pg_notify(sa.bindparam("channel"), sa.bindparam("payload")),
)


_COLUMNS = (events.c.stream, events.c.seq, events.c.at, events.c.type, events.c.data)
_READ = (
    sa.select(*_COLUMNS)
    .where(events.c.stream == sa.bindparam("in_stream"), events.c.seq > sa.bindparam("after"))
    .order_by(events.c.seq)
    .limit(sa.bindparam("most"))
)
_LAST_SEQ = sa.select(streams.c.last_seq).where(streams.c.name == sa.bindparam("in_stream"))


async def reserve(tx: Tx, counts: Mapping[str, int]) -> dict[str, int]:
    """Reserve sequence numbers of each stream, in this order, and return the last ones. The rows stay locked until commit,
    so that there are no gaps and no reordering."""
    if tx.is_postgresql:
        parameters = {"names": list(counts), "counts": list(counts.values())}
        found = await tx.execute(_RESERVE["postgresql"], parameters)
    else:
        found = await tx.execute(_RESERVE["sqlite"], {"given": json.dumps(list(counts.items()))})
    return {row.name: row.last_seq for row in found}


async def insert(tx: Tx, rows: Sequence[Event], notices: Sequence[Notification]) -> None:
    """Insert events with their notifications, which PostgreSQL delivers when the transaction commits."""
    if tx.is_postgresql:
        parameters = {
            "streams": [event.stream for event in rows],
            "seqs": [event.seq for event in rows],
            "ats": [event.at for event in rows],
            "types": [event.type for event in rows],
            "data": [json.dumps(event.data) for event in rows],
            "channel": STREAM_GROWN_CHANNEL,
            "payloads": [notice.payload for notice in notices],
        }
        await tx.execute(_INSERT_AND_NOTIFY, parameters)
        return
    values = [{"stream": e.stream, "seq": e.seq, "at": e.at, "type": e.type, "data": e.data} for e in rows]
    await tx.execute(_INSERT, values)


async def notify(tx: Tx, notice: Notification) -> None:
    """Notify the other processes in a transaction that does nothing else, without waiting for the disk."""
    await tx.execute(_NOTIFY_WITHOUT_FSYNC, {"channel": notice.channel, "payload": notice.payload})


async def read(tx: Tx, stream: str, *, after: int, limit: int, types: Collection[str] = ()) -> list[Event]:
    """Read events in order, of all types or the given ones."""
    query = _READ.where(events.c.type.in_(types)) if types else _READ
    found = await tx.execute(query, {"in_stream": stream, "after": after, "most": limit})
    return [Event(*row) for row in found]


async def last_seq(tx: Tx, stream: str) -> int:
    found = await tx.execute(_LAST_SEQ, {"in_stream": stream})
    return found.scalar_one_or_none() or 0


async def delete_events(tx: Tx, name: str) -> None:
    await tx.execute(sa.delete(events).where(events.c.stream == name))


async def delete_events_before(tx: Tx, prefix: str, moment: datetime) -> None:
    """Delete per stream by sequence number, so that only deleted rows are visited. The last event of a stream stays, so
    that a follower with an older position sees that the stream still exists."""
    named = sa.select(streams.c.name, streams.c.last_seq).where(streams.c.name.startswith(prefix))
    for stream in (await tx.execute(named)).all():
        own = events.c.stream == stream.name
        recent = sa.select(events.c.seq).where(own, events.c.at >= moment).order_by(events.c.seq).limit(1)
        first = (await tx.execute(recent)).scalar_one_or_none()
        await tx.execute(sa.delete(events).where(own, events.c.seq < (first or stream.last_seq)))


async def delete(tx: Tx, names: Sequence[str]) -> None:
    await tx.execute(sa.delete(events).where(events.c.stream.in_(names)))
    await tx.execute(sa.delete(streams).where(streams.c.name.in_(names)))
