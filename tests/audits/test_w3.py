"""W3, from the documented routes and the code to the verdict."""

import pytest

from forge.audits.check import Fixture
from forge.audits.checks.w3_routes import CHECK, PHYSICS, examine
from forge.audits.engine.check_runner import verdict_of
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity, Verdict

APP = "from fastapi import FastAPI\napp = FastAPI()\n"


def look(files: dict[str, str]) -> tuple[Verdict, list[tuple[str, str | None, int | None, str]]]:
    examination = examine(snapshot_of(files))
    found = [(f.rule, f.path, f.line, f.subject) for f in examination.found]
    return verdict_of(CHECK, examination), found


def route(method: str, path: str) -> str:
    return f"@app.{method}('{path}')\ndef f(): ...\n"


@pytest.mark.parametrize("fixture", CHECK.fixtures, ids=lambda fixture: fixture.name)
def test_its_own_examples(fixture: Fixture):
    examination = CHECK.examine(fixture.snapshot())
    assert verdict_of(CHECK, examination) == fixture.expect
    assert tuple(sorted(found.rule for found in examination.found)) == fixture.rules


def test_both_ways_with_places():
    physics = "paths:\n  /a:\n    get:\n    put:\n  /b:\n    get:\n"
    code = APP + route("get", "/a") + route("post", "/a") + route("get", "/c")
    assert look({PHYSICS: physics, "main.py": code}) == (
        Verdict.WARN,
        [
            ("missing-route", PHYSICS, 4, "PUT /a"),
            ("missing-route", PHYSICS, 6, "GET /b"),
            ("undocumented-route", "main.py", 5, "POST /a"),
            ("undocumented-route", "main.py", 7, "GET /c"),
        ],
    )


def test_messages_describe_problem_and_fix():
    found = examine(
        snapshot_of({PHYSICS: "paths:\n  /a:\n    put:\n", "main.py": APP + route("get", "/a")})
    ).found
    assert [(f.message, f.fix, f.severity) for f in found] == [
        (
            "PUT /a is documented, but the code only handles GET at that path.",
            f"Implement it, or remove it from {PHYSICS}.",
            Severity.WARN,
        ),
        (
            f"GET /a is implemented, but {PHYSICS} does not document it.",
            f"Add it under `paths` in {PHYSICS}, or remove the route.",
            Severity.WARN,
        ),
    ]


def test_missing_routes_in_code_are_mentioned():
    examination = examine(snapshot_of({PHYSICS: "paths:\n  /a:\n    get:\n", "main.py": "x = 1\n"}))
    assert verdict_of(CHECK, examination) == Verdict.WARN
    assert (
        examination.detail
        == f"1 routes in {PHYSICS}, 0 in the code; 1 missing; no routes were found in the code"
    )


def test_tests_implement_nothing():
    code = APP + route("get", "/a")
    for path in ("tests/main.py", "test_main.py", "src/app_test.py", "a/__tests__/main.py"):
        assert look({PHYSICS: "paths:\n  /a:\n    get:\n", path: code})[0] == Verdict.WARN
    js = "const app = require('express')(); app.get('/a', f);"
    assert look({PHYSICS: "paths:\n  /a:\n    get:\n", "a.test.js": js, "b.spec.ts": js})[0] == Verdict.WARN
    assert look({PHYSICS: "paths:\n  /a:\n    get:\n", "a.js": js})[0] == Verdict.PASS


@pytest.mark.parametrize(
    "path",
    [
        "examples/main.py",
        "docs/tutorial/main.py",
        "vendor/other/main.py",
        "tests/fixtures/shop/main.py",
        "app_test.js",
        "test_app.ts",
    ],
)
def test_examples_documentation_and_copied_code_serve_nothing(path: str):
    code = APP + route("get", "/b") if path.endswith(".py") else "require('express')().get('/b', f);"
    physics = "paths:\n  /a:\n    get:\n"
    files = {PHYSICS: physics, "main.py": APP + route("get", "/a")}
    assert look({**files, path: code}) == (Verdict.PASS, [])


@pytest.mark.parametrize("path", ["bin/main.py", "scripts/serve.py", "tools/main.py", "tasks.py"])
def test_a_program_at_the_top_serves(path: str):
    physics = "paths:\n  /a:\n    get:\n"
    assert look({PHYSICS: physics, path: APP + route("get", "/a")}) == (Verdict.PASS, [])


@pytest.mark.parametrize("named", ["./api/o.yaml", "api//o.yaml", "api\\\\o.yaml"])
def test_the_document_may_be_named_in_any_way(named: str):
    files = {
        "forge.json": f'{{"audit": {{"spec": "{named}"}}}}',
        "api/o.yaml": "openapi: 3.1.0\npaths:\n  /a:\n    get:\n",
    }
    assert look({**files, "main.py": APP + route("get", "/a")}) == (Verdict.PASS, [])


def test_head_and_options_come_with_get():
    physics = "paths:\n  /a:\n    get:\n    head:\n    options:\n  /b:\n    get:\n"
    code = APP + route("get", "/a") + route("get", "/b") + route("head", "/b") + route("options", "/b")
    assert look({PHYSICS: physics, "main.py": code}) == (Verdict.PASS, [])


def test_any_method_answers_every_one():
    code = "const app = require('express')(); app.all('/a/:id', f);"
    assert look({PHYSICS: "paths:\n  /a/{x}:\n    get:\n    put:\n", "a.js": code}) == (Verdict.PASS, [])
    assert look({PHYSICS: "paths:\n  /a/{x}:\n", "main.py": APP + route("put", "/a/{y:int}/")}) == (
        Verdict.PASS,
        [],
    )


def test_static_files_and_catch_alls_are_no_routes():
    physics = "paths:\n  /:\n    get:\n  /static/app.css:\n    get:\n"
    code = APP + route("get", "/") + route("get", "/{rest:path}")
    assert look({PHYSICS: physics, "main.py": code}) == (Verdict.PASS, [])


def test_hidden_routes_are_neither_promised_nor_missed():
    code = APP + "@app.get('/secret', include_in_schema=False)\ndef f(): ...\n" + route("get", "/a")
    assert look({PHYSICS: "paths:\n  /a:\n    get:\n", "main.py": code}) == (Verdict.PASS, [])


def test_unknown_prefix_causes_no_false_alarm():
    code = "from fastapi import FastAPI, APIRouter\nfrom conf import p\napp = FastAPI()\nr = APIRouter()\n"
    code += "app.include_router(r, prefix=p.api)\n@r.get('/users/{id}')\ndef f(): ...\n"
    files = {"main.py": code}
    examination = examine(snapshot_of({**files, PHYSICS: "paths:\n  /api/users/{id}:\n    get:\n"}))
    assert (verdict_of(CHECK, examination), examination.found) == (Verdict.PASS, ())
    assert "1 could not be resolved completely" in examination.detail
    wrong = look({**files, PHYSICS: "paths:\n  /api/people/{id}:\n    get:\n"})
    assert [(rule, subject) for rule, _, _, subject in wrong[1]] == [
        ("missing-route", "GET /api/people/{id}"),
        ("undocumented-route", "GET …/users/{}"),
    ]


def test_routes_of_a_table_that_only_runs_are_not_called_missing():
    code = APP + "for path, f in load():\n    app.add_api_route(path, f)\n"
    assert look({PHYSICS: "paths:\n  /a:\n    get:\n", "main.py": code}) == (
        Verdict.PASS,
        [("unresolved-route", PHYSICS, 3, "GET /a")],
    )


def test_which_document_counts():
    code = {"main.py": APP + route("get", "/a")}
    spec, other = "openapi: 3.0.0\npaths:\n  /a:\n    get: {}\n", "paths:\n  /b:\n    get:\n"
    named = {"forge.json": '{"audit": {"spec": "api/spec.yaml"}}'}
    assert look({**code, "openapi.yaml": spec})[0] == Verdict.PASS
    assert look({**code, "docs/openapi.json": '{"paths": {"/a": {"get": {}}}}'})[0] == Verdict.PASS
    assert look({**code, **named, "api/spec.yaml": spec, "openapi.yaml": other})[0] == Verdict.PASS
    assert look({**code, **named, "api/spec.yaml": spec, PHYSICS: other})[0] == Verdict.WARN
    assert look({**code, **named, "openapi.yaml": spec})[0] == Verdict.ERROR
    assert look({**code, "forge.json": "{", "openapi.yaml": spec})[0] == Verdict.ERROR
    assert look({**code, "openapi.yaml": "paths: {}"})[0] == Verdict.SKIP
    assert look({**code, "openapi.yaml": spec + "#" * (2 << 20)})[0] == Verdict.ERROR


def test_openapi_servers_and_websockets():
    spec = "openapi: 3.0.0\nservers: [{url: https://x.org/api}]\npaths:\n  /a:\n    get: {}\n  /ws:\n    get: {}\n"
    code = APP + route("get", "/api/a") + route("websocket", "/ws") + route("websocket", "/more")
    assert look({"openapi.yaml": spec, "main.py": code}) == (Verdict.PASS, [])


def test_ignored_files_are_left_alone():
    files = {
        PHYSICS: "paths:\n  /a:\n    get:\n",
        "main.py": APP + route("get", "/a"),
        "gen/x.py": APP + route("get", "/b"),
    }
    assert look(files)[0] == Verdict.WARN
    assert look({**files, "forge.json": '{"audit": {"ignore": ["gen/**"]}}'})[0] == Verdict.PASS
