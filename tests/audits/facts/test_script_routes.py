"""Routes of a script, and similar code that defines none."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.facts.models import UNKNOWN, Mount, Route, RouteFacts, Router
from forge.audits.facts.parsing import Grammar, parse
from forge.audits.facts.script.routes import routes_of

GRAMMARS = (Grammar.JAVASCRIPT, Grammar.TYPESCRIPT, Grammar.TSX)


def facts(source: str | bytes, grammar: Grammar = Grammar.TYPESCRIPT) -> RouteFacts:
    data = textwrap.dedent(source).encode() if isinstance(source, str) else source
    root = parse(grammar, data)
    return routes_of(root, data) if root is not None else RouteFacts()


def pairs(source: str) -> list[tuple[str, str]]:
    return sorted((route.method, route.path) for route in facts(source).routes)


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_routes_mounts_and_routers_are_extracted(grammar: Grammar):
    source = """
        import express from "express";
        import users, { admin } from "./users";
        const app = express();
        const router = express.Router();
        router.get("/:id", f);
        app.use("/api", auth, router);
        app.use("/users", users);
        app.use("/admin", admin);
        export default app;
    """
    assert facts(source, grammar) == RouteFacts(
        routes=(Route("GET", "/:id", 6, "router"),),
        mounts=(
            Mount("app", "router", "/api", 7),
            Mount("app", "require(./users)", "/users", 8),
            Mount("app", "require(./users).admin", "/admin", 9),
            Mount("default", "app", "", 10),
        ),
        routers=(Router("app", "", is_app=True, line=4), Router("router", "", is_app=False, line=5)),
    )


def test_paths_built_from_constants_are_resolved():
    assert pairs(
        """
        const { Router } = require("express");
        const r = new Router();
        const BASE = "/api", paths = { users: `${BASE}/users`, deep: { er: "/er" } };
        r.get(paths.users, f);
        r.get(paths.deep.er + "/:id", f);
        r.get(`${BASE}/${process.env.X}/y`, f);
        r.get(["/a", BASE], f);
        r.get(/^\\/x/, f);
        """
    ) == [
        ("GET", UNKNOWN),
        ("GET", "/a"),
        ("GET", "/api"),
        ("GET", f"/api/{UNKNOWN}/y"),
        ("GET", "/api/users"),
        ("GET", "/er/:id"),
    ]


def test_chained_methods_are_routes():
    assert pairs(
        """
        import { Router } from "express";
        const r = Router();
        r.route("/x").all(a).get(f).post(g);
        r.get("/y", f).delete("/z", g);
        """
    ) == [("ANY", "/x"), ("DELETE", "/z"), ("GET", "/x"), ("GET", "/y"), ("POST", "/x")]


def test_koa_router_prefix_is_used():
    found = facts(
        """
        import Koa from "koa";
        import Router from "@koa/router";
        const app = new Koa();
        const router = new Router({ prefix: "/k" });
        router.get("/x", f);
        app.use(router.routes()).use(router.allowedMethods());
        """
    )
    assert found.routers == (
        Router("app", "", is_app=True, line=4),
        Router("router", "/k", is_app=False, line=5),
    )
    assert Mount("app", "router", "", 7) in found.mounts


@pytest.mark.parametrize(
    "source",
    [
        "const app = make(); app.get('/x', f);",
        "const express = require('express'); const app = express(); app.get('env'); app.set('/x', f);",
        "axios.get('/x', f); router.get('/x', f);",
        "// app.get('/x', f)\nconst express = 'app.get(\"/x\", f)';",
        "const express = { Router() {} }; const r = express.Router(); r.get('/x', f);",
    ],
)
def test_lookalikes_are_not_routes(source: str):
    assert facts(source).routes == ()


def test_minified_bundle_has_no_routes():
    line = "const e=require('express'),a=e();a.get('/x',f);"
    assert facts(line + "var y=1;" * 5000).routes == ()
    assert pairs(line) == [("GET", "/x")]


def test_self_referencing_names_terminate():
    source = "const a = b, b = a, p = `${q}${q}`, q = `${p}${p}`; a.get(p, f); a().b()()().get('/x', f);"
    assert facts(source).routes == ()


WORDS = st.sampled_from(
    [
        "app",
        "router",
        "=",
        "express()",
        "Router(",
        ")",
        ";",
        ".get(",
        "'/x'",
        ",",
        "`/",
        "${",
        "}",
        "`",
        "for",
        "(",
        "of",
        "const",
        "{",
        "}",
        "=>",
        "function",
        "class",
        "this",
        ".",
        "new",
        "app.use(",
        "[",
        "]",
        "import",
        "from",
        "'express'",
        "require('express')",
        "export",
        "default",
        "module.exports",
        ".route(",
        ".forEach(",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(WORDS, max_size=60).map(" ".join).map(str.encode) | st.binary(max_size=300),
    st.sampled_from(GRAMMARS),
)
def test_arbitrary_bytes_give_route_facts(data: bytes, grammar: Grammar):
    assert isinstance(facts(data, grammar), RouteFacts)
