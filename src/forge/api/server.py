"""The FastAPI application: every feature's routes, behind one set of middleware, with one way to fail."""

from pathlib import Path

from fastapi import FastAPI

from forge import __version__
from forge.accounts.recognition import authenticate
from forge.accounts.routes import router as accounts_routes
from forge.agents.routes import router as agents_routes
from forge.api.errors import CatchDefects, install_error_handlers
from forge.api.events import router as events_routes
from forge.api.health import router as health_routes
from forge.api.limits import RateLimit
from forge.api.middleware import BodyLimit, Observe, RefreshSession, SecurityHeaders
from forge.api.pages import mount_pages
from forge.api.status import router as status_routes
from forge.api.websocket import router as websocket_routes
from forge.app import Forge
from forge.audits.routes import router as audits_routes
from forge.bots.chat.routes import router as chat_routes
from forge.bots.memory.routes import router as memory_routes
from forge.bots.routes import router as bots_routes
from forge.bots.versions.routes import router as versions_routes
from forge.http.envelope import Envelope
from forge.interview.routes import router as interview_routes
from forge.interview.socket import router as interview_socket
from forge.llm.routes import router as models_routes
from forge.messages.routes import router as message_routes
from forge.runs.routes import router as runs_routes
from forge.skills.installing.archive import MAX_ARCHIVE
from forge.skills.installing.routes import ZIP_PATH
from forge.skills.installing.routes import router as installing_routes
from forge.skills.routes import router as skills_routes
from forge.workflows.routes import router as workflow_routes
from forge.workflows.triggers.routes import router as webhook_routes
from forge.workspace.routes import router as workspaces_routes

WEB = Path(__file__).parent.parent / "web"
ROUTERS = (
    health_routes,
    accounts_routes,
    models_routes,
    runs_routes,
    workspaces_routes,
    agents_routes,
    audits_routes,
    installing_routes,  # before `/skills/{name}/…`
    skills_routes,
    workflow_routes,
    webhook_routes,
    message_routes,
    bots_routes,
    chat_routes,
    memory_routes,
    versions_routes,  # last of them: `/bots/{bot}/{file}` would take the others' paths
    interview_routes,
    interview_socket,
    events_routes,
    status_routes,
    websocket_routes,
)


def create_api(forge: Forge | None) -> FastAPI:
    """With `None` the application cannot serve, but it can describe itself (see `forge.api.openapi`)."""
    api = FastAPI(
        title="Forge",
        version=__version__,
        description="Turns a conversation into working software, and keeps it honest.",
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        responses={
            "4XX": {"model": Envelope[None], "description": "What is wrong, and what to do about it."},
            "5XX": {"model": Envelope[None], "description": "Forge failed; the log has the details."},
        },
    )
    for router in ROUTERS:
        api.include_router(router)
    install_error_handlers(api)
    if forge is not None:
        _serve(api, forge)
    return api


def _serve(api: FastAPI, forge: Forge) -> None:
    settings, metrics = forge.settings, forge.telemetry.metrics
    api.state.forge = forge
    api.state.runs = forge.runs
    api.state.accounts = forge.accounts
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
    mount_pages(api, WEB)
    # The last one added is the first a request meets.
    api.add_middleware(CatchDefects)
    api.add_middleware(RefreshSession)
    api.add_middleware(BodyLimit, limit=settings.max_body_bytes, larger={ZIP_PATH: MAX_ARCHIVE})
    api.add_middleware(RateLimit, per_minute=settings.rate_limit_per_minute)
    api.add_middleware(SecurityHeaders)
    api.add_middleware(Observe, metrics=metrics, tracing=forge.telemetry.tracing)
