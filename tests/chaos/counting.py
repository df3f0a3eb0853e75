"""A server that counts POST requests and can refuse the first ones."""

import json
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SHY_TIMES = 2


@dataclass(frozen=True)
class Posted:
    at: datetime
    run_id: str
    step: str
    """The step as its body says: with its place in a loop."""
    key: str
    """The Idempotency-Key."""


@dataclass
class Counting:
    place: str = ""
    posts: list[Posted] = field(default_factory=list[Posted])
    _shy: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://{self.place}"

    def note(self, path: str, body: dict[str, Any], key: str) -> int:
        """The status to answer with."""
        with self._lock:
            self.posts.append(Posted(datetime.now(UTC), body["run"], body["step"], key))
            who = (body["run"], body["step"])
            self._shy[who] += path == "/shy"
            return 503 if 0 < self._shy[who] <= SHY_TIMES else 200

    def of(self, run_id: str) -> dict[str, list[Posted]]:
        """What a run posted, by step."""
        found: dict[str, list[Posted]] = {}
        with self._lock:
            for post in self.posts:
                if post.run_id == run_id:
                    found.setdefault(post.step, []).append(post)
        return found


@contextmanager
def counting() -> Generator[Counting]:
    counter = Counting()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            status = counter.note(self.path, body, self.headers["idempotency-key"])
            answer = json.dumps({"got": body["step"]}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

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
