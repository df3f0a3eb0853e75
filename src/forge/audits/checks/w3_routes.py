"""W3: compare the documented routes with the routes in the code."""

from collections.abc import Mapping

from forge.audits.check import Check, Examination, Fixture, Found, config_error, examined, skip
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import FileFacts
from forge.audits.files.file_roles import is_served
from forge.audits.files.folders import normalize_path
from forge.audits.imports.modules import Modules
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.project import CONFIG
from forge.audits.routing.comparison import Comparison, Missing, compare
from forge.audits.routing.route_paths import shown_path
from forge.audits.routing.route_table import MAX_ROUTES, Routing, ServedRoute, Unmounted, join_routes
from forge.audits.routing.specs import SPECS, Spec
from forge.audits.snapshot import MAX_BYTES, Snapshot

DOCS = """\
Compares the documented routes with the routes in the code by method and path, in both directions.

**Documented routes** come from `Contracts/physics.yaml`; else the OpenAPI document named by `audit.spec` in `forge.json`; else
`openapi.yaml`, `.yml` or `.json` (or `swagger.*`) at the top or in `docs/`. Without one the check is skipped; an unreadable
one is an ERROR. The code may include the prefixes of OpenAPI's `servers` and Swagger's `basePath` or not.

**Routes in the code**: FastAPI, Starlette and Flask (decorators, `add_api_route`, `add_url_rule`, `Route` lists,
`MethodView`), Express (verbs, `route()`, `use`), through routers, blueprints, mounts and imports across files. The code
is parsed, not executed. Tests (`tests/`, `test_*.py`, `*.test.ts`, `*.spec.ts`), documentation, examples and vendored code
(`docs/`, `examples/`, `vendor/`), files over 2 MB and browser bundles are skipped.

**Comparison**: parameters are equal regardless of name and type (`{id}`, `<int:id>`, `:id`); a trailing slash makes no
difference; HEAD and OPTIONS are implied by GET; `/static/…` is files, not routes.

| rule | what it says |
|---|---|
| `missing-route` | documented, but not implemented |
| `undocumented-route` | implemented, but not documented |
| `unmounted-router` | a note: no application mounts this router, so its routes are not reachable |
| `unresolved-route` | a note: documented, and possibly served by code that cannot be resolved without running it |
| `unreadable-spec` | an error: the document cannot be read |

A prefix that is only known at run time (`settings.API_PREFIX`) matches anything: such a route is compared by the rest of its
path and causes no false alarm.

**Exceptions**: `include_in_schema=False` (FastAPI) excludes a route from the comparison; `audit.ignore` in `forge.json`
excludes files. The format of `physics.yaml` is in `docs/reference/physics.md`.
"""


_NAMES = ("openapi.yaml", "openapi.yml", "openapi.json", "swagger.yaml", "swagger.yml", "swagger.json")
_DOCUMENTS = tuple(f"{folder}{name}" for folder in ("", "docs/") for name in _NAMES)


def examine(snapshot: Snapshot) -> Examination:
    if (broken := config_error(snapshot, "routes")) is not None:
        return broken
    path = _spec_path(snapshot)
    if path is None:
        return skip("there is no physics.yaml and no OpenAPI document", "routes")
    spec = _read(snapshot, path)
    if spec.problem is not None:
        fix = "Fix it; docs/reference/physics.md describes the format."
        return _error(
            "unreadable-spec", path, spec.problem_line, f"{path} cannot be read: {spec.problem}.", fix
        )
    if not spec.routes:
        return skip(f"{path} describes no route", "routes")
    routing = join_routes(_implementation(snapshot), Modules.of(snapshot))
    if routing.is_cut:
        message = f"The code seems to have more than {MAX_ROUTES:,} routes."
        return _error("too-many-routes", None, None, message, "Exclude generated code with `audit.ignore`.")
    return _report(path, spec, routing, compare(spec, routing))


def _spec_path(snapshot: Snapshot) -> str | None:
    entries = snapshot.tree.entries
    if snapshot.governance.physics in entries:
        return snapshot.governance.physics
    named = snapshot.project.config.audit.spec
    if named is not None:
        path = normalize_path(named.replace("\\", "/"))
        return path if path in entries else named
    return next((path for path in _DOCUMENTS if path in entries), None)


def _read(snapshot: Snapshot, path: str) -> Spec:
    entry = snapshot.tree.entries.get(path)
    if entry is None:
        return Spec(problem=f"{CONFIG} names it, but it does not exist")
    if not entry.kind.is_file:
        return Spec(problem=f"it is a {entry.kind.value}, not a file")
    if entry.size > MAX_BYTES:
        return Spec(problem=f"it is larger than {MAX_BYTES >> 20} MB")
    return snapshot.analyze(SPECS, [entry])[path]


def _implementation(snapshot: Snapshot) -> Mapping[str, FileFacts]:
    ignores = snapshot.project.ignores
    return {p: facts for p, facts in facts_of(snapshot).items() if is_served(p) and not ignores(p)}


def _error(rule: str, path: str | None, line: int | None, message: str, fix: str) -> Examination:
    return examined([Found(rule, Severity.ERROR, message, fix, path, line, subject=rule)], 0, "routes")


def _report(path: str, spec: Spec, routing: Routing, comparison: Comparison) -> Examination:
    found = [
        *(_missing(path, missing) for missing in comparison.missing),
        *(_undocumented(path, route) for route in comparison.undocumented),
        *(_unmounted(unmounted) for unmounted in routing.unmounted),
    ]
    certain = sum(missing.is_certain for missing in comparison.missing)
    parts = [f"{len(spec.routes)} routes in {path}, {len(routing.routes)} in the code"]
    parts += [f"{certain} missing"] if certain else []
    parts += [f"{len(comparison.undocumented)} undocumented"] if comparison.undocumented else []
    parts += [f"{comparison.unresolved} could not be resolved completely"] if comparison.unresolved else []
    if len(comparison.missing) > certain:
        parts.append(f"{len(comparison.missing) - certain} possibly served by unresolved code")
    if not routing.routes:
        parts.append("no routes were found in the code")
    return examined(found, len(spec.routes), "routes", detail="; ".join(parts))


def _missing(path: str, missing: Missing) -> Found:
    route = missing.route
    name = f"{route.method} {route.path}"
    if not missing.is_certain:
        message = f"{name} is documented, but it could not be resolved whether the code serves it."
        fix = "No action is needed. Literal prefixes and routers can be checked."
        return Found("unresolved-route", Severity.NOTE, message, fix, path, route.line, subject=name)
    message, fix = (
        f"{name} is documented, but no code implements it.",
        f"Implement it, or remove it from {path}.",
    )
    if missing.methods:
        message = (
            f"{name} is documented, but the code only handles {', '.join(missing.methods)} at that path."
        )
    elif missing.unmounted is not None:
        where = f"{missing.unmounted.file}:{missing.unmounted.line}"
        message = f"{name} is documented, but its router ({where}) is not mounted."
        fix = "Mount the router on the application."
    return Found("missing-route", Severity.WARN, message, fix, path, route.line, subject=name)


def _undocumented(path: str, route: ServedRoute) -> Found:
    name = f"{route.method} {shown_path(route.path)}"
    message = f"{name} is implemented, but {path} does not document it."
    fix = f"Add it under `paths` in {path}, or remove the route."
    return Found("undocumented-route", Severity.WARN, message, fix, route.file, route.line, subject=name)


def _unmounted(unmounted: Unmounted) -> Found:
    count = len(unmounted.routes)
    message = (
        f"`{unmounted.name}` is not mounted: its {count} route{'s are' if count != 1 else ' is'} not served."
    )
    fix = "Mount it on the application, or remove it."
    return Found(
        "unmounted-router",
        Severity.NOTE,
        message,
        fix,
        unmounted.file,
        unmounted.line,
        subject=unmounted.name,
    )


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
    Fixture("documented but missing", lambda: _project(_TIMERS, _ROUTER + _LIST), "WARN", ("missing-route",)),
    Fixture(
        "implemented but undocumented",
        lambda: _project(_TIMERS, _ROUTER + _LIST + _ONE + _MORE),
        "WARN",
        ("undocumented-route",),
    ),
    Fixture(
        "an unmounted router",
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
    Fixture("an unreadable document", lambda: _project("paths: [", _ROUTER), "ERROR", ("unreadable-spec",)),
    Fixture(
        "an invalid glob",
        lambda: snapshot_of({"forge.json": '{"audit": {"ignore": ["[z-a]"]}}', "app/main.py": _APP}),
        "ERROR",
        ("bad-config",),
    ),
    Fixture("no document", lambda: snapshot_of({"app/main.py": _APP}), "SKIP"),
)


CHECK = Check(
    code="W3",
    name="Physics route coverage",
    why="A documented route that does not exist breaks clients; an undocumented route is not reviewed.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
    is_blocking=False,
)
