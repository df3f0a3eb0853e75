"""What all endpoints of the REST API share: authentication, permissions, rate limits, ETags, pagination and errors."""

import hashlib
import json
import secrets
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal, TypeVar, cast
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from forge.demo.github.webhooks import Webhooks
from forge.demo.github.world import Account, JsonObject, Repository, Role, Token, TokenKind, World

_KINDS: dict[type[Any], str] = {
    str: "a string",
    bool: "a boolean",
    int: "an integer",
    list: "an array",
    dict: "an object",
}
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
        errors: Sequence[JsonObject] = (),
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, dict(headers or {})
        self.body: JsonObject = {"message": message, **({"errors": list(errors)} if errors else {}), **fields}
        self.body |= {"documentation_url": DOCUMENTATION, "status": str(status)}


def not_found(**options: Any) -> ApiError:
    return ApiError(404, "Not Found", **options)


def invalid(resource: str, code: str, field: str | None = None, message: str | None = None) -> ApiError:
    error = {"resource": resource, "code": code, "field": field, "message": message}
    return ApiError(
        422, "Validation Failed", errors=[{key: value for key, value in error.items() if value is not None}]
    )


@dataclass(frozen=True)
class Requirement:
    """What a request to a repository needs."""

    role: Role
    permission: str
    """Of a fine-grained token, such as "contents=write"."""
    scopes: tuple[str, ...] = ()
    """Scopes of other tokens that suffice, in addition to `repo`."""


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


@dataclass
class RateWindow:
    """The requests of one user, or of all anonymous clients, within an hour."""

    reset: datetime
    used: int = 0


class RateLimiter:
    def __init__(self, world: World) -> None:
        self.limit = 5000
        self._world = world
        self._windows: dict[int | None, RateWindow] = {}

    def restart(self, limit: int) -> None:
        """Change the limit of users, and begin a new hour for all."""
        self.limit = limit
        self._windows.clear()

    def limit_of(self, token: Token | None) -> int:
        return self.limit if token else min(self.limit, ANONYMOUS_LIMIT)

    def window_of(self, token: Token | None) -> RateWindow:
        key, moment = token.user.id if token else None, self._world.now()
        if key not in self._windows or self._windows[key].reset <= moment:
            self._windows[key] = RateWindow(moment + timedelta(hours=1))
        return self._windows[key]

    def headers(self, token: Token | None) -> dict[str, str]:
        numbers = self.numbers(token)
        return {f"x-ratelimit-{name}": str(value) for name, value in numbers.items()} | {
            "x-ratelimit-resource": "core"
        }

    def numbers(self, token: Token | None) -> dict[str, int]:
        limit, window = self.limit_of(token), self.window_of(token)
        used = min(window.used, limit)
        return {
            "limit": limit,
            "remaining": limit - used,
            "reset": int(window.reset.timestamp()),
            "used": used,
        }

    def check(self, token: Token | None) -> None:
        if self.window_of(token).used >= self.limit_of(token):
            whose = f"user ID {token.user.id}" if token else "127.0.0.1"
            raise ApiError(403, f"API rate limit exceeded for {whose}.")


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
        name, _, level = permission.partition("=")
        granted = self.token.permissions.get(name) if self.token else None
        if name != "metadata" and granted not in ("write", level):
            raise ApiError(
                403,
                "Resource not accessible by personal access token",
                headers={"x-accepted-github-permissions": permission},
            )

    def repository(self, requirement: Requirement) -> Repository:
        """Return the repository in the path, if user and token may do with it what the requirement says."""
        if repository_id := self.path.get("repository_id"):
            repository = self.world.repositories.get(int(repository_id))
        else:
            repository = self._named_repository(f"{self.path['owner']}/{self.path['repo']}")
        if repository is None or repository.role_of(self.viewer) is Role.NONE:
            raise not_found()
        if self.is_fine_grained:
            self._check_fine_grained(repository, requirement)
        else:
            self._check_scopes(repository, requirement)
        if repository.role_of(self.viewer) < requirement.role:
            raise not_found()
        if repository.is_archived and requirement.permission.endswith("=write"):
            raise ApiError(403, "Repository was archived so is read-only.")
        return repository

    def _named_repository(self, full_name: str) -> Repository | None:
        if repository := self.world.find_repository(full_name):
            return repository
        moved = self.world.find_moved(full_name)
        if moved is None or not may_read(self.token, moved):
            return None
        rest = self.request.url.path.split("/", 6)[6:]
        url = "/".join([f"{self.world.api_url}/repositories/{moved.id}", *rest])
        raise ApiError(301, "Moved Permanently", headers={"location": url}, url=url)

    def _check_fine_grained(self, repository: Repository, requirement: Requirement) -> None:
        if may_read(self.token, repository, needs_selection=requirement.role > Role.PULL):
            if repository.is_private or requirement.role > Role.PULL:
                self.require_permission(requirement.permission)
            return
        raise not_found()

    def _check_scopes(self, repository: Repository, requirement: Requirement) -> None:
        public = () if repository.is_private else ("public_repo",)
        has_scope = self.has_scope("repo", *public, *requirement.scopes)
        if (repository.is_private or requirement.role > Role.PULL) and not has_scope:
            raise not_found()

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


Handler = Callable[[Call], Awaitable[Reply]]


@dataclass(frozen=True)
class Endpoint:
    method: str
    path: str
    handler: Handler
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


def may_read(token: Token | None, repository: Repository, *, needs_selection: bool = False) -> bool:
    """Whether the owner of a token can see a repository with it."""
    if token is None or repository.role_of(token.user) is Role.NONE:
        return not repository.is_private
    if token.kind is not TokenKind.FINE_GRAINED:
        return not repository.is_private or "repo" in token.effective_scopes
    is_selected = token.repositories is None or repository.id in token.repositories
    return is_selected or not (repository.is_private or needs_selection)


def may_use_contents(token: Token | None, repository: Repository, level: Literal["read", "write"]) -> bool:
    """Whether a token allows to fetch from a repository it can see, or to push to it."""
    if token is None or repository.role_of(token.user) < (Role.PUSH if level == "write" else Role.PULL):
        return False
    if token.kind is TokenKind.FINE_GRAINED:
        is_selected = may_read(token, repository, needs_selection=True)
        return is_selected and token.permissions.get("contents") in ("write", level)
    return not {"repo", "repo" if repository.is_private else "public_repo"}.isdisjoint(token.effective_scopes)


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
            if not endpoint.is_free and reply.status != 304:
                self.limiter.window_of(call.token).used += 1
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
