"""Small projects whose promise and code agree, or do not."""

from forge.audits.check import Fixture
from forge.audits.memory import snapshot_of
from forge.audits.snapshot import Snapshot

PHYSICS = "Forge/Contracts/physics.yaml"
_TIMERS = (
    "paths:\n  /api/v1/timers:\n    get:\n      summary: All timers\n  /api/v1/timers/{timer_id}:\n    get:\n"
)
_ROUTER = 'from fastapi import APIRouter\nrouter = APIRouter(prefix="/timers")\n'
_LIST = '@router.get("")\ndef all_timers(): ...\n'
_ONE = '@router.get("/{id}")\ndef one_timer(id): ...\n'
_MORE = '@router.delete("/{id}")\ndef end_timer(id): ...\n'
_APP = (
    "from fastapi import FastAPI\nfrom app.api.routers import timers\n"
    'app = FastAPI()\napp.include_router(timers.router, prefix="/api/v1")\n'
)


def _project(physics: str, router: str, app: str = _APP) -> Snapshot:
    files = {PHYSICS: physics, "app/main.py": app, "app/api/routers/timers.py": router}
    packages = {f"{folder}/__init__.py": "" for folder in ("app", "app/api", "app/api/routers")}
    return snapshot_of({**files, **packages})


FIXTURES = (
    Fixture("both agree, below a prefix", lambda: _project(_TIMERS, _ROUTER + _LIST + _ONE), "PASS"),
    Fixture("promised and not there", lambda: _project(_TIMERS, _ROUTER + _LIST), "WARN", ("missing-route",)),
    Fixture(
        "there and not promised",
        lambda: _project(_TIMERS, _ROUTER + _LIST + _ONE + _MORE),
        "WARN",
        ("undocumented-route",),
    ),
    Fixture(
        "a router that nothing mounts",
        lambda: _project(_TIMERS, _ROUTER + _LIST + _ONE, "from fastapi import FastAPI\napp = FastAPI()\n"),
        "WARN",
        ("missing-route", "missing-route", "unmounted-router"),
    ),
    Fixture(
        "a router of a package, about which nothing is known",
        lambda: _project(
            "paths:\n  /auth/login:\n    post:\n",
            "",
            "from fastapi import FastAPI\nfrom logins import router\n"
            'app = FastAPI()\napp.include_router(router, prefix="/auth")\n',
        ),
        "PASS",
        ("unresolved-route",),
    ),
    Fixture("a broken promise", lambda: _project("paths: [", _ROUTER), "ERROR", ("unreadable-spec",)),
    Fixture(
        "a glob that is none",
        lambda: snapshot_of({"forge.json": '{"audit": {"ignore": ["[z-a]"]}}', "app/main.py": _APP}),
        "ERROR",
        ("bad-config",),
    ),
    Fixture("no promise at all", lambda: snapshot_of({"app/main.py": _APP}), "SKIP"),
)
