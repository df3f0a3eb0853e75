"""A GitHub double per module, and Forge's sign-in on a database and a clock of its own."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretBytes, SecretStr
from tests.support.github import CLIENT_ID, CLIENT_SECRET, Control, authorize, open_github

from forge.accounts.address import OwnAddress
from forge.accounts.members import Members
from forge.accounts.models import NewInvitation, owner_id
from forge.accounts.service import ensure_owner
from forge.accounts.vault import Vault
from forge.github.client import Github, OauthApp
from forge.github.connections import Connections
from forge.github.sign_in import Finished, SignIn
from forge.store.database import Store

CALLBACK = "http://127.0.0.1:8000/auth/github/callback"


@dataclass
class Clock:
    at: datetime = field(default_factory=lambda: datetime(2030, 1, 1, 12, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **by: float) -> None:
        self.at += timedelta(**by)


@dataclass(frozen=True)
class Browser:
    """One started sign-in, as a browser holds it."""

    code: str
    state: str
    cookie: str


@dataclass(frozen=True)
class Team:
    double: Control
    sign_in: SignIn
    connections: Connections
    members: Members
    vault: Vault
    clock: Clock

    async def invite(self, **wanted: object) -> str:
        """Create an invitation and return its token."""
        created = await self.members.invite(NewInvitation.model_validate(wanted))
        return created.url.partition("#invitation=")[2]

    async def start(self, login: str, **options: str) -> Browser:
        started = await self.sign_in.start(CALLBACK, **options)
        query = dict(
            part.split("=", 1) for part in authorize(started.redirect_url, login).partition("?")[2].split("&")
        )
        return Browser(query["code"], query["state"], started.browser_token)

    async def finish(self, browser: Browser) -> Finished:
        return await self.sign_in.finish(
            code=browser.code, state=browser.state, browser_token=browser.cookie, redirect_uri=CALLBACK
        )

    async def enter(self, login: str, **options: str) -> Finished:
        return await self.finish(await self.start(login, **options))


@pytest.fixture
def double() -> Iterator[Control]:
    with open_github() as double:
        yield double


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def team(store: Store, double: Control, clock: Clock) -> AsyncIterator[Team]:
    vault = Vault(store, SecretBytes(b"k" * 32), environment={}, clock=clock)
    async with store.begin() as tx:
        await ensure_owner(tx)
    github = Github(double.url)
    app = OauthApp(CLIENT_ID, SecretStr(CLIENT_SECRET))
    sign_in = SignIn(store, vault, github, app, session_days=30, clock=clock)
    connections = Connections(store, vault, github, app, sign_in, clock=clock)
    members = Members(store, OwnAddress("127.0.0.1", 8000, "forgehost"), clock=clock)
    yield Team(double, sign_in, connections, members, vault, clock)
    await github.close()


@pytest.fixture
def owner() -> str:
    return owner_id()
