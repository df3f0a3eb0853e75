"""A4 on labeled cases: each is a file of the routers layer, and whether it violates the only rule."""

import json

import pytest

from forge.audits.checks.a4_boundaries import CHECK
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity

REPOS = r"from app\.repos|import app\.repos"
USERS = "app/routers/users.py"
PROJECT = {
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/repos/__init__.py": "from app.repos.users import get\n",
    "app/repos/users.py": "",
    "app/repository_tools.py": "",
    "app/services/__init__.py": "",
}


def lines_found(
    rule: dict[str, object] | str, path: str, text: str, files: dict[str, str] | None = None
) -> list[int | None]:
    suffix = path.rpartition(".")[2]
    layers = [{"name": "routers", "glob": f"{path.rpartition('/')[0]}/*.{suffix}", "forbidden": [rule]}]
    snapshot = snapshot_of(
        {
            **PROJECT,
            **(files or {}),
            path: text,
            "Forge/Contracts/boundaries.json": json.dumps({"layers": layers}),
        }
    )
    found = CHECK.examine(snapshot).found
    assert {one.severity for one in found} <= {Severity.FAIL}, found
    return [one.line for one in found]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("from app.repos import users\n", [1]),
        ("import app.repos.users\n", [1]),
        ("import app.repos.users as u\n", [1]),
        ("from app import repos\n", [1]),
        ("from app import services, repos as r\n", [1]),
        ("from ..repos import users as u\n", [1]),
        ("from .. import repos\n", [1]),
        ("from ..repos.users import get\n", [1]),
        ("from app.repos.users import (\n    get,\n    put,\n)\n", [1]),
        ("from app import (\n    services,\n    repos,\n)\n", [1]),
        ("import os, app.repos\n", [1]),
        ("import os; import app.repos\n", [1]),
        ("from app \\\n    import repos\n", [1]),
        ("def f():\n    from app.repos import users\n", [2]),
        ("try:\n    import app.repos\nexcept ImportError:\n    pass\n", [2]),
        ("if True: import app.repos\n", [1]),
        ("import importlib\nx = importlib.import_module('app.repos.users')\n", [2]),
        ("x = __import__('app.repos')\n", [1]),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.repos import users\n", [3]),
        ("from app.repos import *\n", [1]),
        ("\ufefffrom app.repos import users\n", [1]),
        ("from app.repos import users\r\nimport app.repos\r\n", [1, 2]),
        ("async def f():\n    async with x() as y:\n        from app.repos import users\n", [3]),
        # valid cases
        ("from app.services import users\n", []),
        ('"""from app.repos import users"""\n', []),
        ("# from app.repos import users\n", []),
        ("x = 'from app.repos import users'\n", []),
        ("x = f'import app.repos {1}'\n", []),
        ("def f():\n    '''\n    import app.repos\n    '''\n", []),
        ("from app.repository_tools import x\n", []),
        ("from app import repository_tools\n", []),
        ("from other.app.repos import x\n", []),
        ("from . import repos\n", []),
        ("from .repos import x\n", []),
        ("import apprepos\n", []),
        ("repos = app.services\n", []),
        ("import app\nx = app.services\n", []),
        ("from app.services import repos_service as repos\n", []),
        ("x = 1  # import app.repos\n", []),
        ("print('import app.repos')\n", []),
        ("x = '''\nfrom app.repos import users\n'''\n", []),
    ],
)
@pytest.mark.parametrize("rule", [{"pattern": REPOS}, {"import": "app.repos"}], ids=["pattern", "import"])
def test_import_is_found_in_every_form(rule: dict[str, object], text: str, lines: list[int]) -> None:
    assert lines_found(rule, USERS, text) == lines


@pytest.mark.parametrize(
    ("pattern", "text", "lines"),
    [
        ("import os", "import ossaudiodev\n", []),
        ("import os", "import os\n", [1]),
        ("import os", "import sys, os\n", [1]),
        ("import os", "import os.path\n", [1]),
        ("import os", "from os import path\n", [1]),
        ("import os", "import posix\nimport oslo\nfrom oslo import os_x\n", []),
        ("asyncpg", "import asyncpg\n", [1]),
        ("asyncpg", "from asyncpg import connect\n", [1]),
        ("asyncpg", "from asyncpg.pool import Pool as P\n", [1]),
        ("asyncpg", "import asyncpg as db\ndb.connect()\n", [1]),
        ("asyncpg", "asyncpg_enabled = True\n", []),
        ("asyncpg", "import asyncpg_stubs\n", []),
        (
            "asyncpg",
            "class A:\n    def f(self):\n        self.asyncpg = 1\n        return self.asyncpg\n",
            [],
        ),
        ("asyncpg", "asyncpg = None\nif asyncpg:\n    pass\n", []),
        ("asyncpg", "def f(asyncpg):\n    return asyncpg\n", []),
        ("asyncpg", "connect(driver='asyncpg')\n", []),
        ("asyncpg", "f(asyncpg=1)\n", []),
        ("asyncpg", "import importlib\nm = importlib.import_module('asyncpg')\n", [2]),
        ("asyncpg", "from app.db import asyncpg\n", [1]),
        ("asyncpg", "# asyncpg\n'asyncpg'\n", []),
        ("eval", "x = eval('1')\n", [1]),
        ("eval", "model.eval()\nmedieval = 1\n", []),
        ("print", "console.print(1)\nbuiltins.print(1)\n", [2]),
        ("execute", "session.execute(q)\nexecutemany(q)\n", [1]),
        (r"(from|import)\s+app\.repos", "from app.repository_tools import x\nimport app.repos_v2\n", []),
        (r"(from|import)\s+app\.repos", "from app import repos\nimport app.repos.users\n", [1, 2]),
        ("requests", "requests = []\nself.requests = requests\n", []),
        (r"\b(httpx|requests)\b", "requests = []\nself.requests = requests\n", [1, 2]),
        (r"(httpx|requests)", "import httpx\nfrom requests import get\n", [1, 2]),
        (r"from fastapi import (Request|Response)", "from fastapi import APIRouter, Response\n", [1]),
        (r"from app\.repos import .*", "from app.repos import (\n    users,\n)\n", [1]),
        ("print", "print('x')\nfingerprint(1)\n", [1]),
        (r"\bprint\(", "print('x')\npprint('x')\n", [1]),
        ("Request", "import fastapi\ndef f(r: fastapi.Request): ...\n", [2]),
        ("Request", "from fastapi import Request\n", [1]),
        ("from fastapi import Request|Response", "from fastapi import APIRouter, Response\n", [1]),
        (
            "from fastapi import Request|Response",
            "from fastapi import (\n    APIRouter,\n    Request,\n)\n",
            [1],
        ),
        ("from fastapi import Request|Response", "from httpx import Response\nclass UserResponse: ...\n", []),
        (r"^from app\.repos", "from app.repos import x\n", [1]),
        (r"^\s*from\s+app\.repos", "def f():\n    from app.repos import x\n", [2]),
        (r"cursor\.execute", "cursor.execute('x')\nself.cursor.executemany('x')\n", [1, 2]),
        (r"cursor\.execute\(", "cursor.execute('x')\nself.cursor.executemany('x')\n", [1]),
        (r"\.execute\(", "db.execute(q)\n", [1]),
        (r"import .*Repo", "from app.repos import UserRepository\n", [1]),
        (r"(?i)USERREPO\w*", "x = UserRepository()\n", [1]),
        ("userrepo", "x = UserRepo()\n", []),
        ("os.environ", "import os\nx = f'{os.environ}'\n", [2]),
        ("SELECT |INSERT ", "q = 'SELECT id FROM users'\n", [1]),
        ("SELECT |INSERT ", "query = 'select id from users'\n", [1]),
        ("SELECT |INSERT ", "query = '''\n    insert into users (id)\n    values (1)\n'''\n", [2]),
        ("SELECT |INSERT ", "q = f'SELECT id FROM {t}'\n", [1]),
        ("SELECT |INSERT ", "'''SELECT id FROM users is not for routers'''\n", []),
        ("SELECT |INSERT ", "x = 'please select a file from the list'\n", []),
        ("SELECT |INSERT ", "# SELECT id FROM users\n", []),
        (r"\bSELECT\b", "db.run('select 1 from users')\n", [1]),
    ],
)
def test_pattern_matches_intended_lines(pattern: str, text: str, lines: list[int]) -> None:
    assert lines_found(pattern, USERS, text) == lines


WEB = {
    "tsconfig.json": '{"compilerOptions": {"baseUrl": ".", "paths": {"@db/*": ["src/db/*"]}}}',
    "src/db/users.ts": "",
    "src/db/index.ts": "",
    "src/lib/http.ts": "",
}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("import { get } from '../db/users'\n", [1]),
        ('import get from "../db/users.js"\n', [1]),
        ("import * as db from '../db'\n", [1]),
        ("import '../db'\n", [1]),
        ("import {\n  get,\n  put,\n} from '../db/users'\n", [1]),
        ("export { get } from '../db/users'\n", [1]),
        ("export * from '../db/users'\n", [1]),
        ("const db = require('../db')\n", [1]),
        ("async function f() {\n  const db = await import('../db/users')\n}\n", [2]),
        ("import type { User } from '../db/users'\n", [1]),
        ("import { get } from '@db/users'\n", [1]),
        ("import { get } from 'src/db/users'\n", [1]),
        ("// import { get } from '../db/users'\n", []),
        ("/* import '../db' */\n", []),
        ("const x = \"import '../db'\"\n", []),
        ("const x = `import '../db'`\n", []),
        ("import { get } from '../lib/http'\n", []),
        ("import db from 'db'\n", []),
        ("const db = 1\n", []),
    ],
)
@pytest.mark.parametrize(
    "rule", [{"pattern": r"['\"/]src/db"}, {"import": "./src/db/**"}], ids=["pattern", "import"]
)
def test_script_import_is_found_in_every_form(rule: dict[str, object], text: str, lines: list[int]) -> None:
    assert lines_found(rule, "src/routes/users.ts", text, WEB) == lines


@pytest.mark.parametrize(
    ("rule", "text", "lines"),
    [
        ("express", "import express from 'express'\n", [1]),
        ("express", 'import { Router } from "express"\n', [1]),
        ("express", "const app = require('express')()\n", [1]),
        ("express", "import x from 'express-session'\n", []),
        ("express", "const express = 1\nf(express)\n", []),
        ("express", "const s = 'express'\n", []),
        (
            "@prisma/client",
            "import { PrismaClient } from '@prisma/client'\nimport x from '@prisma/client-x'\n",
            [1],
        ),
        ("lodash/fp", "import fp from 'lodash/fp'\nimport x from 'lodash/fpx'\n", [1]),
        (r"\.\./db", "import x from '../db/users'\nimport y from '../dbx'\n", [1]),
        ("fetch", "await client.fetch('/x')\nawait window.fetch('/x')\n", [2]),
        ({"import": "express"}, "import x from 'express-session'\n", []),
        ({"import": "express"}, "import x from 'express/lib/router'\n", [1]),
        ({"import": "@scope/pkg"}, "import x from '@scope/pkg/sub'\nimport y from '@scope/pkg2'\n", [1]),
        ({"import": "fs"}, "import fs from 'node:fs'\n", [1]),
        (r"require\(['\"].*db", "import x from '../db/users'\n", [1]),
        (r"from ['\"].*db", "const x = require('../db/users')\n", [1]),
        (r"import .* from ['\"]express['\"]", "import { Router, json } from 'express'\n", [1]),
        (r"fetch\(", "const x = await fetch('/api')\n", [1]),
        ("fetch", "await fetch('/api')\nprefetch(1)\n", [1]),
        ("localStorage", "window.localStorage.get('x')\n", [1]),
        ("window", "window.localStorage.get('x')\n", [1]),
        ("req", "export function f(req, res) { return req.body }\n", [1]),
    ],
)
def test_script_rule_matches_intended_lines(
    rule: dict[str, object] | str, text: str, lines: list[int]
) -> None:
    assert lines_found(rule, "src/routes/users.ts", text, WEB) == lines


@pytest.mark.parametrize(
    ("pattern", "text", "lines"),
    [
        ('"database/sql"', 'import (\n\t"fmt"\n\t"database/sql"\n)\n', [3]),
        ('"database/sql"', '// "database/sql"\n/* \n"database/sql" */\n', []),
    ],
)
def test_comments_of_unparsed_languages_are_ignored(pattern: str, text: str, lines: list[int]) -> None:
    assert lines_found(pattern, "handlers/users.go", text) == lines
