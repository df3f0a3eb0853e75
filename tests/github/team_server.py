"""A Forge server whose users sign in at a GitHub double."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.support.github import CLIENT_ID, CLIENT_SECRET, Control, authorize, open_github
from tests.support.server import Server


@dataclass(frozen=True)
class TeamServer:
    server: Server
    double: Control

    def browser(self, **headers: str) -> httpx2.Client:
        """Return a client with its own cookies that is not signed in."""
        return httpx2.Client(base_url=self.server.url, headers=headers, timeout=60, verify=False)

    def invite(self, login: str) -> str:
        created = self.server.call("POST", "/api/v1/invitations", {"github_login": login})
        return created["url"].partition("#invitation=")[2]

    def callback(self, client: httpx2.Client, login: str, invitation: str | None = None) -> str:
        """Start a sign-in and authorize it at GitHub; return the path that GitHub sends the browser to."""
        headers = {"X-Forge-Invitation": invitation} if invitation else {}
        started = client.get("/auth/github", headers=headers)
        assert started.status_code == 200, started.text
        return authorize(started.json()["data"]["redirect_url"], login).removeprefix(self.server.url)

    def bearer(self, login: str, invitation: str | None = None) -> str:
        """Sign in over the API and return the bearer token."""
        with self.browser() as client:
            path = self.callback(client, login, invitation)
            finished = client.get(path)
            assert finished.status_code == 200, finished.text
            return finished.json()["data"]["token"]

    def member(self, login: str) -> httpx2.Client:
        """Admit a GitHub user, and return a client that is signed in as this member."""
        if login not in self._known():
            self.double.add_user(login)
        return self.browser(Authorization=f"Bearer {self.bearer(login, self.invite(login))}")

    def _known(self) -> set[Any]:
        return {"octo"}


@contextmanager
def open_team_server(folder: Path, **environment: str) -> Generator[TeamServer]:
    with open_github(folder / "github") as double:
        server = Server(
            folder / "data",
            FORGE_GITHUB_URL=double.url,
            GITHUB_CLIENT_ID=CLIENT_ID,
            GITHUB_CLIENT_SECRET=CLIENT_SECRET,
            **environment,
        )
        server.start()
        try:
            yield TeamServer(server, double)
        finally:
            server.stop()
