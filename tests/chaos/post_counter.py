"""A server that records POST requests and can reject the first ones."""

import json
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FLAKY_FAILURES = 2


@dataclass(frozen=True)
class Post:
    at: datetime
    run_id: str
    step: str
    """The step in the body, with its loop iteration."""
    key: str
    """The Idempotency-Key."""


@dataclass
class PostCounter:
    place: str = ""
    posts: list[Post] = field(default_factory=list[Post])
    _flaky_attempts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://{self.place}"

    def record(self, path: str, body: dict[str, Any], key: str) -> int:
        """Record a request and return the status of the response."""
        with self._lock:
            self.posts.append(Post(datetime.now(UTC), body["run"], body["step"], key))
            post_key = (body["run"], body["step"])
            self._flaky_attempts[post_key] += path == "/flaky"
            return 503 if 0 < self._flaky_attempts[post_key] <= FLAKY_FAILURES else 200

    def posts_of(self, run_id: str) -> dict[str, list[Post]]:
        """Return the posts of a run by step."""
        by_step: dict[str, list[Post]] = {}
        with self._lock:
            for post in self.posts:
                if post.run_id == run_id:
                    by_step.setdefault(post.step, []).append(post)
        return by_step


@contextmanager
def open_post_counter() -> Generator[PostCounter]:
    counter = PostCounter()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status = counter.record(self.path, body, self.headers["idempotency-key"])
            body_bytes = json.dumps({"got": body["step"]}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body_bytes)))
            self.end_headers()
            self.wfile.write(body_bytes)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        counter.place = f"127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield counter
        finally:
            server.shutdown()
            thread.join()
