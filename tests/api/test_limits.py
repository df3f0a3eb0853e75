"""Rate limits and error responses of the middleware."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing

from tests.support.server import Server

from forge.api.middleware import SWEEP_ABOVE, Buckets


def test_bucket_empties_and_refills():
    buckets = Buckets(60)
    assert [buckets.take("a", 0.0) for _ in range(60)] == [0.0] * 60
    assert buckets.take("a", 0.0) == 1.0
    assert buckets.take("b", 0.0) == 0.0
    assert buckets.take("a", 1.0) == 0.0


def test_full_buckets_are_dropped():
    buckets = Buckets(60)
    for n in range(SWEEP_ABOVE + 10):
        buckets.take(str(n), 0.0)
    buckets.take("new", 120.0)
    assert len(buckets._buckets) == 1


def test_changing_guesses_share_the_limit_of_their_address(start_server: Callable[..., Server]):
    server = start_server(FORGE_RATE_LIMIT_PER_MINUTE="200")
    started = time.monotonic()
    with server.client() as client:
        statuses = [
            client.get("/api/v1/me", headers={"Authorization": f"Bearer forge_{n:043d}"}).status_code
            for n in range(14)
        ]
    refilled = int((time.monotonic() - started) / 6)  # ten per minute
    assert statuses[:10] == [401] * 10
    assert (set(statuses) <= {401, 429}, statuses.count(401) <= 10 + refilled) == (True, True), statuses


def test_unhandled_exception_response_has_request_id_and_headers(start_server: Callable[..., Server]):
    """A missing table causes the exception."""
    server = start_server()
    with closing(sqlite3.connect(server.data_dir / "forge.db", timeout=60)) as database:
        database.execute("ALTER TABLE runs RENAME TO gone")
        database.commit()
    with server.client() as client:
        response = client.get("/api/v1/runs", headers={"X-Request-ID": "lost-1"})
    assert response.status_code == 500
    assert response.headers["X-Request-ID"] == response.json()["meta"]["request_id"] == "lost-1"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "Traceback" not in response.text
    server.kill()
