"""Routes across files: the requests a client could send, determined from the sources alone."""

import textwrap
from pathlib import Path

from fastapi import APIRouter, FastAPI
from fastapi.routing import iter_route_contexts
from starlette.applications import Starlette
from starlette.routing import Route

from forge.api.server import create_api
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import UNKNOWN
from forge.audits.imports.modules import Modules
from forge.audits.memory import snapshot_of
from forge.audits.routing.route_paths import normal_paths
from forge.audits.routing.route_table import OpenMount, Routing, join_routes

ROOT = Path(__file__).parents[2]


def routing_of(files: dict[str, str]) -> Routing:
    snap = snapshot_of({path: textwrap.dedent(text) for path, text in files.items()})
    return join_routes(facts_of(snap), Modules.of(snap))


def served(files: dict[str, str]) -> list[str]:
    return sorted(f"{r.method} {r.path.replace(UNKNOWN, '…')}" for r in routing_of(files).routes)


# FastAPI and Starlette


def test_prefixes_of_routers_and_of_their_mounts_add_up():
    assert served(
        {
            "app/__init__.py": "",
            "app/main.py": """
                from fastapi import FastAPI
                from app.users import router as users
                from app import items
                API = "/api"
                app = FastAPI()
                app.include_router(users, prefix=API + "/v1")
                app.include_router(items.router, prefix=f"{API}/v2")
            """,
            "app/users.py": """
                from fastapi import APIRouter
                router = APIRouter(prefix="/users")
                @router.get("/{user_id:int}")
                async def one(user_id: int): ...
                @router.post("/")
                async def add(): ...
            """,
            "app/items.py": """
                import fastapi
                router = fastapi.APIRouter()
                @router.api_route("/items", methods=["GET", "put"])
                def items(): ...
                @router.websocket("/live")
                async def live(): ...
            """,
        }
    ) == [
        "GET /api/v1/users/{}",
        "GET /api/v2/items",
        "POST /api/v1/users",
        "PUT /api/v2/items",
        "WEBSOCKET /api/v2/live",
    ]


def test_routers_in_routers_through_a_package_that_hands_them_on():
    assert served(
        {
            "svc/__init__.py": "",
            "svc/app.py": """
                from fastapi import FastAPI
                from .api import api_router
                def create_app() -> FastAPI:
                    application = FastAPI()
                    application.include_router(api_router, prefix="/api")
                    return application
            """,
            "svc/asgi.py": """
                from svc.app import create_app
                app = create_app()
                @app.get("/late")
                def late(): ...
            """,
            "svc/api/__init__.py": "from .top import router as api_router",
            "svc/api/top.py": """
                from fastapi import APIRouter
                from svc.api import users, orders as o
                router = APIRouter()
                router.include_router(users.router, prefix="/users")
                router.include_router(o.router)
                router.include_router(o.router, prefix="/again")
            """,
            "svc/api/users.py": """
                from fastapi import APIRouter
                router = APIRouter()
                router.add_api_route("/{id}", handler, methods=["DELETE"])
                @router.get("")
                def all(): ...
            """,
            "svc/api/orders.py": """
                from fastapi import APIRouter
                router: APIRouter = APIRouter(prefix="/orders")
                @router.get("")
                def all(): ...
            """,
        }
    ) == ["DELETE /api/users/{}", "GET /api/again/orders", "GET /api/orders", "GET /api/users", "GET /late"]


def test_loops_over_routers_modules_and_pairs():
    assert served(
        {
            "main.py": """
                from fastapi import FastAPI
                import users, items
                from lists import ROUTERS
                app = FastAPI()
                for module in (users, items):
                    app.include_router(module.router, prefix="/a")
                for prefix, router in (("/u", users.router), ("/i", items.router)):
                    app.include_router(router, prefix=prefix)
                for each in ROUTERS:
                    app.include_router(each, prefix="/l")
            """,
            "lists.py": "import users\nfrom items import router as items\nROUTERS = [users.router, items]\n",
            "users.py": "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/users')\ndef f(): ...\n",
            "items.py": "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/items')\ndef f(): ...\n",
        }
    ) == ["GET /a/items", "GET /a/users", "GET /i/items", "GET /l/items", "GET /l/users", "GET /u/users"]


def test_functions_that_are_given_the_application():
    assert served(
        {
            "main.py": """
                from fastapi import FastAPI
                from views import register
                from web import Pages
                app = FastAPI()
                register(app)
                Pages().install(app=app)
            """,
            "views.py": """
                def register(app):
                    _more(app, 1)
                    @app.get("/one")
                    def one(): ...
                def _more(api, n):
                    api.add_api_route("/two", two)
            """,
            "web.py": """
                class Pages:
                    def install(self, app):
                        app.add_api_route("/three", self.three, methods=["POST"])
            """,
        }
    ) == ["GET /one", "GET /two", "POST /three"]


def test_a_class_with_a_router_of_its_own():
    assert served(
        {
            "main.py": """
                from fastapi import FastAPI
                from hello import Hello
                app = FastAPI()
                hello = Hello("World")
                app.include_router(hello.router, prefix="/h")
            """,
            "hello.py": """
                from fastapi import APIRouter
                class Hello:
                    def __init__(self, name):
                        self.router = APIRouter()
                        self.router.add_api_route("/hello", self.hello, methods=["GET"])
            """,
        }
    ) == ["GET /h/hello"]


def test_lists_of_starlette():
    assert served(
        {
            "main.py": """
                from starlette.applications import Starlette
                from starlette.routing import Mount, Route, WebSocketRoute
                from starlette.staticfiles import StaticFiles
                from admin import admin
                users = [Route("/", all_users), Route("/{name}", User)]
                class User(HTTPEndpoint):
                    async def get(self, request): ...
                    async def put(self, request): ...
                app = Starlette(debug=True, routes=[
                    Route("/home", home),
                    Mount("/users", routes=users),
                    Mount("/deep", routes=[Mount("/er", routes=[Route("/x", x, methods=["POST"])])]),
                    Mount("/admin", app=admin),
                    Mount("/static", StaticFiles(directory="static")),
                    WebSocketRoute("/ws", ws),
                ])
            """,
            "admin.py": """
                from starlette.applications import Starlette
                admin = Starlette()
                admin.add_route("/stats", stats, methods=["GET"])
            """,
        }
    ) == [
        "GET /admin/stats",
        "GET /home",
        "GET /users",
        "GET /users/{}",
        "POST /deep/er/x",
        "PUT /users/{}",
        "WEBSOCKET /ws",
    ]


# Flask


def test_blueprints_their_prefixes_and_views():
    assert served(
        {
            "shop/__init__.py": """
                from flask import Flask
                def create_app(config=None):
                    app = Flask(__name__)
                    from . import auth, blog
                    from .api import bp as api
                    app.register_blueprint(auth.bp)
                    app.register_blueprint(blog.bp, url_prefix="/news")
                    app.register_blueprint(api, url_prefix="/api")
                    app.add_url_rule("/", endpoint="index")
                    @app.route("/hello")
                    def hello(): ...
                    return app
            """,
            "shop/auth.py": """
                from flask import Blueprint
                bp = Blueprint("auth", __name__, url_prefix="/auth")
                @bp.route("/login", methods=("GET", "POST"))
                def login(): ...
            """,
            "shop/blog.py": """
                from flask import Blueprint
                bp = Blueprint("blog", __name__, url_prefix="/blog")
                @bp.post("/<int:id>/update")
                @bp.route("/<int:id>")
                def update(id): ...
            """,
            "shop/api.py": """
                from flask import Blueprint
                from flask.views import MethodView
                from .items import bp as items
                bp = Blueprint("api", __name__)
                bp.register_blueprint(items, url_prefix="/items")
                class Base(MethodView):
                    def get(self, id): ...
                class User(Base):
                    def patch(self, id): ...
                user = User.as_view("user")
                bp.add_url_rule("/users/<uuid:id>", view_func=user)
                bp.add_url_rule("/users", view_func=User.as_view("users"), methods=["POST"])
            """,
            "shop/items.py": """
                from flask import Blueprint
                bp = Blueprint("items", __name__, url_prefix="/never")
                @bp.delete("/<path:name>")
                def gone(name): ...
            """,
        }
    ) == [
        "DELETE /api/items/{}",
        "GET /",
        "GET /api/users/{}",
        "GET /auth/login",
        "GET /hello",
        "GET /news/{}",
        "PATCH /api/users/{}",
        "POST /api/users",
        "POST /auth/login",
        "POST /news/{}/update",
    ]


# Express


def test_express_with_modules_of_both_kinds():
    assert served(
        {
            "server.js": """
                const express = require("express");
                const users = require("./routes/users");
                const { items } = require("./routes");
                const app = express();
                app.use(express.json());
                app.use("/api/users", auth, users);
                app.use(["/items", "/things"], items);
                app.use("/lazy", require("./routes/lazy")({ db }));
                app.get("/health", (req, res) => res.send("ok"));
                app.get("title");
                app.all("/any", handler);
                require("./routes/more")(app);
            """,
            "routes/users.js": """
                const router = require("express").Router();
                router.route("/:id(\\\\d+)").get(show).put(change);
                router.get("/", list);
                module.exports = router;
            """,
            "routes/index.js": "const items = require('./items'); module.exports = { items };",
            "routes/items.js": """
                const { Router } = require("express");
                const r = Router();
                r.post(`/`, add);
                module.exports = r;
            """,
            "routes/lazy.js": """
                const express = require("express");
                module.exports = function (deps) {
                    const router = express.Router();
                    router.get("/x/:from-:to?", f);
                    return router;
                };
            """,
            "routes/more.js": "module.exports = (app) => { app.delete('/more', f); };",
        }
    ) == [
        "ANY /any",
        "DELETE /more",
        "GET /api/users",
        "GET /api/users/{}",
        "GET /health",
        "GET /lazy/x/{}-",
        "GET /lazy/x/{}-{}",
        "POST /items",
        "POST /things",
        "PUT /api/users/{}",
    ]


def test_express_in_typescript_with_classes_and_tables():
    assert served(
        {
            "src/app.ts": """
                import express, { Application } from "express";
                import v1 from "./v1/index.js";
                import { Posts } from "./posts";
                const app: Application = express() as Application;
                app.use("/v1", v1);
                app.use("/", new Posts().router);
                export default app;
            """,
            "src/v1/index.ts": """
                import { Router } from "express";
                import { authRoutes } from "../auth";
                import docs from "../docs";
                const router = Router();
                const table = [{ path: "/auth", route: authRoutes }, { path: "/docs", route: docs }];
                table.forEach((entry) => { router.use(entry.path, entry.route); });
                export default router;
            """,
            "src/auth.ts": """
                import * as express from "express";
                const authRoutes = express.Router();
                authRoutes.post("/login", async (req, res) => {});
                export { authRoutes };
            """,
            "src/docs.ts": "export { default } from './docs.routes';",
            "src/docs.routes.ts": """
                import { Router } from "express";
                export default Router().get("/", f);
                const router = Router();
                router.get("/all", f);
                export default router;
            """,
            "src/posts.ts": """
                import { Router } from "express";
                export class Posts {
                    public path = "/posts";
                    public router = Router();
                    constructor() {
                        this.router.get(this.path, this.all);
                        this.router.get(`${this.path}/:id`, this.one);
                    }
                }
            """,
        }
    ) == ["GET /posts", "GET /posts/{}", "GET /v1/docs/all", "POST /v1/auth/login"]


# Unknown routes, and code that defines none.


def test_look_alikes_are_no_routes():
    assert (
        served(
            {
                "main.py": """
                    import requests
                    from fastapi import FastAPI
                    from cache import cache, cached
                    app = FastAPI()
                    requests.get("/a")
                    cache.get("/b")
                    {}.get("/c")
                    client = TestClient(app)
                    client.get("/d")
                    app.state.get("/e")
                    @cached.get("/f")
                    def f(): ...
                    app.get("/g")
                """,
                "cache.py": "cache = {}\nclass Cached: ...\ncached = Cached()\n",
                "a.ts": """
                    import axios from "axios";
                    import request from "supertest";
                    import express from "express";
                    import api from "./api";
                    const app = express();
                    const map = new Map();
                    axios.get("/a", () => 1);
                    request(app).get("/b", f);
                    map.get("/c", f);
                    api.get("/d", f);
                    app.get("env");
                    params.get("/e", f);
                """,
                "api.ts": "import axios from 'axios'; export default axios.create({ baseURL: '/' });",
            }
        )
        == []
    )


def test_run_time_values_stay_unknown():
    assert served(
        {
            "main.py": """
                from fastapi import FastAPI
                from config import settings
                from users import router
                app = FastAPI()
                app.include_router(router, prefix=settings.prefix)
                @app.get(f"/x/{settings.name}/y")
                def x(): ...
            """,
            "config.py": "settings = load()",
            "users.py": "from fastapi import APIRouter\nrouter = APIRouter(prefix='/users')\n@router.get('/{id}')\ndef f(): ...\n",
        }
    ) == ["GET /x/…/y", "GET …/users/{}"]


def test_router_of_a_package_opens_a_prefix():
    found = routing_of(
        {
            "main.py": """
                from fastapi import FastAPI
                from fastapi_users import users
                app = FastAPI()
                app.include_router(users.get_auth_router(backend), prefix="/auth")
                app.mount("/", StaticFiles(directory="web"))
            """
        }
    )
    assert found == Routing((), (OpenMount("/auth", "main.py", 5),), (), is_cut=False)


def test_a_router_that_nothing_mounts_is_reported_apart():
    found = routing_of(
        {
            "main.py": "from fastapi import FastAPI\nimport users\napp = FastAPI()\n",
            "users.py": "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/u')\ndef f(): ...\n",
        }
    )
    assert found.routes == ()
    assert [(u.name, u.file, u.line, len(u.routes)) for u in found.unmounted] == [
        ("router", "users.py", 2, 1)
    ]


def test_routers_that_are_found_while_running_may_be_mounted_anywhere():
    files = {
        "main.py": """
            import importlib
            from fastapi import FastAPI
            app = FastAPI()
            for name in NAMES:
                app.include_router(importlib.import_module(name).router)
        """,
        "users.py": "from fastapi import APIRouter\nrouter = APIRouter()\n@router.get('/u')\ndef f(): ...\n",
    }
    assert served(files) == ["GET …/u"]


def test_a_library_of_routers_without_an_application():
    text = (
        "from fastapi import APIRouter\nrouter = APIRouter(prefix='/u')\n@router.get('/{a}')\ndef f(): ...\n"
    )
    assert served({"users.py": text}) == ["GET …/u/{}"]


def test_routers_that_mount_each_other_end():
    files = {
        "main.py": """
            from fastapi import APIRouter, FastAPI
            app = FastAPI()
            a = APIRouter(prefix="/a")
            b = APIRouter(prefix="/b")
            a.include_router(b)
            b.include_router(a)
            app.include_router(a)
            @b.get("/x")
            def x(): ...
        """
    }
    assert served(files) == ["GET /a/b/x"]


def test_names_that_stand_for_each_other_end():
    assert (
        served(
            {
                "a.py": "from b import app\napp.get\n@app.get('/x')\ndef f(): ...\n",
                "b.py": "from a import app",
            }
        )
        == []
    )


def test_mounts_that_double_are_cut():
    lines = ["from fastapi import APIRouter, FastAPI", "r0 = FastAPI()"]
    for n in range(1, 40):
        lines += [f"r{n} = APIRouter()"]
        lines += [f"r{n - 1}.include_router(r{n}, prefix='/{side}')" for side in "ab"]
    lines += ["@r39.get('/x')", "def x(): ..."]
    assert routing_of({"main.py": "\n".join(lines)}).is_cut


# Compared with the running application.


def live(app: FastAPI | Starlette) -> set[tuple[str, str]]:
    if isinstance(app, FastAPI):
        pairs = [(c.path, getattr(c, "methods", None)) for c in iter_route_contexts(app.routes)]
    else:
        pairs = [(r.path, r.methods) for r in app.routes if isinstance(r, Route)]
    return {
        (method, path)
        for written, methods in pairs
        for path in normal_paths(str(written))
        for method in (set(methods or {"WEBSOCKET"}) - {"HEAD"})
    }


def test_the_routes_of_forge_itself_are_those_that_run():
    paths = [*(ROOT / "src/forge").rglob("*.py"), ROOT / "pyproject.toml"]
    snap = snapshot_of({str(path.relative_to(ROOT)): path.read_bytes() for path in paths})
    found = join_routes(facts_of(snap), Modules.of(snap))
    of_forge = {(r.method, r.path) for r in found.routes if not r.file.startswith("src/forge/demo/")}
    # The page shown if the web app is not built is only added to a running server.
    assert of_forge - {("GET", "/")} == live(create_api(None))
    assert len(of_forge) > 40
    assert [one for one in found.unmounted if not one.file.startswith("src/forge/demo/")] == []


def test_a_fastapi_application_as_written_and_as_it_runs():
    source = textwrap.dedent(
        """
        from fastapi import APIRouter, FastAPI

        PREFIX = "/api"
        inner = APIRouter(prefix="/inner")
        outer = APIRouter(prefix="/outer")
        app = FastAPI(openapi_url=None)

        @inner.get("/{a}/b/{c:path}")
        @inner.post("")
        def f(): ...

        @outer.api_route("/many", methods=["GET", "DELETE"])
        def g(): ...

        @outer.websocket("/ws")
        async def ws(websocket): ...

        outer.include_router(inner)
        outer.include_router(inner, prefix="/twice")
        app.include_router(outer, prefix=PREFIX)
        app.include_router(inner, prefix=f"{PREFIX}/direct")
        app.add_api_route("/added", g, methods=["PUT"])
        """
    )
    names: dict[str, object] = {}
    exec(source, names)
    app = names["app"]
    assert isinstance(app, FastAPI) and isinstance(names["inner"], APIRouter)
    found = {(r.method, r.path) for r in routing_of({"main.py": source}).routes}
    assert found == live(app)
