"""Tables of the event log. `event_streams` assigns sequence numbers under its row locks; `events` is append-only."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

streams = sa.Table(
    "event_streams",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("last_seq", sa.BigInteger, nullable=False),
)

events = sa.Table(
    "events",
    METADATA,
    sa.Column("stream", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", Utc, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("data", Json, nullable=False),
    sqlite_with_rowid=False,
)
