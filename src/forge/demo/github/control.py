"""The operations that set up and inspect the double, called from Python or as `POST /_double/NAME`."""

import asyncio
import functools
import math
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, cast

from pydantic import validate_call
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from forge.demo.github.api import Api, ApiError
from forge.demo.github.bare_repository import ZERO, GitFailed
from forge.demo.github.oauth import OAuth
from forge.demo.github.repository_endpoints import clean_name, person_of
from forge.demo.github.traffic import CONTROL, Fault, FaultName, RecordedRequest, Traffic
from forge.demo.github.views import repository_view, user_view
from forge.demo.github.webhooks import Mishap
from forge.demo.github.world import Account, OAuthApp, Repository, Role, Token, TokenKind

P = ParamSpec("P")
T = TypeVar("T")
RoleName = Literal["pull", "push", "admin"]


class UnknownName(LookupError):
    """There is no user, organization, repository, app or token with this name."""


def _operation(
    method: Callable[Concatenate["Control", P], Awaitable[T]],
) -> Callable[Concatenate["Control", P], T]:
    """Make a blocking method for other threads of a coroutine for the event loop of the double."""

    @functools.wraps(method)
    def run(self: "Control", *arguments: P.args, **options: P.kwargs) -> T:
        async def start() -> T:
            return await method(self, *arguments, **options)

        return asyncio.run_coroutine_threadsafe(start(), self.loop).result()

    return run


class Control:
    """Every method blocks until it is done on the event loop of the double."""

    loop: asyncio.AbstractEventLoop

    def __init__(self, api: Api, oauth: OAuth, traffic: Traffic) -> None:
        self._world, self._webhooks, self._limiter = api.world, api.webhooks, api.limiter
        self._oauth, self._traffic = oauth, traffic

    @property
    def url(self) -> str:
        return self._world.url

    @_operation
    async def add_user(self, login: str, *, name: str | None = None, email: str | None = None) -> Account:
        return self._world.add_account(login, name=name, email=email)

    @_operation
    async def add_organization(
        self, login: str, *, members: dict[str, Literal["admin", "member"]] | None = None
    ) -> Account:
        roles = {self._account(member).id: role for member, role in (members or {}).items()}
        return self._world.add_account(login, is_organization=True, members=roles)

    @_operation
    async def set_member(
        self,
        organization: str,
        login: str,
        *,
        role: Literal["admin", "member"] | None = "member",
        public: bool = False,
    ) -> None:
        """Add a user to an organization, change the role, or remove the user (role null)."""
        account, user = self._account(organization), self._account(login)
        account.members.pop(user.id, None)
        account.public_members.discard(user.id)
        if role:
            account.members[user.id] = role
        if role and public:
            account.public_members.add(user.id)

    @_operation
    async def rename_user(self, login: str, new_login: str) -> None:
        self._world.rename_account(self._account(login), new_login)

    @_operation
    async def delete_user(self, login: str) -> None:
        await self._world.delete_account(self._account(login))

    @_operation
    async def add_app(
        self,
        client_id: str,
        client_secret: str,
        callback_url: str,
        *,
        name: str = "Forge",
        device_flow: bool = True,
    ) -> OAuthApp:
        app = OAuthApp(client_id, client_secret, callback_url, name, device_flow)
        self._world.apps[client_id] = app
        return app

    @_operation
    async def add_token(
        self,
        login: str,
        *,
        scopes: list[str] | None = None,
        permissions: dict[str, Literal["read", "write"]] | None = None,
        repositories: list[str] | None = None,
        expires_in_s: float | None = None,
    ) -> Token:
        """Create a classic token with scopes, or a fine-grained one with permissions (for all or some repositories)."""
        user, world = self._account(login), self._world
        expires_at = None if expires_in_s is None else world.now() + timedelta(seconds=expires_in_s)
        ids = None if repositories is None else frozenset(self._repository(each).id for each in repositories)
        details: dict[str, Any] = {"permissions": dict(permissions or {}), "repositories": ids}
        if permissions is None:
            details = {"scopes": frozenset(scopes or [])}
        kind = TokenKind.CLASSIC if permissions is None else TokenKind.FINE_GRAINED
        return world.add_token(kind, user, expires_at=expires_at, **details)

    @_operation
    async def revoke_token(self, token: str) -> None:
        if self._world.tokens.pop(token, None) is None:
            raise UnknownName("There is no such token.")

    @_operation
    async def add_repository(
        self,
        full_name: str,
        *,
        private: bool = False,
        files: dict[str, str] | None = None,
        source: Path | None = None,
        description: str | None = None,
        default_branch: str = "main",
        collaborators: dict[str, RoleName] | None = None,
    ) -> Repository:
        """Create a repository with one commit of `files`, with the branches and tags of the local repository `source`,
        or an empty one."""
        login, _, name = full_name.partition("/")
        owner, roles = self._account(login), collaborators or {}
        repository = await self._world.add_repository(
            owner,
            clean_name(name),
            is_private=private,
            description=description,
            default_branch=default_branch,
            collaborators={self._account(each).id: Role[role.upper()] for each, role in roles.items()},
        )
        if source is not None:
            await repository.git.copy_from(source)
        if files:
            who = person_of(owner, self._world.now())
            sha = await repository.git.commit_files(files, "Initial commit", who)
            await repository.git.set_ref(f"refs/heads/{default_branch}", sha)
        return repository

    @_operation
    async def change_repository(
        self,
        full_name: str,
        *,
        name: str | None = None,
        private: bool | None = None,
        archived: bool | None = None,
        default_branch: str | None = None,
        collaborators: dict[str, RoleName] | None = None,
    ) -> Repository:
        repository = self._repository(full_name)
        if name is not None:
            self._world.rename_repository(repository, clean_name(name))
        if private is not None:
            repository.is_private = private
        if archived is not None:
            repository.is_archived = archived
        if default_branch is not None:
            await repository.git.set_default_branch(default_branch)
            repository.default_branch = default_branch
        for login, role in (collaborators or {}).items():
            repository.collaborators[self._account(login).id] = Role[role.upper()]
        return repository

    @_operation
    async def push(
        self,
        full_name: str,
        files: dict[str, str | None],
        *,
        branch: str | None = None,
        message: str = "A change",
        login: str | None = None,
        parent: str | None = None,
    ) -> str:
        """Commit files (null deletes one) and push the commit, on top of the branch or of `parent`; return its id."""
        repository = self._repository(full_name)
        user = self._account(login) if login else self._pusher(repository)
        name = branch or repository.default_branch
        head = await repository.git.resolve(f"refs/heads/{name}")
        base = parent or head or await repository.git.resolve(repository.default_branch)
        sha = await repository.git.commit_files(files, message, person_of(user, self._world.now()), base)
        async with self._webhooks.reporting(repository, user):
            await repository.git.set_ref(f"refs/heads/{name}", sha, head or ZERO)
        return sha

    @_operation
    async def disturb_deliveries(self, mishaps: list[Mishap]) -> None:
        """Say what happens to the next deliveries of pushes, one entry for each."""
        self._webhooks.mishaps += mishaps

    @_operation
    async def wait_for_deliveries(self) -> None:
        """Wait until every delivery under way was answered or failed."""
        await self._webhooks.settle()

    @_operation
    async def fail(
        self,
        kind: FaultName,
        *,
        path: str = "*",
        method: str = "*",
        times: int | None = None,
        delay_s: float = 5.0,
        retry_after_s: int = 60,
    ) -> None:
        """Answer requests with a fault: the next `times` ones, or until `recover`."""
        count = math.inf if times is None else times
        self._traffic.faults.append(Fault(kind, path, method, count, delay_s, retry_after_s))

    @_operation
    async def recover(self) -> None:
        """End all faults."""
        self._traffic.faults.clear()

    @_operation
    async def configure(
        self,
        *,
        rate_limit: int | None = None,
        device_interval_s: int | None = None,
        delivery_timeout_s: float | None = None,
    ) -> None:
        """Change the requests per hour of a user (and start a new hour), the interval of the device flow, or the
        time a webhook has to answer."""
        if rate_limit is not None:
            self._limiter.restart(rate_limit)
        if device_interval_s is not None:
            self._oauth.device_interval_s = device_interval_s
        if delivery_timeout_s is not None:
            self._webhooks.timeout_s = delivery_timeout_s

    @_operation
    async def advance(self, seconds: float) -> None:
        """Move the clock of the double forward, for what expires."""
        self._world.clock_offset += timedelta(seconds=seconds)

    @_operation
    async def requests(self) -> list[RecordedRequest]:
        """Return the latest requests, with secrets masked."""
        return list(self._traffic.records)

    def _account(self, login: str) -> Account:
        account = self._world.find_account(login)
        if account is None:
            raise UnknownName(f"There is no user or organization {login!r}.")
        return account

    def _repository(self, full_name: str) -> Repository:
        repository = self._world.find_repository(full_name)
        if repository is None:
            raise UnknownName(f"There is no repository {full_name!r}.")
        return repository

    def _pusher(self, repository: Repository) -> Account:
        owner, accounts = repository.owner, self._world.accounts
        admins = (accounts[each] for each, role in owner.members.items() if role == "admin")
        return next(admins, owner)

    def routes(self) -> list[Route]:
        return [
            Route(f"{CONTROL}/{name}", self._route(method.__wrapped__), methods=["POST"])
            for name, method in vars(Control).items()
            if hasattr(method, "__wrapped__")
        ]

    def _route(self, method: Callable[..., Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        checked = validate_call(functools.partial(method, self))

        async def answer(request: Request) -> Response:
            try:
                result = await checked(**(await request.json() if await request.body() else {}))
            except (ApiError, GitFailed, LookupError, ValueError) as error:
                return JSONResponse({"error": str(error)}, 422)
            return JSONResponse(self._json(result))

        return answer

    def _json(self, result: Any) -> Any:
        match result:
            case Account():
                return user_view(self._world, result)
            case Repository():
                return repository_view(self._world, result, result.owner)
            case Token():
                return {"token": result.value}
            case OAuthApp():
                return asdict(result)
            case list():
                return [self._json(each) for each in cast(list[Any], result)]
            case RecordedRequest():
                return {**asdict(result), "at": result.at.isoformat()}
            case _:
                return result
