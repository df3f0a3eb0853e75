"""Follow an event stream over the WebSocket.

The follower reconnects with the last sequence number it saw, so a lost connection loses only ephemeral events, which
have none.
"""

import json
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI
from websockets.sync.client import ClientConnection, connect

from forge.errors import ForgeError, Internal, TooSlow, Unauthenticated, Unavailable
from forge.terminal.location import Location
from forge.terminal.server_errors import Refusal, error_of_close, make_error

PATIENCE_S = 60.0
"""Give up when the server was unreachable for this long."""
RETRY_S = 0.5
MAX_MESSAGE = 64 * 1024 * 1024

RawEvent = dict[str, Any]


class Follower:
    def __init__(
        self, locate: Callable[[], Location], user_agent: str, on_lost: Callable[[ForgeError], None]
    ) -> None:
        self._locate = locate
        self._user_agent = user_agent
        self._on_lost = on_lost
        self._seq = 0
        self._was_connected = False
        self._lost_at: float | None = None

    def follow(self, stream: str, within_s: float | None) -> Generator[RawEvent]:
        deadline = None if within_s is None else time.monotonic() + within_s
        while True:
            try:
                yield from self._listen(self._locate(), stream, deadline)
            except (Unavailable, TooSlow, Unauthenticated) as error:
                self._check_patience(error, deadline)
                self._on_lost(error)
                time.sleep(RETRY_S)

    def _check_patience(self, error: ForgeError, deadline: float | None) -> None:
        """Raise unless the server may come back.

        The first connection is not retried. A lost one is, even if the key is rejected: a restarted server has
        a new key and writes it to its file within a moment.
        """
        now = time.monotonic()
        if not self._was_connected or (deadline is not None and now > deadline):
            raise error
        self._lost_at = self._lost_at or now
        if now - self._lost_at > PATIENCE_S:
            raise error

    def _listen(self, location: Location, stream: str, deadline: float | None) -> Iterator[RawEvent]:
        try:
            with self._open(location) as socket:
                socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": self._seq}))
                while True:
                    yield from self._take(_receive(socket, deadline))
        except ConnectionClosed as error:
            raise _closed(error) from error
        except (OSError, TimeoutError, InvalidHandshake, InvalidURI) as error:
            raise Unavailable(f"Cannot follow {location.url}: {error}") from error

    def _open(self, location: Location) -> ClientConnection:
        return connect(
            f"ws{location.url.removeprefix('http')}/ws",
            additional_headers={"Authorization": f"Bearer {location.key}"},
            user_agent_header=self._user_agent,
            proxy=None if location.is_loopback else True,
            max_size=MAX_MESSAGE,
        )

    def _take(self, message: dict[str, Any]) -> Iterator[RawEvent]:
        if message["type"] == "error":
            raise make_error(Refusal.model_validate(message), Internal.status)
        self._was_connected, self._lost_at = True, None
        if message["type"] != "events":
            return
        for event in message["events"]:
            if not is_ephemeral(event):
                self._seq = event["seq"]
            yield event


def is_ephemeral(event: RawEvent) -> bool:
    return event["seq"] is None


def _receive(socket: ClientConnection, deadline: float | None) -> dict[str, Any]:
    remaining = None if deadline is None else max(0.0, deadline - time.monotonic())
    try:
        return json.loads(socket.recv(timeout=remaining))
    except TimeoutError as error:
        raise Unavailable("The expected event did not arrive in time.") from error


def _closed(error: ConnectionClosed) -> ForgeError:
    received = error.rcvd
    return (
        error_of_close(received.code, received.reason)
        if received
        else Unavailable("The connection was lost.")
    )
