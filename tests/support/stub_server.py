"""A local server with canned responses, in place of Forge."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class StubServer:
    url: str = ""
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    requests: list[tuple[str, str, dict[str, str]]] = field(
        default_factory=list[tuple[str, str, dict[str, str]]]
    )

    def answer(self, status: int, body: str, **headers: str) -> None:
        self.status, self.body = status, body.encode()
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


@contextmanager
def open_stub_server() -> Iterator[StubServer]:
    stub = StubServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            stub.requests.append((self.command, self.path, dict(self.headers)))
            self.send_response(stub.status)
            for name, value in stub.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(stub.body)))
            self.end_headers()
            self.wfile.write(stub.body)

        do_POST = do_DELETE = do_PUT = do_PATCH = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stub.url = f"http://127.0.0.1:{listener.server_port}"
    thread = threading.Thread(target=listener.serve_forever)
    thread.start()
    try:
        yield stub
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()
