"""The GitHub double for tests, on a real socket and with real git repositories."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from forge.demo.github.control import Control
from forge.demo.github.server import (
    CLIENT_ID,
    CLIENT_SECRET,
    SCOPES,
    create_default_world,
    open_github_double,
)


@contextmanager
def open_github(folder: Path | None = None) -> Generator[Control]:
    """Serve the default world: user `octo`, organization `acme`, `octo/hello` (public) and `acme/shop` (private)."""
    with (
        TemporaryDirectory(prefix="github-") as temporary,
        open_github_double(folder or Path(temporary)) as double,
    ):
        create_default_world(double)
        yield double


def authorize(redirect_url: str, login: str = "octo") -> str:
    """Authorize an app as a user in a browser would; return the URL of the app that GitHub redirects to."""
    response = httpx2.post(redirect_url, data={"login": login})
    assert response.status_code == 302, response.text
    return response.headers["location"]


@contextmanager
def open_api(double: Control, token: str | None = None) -> Generator[httpx2.Client]:
    """Return a client of the REST API, by default with a token of `octo` that may do everything."""
    value = double.add_token("octo", scopes=[*SCOPES, "admin:repo_hook"]).value if token is None else token
    headers = {"authorization": f"Bearer {value}"} if value else {}
    with httpx2.Client(base_url=f"{double.url}/api/v3", headers=headers) as client:
        yield client


__all__ = ["CLIENT_ID", "CLIENT_SECRET", "Control", "authorize", "open_api", "open_github"]
