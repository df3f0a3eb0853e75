"""What all endpoints of the REST API share: authentication, permissions, rate limits, ETags, pagination and errors."""

import hashlib
import json
import secrets
from base64 import b64decode
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum
from typing import Any, TypeVar, cast
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from forge.demo.github.webhooks import Webhooks
from forge.demo.github.world import Account, JsonObject, Repository, Role, Token, TokenKind, World

_KINDS: dict[type[Any], str] = {str: "a string", bool: "a boolean", list: "an array", dict: "an object"}
DOCUMENTATION = "https://docs.github.com/rest"
MAX_PER_PAGE = 100
ANONYMOUS_LIMIT = 60
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]
T = TypeVar("T")


class ApiError(Exception):
    """An error as GitHub words it."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})
        self.body = {"message": message, **fields, "documentation_url": DOCUMENTATION, "status": str(status)}


def not_found() -> ApiError:
    return ApiError(404, "Not Found")


def invalid(resource: str, field: str | None, message: str, summary: str = "Validation Failed") -> ApiError:
    where = {"field": field} if field else {}
    error = {"resource": resource, "code": "custom", **where, "message": message}
    return ApiError(422, summary, errors=[error])


@dataclass(frozen=True)
class Requirement:
    """What a request to a repository needs."""

    role: Role
    permission: str
    """Of a fine-grained token."""
    scopes: tuple[str, ...] = ()
    """Scopes of other tokens that suffice, in addition to `repo`."""

    def accepted_scopes(self, repository: Repository) -> tuple[str, ...]:
        return ("repo", *(() if repository.is_private else ("public_repo",)), *self.scopes)


READ = Requirement(Role.PULL, "metadata=read")
READ_CONTENTS = Requirement(Role.PULL, "contents=read")
WRITE_CONTENTS = Requirement(Role.PUSH, "contents=write")


class Access(Enum):
    GRANTED = 200
    FORBIDDEN = 403
    """A fine-grained token lacks the permission."""
    HIDDEN = 404


def access_to(repository: Repository, token: Token | None, requirement: Requirement = READ) -> Access:
    """Return what a token, or an anonymous client, can do with a repository."""
    is_sensitive = repository.is_private or requirement.role > Role.PULL
    if token is None:
        return Access.HIDDEN if is_sensitive else Access.GRANTED
    if repository.role_of(token.user) < requirement.role:
        return Access.HIDDEN
    if token.kind is TokenKind.FINE_GRAINED:
        if is_sensitive and not token.selects(repository.id):
            return Access.HIDDEN
        return (
            Access.FORBIDDEN if is_sensitive and not token.permits(requirement.permission) else Access.GRANTED
        )
    has_scope = not token.effective_scopes.isdisjoint(requirement.accepted_scopes(repository))
    return Access.HIDDEN if is_sensitive and not has_scope else Access.GRANTED


@dataclass(frozen=True)
class Reply:
    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict[str, str])
    media_type: str = "application/json; charset=utf-8"

    def encode(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return b"" if self.body is None else json.dumps(self.body, ensure_ascii=False).encode()


class RateLimiter:
    """Counts the requests of each user, and of all anonymous clients together, within an hour."""

    def __init__(self, world: World) -> None:
        self.limit = 5000
        self._world = world
        self._used: Counter[int | None] = Counter()
        self._resets: dict[int | None, datetime] = {}

    def restart(self, limit: int) -> None:
        """Change the limit of users, and begin a new hour for all."""
        self.limit = limit
        self._resets.clear()

    def numbers(self, token: Token | None) -> dict[str, int]:
        user, moment = token.user.id if token else None, self._world.now()
        if self._resets.get(user, moment) <= moment:
            self._resets[user], self._used[user] = moment + timedelta(hours=1), 0
        limit = self.limit if token else min(self.limit, ANONYMOUS_LIMIT)
        used, reset = min(self._used[user], limit), int(self._resets[user].timestamp())
        return {"limit": limit, "remaining": limit - used, "reset": reset, "used": used}

    def headers(self, token: Token | None) -> dict[str, str]:
        numbers = {f"x-ratelimit-{name}": str(value) for name, value in self.numbers(token).items()}
        return numbers | {"x-ratelimit-resource": "core"}

    def check(self, token: Token | None) -> None:
        if self.numbers(token)["remaining"] == 0:
            whose = f"user ID {token.user.id}" if token else "127.0.0.1"
            raise ApiError(403, f"API rate limit exceeded for {whose}.")

    def count(self, token: Token | None) -> None:
        self._used[token.user.id if token else None] += 1


class Call:
    """One request to the REST API."""

    def __init__(self, api: "Api", request: Request, raw: bytes) -> None:
        self.world, self.webhooks, self.limiter = api.world, api.webhooks, api.limiter
        self.request = request
        self.path: dict[str, str] = request.path_params
        self.query = request.query_params
        self.token: Token | None = None
        self.headers: dict[str, str] = {}
        """Headers of the response, whether it succeeds or fails."""
        self._raw = raw

    def authenticate(self) -> None:
        value = read_token(self.request.headers.get("authorization"))
        if value is None:
            return
        self.token = self.world.find_token(value)
        if self.token is None:
            raise ApiError(401, "Bad credentials")
        if self.token.kind is not TokenKind.FINE_GRAINED:
            self.headers["x-oauth-scopes"] = ", ".join(sorted(self.token.scopes))
        if self.token.app:
            self.headers["x-oauth-client-id"] = self.token.app.client_id
        if self.token.expires_at:
            moment = self.token.expires_at.strftime("%Y-%m-%d %H:%M:%S UTC")
            self.headers["github-authentication-token-expiration"] = moment

    @property
    def viewer(self) -> Account | None:
        return self.token.user if self.token else None

    def require_user(self) -> Account:
        if self.token is None:
            raise ApiError(401, "Requires authentication")
        return self.token.user

    @property
    def is_fine_grained(self) -> bool:
        return self.token is not None and self.token.kind is TokenKind.FINE_GRAINED

    def has_scope(self, *scopes: str) -> bool:
        self.headers["x-accepted-oauth-scopes"] = ", ".join(scopes)
        return self.token is not None and not self.token.effective_scopes.isdisjoint(scopes)

    def require_permission(self, permission: str) -> None:
        """Check a permission of a fine-grained token, such as "contents=read"."""
        if self.token is None or not self.token.permits(permission):
            headers = {"x-accepted-github-permissions": permission}
            raise ApiError(403, "Resource not accessible by personal access token", headers=headers)

    def repository(self, requirement: Requirement) -> Repository:
        """Return the repository in the path, if user and token may do with it what the requirement says."""
        if repository_id := self.path.get("repository_id"):
            repository = self.world.repositories.get(int(repository_id))
        else:
            repository = self._named_repository(f"{self.path['owner']}/{self.path['repo']}")
        if repository is None or (self.token is None and repository.is_private):
            raise not_found()
        if not self.is_fine_grained:
            self.headers["x-accepted-oauth-scopes"] = ", ".join(requirement.accepted_scopes(repository))
        if requirement.role > Role.PULL:
            self.require_user()
        match access_to(repository, self.token, requirement):
            case Access.HIDDEN:
                raise not_found()
            case Access.FORBIDDEN:
                self.require_permission(requirement.permission)
            case Access.GRANTED:
                pass
        if repository.is_archived and requirement.permission.endswith("=write"):
            raise ApiError(403, "Repository was archived so is read-only.")
        return repository

    def _named_repository(self, full_name: str) -> Repository | None:
        moved = self.world.find_moved(full_name)
        if moved is None or access_to(moved, self.token) is Access.HIDDEN:
            return self.world.find_repository(full_name)
        rest = self.request.url.path.split("/", 6)[6:]
        url = "/".join([f"{self.world.api_url}/repositories/{moved.id}", *rest])
        raise ApiError(301, "Moved Permanently", headers={"location": url}, url=url)

    def json(self) -> JsonObject:
        if not self._raw:
            return {}
        try:
            body = json.loads(self._raw)
        except ValueError:
            raise ApiError(400, "Problems parsing JSON") from None
        if not isinstance(body, dict):
            raise ApiError(400, "Body should be a JSON object")
        return cast(JsonObject, body)

    def required(self, name: str, kind: type[T]) -> T:
        """Return a value of the JSON body."""
        if name not in self.json():
            raise ApiError(422, f'Invalid request.\n\n"{name}" wasn\'t supplied.')
        value = self.json()[name]
        if not isinstance(value, kind):
            expected = f"{json.dumps(value)} is not {_KINDS[kind]}"
            raise ApiError(422, f"Invalid request.\n\nFor 'properties/{name}', {expected}.")
        return value

    def optional(self, name: str, default: T, kind: type[Any] | None = None) -> T:
        """Return a value of the JSON body, or the default if there is none; `kind` is needed if the default is None."""
        is_given = name in self.json() and self.json()[name] != default
        return self.required(name, kind or type(default)) if is_given else default

    def integer(self, name: str, default: int, highest: int) -> int:
        """Return a number of the query; like GitHub, fall back to the default if it is none."""
        text = self.query.get(name, "")
        return min(max(int(text), 1), highest) if text.isdecimal() else default

    def wants(self, form: str) -> bool:
        """Whether the client accepts a custom media type, such as "raw"."""
        accepted = self.request.headers.get("accept", "")
        return any(f"application/vnd.github.{version}{form}" in accepted for version in ("", "v3."))

    def page(self, items: Sequence[T], view: Callable[[T], Any] = lambda item: item) -> Reply:
        """Return one page of a list, with links to the others."""
        per_page, number = self.integer("per_page", 30, MAX_PER_PAGE), self.integer("page", 1, 1 << 31)
        last = max(1, -(-len(items) // per_page))
        links = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
        if number <= 1:
            del links["prev"], links["first"]
        if number >= last:
            del links["next"], links["last"]
        start = (number - 1) * per_page
        reply = Reply([view(item) for item in items[start : start + per_page]])
        reply.headers.update(self.link_header({rel: {"page": page} for rel, page in links.items()}))
        return reply

    def link_header(self, links: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Return a Link header: this request with other parameters, by relation."""
        path = self.world.url + self.request.url.path
        parts = [
            f'<{path}?{urlencode({**self.query, **changed})}>; rel="{rel}"' for rel, changed in links.items()
        ]
        return {"link": ", ".join(parts)} if parts else {}


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    handler: Callable[[Call], Awaitable[Reply]]
    is_free: bool = False
    """Whether it does not count against the rate limit."""
    is_for_apps: bool = False
    """Whether it takes the credentials of an OAuth app instead of a token."""


def read_token(authorization: str | None) -> str | None:
    """Return the token of an Authorization header: Bearer, token, or Basic with the token as password or name."""
    kind, _, value = (authorization or "").strip().partition(" ")
    if kind.lower() in ("bearer", "token"):
        return value.strip()
    if kind.lower() != "basic":
        return None if not kind else ""
    try:
        name, _, password = b64decode(value, validate=True).decode().partition(":")
    except ValueError:
        return ""
    return name if password in ("", "x-oauth-basic") else password


@dataclass
class Api:
    world: World
    webhooks: Webhooks
    limiter: RateLimiter

    def routes(self, endpoints: Sequence[Endpoint]) -> list[Route]:
        """Return the routes. Everything about a repository has a second path with its id, which redirects use."""
        routes = [
            Route(f"/api/v3{path}", self._answer(each), methods=[each.method])
            for each in endpoints
            for path in {
                each.path,
                each.path.replace("/repos/{owner}/{repo}", "/repositories/{repository_id:int}"),
            }
        ]
        unknown = Endpoint("", "", _unknown_path)
        return [*routes, Route("/api/v3/{path:path}", self._answer(unknown), methods=METHODS)]

    def _answer(self, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            call = Call(self, request, await request.body())
            reply = await _reply_to(call, endpoint)
            if reply.status == 200 and request.method == "GET":
                reply = _with_etag(reply, request)
            if not endpoint.is_free and reply.status not in (304, 401):
                self.limiter.count(call.token)
            headers = {
                "x-github-request-id": secrets.token_hex(8).upper(),
                "x-github-media-type": "github.v3; format=json",
                **self.limiter.headers(call.token),
                **call.headers,
                **reply.headers,
            }
            body = reply.encode()
            return Response(body, reply.status, headers, reply.media_type if body else None)

        return answer


async def _unknown_path(call: Call) -> Reply:
    raise not_found()


async def _reply_to(call: Call, endpoint: Endpoint) -> Reply:
    try:
        if not call.request.headers.get("user-agent"):
            raise ApiError(403, "Request forbidden by administrative rules. Set a User-Agent header.")
        if not endpoint.is_for_apps:
            call.authenticate()
        if not endpoint.is_free:
            call.limiter.check(call.token)
        return await endpoint.handler(call)
    except ApiError as error:
        return Reply(error.body, error.status, error.headers)


def _with_etag(reply: Reply, request: Request) -> Reply:
    """Add an ETag; answer 304 if the client has this version, which does not count against the rate limit."""
    etag = f'"{hashlib.sha256(reply.encode()).hexdigest()}"'
    headers = {**reply.headers, "etag": etag, "cache-control": "private, max-age=60, s-maxage=60"}
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    return Reply(status=304, headers=headers) if etag in known else replace(reply, headers=headers)
