"""The server this terminal belongs to, and the port one would listen on."""

import errno

import httpx2

from forge import __version__
from forge.config import Settings
from forge.errors import Unavailable
from forge.server.binding import bind
from forge.server.checks.check import Check, Situation, bad, ok, warn

TIMEOUT_S = 2.0


def check_server(situation: Situation) -> Check:
    if situation.server is None:
        problem = situation.problem or Unavailable("unknown")
        advice = problem.hint or "Start it: forge serve"
        make = warn if isinstance(problem, Unavailable) else bad
        return make("server", problem.message, advice)
    url, version = situation.server.client.place.url, situation.server.status.version
    if version != __version__:
        finding = f"{url} is version {version}, this command {__version__}"
        return warn(
            "server", finding, "Start it again with the installed version, or install the same one here."
        )
    return ok("server", f"running at {url}, version {version}")


def check_port(situation: Situation) -> Check:
    settings, server = situation.settings, situation.server
    if server and server.is_local:
        return ok("port", f"{server.client.place.url} is this Forge's own")
    if settings.port == 0:
        return ok("port", "a free one is taken at every start")
    problem = _try_to_bind(settings)
    where = f"{settings.host}:{settings.port}"
    if problem is None:
        return ok("port", f"{where} is free")
    finding = (
        f"{where} is used by {_who(settings)}" if problem.errno == errno.EADDRINUSE else str(problem.strerror)
    )
    advice = f"Stop it, or choose another: forge serve --port {_next(settings.port)}"
    return (warn if server else bad)("port", finding, advice)


def _try_to_bind(settings: Settings) -> OSError | None:
    try:
        bind(settings.host, settings.port).close()
    except OSError as error:
        return error
    return None


def _who(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        url = f"http://{host}:{settings.port}/health/version"
        found = httpx2.get(url, timeout=TIMEOUT_S, trust_env=False).json()
        return f"another Forge (version {found['version']})"
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        return "another program"


def _next(port: int) -> int:
    return port + 1 if port < 65_535 else 8001
