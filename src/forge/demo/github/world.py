"""The state of the GitHub double: users, organizations, repositories, apps and tokens. Only git data is on disk."""

import asyncio
import itertools
import secrets
import string
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Any

from forge.demo.github.bare_repository import BareRepository
from forge.kernel.clock import now

JsonObject = dict[str, Any]
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_IMPLIED_SCOPES = {
    "repo": ("repo:status", "repo_deployment", "public_repo", "repo:invite", "security_events"),
    "admin:repo_hook": ("write:repo_hook", "read:repo_hook"),
    "write:repo_hook": ("read:repo_hook",),
    "admin:org": ("write:org", "read:org"),
    "write:org": ("read:org",),
    "user": ("read:user", "user:email", "user:follow"),
}


def implied_by(scope: str) -> tuple[str, ...]:
    return _IMPLIED_SCOPES.get(scope, ())


class Role(IntEnum):
    """The role of a user in a repository."""

    NONE = 0
    PULL = 1
    PUSH = 2
    ADMIN = 3


class TokenKind(StrEnum):
    """The prefix of each kind of token."""

    OAUTH = "gho_"
    CLASSIC = "ghp_"
    FINE_GRAINED = "github_pat_"


@dataclass(eq=False)
class Account:
    """A user, or an organization with its members."""

    id: int
    login: str
    created_at: datetime
    name: str | None = None
    email: str | None = None
    is_organization: bool = False
    members: dict[int, str] = field(default_factory=dict[int, str])
    """The role ("admin" or "member") by the id of the user."""
    public_members: set[int] = field(default_factory=set[int])


@dataclass(eq=False)
class OAuthApp:
    client_id: str
    client_secret: str
    callback_url: str
    name: str
    has_device_flow: bool = True


@dataclass(eq=False)
class Token:
    value: str
    kind: TokenKind
    user: Account
    scopes: frozenset[str] = frozenset()
    permissions: dict[str, str] = field(default_factory=dict[str, str])
    """Permissions of a fine-grained token: "read" or "write" by name, such as `contents`."""
    repositories: frozenset[int] | None = None
    """Of a fine-grained token: the selected repositories; None for all of the user."""
    app: OAuthApp | None = None
    expires_at: datetime | None = None

    def selects(self, repository_id: int) -> bool:
        return self.repositories is None or repository_id in self.repositories

    def permits(self, permission: str) -> bool:
        """Whether a fine-grained token has a permission, such as "contents=read"; every one may read metadata."""
        name, _, level = permission.partition("=")
        return name == "metadata" or self.permissions.get(name) in ("write", level)

    @property
    def effective_scopes(self) -> set[str]:
        return {*self.scopes, *(implied for scope in self.scopes for implied in implied_by(scope))}


@dataclass(eq=False)
class Status:
    """A commit status."""

    id: int
    sha: str
    state: str
    context: str
    description: str | None
    target_url: str | None
    creator: Account
    created_at: datetime


@dataclass(eq=False)
class Delivery:
    id: int
    guid: str
    event: str
    payload: JsonObject
    delivered_at: datetime
    is_redelivery: bool = False
    duration_s: float = 0
    status: str = ""
    status_code: int = 0
    request_headers: dict[str, str] = field(default_factory=dict[str, str])
    response_headers: dict[str, str] = field(default_factory=dict[str, str])
    response_body: str = ""


@dataclass(eq=False)
class Hook:
    id: int
    url: str
    events: list[str]
    created_at: datetime
    updated_at: datetime
    content_type: str = "form"
    insecure_ssl: str = "0"
    secret: str | None = None
    is_active: bool = True
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    """Oldest first."""
    sending: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a delivery is sent, so that deliveries arrive in order."""


@dataclass(eq=False)
class Repository:
    id: int
    owner: Account
    name: str
    created_at: datetime
    pushed_at: datetime
    updated_at: datetime
    git: BareRepository
    is_private: bool = False
    description: str | None = None
    default_branch: str = "main"
    is_archived: bool = False
    collaborators: dict[int, Role] = field(default_factory=dict[int, Role])
    hooks: dict[int, Hook] = field(default_factory=dict[int, Hook])
    statuses: list[Status] = field(default_factory=list[Status])
    protections: dict[str, JsonObject] = field(default_factory=dict[str, JsonObject])
    """The settings of protected branches, as the API takes them."""
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while refs change, so that each change is reported once."""

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    def role_of(self, user: Account | None) -> Role:
        """Return the role of a user, or of an anonymous visitor."""
        lowest = Role.NONE if self.is_private else Role.PULL
        if user is None:
            return lowest
        if user is self.owner or self.owner.members.get(user.id) == "admin":
            return Role.ADMIN
        member = Role.PULL if user.id in self.owner.members else Role.NONE
        return max(lowest, member, self.collaborators.get(user.id, Role.NONE))

    def latest_statuses(self, sha: str) -> dict[str, Status]:
        """Return the latest status of a commit in each context."""
        return {status.context: status for status in self.statuses if status.sha == sha}


class World:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.url = ""
        """Base URL of web pages, API and git, without a slash at the end."""
        self.accounts: dict[int, Account] = {}
        self.repositories: dict[int, Repository] = {}
        self.previous_names: dict[str, int] = {}
        """Repository ids by names the repositories had before, in lower case."""
        self.apps: dict[str, OAuthApp] = {}
        self.tokens: dict[str, Token] = {}
        self.clock_offset = timedelta()
        self._ids = itertools.count(1001)

    @property
    def api_url(self) -> str:
        return f"{self.url}/api/v3"

    def now(self) -> datetime:
        return now() + self.clock_offset

    def new_id(self) -> int:
        return next(self._ids)

    def find_account(self, login: str) -> Account | None:
        return next((each for each in self.accounts.values() if each.login.lower() == login.lower()), None)

    def find_by_email(self, email: str) -> Account | None:
        return next((each for each in self.accounts.values() if each.email == email), None)

    def find_repository(self, full_name: str) -> Repository | None:
        wanted = full_name.lower()
        return next((each for each in self.repositories.values() if each.full_name.lower() == wanted), None)

    def find_moved(self, full_name: str) -> Repository | None:
        """Return the repository that had a name before it was renamed or transferred."""
        return self.repositories.get(self.previous_names.get(full_name.lower(), 0))

    def find_token(self, value: str) -> Token | None:
        """Return a valid token; None if it is unknown, revoked or expired, or its user was deleted."""
        token = self.tokens.get(value)
        if token is None or (token.expires_at is not None and token.expires_at <= self.now()):
            return None
        return token

    def organizations_of(self, user: Account) -> Iterator[Account]:
        return (account for account in self.accounts.values() if user.id in account.members)

    def add_account(self, login: str, **details: Any) -> Account:
        if self.find_account(login):
            raise ValueError(f"{login!r} exists already.")
        account = Account(self.new_id(), login, self.now(), **details)
        self.accounts[account.id] = account
        return account

    def add_token(self, kind: TokenKind, user: Account, **details: Any) -> Token:
        token = Token(_new_token_value(kind), kind, user, **details)
        self.tokens[token.value] = token
        return token

    async def add_repository(self, owner: Account, name: str, **details: Any) -> Repository:
        if self.find_repository(f"{owner.login}/{name}"):
            raise ValueError(f"{owner.login}/{name} exists already.")
        repository_id, moment = self.new_id(), self.now()
        git = BareRepository(self.folder / f"{repository_id}.git")
        repository = Repository(repository_id, owner, name, moment, moment, moment, git, **details)
        await asyncio.to_thread(git.create, repository.default_branch)
        self.repositories[repository_id] = repository
        self.previous_names.pop(repository.full_name.lower(), None)
        return repository

    def rename_repository(self, repository: Repository, name: str) -> None:
        self.previous_names[repository.full_name.lower()] = repository.id
        repository.name = name
        self.previous_names.pop(repository.full_name.lower(), None)

    def rename_account(self, account: Account, login: str) -> None:
        for repository in self.repositories.values():
            if repository.owner is account:
                self.previous_names[repository.full_name.lower()] = repository.id
        account.login = login

    async def delete_repository(self, repository: Repository) -> None:
        del self.repositories[repository.id]
        self.previous_names = {
            name: each for name, each in self.previous_names.items() if each != repository.id
        }
        await asyncio.to_thread(repository.git.delete)

    async def delete_account(self, account: Account) -> None:
        """Delete a user or organization with all repositories and tokens."""
        for repository in [each for each in self.repositories.values() if each.owner is account]:
            await self.delete_repository(repository)
        self.tokens = {value: token for value, token in self.tokens.items() if token.user is not account}
        for other in self.accounts.values():
            other.members.pop(account.id, None)
            other.public_members.discard(account.id)
        del self.accounts[account.id]


def _new_token_value(kind: TokenKind) -> str:
    """Return a token like GitHub's, which end in a checksum that secret scanners verify."""
    if kind is TokenKind.FINE_GRAINED:
        return f"{kind}{_random(22)}_{_random(59)}"
    body = _random(30)
    checksum, digits = zlib.crc32(body.encode()), ""
    for _ in range(6):
        checksum, digit = divmod(checksum, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return f"{kind}{body}{digits}"


def _random(length: int) -> str:
    return "".join(secrets.choice(_ALPHABET) for _ in range(length))
