import base64
import json
from datetime import UTC, datetime

import pytest

from forge.errors import Malformed
from forge.store.pagination import Cursor

AT = datetime(2026, 1, 1, tzinfo=UTC)


def test_cursor_round_trip():
    cursor = Cursor(AT, "each[2]/ü")
    assert Cursor.decode(cursor.encode()) == cursor
    assert Cursor.decode(None) is None


@pytest.mark.parametrize(
    ("at", "row_id"),
    [
        (AT.isoformat(), "\ud800"),
        (AT.isoformat(), "a\0"),
        (AT.isoformat(), 7),
        ("2026-01-01T00:00:00", "a"),
        ("0001-01-01T00:00:00+14:00", "a"),
    ],
    ids=["half a character", "NUL", "no text", "no zone", "before all time"],
)
def test_cursor_with_unstorable_text_is_rejected(at: str, row_id: object):
    text = base64.urlsafe_b64encode(json.dumps([at, row_id]).encode()).decode()
    with pytest.raises(Malformed):
        Cursor.decode(text.rstrip("="))
