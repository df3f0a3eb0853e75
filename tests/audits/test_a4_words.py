"""A4: patterns that are a word, a list of words, SQL keywords, or a name from a module."""

import json

import pytest

from forge.audits.checks.a4_boundaries import CHECK
from forge.audits.memory import snapshot_of

PYTHON, SCRIPT = "app/services/users.py", "src/services/users.ts"
FILES = {
    "app/__init__.py": "",
    "app/services/__init__.py": "",
    "app/services/asyncpg.py": "",
    "app/lib/__init__.py": "",
    "app/lib/asyncpg.py": "",
    "src/services/express.ts": "",
}


def lines_found(pattern: str, path: str, text: str) -> list[int | None]:
    glob = "app/services/**/*.py" if path.endswith(".py") else "src/services/**/*.ts"
    boundaries = {"layers": [{"name": "services", "glob": glob, "forbidden": [pattern]}]}
    files = {**FILES, path: text, "Forge/Contracts/boundaries.json": json.dumps(boundaries)}
    return [one.line for one in CHECK.examine(snapshot_of(files)).found]


HANDLERS = [
    (SCRIPT, "export function f(req) { return req.body; }\n", [1]),
    (SCRIPT, "export function f(req) {\n  return req.body;\n}\n", [1, 2]),
    (SCRIPT, "export function f(req: Request) {\n  return req.body;\n}\n", [1, 2]),
    (SCRIPT, "export const f = (req) => req.body;\n", [1]),
    (SCRIPT, "export const f = (req: Request) => {\n  return req.body;\n};\n", [1, 2]),
    (SCRIPT, "export const f = req => {\n  return req.body;\n};\n", [1, 2]),
    (SCRIPT, "class A {\n  async f(req: Request): Promise<void> {\n    send(req);\n  }\n}\n", [2, 3]),
    (SCRIPT, "export function f(\n  a: string,\n  req: Request,\n) {\n  send(req);\n}\n", [3, 5]),
    (PYTHON, "def f(req):\n    return req.headers\n", [1, 2]),
    (PYTHON, "def f(req): return req.headers\n", [1]),
    (PYTHON, "def f(\n    a: int,\n    req: object,\n) -> None:\n    send(req)\n", [3, 5]),
    (PYTHON, "f = lambda req: req.headers\n", [1]),
]


@pytest.mark.parametrize(
    "pattern", ["req", r"\breq\b", "req|xyz", r"\b(req|xyz)\b", "(req)", "express|req|res"]
)
@pytest.mark.parametrize(("path", "text", "lines"), HANDLERS)
def test_framework_parameter_is_found_in_every_function_form(
    pattern: str, path: str, text: str, lines: list[int]
) -> None:
    assert lines_found(pattern, path, text) == lines


@pytest.mark.parametrize(
    ("pattern", "path", "text", "lines"),
    [
        ("res", SCRIPT, "const res = await fetch(url);\nreturn res.json();\n", []),
        ("res", SCRIPT, "fetch(url).then(res => res.json()).then((res) => res.x);\n", []),
        ("res", SCRIPT, "const res = await fetch(url);\nif (res) {\n  f(res);\n}\n", []),
        (r"\bres\b", SCRIPT, "const res = await fetch(url);\n", [1]),
        ("response", PYTHON, "response = client.get()\nreturn response.json()\n", []),
        ("request", PYTHON, "self.request = 1\nf(request=1)\n", []),
        ("request", PYTHON, "def f(request):\n    return request.headers['x']\n", [1, 2]),
        ("requests", PYTHON, "def f(requests: list):\n    requests.append(1)\n    return requests\n", []),
        ("requests", PYTHON, "def f(\n    a,\n    requests,\n):\n    return requests\n", []),
        ("requests", PYTHON, "requests = []\nself.requests = requests\n", []),
        ("express", SCRIPT, "export function f(express) {\n  return express;\n}\n", []),
        ("express", SCRIPT, "class A {\n  f(express) {\n    g(express);\n  }\n}\n", []),
        ("express", SCRIPT, "if (express) {\n  express();\n}\n", [1, 2]),
        ("asyncpg", PYTHON, "def f(x: asyncpg.Pool):\n    asyncpg.connect()\n", [1, 2]),
        (r"\b(httpx|requests)\b", PYTHON, "requests = []\nmy_requests = 1\n", [1]),
        (
            "asyncpg|psycopg2",
            PYTHON,
            "import asyncpg_stubs\nimport psycopg2_pool\nfrom x_asyncpg import y\n",
            [],
        ),
        ("asyncpg|psycopg2", PYTHON, "import psycopg2\nfrom asyncpg import (\n    a,\n)\n", [1, 2]),
        ("req|res", SCRIPT, "const features = stores.map((x) => x.required);\n", []),
    ],
)
def test_plain_word_matches_external_names_and_expression_matches_all(
    pattern: str, path: str, text: str, lines: list[int]
) -> None:
    assert lines_found(pattern, path, text) == lines


@pytest.mark.parametrize(
    ("path", "word", "text", "lines"),
    [
        (PYTHON, "asyncpg", "from . import asyncpg\nasyncpg.connect()\n", []),
        (PYTHON, "asyncpg", "from .asyncpg import connect\n", []),
        (PYTHON, "asyncpg", "from app.services import asyncpg\n", []),
        (PYTHON, "asyncpg", "from . import asyncpg; import asyncpg\n", [1]),
        (PYTHON, "asyncpg", "from ..lib import asyncpg\nasyncpg.connect()\n", [1]),
        (PYTHON, "asyncpg", "from .deps import asyncpg\n", [1]),
        (SCRIPT, "express", "import express from './express';\nexpress();\n", []),
        (SCRIPT, "express", "import express from 'express';\nexpress();\n", [1, 2]),
    ],
)
def test_module_of_same_layer_may_have_package_name(
    path: str, word: str, text: str, lines: list[int]
) -> None:
    assert lines_found(word, path, text) == lines


@pytest.mark.parametrize(
    ("pattern", "text", "lines"),
    [
        ("SELECT ", "SQL_SELECT = 1\nSELECT = 2\n", []),
        ("SELECT |INSERT INTO|UPDATE ", "SQL_UPDATE = 1\nq = 'update users set a = 1'\n", [2]),
        (r"\bSELECT\b", "QueryTypes.SELECT\nq = 'select a.b from c.d'\n", [2]),
        (r"SELECT\b.*\bFROM\b", "q = 'select id from users where id = 1'\n", [1]),
        ("SELECT", "SELECT = 1\n", []),
        ("(?i)select .* from", "x = 'select id from users'\nselect_all()\n", [1]),
        ("(?i)select .* from", "x = 'Select one from the list'\n", []),
        (r"QueryTypes\.SELECT", "QueryTypes.SELECT\n", [1]),
        ("select", "select(User)\n", [1]),
        ("CREATE TABLE", "Y = 'create table t (id int primary key)'\n", [1]),
    ],
)
def test_upper_case_keywords_match_sql(pattern: str, text: str, lines: list[int]) -> None:
    assert lines_found(pattern, PYTHON, text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import fastapi\ndef f(r: fastapi.Request): ...\n", [2]),
        ("import fastapi as fa\nx = fa.Response()\n", [2]),
        ("import os, fastapi\nx = fastapi . Response\n", [2]),
        ("import fastapi\nx = fastapi.RequestId\ny = other.fastapi.Request\nz = fastapi.APIRouter()\n", []),
        ("import fastapi_x\nx = fastapi.Request\n", []),
        ("import httpx\nx = httpx.Response\n", []),
    ],
)
def test_module_attribute_counts_as_imported_name(text: str, lines: list[int]) -> None:
    assert lines_found("from fastapi import Request|Response", PYTHON, text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f(p: 'asyncpg.Pool') -> 'list[asyncpg.Row]': ...\n", [1]),
        ("x: Optional['asyncpg.Pool'] = None\n", [1]),
        ("x: t.Optional['asyncpg.Pool'] | None = None\n", [1]),
        ("x: Literal['asyncpg'] = 'asyncpg'\n", []),
        ("x: t.Literal['asyncpg']\ny: Annotated[str, 'asyncpg']\n", []),
        ("x: str = 'asyncpg'\n", []),
        ("x: 'uses asyncpg!' = 1\n", []),
    ],
)
def test_quoted_annotation_is_code(text: str, lines: list[int]) -> None:
    assert lines_found("asyncpg", PYTHON, text) == lines


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("app/a.py", "import os; eval(1)\n"),
        ("app/a.py", "\uff45\uff56\uff41\uff4c(1)\n"),
        ("app/a.py", "\ufeff\uff45\uff56\uff41\uff4c(1)\n"),
        ("app/a.py", 'a = "\uff02"\neval(1)\nb = "\uff02"\n'),
        ("app/a.py", 'a = "\uff3c"\neval(1)\nb = ""\n'),
        ("app/a.py", "# coding: shift_jis\na = 'ソ'\neval(1)\nb = 'ソ'\n".encode("shift_jis")),
        ("app/a.js", "// \0\neval(1)\n"),
    ],
)
def test_disguised_call_is_found(path: str, code: str | bytes) -> None:
    rule = {"pattern": "eval", "reason": "never"}
    layers = [{"name": "all", "glob": "app/**", "forbidden": [rule]}]
    snapshot = snapshot_of({"Forge/Contracts/boundaries.json": json.dumps({"layers": layers}), path: code})
    assert [found.rule for found in CHECK.examine(snapshot).found] == ["forbidden-pattern"]
