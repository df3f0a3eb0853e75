"""The SQL of the event log."""

from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from forge.events.models import Event
from forge.events.notices import Notice
from forge.events.tables import events, streams
from forge.store.engine import Tx


def _reserve(insert: type[postgresql.Insert] | type[sqlite.Insert]) -> sa.Executable:
    count = sa.bindparam("count", type_=sa.BigInteger)
    return (
        insert(streams)
        .values(name=sa.bindparam("stream"), last_seq=count)
        .on_conflict_do_update(index_elements=["name"], set_={"last_seq": streams.c.last_seq + count})
        .returning(streams.c.last_seq)
    )


# Built once: nothing is executed as often as these, and building them costs more than the database takes.
_RESERVE = {"sqlite": _reserve(sqlite.Insert), "postgresql": _reserve(postgresql.Insert)}
_INSERT = sa.insert(events)
_NOTIFY = sa.func.pg_notify(sa.bindparam("channel"), sa.bindparam("payload"))
_TELL = sa.select(_NOTIFY)
# A notification alone makes a transaction that waits for the disk, unless it is told that nothing is worth that.
_TELL_LIGHTLY = sa.select(sa.func.set_config("synchronous_commit", "off", True), _NOTIFY)


async def reserve(tx: Tx, stream: str, count: int) -> int:
    """Take `count` numbers and return the last. Holds the stream's row until commit: no gap, no overtaking."""
    statement = _RESERVE[tx.connection.dialect.name]
    return (await tx.execute(statement, {"stream": stream, "count": count})).scalar_one()


async def insert(tx: Tx, rows: Sequence[Event]) -> None:
    """One at a time on PostgreSQL: many at once go through a pipeline, and a process that freezes in the middle of one
    counts as busy there, so that the stream's lock would never be taken from it."""
    values = [{"stream": e.stream, "seq": e.seq, "at": e.at, "type": e.type, "data": e.data} for e in rows]
    if tx.connection.dialect.name != "postgresql":
        await tx.execute(_INSERT, values)
        return
    for value in values:
        await tx.execute(_INSERT, value)


async def notify(tx: Tx, notice: Notice) -> None:
    """Tell the other processes; PostgreSQL delivers it when the transaction commits."""
    await tx.execute(_TELL, {"channel": notice.channel, "payload": notice.payload})


async def notify_lightly(tx: Tx, notice: Notice) -> None:
    """The same for a transaction that does nothing else, whose loss would be none."""
    await tx.execute(_TELL_LIGHTLY, {"channel": notice.channel, "payload": notice.payload})


async def read(tx: Tx, stream: str, *, after: int, limit: int, types: Collection[str] = ()) -> list[Event]:
    """All types, unless some are named."""
    columns = (events.c.stream, events.c.seq, events.c.at, events.c.type, events.c.data)
    query = sa.select(*columns).where(events.c.stream == stream, events.c.seq > after)
    if types:
        query = query.where(events.c.type.in_(types))
    found = await tx.execute(query.order_by(events.c.seq).limit(limit))
    return [Event(*row) for row in found]


async def last_seq(tx: Tx, stream: str) -> int:
    found = await tx.execute(sa.select(streams.c.last_seq).where(streams.c.name == stream))
    return found.scalar_one_or_none() or 0


async def forget(tx: Tx, name: str) -> None:
    await tx.execute(sa.delete(events).where(events.c.stream == name))


async def delete(tx: Tx, names: Sequence[str]) -> None:
    await tx.execute(sa.delete(events).where(events.c.stream.in_(names)))
    await tx.execute(sa.delete(streams).where(streams.c.name.in_(names)))
