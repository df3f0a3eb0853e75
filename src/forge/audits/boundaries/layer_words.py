"""What layers are usually called, by the kind of program: from high to low, with the names of their folders and files."""

from collections.abc import Mapping
from dataclasses import dataclass

_DATA = {
    "clients": "clients client integrations gateways adapters",
    "repos": "repos repo repositories repository dal dao crud persistence storage store stores db database",
    "models": "models model schemas schema entities",
}


@dataclass(frozen=True)
class Vocabulary:
    prefix: str
    """Of the names of its layers, where a project has layers of several kinds."""
    words: Mapping[str, str]
    spine: tuple[str, ...]
    """Layers whose order is agreed on everywhere: imports that break it are violations, not another order."""
    frameworks: tuple[str, ...]
    surface: str
    """What the frameworks are for."""


PYTHON = Vocabulary(
    "",
    {
        "api": "api routers router routes endpoints controllers controller views handlers",
        "services": "services service usecases use_cases domain logic",
        **_DATA,
    },
    ("api", "services", "repos"),
    ("fastapi", "flask", "starlette", "django.http", "aiohttp.web"),
    "HTTP",
)
NODE = Vocabulary(
    "node-",
    {
        "routes": "routes route routers router api endpoints",
        "middleware": "middleware middlewares",
        "controllers": "controllers controller handlers",
        "services": "services service usecases use-cases domain",
        **_DATA,
        "lib": "lib libs utils helpers shared common kernel",
    },
    ("routes", "controllers", "services", "repos"),
    ("express", "koa", "fastify", "hono", "@nestjs/common"),
    "HTTP",
)
WEB = Vocabulary(
    "web-",
    {
        "pages": "pages screens views app routes",
        "features": "features modules",
        "components": "components widgets ui",
        "hooks": "hooks composables",
        "services": "services service",
        "api": "api client clients",
        "repos": "repos repositories repository db database dal",
        "lib": "lib libs utils helpers shared common kernel",
    },
    ("pages", "components"),
    ("next", "react", "vue", "svelte"),
    "screens",
)
PLAIN = Vocabulary("", {}, (), (), "")
"""Of a project whose folders have names of their own."""

ENTRANCES = ("api", "routes", "controllers", "pages", "components")
"""Layers that should not know of databases; the `api` of a frontend is none of them."""
DRIVERS = (
    *("sqlalchemy", "sqlmodel", "asyncpg", "psycopg", "psycopg2", "sqlite3", "aiosqlite", "pymongo", "motor"),
    *(
        "peewee",
        "tortoise",
        "pg",
        "mongoose",
        "typeorm",
        "knex",
        "sequelize",
        "drizzle-orm",
        "@prisma/client",
    ),
    "better-sqlite3",
)
