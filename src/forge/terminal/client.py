"""HTTP client of the commands, which call the running server and never open its database."""

import ssl
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from forge import __version__
from forge.config import ClientSettings
from forge.errors import ForgeError, Internal, Unauthenticated, Unavailable
from forge.terminal.follower import Follower, RawEvent, is_ephemeral
from forge.terminal.location import Location, Source, find_location, no_server
from forge.terminal.server_errors import error_from

USER_AGENT = f"forge/{__version__}"
TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 5.0
PAGE = 200
PREFIX = "/api/v1"
UNPREFIXED = ("/audit/",)
"""Paths that the API serves without the prefix."""

T = TypeVar("T")
Params = Mapping[str, str | int | list[str] | None]
Body = Mapping[str, Any]


class Meta(BaseModel):
    next_cursor: str | None = None


class Answer(BaseModel):
    """The part of the response envelope that commands need."""

    data: Any
    meta: Meta


@contextmanager
def connect(settings: ClientSettings | None = None) -> Generator["Client"]:
    """Connect to the server that `FORGE_URL` or `FORGE_DATA_DIR` selects. It is located at the first request."""
    settings = settings or ClientSettings()
    with Client(lambda: find_location(settings)) as client:
        yield client


@contextmanager
def connect_to(url: str, key: str) -> Generator["Client"]:
    """Connect to a server by its address, before a key for it is saved."""
    with Client(lambda: Location(url, key, Source.LOGIN)) as client:
        yield client


class Client:
    """Returns the `data` of each response, validated as `shape`, or raises the error that the server raised."""

    def __init__(self, locate: Callable[[], Location]) -> None:
        self._locate = locate

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        if "_http" in self.__dict__:
            self._http.close()

    @cached_property
    def location(self) -> Location:
        return self._locate()

    @cached_property
    def _http(self) -> httpx2.Client:
        # No proxy for this machine; and no redirects, which would carry the key to another address.
        return httpx2.Client(
            headers={"User-Agent": USER_AGENT},
            trust_env=not self.location.is_loopback,
            follow_redirects=False,
            verify=_tls_context(self.location),
        )

    def get(self, path: str, shape: type[T], params: Params | None = None) -> T:
        return _shaped(self._call("GET", path, params=params).data, shape)

    def get_text(self, path: str, params: Params | None = None) -> str:
        """Download a text file, which comes without an envelope."""
        return _checked(self.location, self._send("GET", path, params=params)).text

    def get_bytes(self, path: str) -> bytes:
        """Download a binary file."""
        return _checked(self.location, self._send("GET", path)).content

    def post(
        self,
        path: str,
        shape: type[T],
        body: Body | None = None,
        params: Params | None = None,
        *,
        within_s: float = TIMEOUT_S,
    ) -> T:
        return _shaped(self._call("POST", path, params=params, body=body, within_s=within_s).data, shape)

    def upload(
        self, path: str, shape: type[T], content: bytes, params: Params | None = None, *, within_s: float
    ) -> T:
        """Send a file as the request body."""
        sent = self._send("POST", path, params=params, content=content, within_s=within_s)
        return _shaped(_read(self.location, sent).data, shape)

    def put(self, path: str, shape: type[T], body: Body, params: Params | None = None) -> T:
        return _shaped(self._call("PUT", path, params=params, body=body).data, shape)

    def patch(self, path: str, shape: type[T], body: Body) -> T:
        return _shaped(self._call("PATCH", path, body=body).data, shape)

    def delete(self, path: str, shape: type[T], params: Params | None = None) -> T:
        return _shaped(self._call("DELETE", path, params=params).data, shape)

    def drop(self, path: str) -> None:
        """Send a DELETE request whose response has no data."""
        _checked(self.location, self._send("DELETE", path))

    def pages(self, path: str, shape: type[T], limit: int, params: Params | None = None) -> Iterator[T]:
        """Yield the first `limit` items of a list, fetched page by page."""
        cursor: str | None = None
        while limit > 0:
            query = {**(params or {}), "limit": min(limit, PAGE), "cursor": cursor}
            answer = self._call("GET", path, params=query)
            items = _shaped(answer.data, list[shape])
            yield from items
            limit -= len(items)
            cursor = answer.meta.next_cursor
            if cursor is None:
                return

    def follow(
        self,
        stream: str,
        shape: type[T],
        *,
        within_s: float | None = None,
        on_lost: Callable[[ForgeError], None] = lambda _: None,
        on_ephemeral: Callable[[RawEvent], None] = lambda _: None,
    ) -> Generator[T]:
        """Yield all events of a stream from the first one on, across restarts of the server.

        Ephemeral events have no sequence number and are not repeated after a reconnect; they are passed to `on_ephemeral`.
        """
        with closing(Follower(self.find_again, USER_AGENT, on_lost).follow(stream, within_s)) as events:
            for event in events:
                if is_ephemeral(event):
                    on_ephemeral(event)
                else:
                    yield _shaped(event, shape)

    def find_again(self) -> Location:
        """Locate the server again: after a restart it has another key, and perhaps another port."""
        self.location = self._locate()
        return self.location

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Body | None = None,
        within_s: float = TIMEOUT_S,
    ) -> Answer:
        return _read(self.location, self._send(method, path, params=params, body=body, within_s=within_s))

    def _send(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Body | None = None,
        content: bytes | None = None,
        within_s: float = TIMEOUT_S,
    ) -> httpx2.Response:
        try:
            return self._http.request(
                method,
                f"{self.location.url}{'' if path.startswith(UNPREFIXED) else PREFIX}{path}",
                params={name: value for name, value in (params or {}).items() if value is not None},
                json=body,
                content=content,
                headers={"Authorization": f"Bearer {self.location.key}"},
                timeout=httpx2.Timeout(within_s, connect=CONNECT_TIMEOUT_S),
            )
        except httpx2.ConnectError as error:
            raise _not_reachable(self.location, error) from error
        except httpx2.TimeoutException as error:
            raise Unavailable(f"{self.location.url} did not answer within {within_s:.0f} s.") from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise Unavailable(f"The request to {self.location.url} failed: {error}") from error


def _tls_context(location: Location) -> ssl.SSLContext:
    """Load certificates only for https: it takes 20 ms, longer than most commands wait for the server.

    The context of a plain http address trusts no certificate at all.
    """
    if location.url.startswith("https:"):
        return httpx2.create_ssl_context(trust_env=not location.is_loopback)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _checked(location: Location, response: httpx2.Response) -> httpx2.Response:
    if response.is_redirect:
        raise Unavailable(
            f"{location.url} redirects to {response.headers.get('location', 'nowhere')}.",
            hint="Use that address if you trust it.",
        )
    if not response.is_success:
        raise _explained(location, error_from(response.content, response.status_code, response.headers))
    return response


def _read(location: Location, response: httpx2.Response) -> Answer:
    content = _checked(location, response).content
    try:
        return Answer.model_validate_json(content)
    except ValidationError as error:
        raise Unavailable(f"The server at {location.url} is not Forge.", hint="Check the address.") from error


def _explained(location: Location, error: ForgeError) -> ForgeError:
    """Add a hint to the error for a rejected key, depending on where the key came from."""
    if not isinstance(error, Unauthenticated):
        return error
    if location.source is Source.SERVER_FILE:
        hint = "Another Forge server seems to use this address. Restart yours: forge serve"
    else:
        hint = f"Log in again: forge login {location.url}"
    return Unauthenticated(f"{location.url}: {error.message}", hint=hint)


def _not_reachable(location: Location, error: httpx2.ConnectError) -> Unavailable:
    if location.source is Source.SERVER_FILE:
        return no_server()
    return Unavailable(
        f"Cannot connect to {location.url}: {error}", hint="Check the address and that the server is running."
    )


def _shaped(data: Any, shape: type[T]) -> T:
    try:
        return TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        raise Internal(
            "The response of the server has an unexpected format.",
            hint=f"The versions may differ: this is {__version__}; forge status shows the server's.",
        ) from error
