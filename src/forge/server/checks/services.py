"""Checks of the server, its port, the database, the sandbox, model keys and audit checks."""

import asyncio
import errno
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2

from forge import __version__
from forge.accounts.models import SecretView
from forge.api.models import AuditChecks
from forge.config import Settings
from forge.errors import ForgeError, Unavailable
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.sandbox.models import Level, SandboxReport
from forge.sandbox.sandboxes import Sandboxes
from forge.server.checks.check import Check, Server, Situation, bad, ok, warn
from forge.server.listen_socket import open_listener
from forge.terminal.text import size

TIMEOUT_S = 2.0


def check_server(situation: Situation) -> Check:
    if situation.server is None:
        problem = situation.problem or Unavailable("unknown")
        advice = problem.hint or "Start it: forge serve"
        make = warn if isinstance(problem, Unavailable) else bad
        return make("server", problem.message, advice)
    url, version = situation.server.client.location.url, situation.server.status.version
    if version != __version__:
        finding = f"{url} is version {version}, this command {__version__}"
        return warn(
            "server", finding, "Restart it with the installed version, or install the same version here."
        )
    return ok("server", f"running at {url}, version {version}")


def check_port(situation: Situation) -> Check:
    settings, server = situation.settings, situation.server
    if server and server.is_local:
        return ok("port", f"{server.client.location.url} is used by this server")
    if settings.port == 0:
        return ok("port", "a free port is selected at every start")
    problem = _try_to_bind(settings)
    where = f"{settings.host}:{settings.port}"
    if problem is None:
        return ok("port", f"{where} is free")
    finding = (
        f"{where} is used by {_port_user(settings)}"
        if problem.errno == errno.EADDRINUSE
        else str(problem.strerror)
    )
    advice = f"Stop it, or choose another: forge serve --port {_next_port(settings.port)}"
    return (warn if server else bad)("port", finding, advice)


def _try_to_bind(settings: Settings) -> OSError | None:
    try:
        open_listener(settings.host, settings.port).close()
    except OSError as error:
        return error
    return None


def _port_user(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        url = f"http://{host}:{settings.port}/health/version"
        found = httpx2.get(url, timeout=TIMEOUT_S, trust_env=False).json()
        return f"another Forge (version {found['version']})"
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, KeyError, TypeError):
        return "another program"


def _next_port(port: int) -> int:
    return port + 1 if port < 65_535 else 8001


MIN_POSTGRESQL = 14
CONNECT_TIMEOUT_S = 5
_RESTORE = "Restore a backup, or move the file away to start with an empty one."


def check_database(situation: Situation) -> Check:
    if situation.server:
        database = situation.server.status.database
        return ok("database", f"{database.kind}, {size(database.size_bytes)}, in use by the server")
    if situation.settings.database_url:
        return _check_postgresql(situation.settings)
    return _check_sqlite(Path(situation.settings.store_url.removeprefix("sqlite:///")))


def _check_sqlite(path: Path) -> Check:
    try:
        if not path.exists():
            return ok("database", f"sqlite: {path} will be created")
        with DirectoryLock(path.parent):  # no server starts during the check
            return _check_integrity(path)
    except LockHeld as error:
        finding = f"sqlite: in use by process {error.pid}, which does not answer"
        return warn("database", finding, "Wait until it has started, or stop it.")
    except OSError as error:
        return bad(
            "database", f"sqlite: {path}: {error.strerror}", "Run Forge as the user who created the database."
        )


def _check_integrity(path: Path) -> Check:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            (check_result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return bad("database", f"sqlite: {path} cannot be read: {error}", _RESTORE)
    if check_result != "ok":
        return bad("database", f"sqlite: {path} is damaged: {check_result}", _RESTORE)
    return ok("database", f"sqlite: {path} is intact ({size(path.stat().st_size)}, {mode})")


def _check_postgresql(settings: Settings) -> Check:
    import psycopg

    try:
        with psycopg.connect(settings.store_url, connect_timeout=CONNECT_TIMEOUT_S) as connection:
            number = connection.info.server_version
            where = f"{connection.info.host}/{connection.info.dbname}"
    except psycopg.Error as error:
        finding = f"postgresql: {str(error).strip() or type(error).__name__}"
        return bad("database", finding, "Check FORGE_DATABASE_URL, and that PostgreSQL is running.")
    if number < MIN_POSTGRESQL * 10_000:
        finding = f"postgresql {number // 10_000} at {where}"
        return bad("database", finding, f"Use PostgreSQL {MIN_POSTGRESQL} or newer.")
    return ok("database", f"postgresql {number // 10_000}.{number % 10_000} at {where}")


def check_sandbox(situation: Situation) -> Check:
    required = Level(situation.settings.sandbox_required)
    return sandbox_result(asyncio.run(Sandboxes(required).open()))


def sandbox_result(report: SandboxReport) -> Check:
    finding = f"{report.level}: {report.backend}; {_guarantees(report)}"
    if refused := "; ".join(f"{each.backend}: {each.why}" for each in report.tried):
        finding += f" (rejected: {refused})"
    if not report.level.satisfies(report.required):
        return bad(
            "sandbox", f"{finding}. Commands are rejected: {report.required} is required", report.advice or ""
        )
    if report.advice:
        return warn("sandbox", finding, report.advice)
    return ok("sandbox", finding)


def _guarantees(report: SandboxReport) -> str:
    broken = [name.replace("_", " ") for name, holds in report.guarantees.items() if not holds]
    if not broken:
        return "all guarantees hold: " + ", ".join(name.replace("_", " ") for name in report.guarantees)
    return "does not guarantee " + ", ".join(broken)


NAMES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")


def check_model_keys(situation: Situation) -> Check:
    try:
        found = _keys_of_server(situation.server) if situation.server else []
    except ForgeError as error:
        return bad(
            "model keys", error.message, error.hint or "Use a key with the scope read: forge login URL"
        )
    if situation.server is None or situation.server.is_local:
        found = found or _keys_in_settings(situation)
    if found:
        return ok("model keys", ", ".join(found))
    start = "restart the server with" if situation.server else "start with"
    return warn(
        "model keys",
        "none",
        f"Set it: forge secrets set {NAMES[0]}, or under Settings, Models, or {start} {NAMES[0]}=… set. "
        "To try Forge without a key: forge models serve, then forge models demo.",
    )


def _keys_of_server(server: Server) -> list[str]:
    secrets = server.client.get("/secrets", list[SecretView])
    return [
        f"{secret.name} (…{secret.last_four}, {secret.source})" for secret in secrets if secret.name in NAMES
    ]


def _keys_in_settings(situation: Situation) -> list[str]:
    return [NAMES[0]] if situation.settings.anthropic_api_key else []


NAME = "audit checks"


def check_audit_checks(situation: Situation) -> Check:
    server_result = situation.server.status.audit_checks if situation.server else None
    return audit_checks_result(server_result or _run_self_tests())


def audit_checks_result(checks: AuditChecks) -> Check:
    total = checks.sound + len(checks.unsound)
    finding = f"{checks.sound} of {total} passed their self-test"
    if not checks.unsound:
        return ok(NAME, finding)
    why = "; ".join(f"{code}: {problems[0]}" for code, problems in checks.unsound.items())
    return bad(NAME, f"{finding} ({why})", "Fix or uninstall them. Details: forge audit --self-test")


def _run_self_tests() -> AuditChecks:
    from forge.audits.engine.registry import load_checks
    from forge.audits.engine.self_test import run_self_tests

    return AuditChecks.of(run_self_tests(load_checks()))
