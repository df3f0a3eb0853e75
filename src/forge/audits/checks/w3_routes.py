"""W3: the routes a project promises and the routes its code has are the same."""

from collections.abc import Mapping

from forge.audits.broken_config import broken_config
from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.checks.w3_fixtures import FIXTURES
from forge.audits.dependencies.roles import is_served
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import FileFacts
from forge.audits.imports.folders import normal
from forge.audits.imports.modules import Modules
from forge.audits.models import Severity
from forge.audits.project import CONFIG
from forge.audits.routing.comparison import Comparison, Missing, compare
from forge.audits.routing.joining import MAX_ROUTES, Routing, Served, Unmounted, join_routes
from forge.audits.routing.paths import shown_path
from forge.audits.routing.specs import SPECS, Spec
from forge.audits.snapshot import MAX_BYTES, Snapshot

_NAMES = ("openapi.yaml", "openapi.yml", "openapi.json", "swagger.yaml", "swagger.yml", "swagger.json")
_DOCUMENTS = tuple(f"{folder}{name}" for folder in ("", "docs/") for name in _NAMES)

DOCS = """\
Compares the routes that are promised with the routes that are in the code, by method and path, both ways.

**What is promised**: `Contracts/physics.yaml`; else the OpenAPI document named by `audit.spec` in `forge.json`; else
`openapi.yaml`, `.yml` or `.json` (or `swagger.*`) at the top or in `docs/`. Where there is none, the check is skipped.
One that cannot be read is an ERROR. Prefixes of OpenAPI's `servers` and Swagger's `basePath` may be in the code or not.

**What is in the code**: FastAPI, Starlette and Flask (decorators, `add_api_route`, `add_url_rule`, `Route` lists,
`MethodView`), Express (verbs, `route()`, `use`), through routers, blueprints, mounts and imports of all files. Read
from the text: nothing is executed. Tests (`tests/`, `test_*.py`, `*.test.ts`, `*.spec.ts`), documentation, examples and
copied code (`docs/`, `examples/`, `vendor/`) serve nothing, files over 2 MB and bundles packed for browsers are not read.

**What is the same**: parameters are equal whatever their names and types (`{id}`, `<int:id>`, `:id`); a slash at the
end is no difference; HEAD and OPTIONS come with GET; `/static/…` is files, not routes.

| rule | what it says |
|---|---|
| `missing-route` | promised, and no code answers it |
| `undocumented-route` | the code answers it, and nobody promised it |
| `unmounted-router` | a note: a router with routes that no application mounts, so nobody can reach them |
| `unresolved-route` | a note: promised, and perhaps served by something only running the program would show |
| `unreadable-spec` | the promise itself is broken: an error |

A prefix that only running would tell (`settings.API_PREFIX`) is taken to be anything: such a route is compared by the
rest of its path, and never makes a false alarm.

**How to say otherwise**: `include_in_schema=False` (FastAPI) keeps a route out of the comparison; `audit.ignore` in
`forge.json` leaves files alone. The format of `physics.yaml` is in `docs/reference/physics.md`.
"""


def examine(snapshot: Snapshot) -> Examination:
    if (broken := broken_config(snapshot, "routes")) is not None:
        return broken
    path = _spec_path(snapshot)
    if path is None:
        return skip("there is no physics.yaml and no OpenAPI document", "routes")
    spec = _read(snapshot, path)
    if spec.problem is not None:
        fix = "Repair it: the format is described in docs/reference/physics.md."
        return _error(
            "unreadable-spec", path, spec.problem_line, f"{path} cannot be read: {spec.problem}.", fix
        )
    if not spec.routes:
        return skip(f"{path} describes no route", "routes")
    routing = join_routes(_implementation(snapshot), Modules.of(snapshot))
    if routing.is_cut:
        message = f"The code seems to have more than {MAX_ROUTES:,} routes."
        return _error("too-many-routes", None, None, message, "Leave generated code alone: `audit.ignore`.")
    return _report(path, spec, routing, compare(spec, routing))


def _spec_path(snapshot: Snapshot) -> str | None:
    entries = snapshot.tree.entries
    if snapshot.governance.physics in entries:
        return snapshot.governance.physics
    named = snapshot.project.config.audit.spec
    if named is not None:
        path = normal(named.replace("\\", "/"))
        return path if path in entries else named
    return next((path for path in _DOCUMENTS if path in entries), None)


def _read(snapshot: Snapshot, path: str) -> Spec:
    entry = snapshot.tree.entries.get(path)
    if entry is None:
        return Spec(problem=f"{CONFIG} names it, and it is not there")
    if not entry.kind.is_file:
        return Spec(problem=f"it is a {entry.kind.value}, not a file")
    if entry.size > MAX_BYTES:
        return Spec(problem=f"it is larger than {MAX_BYTES >> 20} MB")
    return snapshot.analyse(SPECS, [entry])[path]


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
        parts.append(f"{len(comparison.missing) - certain} perhaps served by what could not be resolved")
    if not routing.routes:
        parts.append("no routes were found in the code")
    return examined(found, len(spec.routes), "routes", detail="; ".join(parts))


def _missing(path: str, missing: Missing) -> Found:
    route = missing.route
    name = f"{route.method} {route.path}"
    if not missing.is_certain:
        message = f"{name} is promised; whether something serves it could not be resolved."
        fix = "Nothing has to be done. A prefix or router that is written out can be checked."
        return Found("unresolved-route", Severity.NOTE, message, fix, path, route.line, subject=name)
    message, fix = (
        f"{name} is promised, and no code implements it.",
        f"Implement it, or take it out of {path}.",
    )
    if missing.methods:
        message = f"{name} is promised, and the code answers only {', '.join(missing.methods)} there."
    elif missing.unmounted is not None:
        where = f"{missing.unmounted.file}:{missing.unmounted.line}"
        message = f"{name} is promised; the router that has it ({where}) is mounted by nothing."
        fix = "Mount the router on the application."
    return Found("missing-route", Severity.WARN, message, fix, path, route.line, subject=name)


def _undocumented(path: str, route: Served) -> Found:
    name = f"{route.method} {shown_path(route.path)}"
    message = f"{name} is served, and {path} does not have it."
    fix = f"Add it below `paths` in {path}, or remove the route."
    return Found("undocumented-route", Severity.WARN, message, fix, route.file, route.line, subject=name)


def _unmounted(unmounted: Unmounted) -> Found:
    count = len(unmounted.routes)
    message = f"`{unmounted.name}` is mounted by nothing: its {count} route{'s are' if count != 1 else ' is'} not served."
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


CHECK = Check(
    code="W3",
    name="Physics route coverage",
    why="A promise that nobody keeps breaks clients; a route that nobody promised is one nobody reviews.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
    is_blocking=False,
)
