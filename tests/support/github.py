"""The GitHub double for tests, on a real socket and with real git repositories."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx2

from forge.demo.github.control import Control
from forge.demo.github.server import CLIENT_ID, CLIENT_SECRET, create_default_world, open_github_double


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


__all__ = ["CLIENT_ID", "CLIENT_SECRET", "Control", "authorize", "open_github"]
