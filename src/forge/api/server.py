"""The FastAPI application: the routes of all features, middleware, error handlers, and the web app's files."""

from pathlib import Path

from fastapi import Depends, FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from forge import __version__
from forge.accounts.request_authentication import authenticate
from forge.accounts.routes import router as accounts_routes
from forge.agents.routes import router as agents_routes
from forge.api.errors import CatchExceptions, install_error_handlers
from forge.api.events import router as events_routes
from forge.api.middleware import (
    BodyLimit,
    RateLimit,
    RefreshSession,
    RequestTelemetry,
    SecurityHeaders,
    ShortPaths,
)
from forge.api.status import health_router as health_routes
from forge.api.status import router as status_routes
from forge.api.websocket import router as websocket_routes
from forge.app import Forge
from forge.audits.routes import router as audits_routes
from forge.bots.chat.routes import router as chat_routes
from forge.bots.management.routes import files_router as versions_routes
from forge.bots.management.routes import router as bots_routes
from forge.bots.memory.routes import router as memory_routes
from forge.github.routes import router as github_routes
from forge.http.envelope import Envelope
from forge.http.parameters import reject_unknown_parameters
from forge.interview.routes import router as interview_routes
from forge.interview.socket import router as interview_socket
from forge.llm.routes import router as models_routes
from forge.messages.routes import router as message_routes
from forge.runs.routes import router as runs_routes
from forge.skills.format.zip_archive import MAX_ARCHIVE
from forge.skills.installation.routes import ZIP_PATH
from forge.skills.installation.routes import router as installing_routes
from forge.skills.routes import router as skills_routes
from forge.workflows.routes import router as workflow_routes
from forge.workflows.triggers.routes import router as webhook_routes
from forge.workspace.routes import router as workspaces_routes

WEB = Path(__file__).parent.parent / "web"
ROUTERS = (
    github_routes,
    health_routes,
    accounts_routes,
    models_routes,
    runs_routes,
    workspaces_routes,
    agents_routes,
    audits_routes,
    installing_routes,  # before `/skills/{name}/…`, which would match its paths
    skills_routes,
    workflow_routes,
    webhook_routes,
    message_routes,
    bots_routes,
    chat_routes,
    memory_routes,
    versions_routes,  # after the others of bots: `/bots/{bot}/{file}` would match their paths
    interview_routes,
    interview_socket,
    events_routes,
    status_routes,
    websocket_routes,
)
LENIENT_ROUTERS = (health_routes, webhook_routes, interview_socket, websocket_routes)
"""Routers whose clients may send any query parameters: monitors, senders of webhooks, WebSockets."""


def create_api(forge: Forge | None) -> FastAPI:
    """Create the application. With `None` it cannot serve, only generate its schema (see `forge.api.openapi`)."""
    api = FastAPI(
        title="Forge",
        version=__version__,
        description="Turns a conversation into working software, and keeps it honest.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        responses={
            "4XX": {"model": Envelope[None], "description": "The errors, with hints how to resolve them."},
            "5XX": {"model": Envelope[None], "description": "The server failed; its log has the details."},
        },
    )
    for router in ROUTERS:
        is_strict = router not in LENIENT_ROUTERS
        api.include_router(router, dependencies=[Depends(reject_unknown_parameters)] if is_strict else [])
    install_error_handlers(api)
    if forge is not None:
        _serve(api, forge)
    return api


def _serve(api: FastAPI, forge: Forge) -> None:
    _provide_services(api, forge)
    mount_pages(api, WEB)
    settings = forge.settings
    # Added from the inside out: the last one is the outermost.
    api.add_middleware(CatchExceptions)
    api.add_middleware(RefreshSession)
    api.add_middleware(BodyLimit, limit=settings.max_body_bytes, larger={ZIP_PATH: MAX_ARCHIVE})
    api.add_middleware(RateLimit, per_minute=settings.rate_limit_per_minute)
    api.add_middleware(SecurityHeaders)
    api.add_middleware(ShortPaths)
    api.add_middleware(RequestTelemetry, metrics=forge.telemetry.metrics, tracing=forge.telemetry.tracing)


def _provide_services(api: FastAPI, forge: Forge) -> None:
    api.state.forge = forge
    api.state.runs = forge.runs
    api.state.accounts = forge.accounts
    api.state.members = forge.members
    api.state.github = forge.github
    api.state.agents = forge.agents
    api.state.audits = forge.audits
    api.state.bots = forge.bots.bots
    api.state.versions = forge.bots.versions
    api.state.memories = forge.bots.memories
    api.state.chats = forge.bots.chats
    api.state.chat_sessions = forge.bots.sessions
    api.state.skills = forge.skills.skills
    api.state.skill_installs = forge.skills.installs
    api.state.messages = forge.messages
    api.state.workflows = forge.workflows.workflows
    api.state.workflow_runs = forge.workflows.runs
    api.state.webhooks = forge.workflows.webhooks
    api.state.interviews = forge.interviews
    api.state.models = forge.models
    api.state.workspaces = forge.workspaces
    api.state.authenticate = authenticate


ROOT_PATH = "."
"""Starlette's path for `/`. Monitors and `curl` request it with `Accept: */*`."""
_NOT_BUILT = (
    "<h1>Forge</h1><p>The web app is not built yet. Run <code>make install</code>; the API works already.</p>"
)


def mount_pages(api: FastAPI, web: Path) -> None:
    if not (web / "index.html").is_file():
        api.add_api_route("/", _not_built, include_in_schema=False)
        return
    api.router.default = WebApp(web, not_found=api.router.not_found)


async def _not_built(request: Request) -> Response:
    return HTMLResponse(_NOT_BUILT, status_code=503)


class WebApp(StaticFiles):
    """Serves the built files, and index.html for the paths of client-side routes.

    index.html is sent only for `/` and when HTML is accepted: a mistyped API path or a missing asset stays a 404. It is
    the router's default instead of a mount, which would take the requests whose path has a route with another method.
    """

    def __init__(self, web: Path, not_found: ASGIApp) -> None:
        super().__init__(directory=web)
        self._not_found = not_found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            await super().__call__(scope, receive, send)
        else:
            await self._not_found(scope, receive, send)

    async def get_response(self, path: str, scope: dict[str, object]) -> Response:  # pyright: ignore[reportIncompatibleMethodOverride]
        try:
            response = await super().get_response(path, scope)
        except HTTPException as error:
            if error.status_code != 404 or not _wants_page(path, scope):
                raise
            response = FileResponse(Path(str(self.directory)) / "index.html")
        if path.startswith("assets/"):
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
        else:
            response.headers["Cache-Control"] = "no-cache"
        return response


def _wants_page(path: str, scope: dict[str, object]) -> bool:
    if path == ROOT_PATH:
        return True
    accept = dict(scope["headers"]).get(b"accept", b"")  # type: ignore[call-overload]
    return b"text/html" in accept and not path.startswith(("api/", "assets/"))
