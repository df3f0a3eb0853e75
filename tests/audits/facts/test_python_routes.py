"""Routes of a Python file, and similar code that defines none."""

import textwrap
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.facts.models import INSTEAD, UNKNOWN, Mount, Route, RouteFacts, Router
from forge.audits.facts.parsing import Grammar, parse
from forge.audits.facts.python.routes import routes_of


def facts(source: str | bytes) -> RouteFacts:
    data = textwrap.dedent(source).encode() if isinstance(source, str) else source
    root = parse(Grammar.PYTHON, data)
    return routes_of(root, data) if root is not None else RouteFacts()


def pairs(source: str) -> list[tuple[str, str]]:
    return [(route.method, route.path) for route in facts(source).routes]


def test_routes_mounts_and_routers_are_extracted():
    assert facts(
        """
        from fastapi import APIRouter, FastAPI
        import users
        router = APIRouter(prefix="/r")
        app = FastAPI()
        @router.get("/{id}", include_in_schema=False)
        def one(id): ...
        app.include_router(router, prefix="/api")
        app.include_router(users.router)
        """
    ) == RouteFacts(
        routes=(Route("GET", "/{id}", 6, "router", is_hidden=True),),
        mounts=(Mount("app", "router", "/api", 8), Mount("app", "users.router", "", 9)),
        routers=(Router("router", "/r", is_app=False, line=4), Router("app", "", is_app=True, line=5)),
    )


def test_flask_registration_prefix_replaces_blueprint_prefix():
    found = facts(
        """
        from flask import Blueprint, Flask
        app = Flask(__name__)
        bp = Blueprint("b", __name__, url_prefix="/own")
        app.register_blueprint(bp, url_prefix="/other")
        """
    )
    assert found.mounts == (Mount("app", "bp", f"{INSTEAD}/other", 5),)
    assert found.routers[1] == Router("bp", "/own", is_app=False, line=4)


def test_paths_built_from_constants_are_resolved():
    assert pairs(
        """
        from fastapi import FastAPI
        app = FastAPI()
        BASE = "/api"
        V = BASE + "/v1"
        class Paths:
            USERS = "/users"
        SAID_TWICE = "/a"
        SAID_TWICE = "/b"
        @app.get(V + Paths.USERS)
        @app.get(f"{V}/x/{{id}}")
        @app.get(f"{V}/{unknown()}/y")
        @app.get("/one" "/two")
        @app.get(SAID_TWICE + "/c")
        @app.get(path=r"/raw")
        @app.get(f"/{V!r:>10}")
        def f(): ...
        """
    ) == [
        ("GET", "/api/v1/users"),
        ("GET", "/api/v1/x/{id}"),
        ("GET", f"/api/v1/{UNKNOWN}/y"),
        ("GET", "/one/two"),
        ("GET", f"{UNKNOWN}/c"),
        ("GET", "/raw"),
        ("GET", f"/{UNKNOWN}"),
    ]


def test_methods_are_recognized_in_every_form():
    assert pairs(
        """
        from flask import Flask
        from elsewhere import View
        app = Flask(__name__)
        BOTH = ["get", "POST"]
        @app.route("/a")
        @app.route("/b", methods=BOTH)
        @app.route("/c", methods={"PUT"})
        @app.route("/d", methods=some())
        def f(): ...
        app.add_url_rule("/e", "e", f)
        app.add_url_rule("/f", view_func=View.as_view("v"))
        app.get("/g")(f)
        """
    ) == [
        ("GET", "/a"),
        ("GET", "/b"),
        ("POST", "/b"),
        ("PUT", "/c"),
        ("ANY", "/d"),
        ("GET", "/e"),
        ("ANY", "/f"),
        ("GET", "/g"),
    ]


def test_router_subclasses_and_router_named_classes_are_recognized():
    assert pairs(
        """
        from fastapi import APIRouter as R
        from company.web import CompanyRouter
        class Mine(R): ...
        class Yours(Mine): ...
        a, b = 1, 2
        mine = Yours(prefix="/m")
        theirs = CompanyRouter()
        @mine.get("/1")
        @theirs.get("/2")
        def f(): ...
        """
    ) == [("GET", "/1"), ("GET", "/2")]


def test_flask_restful_resources_are_routes():
    found = facts(
        """
        from flask import Flask
        from flask_restful import Api, Resource
        app = Flask(__name__)
        api = Api(app, prefix="/api")
        class Todo(Resource):
            def get(self): ...
            def delete(self): ...
        api.add_resource(Todo, "/todos", "/todos/<int:id>")
        """
    )
    assert [(r.method, r.path, r.target) for r in found.routes] == [
        ("DELETE", "/todos", "api"),
        ("GET", "/todos", "api"),
        ("DELETE", "/todos/<int:id>", "api"),
        ("GET", "/todos/<int:id>", "api"),
    ]
    assert found.mounts == (Mount("app", "api", "", 5),)


@pytest.mark.parametrize(
    "source",
    [
        "app = make()\napp.get('/x')",
        "@pytest.mark.get('/x')\ndef f(): ...",
        "cache = {}\ncache.get('/x')\nrouter = 1",
        "# @app.get('/x')\napp = 'FastAPI()'",
        "'''\n@app.get('/x')\ndef f(): ...\n'''",
        "import requests as app\napp.get('/x')",
    ],
)
def test_lookalikes_are_not_routes(source: str):
    assert facts(source).routes == ()


def test_repeatedly_doubled_text_is_bounded():
    lines = ["from fastapi import FastAPI", "app = FastAPI()", "p0 = '/x' * 1"]
    lines += [f"p{n} = p{n - 1} + p{n - 1} + '/y'" for n in range(1, 200)]
    lines += ["@app.get(p199)", "def f(): ..."]
    assert [len(route.path) for route in facts("\n".join(lines)).routes] <= [2001]


def test_self_referencing_names_terminate():
    assert facts("app = app\nrouter = other\nother = router\n@router.get('/x')\ndef f(): ...").routes == ()


WORDS = st.sampled_from(
    [
        "app",
        "router",
        "=",
        "FastAPI()",
        "APIRouter(",
        ")",
        "@",
        ".get(",
        "'/x'",
        ",",
        "prefix=",
        "f'{",
        "}'",
        "for",
        "in",
        ":",
        "\n",
        "def",
        "f",
        "(a)",
        "return",
        "class",
        "X",
        "self",
        ".",
        "include_router(",
        "[",
        "]",
        "{",
        "}",
        "**",
        "*",
        "import",
        "from",
        "fastapi",
        "as",
        "lambda",
        "Route(",
        "Mount(",
        "starlette.routing",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, max_size=60).map(" ".join).map(str.encode) | st.binary(max_size=300))
def test_arbitrary_bytes_give_route_facts(data: bytes):
    assert isinstance(facts(b"fastapi " + data), RouteFacts)


@pytest.mark.parametrize(
    "hostile",
    [
        "app" + ".x()" * 40_000,
        "L = [" + "a," * 20_000 + "]\nfor x in L:\n" + "    app.include_router(x)\n" * 3_000,
    ],
    ids=["deeper than queries count", "loops"],
)
def test_hostile_files_are_analyzed_in_time(hostile: str):
    began = time.process_time()
    assert facts(f"from fastapi import FastAPI\napp = FastAPI()\n{hostile}\n").routes == ()
    assert time.process_time() - began < 10
