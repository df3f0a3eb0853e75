"""The GitHub double: GitHub's web pages for authorization, REST API and git server on one loopback address."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from forge.demo.github import (
    account_endpoints,
    commit_endpoints,
    git_endpoints,
    hook_endpoints,
    repository_endpoints,
)
from forge.demo.github.api import Api, RateLimiter
from forge.demo.github.control import Control
from forge.demo.github.git_http import GitHttp
from forge.demo.github.oauth import OAuth
from forge.demo.github.traffic import Traffic
from forge.demo.github.webhooks import Webhooks
from forge.demo.github.world import World
from forge.demo.loopback_server import LOOPBACK, open_loopback_server

CLIENT_ID = "Ov23liForgeDouble"
CLIENT_SECRET = "double-client-secret"  # noqa: S105  # of a server that only exists on this machine
CALLBACK_URL = "http://127.0.0.1/auth/github/callback"
ENDPOINTS = [
    *account_endpoints.ENDPOINTS,
    *repository_endpoints.ENDPOINTS,
    *hook_endpoints.ENDPOINTS,
    *git_endpoints.ENDPOINTS,
    *commit_endpoints.ENDPOINTS,
]
SCOPES = ["repo", "read:org", "read:user", "delete_repo", "workflow"]


@contextmanager
def open_github_double(folder: Path, *, port: int = 0) -> Generator[Control]:
    """Serve an empty GitHub whose repositories are below `folder`."""
    world = World(folder.absolute())
    oauth, webhooks = OAuth(world), Webhooks(world)
    api = Api(world, webhooks, RateLimiter(world))
    application = Starlette(middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK)])
    traffic = Traffic(application, world, api.limiter)
    control = Control(api, oauth, traffic)
    application.router.routes += [
        *control.routes(),
        *oauth.routes(),
        Route("/avatars/{account:int}", _avatar),
        *api.routes([*oauth.endpoints(), *ENDPOINTS]),
        *GitHttp(world, webhooks).routes(),
    ]

    async def stop() -> None:
        traffic.stop()
        await webhooks.stop()

    with open_loopback_server(traffic, port=port, name="github-double", on_shutdown=stop) as server:
        world.url, control.loop = server.url, server.loop
        yield control


def create_default_world(control: Control) -> str:
    """Add an OAuth app, a user, an organization and two repositories; return a token of the user."""
    control.add_app(CLIENT_ID, CLIENT_SECRET, CALLBACK_URL)
    control.add_user("octo", name="Octo Cat", email="octo@example.com")
    control.add_organization("acme", members={"octo": "admin"})
    control.add_repository("octo/hello", files={"README.md": "# hello\n", "hello.py": 'print("Hello")\n'})
    control.add_repository(
        "acme/shop", private=True, files={"README.md": "# shop\n", "shop.py": "PRICE = 3\n"}
    )
    return control.add_token("octo", scopes=SCOPES).value


async def _avatar(request: Request) -> Response:
    """Answer with a square in a color of the account."""
    hue = request.path_params["account"] * 47 % 360
    square = f'<rect width="1" height="1" fill="hsl({hue} 60% 50%)"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1">{square}</svg>'
    return PlainTextResponse(svg, media_type="image/svg+xml")
