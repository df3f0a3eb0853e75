"""Calls the running server over HTTP. Commands never open its database."""

import ssl
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, TypeAdapter, ValidationError

from forge import __version__
from forge.config import ClientSettings
from forge.errors import ForgeError, Internal, Unauthenticated, Unavailable
from forge.terminal.failure import error_from
from forge.terminal.follow import Follower, RawEvent, is_whisper
from forge.terminal.place import SERVER_FILE, Place, Source, find_place, no_server

__all__ = ["SERVER_FILE", "Client", "connect", "connect_to"]

USER_AGENT = f"forge/{__version__}"
TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 5.0
PAGE = 200
PREFIX = "/api/v1"
UNPREFIXED = ("/audit/",)
"""Where the API's addresses are without the prefix."""

T = TypeVar("T")
Params = Mapping[str, str | int | list[str] | None]
Body = Mapping[str, Any]


class Meta(BaseModel):
    next_cursor: str | None = None


class Answer(BaseModel):
    """What we need of the envelope."""

    data: Any
    meta: Meta


@contextmanager
def connect(settings: ClientSettings | None = None) -> Generator["Client"]:
    """The server this terminal belongs to; `FORGE_URL` and `FORGE_DATA_DIR` say which."""
    settings = settings or ClientSettings()
    with Client(lambda: find_place(settings)) as client:
        yield client


@contextmanager
def connect_to(url: str, key: str) -> Generator["Client"]:
    """A server by its address, before anything about it is saved."""
    with Client(lambda: Place(url, key, Source.LOGIN)) as client:
        yield client


class Client:
    """Every method gives the `data` of the answer in the asked shape, or raises the error the server raised."""

    def __init__(self, locate: Callable[[], Place]) -> None:
        self._locate = locate
        self.place = locate()
        # A proxy is for the world outside; and a key goes to the address it is for, never where that redirects to.
        self._http = httpx2.Client(
            headers={"User-Agent": USER_AGENT},
            trust_env=not self.place.is_loopback,
            follow_redirects=False,
            verify=_tls_context(self.place),
        )

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str, shape: type[T], params: Params | None = None) -> T:
        return _shaped(self._call("GET", path, params=params).data, shape)

    def get_text(self, path: str, params: Params | None = None) -> str:
        """A file the server makes; it comes as it is, in no envelope."""
        return _checked(self.place, self._send("GET", path, params=params)).text

    def get_bytes(self, path: str) -> bytes:
        """The same for what is no text."""
        return _checked(self.place, self._send("GET", path)).content

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
        """A file as the body."""
        sent = self._send("POST", path, params=params, content=content, within_s=within_s)
        return _shaped(_read(self.place, sent).data, shape)

    def put(self, path: str, shape: type[T], body: Body, params: Params | None = None) -> T:
        return _shaped(self._call("PUT", path, params=params, body=body).data, shape)

    def patch(self, path: str, shape: type[T], body: Body) -> T:
        return _shaped(self._call("PATCH", path, body=body).data, shape)

    def delete(self, path: str, shape: type[T], params: Params | None = None) -> T:
        return _shaped(self._call("DELETE", path, params=params).data, shape)

    def drop(self, path: str) -> None:
        """Delete what leaves nothing to be told."""
        _checked(self.place, self._send("DELETE", path))

    def pages(self, path: str, shape: type[T], limit: int, params: Params | None = None) -> Iterator[T]:
        """The first `limit` items of a list, fetched a page at a time."""
        cursor: str | None = None
        while limit > 0:
            wanted = {**(params or {}), "limit": min(limit, PAGE), "cursor": cursor}
            answer = self._call("GET", path, params=wanted)
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
        on_whisper: Callable[[RawEvent], None] = lambda _: None,
    ) -> Generator[T]:
        """Every event of a stream from its first, then as they come, across restarts of the server.

        `on_whisper` hears what is whispered among them; it has no number and does not come again.
        """
        with closing(Follower(self.find_again, USER_AGENT, on_lost).follow(stream, within_s)) as events:
            for event in events:
                if is_whisper(event):
                    on_whisper(event)
                else:
                    yield _shaped(event, shape)

    def find_again(self) -> Place:
        """A server that was started again has another key, and perhaps another port."""
        self.place = self._locate()
        return self.place

    def _call(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: Body | None = None,
        within_s: float = TIMEOUT_S,
    ) -> Answer:
        return _read(self.place, self._send(method, path, params=params, body=body, within_s=within_s))

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
                f"{self.place.url}{'' if path.startswith(UNPREFIXED) else PREFIX}{path}",
                params={name: value for name, value in (params or {}).items() if value is not None},
                json=body,
                content=content,
                headers={"Authorization": f"Bearer {self.place.key}"},
                timeout=httpx2.Timeout(within_s, connect=CONNECT_TIMEOUT_S),
            )
        except httpx2.ConnectError as error:
            raise _nobody_there(self.place, error) from error
        except httpx2.TimeoutException as error:
            raise Unavailable(f"{self.place.url} did not answer within {within_s:.0f} s.") from error
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            raise Unavailable(f"{self.place.url} cannot be asked: {error}") from error


def _tls_context(place: Place) -> ssl.SSLContext:
    """Load certificates only where they are used: it takes 20 ms, longer than most commands wait for the server.

    The context of a plain address trusts no certificate at all.
    """
    if place.url.startswith("https:"):
        return httpx2.create_ssl_context(trust_env=not place.is_loopback)
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _checked(place: Place, response: httpx2.Response) -> httpx2.Response:
    if response.is_redirect:
        raise Unavailable(
            f"{place.url} sends its visitors on to {response.headers.get('location', 'nowhere')}.",
            hint="Use the address it names, if you trust it.",
        )
    if not response.is_success:
        raise _explained(place, error_from(response.content, response.status_code, response.headers))
    return response


def _read(place: Place, response: httpx2.Response) -> Answer:
    content = _checked(place, response).content
    try:
        return Answer.model_validate_json(content)
    except ValidationError as error:
        raise Unavailable(
            f"What answers at {place.url} is not Forge.", hint="Is the address right?"
        ) from error


def _explained(place: Place, error: ForgeError) -> ForgeError:
    """A key that is refused says something else to do, depending on where it came from."""
    if not isinstance(error, Unauthenticated):
        return error
    if place.source is Source.SERVER_FILE:
        hint = "Another Forge seems to run at this address. Start yours again: forge serve"
    else:
        hint = f"Log in again: forge login {place.url}"
    return Unauthenticated(f"{place.url}: {error.message}", hint=hint)


def _nobody_there(place: Place, error: httpx2.ConnectError) -> Unavailable:
    if place.source is Source.SERVER_FILE:
        return no_server()
    return Unavailable(
        f"Nothing answers at {place.url}: {error}", hint="Is the address right, and does it run?"
    )


def _shaped(data: Any, shape: type[T]) -> T:
    try:
        return TypeAdapter(shape).validate_python(data)
    except ValidationError as error:
        raise Internal(
            "This command does not understand what the server answered.",
            hint=f"Their versions differ? This is {__version__}; forge status shows the server's.",
        ) from error
