"""Pages of long lists. A cursor marks the end of a page by (time, id), so new rows never shift a page."""

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from forge.errors import Malformed
from forge.kernel.text import storable

T = TypeVar("T")


@dataclass(frozen=True)
class Cursor:
    at: datetime
    id: str

    def encode(self) -> str:
        text = json.dumps([self.at.isoformat(), self.id])
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str | None) -> "Cursor | None":
        if text is None:
            return None
        try:
            padded = text.encode("ascii") + b"=" * (-len(text) % 4)
            at, row_id = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
            moment = datetime.fromisoformat(at)
            if moment.tzinfo is None or not isinstance(row_id, str) or row_id != storable(row_id):
                raise ValueError(text)
            moment = moment.astimezone(UTC)
        except (ValueError, TypeError, OverflowError, binascii.Error) as error:
            raise Malformed(
                "Invalid cursor.",
                hint="Use `meta.next_cursor` of the previous page, or omit the cursor.",
                field="cursor",
            ) from error
        return cls(moment, row_id)


@dataclass(frozen=True)
class Page(Generic[T]):
    """One page of a list, and the cursor of the next one if there are more items."""

    items: Sequence[T]
    next_cursor: str | None = None


def newest_first(
    query: sa.Select[Any], at: sa.Column[Any], row_id: sa.Column[Any], cursor: Cursor | None, limit: int
) -> sa.Select[Any]:
    """Select the rows after a cursor, newest first."""
    if cursor is not None:
        last = sa.tuple_(sa.literal(cursor.at, at.type), sa.literal(cursor.id, row_id.type))
        query = query.where(sa.tuple_(at, row_id) < last)
    return query.order_by(at.desc(), row_id.desc()).limit(limit)


def make_page(found: Sequence[T], limit: int, cursor_of: Callable[[T], Cursor]) -> Page[T]:
    """Make a page from up to `limit + 1` rows; the extra row shows that there is another page."""
    is_last = len(found) <= limit
    return Page(found[:limit], None if is_last else cursor_of(found[limit - 1]).encode())
