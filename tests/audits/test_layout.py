"""Proposals of `forge audit init`: they describe the existing code and pass."""

import json

import pytest

from forge.audits.checks.a4_boundaries import CHECK
from forge.audits.engine.check_runner import verdict_of
from forge.audits.memory import snapshot_of
from forge.audits.project import read_project
from forge.audits.proposals.boundaries_proposal import propose_boundaries
from forge.audits.proposals.forge_json_proposal import propose_forge_json

Files = dict[str, str]

LAYERED: Files = {
    "app/__init__.py": "",
    "app/main.py": "from fastapi import FastAPI\nfrom app.api import users\n\napp = FastAPI()\n",
    "app/api/__init__.py": "",
    "app/api/users.py": "from fastapi import APIRouter\nfrom app.services import users\n",
    "app/api/orders.py": "from fastapi import APIRouter\nfrom app.services import orders\n",
    "app/services/__init__.py": "",
    "app/services/users.py": "from app.repos import users\nfrom app.clients import mail\n",
    "app/services/orders.py": "from app.repos import users\n",
    "app/clients/mail.py": "",
    "app/repos/__init__.py": "",
    "app/repos/users.py": "import asyncpg\nfrom app.models import user\n",
    "app/models/user.py": "",
    "tests/test_users.py": "import pytest\nfrom app.repos import users\n",
    "requirements.txt": "fastapi\nasyncpg\npytest\n",
}


def test_layers_rules_and_order_follow_project_layout() -> None:
    assert propose_boundaries(snapshot_of(LAYERED)) == {
        "description": "Proposed from the layout and the imports of this project. Review and adjust it.",
        "layers": [
            {
                "name": "api",
                "glob": "app/api/**",
                "forbidden": [
                    {"layer": "repos", "reason": "api asks services, and services ask repos"},
                    {"import": "asyncpg", "reason": "no database driver in api"},
                ],
            },
            {
                "name": "services",
                "glob": "app/services/**",
                "forbidden": [{"import": "fastapi", "reason": "services knows nothing of HTTP"}],
            },
            {"name": "clients", "glob": "app/clients/**", "forbidden": []},
            {
                "name": "repos",
                "glob": "app/repos/**",
                "forbidden": [{"import": "fastapi", "reason": "repos knows nothing of HTTP"}],
            },
            {
                "name": "models",
                "glob": "app/models/**",
                "forbidden": [{"import": "fastapi", "reason": "models knows nothing of HTTP"}],
            },
        ],
        "order": ["api", "services", "clients", "repos", "models"],
        "known_violations": [],
    }


def test_existing_violation_is_listed_as_known() -> None:
    files = {**LAYERED, "app/repos/odd.py": "from app.services import users\n"}
    assert propose_boundaries(snapshot_of(files))["known_violations"] == [
        {
            "layer": "repos",
            "file": "app/repos/odd.py",
            "pattern": "services",
            "reason": "present when the boundaries were first written",
        }
    ]


FEATURES: Files = {
    f"shop/{feature}/{part}.py": text
    for feature in ("users", "orders", "bills")
    for part, text in {
        "router": f"from shop.{feature} import service\n",
        "service": "",
        "__init__": "",
    }.items()
}
WEB: Files = {
    "web/package.json": json.dumps({"dependencies": {"react": "1"}, "scripts": {"build": "b", "test": "t"}}),
    "web/pnpm-lock.yaml": "",
    "web/src/pages/home.tsx": "import { Button } from '../components/button'\n",
    "web/src/components/button.tsx": "import { x } from '../lib/x'\n",
    "web/src/lib/x.ts": "",
}
EXPRESS: Files = {
    "package.json": json.dumps({"dependencies": {"express": "4", "pg": "8"}}),
    "src/app.js": "const users = require('./routes/users')\n",
    "src/routes/users.js": "const express = require('express')\nconst c = require('../controllers/users')\n",
    "src/controllers/users.js": "const s = require('../services/users')\n",
    "src/services/users.js": "const r = require('../db/users')\n",
    "src/db/users.js": "const pg = require('pg')\n",
}
UPSIDE_DOWN: Files = {
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/routers/users.py": "",
    "app/services/__init__.py": "",
    "app/services/users.py": "from app.routers import users\nfrom app.repos import users as rows\n",
    "app/services/orders.py": "from app.routers import users\n",
    "app/repos/__init__.py": "",
    "app/repos/users.py": "",
}
LIBRARY: Files = {
    "src/tool/__init__.py": "",
    "src/tool/parsing/a.py": "",
    "src/tool/printing/b.py": "from tool.parsing import a\n",
}


@pytest.mark.parametrize(
    ("files", "layers", "order"),
    [
        (FEATURES, {"api": "shop/*/router.py", "services": "shop/*/service.py"}, ["api", "services"]),
        (
            WEB,
            {
                "web-pages": "web/src/pages/**",
                "web-components": "web/src/components/**",
                "web-lib": "web/src/lib/**",
            },
            ["web-pages", "web-components", "web-lib"],
        ),
        (
            LIBRARY,
            {"parsing": "src/tool/parsing/**", "printing": "src/tool/printing/**"},
            ["printing", "parsing"],
        ),
        (
            EXPRESS,
            {
                "routes": "src/routes/**",
                "controllers": "src/controllers/**",
                "services": "src/services/**",
                "repos": "src/db/**",
            },
            ["routes", "controllers", "services", "repos"],
        ),
        ({"main.py": ""}, {"code": "**/*.py"}, []),
        ({}, {"code": "**/*.py"}, []),
    ],
    ids=["features", "web", "library", "express", "script", "nothing"],
)
def test_other_layouts_are_recognized(files: Files, layers: dict[str, str], order: list[str]) -> None:
    proposed = propose_boundaries(snapshot_of(files))
    named = {layer["name"]: layer["glob"] for layer in proposed["layers"]}  # pyright: ignore
    assert (named, proposed["order"]) == (layers, order)


@pytest.mark.parametrize(
    "files",
    [
        LAYERED,
        FEATURES,
        LIBRARY,
        {"main.py": ""},
        {**LAYERED, "app/db/x.py": "import app.api.users\n"},
        {**LAYERED, **WEB, "web/src/lib/odd.ts": "import '../pages/home'\n"},
        EXPRESS,
        {**LAYERED, **{f"server/{path}": text for path, text in EXPRESS.items()}},
        UPSIDE_DOWN,
    ],
)
def test_proposed_boundaries_pass(files: Files) -> None:
    proposed = json.dumps(propose_boundaries(snapshot_of(files)))
    snapshot = snapshot_of({**files, "Forge/Contracts/boundaries.json": proposed})
    assert verdict_of(CHECK, CHECK.examine(snapshot)) == "PASS"
    assert json.dumps(propose_boundaries(snapshot_of(files))) == proposed


def test_forge_json_is_proposed_from_project() -> None:
    proposed = propose_forge_json(snapshot_of({**LAYERED, **WEB}), "venv")
    assert proposed == {
        "project_name": "example",
        "backend": {
            "language": "python",
            "entry_module": "app.main",
            "test_framework": "pytest",
            "test_dir": "tests",
            "dependency_file": "requirements.txt",
            "venv_path": "venv",
        },
        "frontend": {"enabled": True, "dir": "web", "build_cmd": "pnpm run build", "test_cmd": "pnpm test"},
    }
    assert read_project(json.dumps(proposed).encode()).problem is None


def test_forge_json_of_empty_project_is_valid() -> None:
    proposed = propose_forge_json(snapshot_of({}))
    assert read_project(json.dumps(proposed).encode()).problem is None
    assert proposed["frontend"] == {"enabled": False, "dir": "web", "build_cmd": None, "test_cmd": None}


def test_venv_path_is_proposed_only_if_given() -> None:
    assert "venv_path" not in propose_forge_json(snapshot_of(LAYERED))["backend"]  # pyright: ignore


def test_usual_order_is_proposed_with_violations_as_known() -> None:
    proposed = propose_boundaries(snapshot_of(UPSIDE_DOWN))
    assert proposed["order"] == ["api", "services", "repos"]
    known = proposed["known_violations"]
    assert [(one["layer"], one["file"], one["pattern"]) for one in known] == [  # pyright: ignore
        ("services", "app/services/orders.py", "api"),
        ("services", "app/services/users.py", "api"),
    ]


def test_frontend_and_backend_layers_are_not_ordered() -> None:
    proposed = propose_boundaries(snapshot_of({**LAYERED, **WEB}))
    assert proposed["order"] == ["api", "services", "clients", "repos", "models"]
    rules = {
        layer["name"]: [rule.get("layer") for rule in layer["forbidden"]]  # pyright: ignore
        for layer in proposed["layers"]  # pyright: ignore
        if layer["name"].startswith("web-")  # pyright: ignore
    }
    assert rules == {
        "web-pages": [],
        "web-components": ["web-pages"],
        "web-lib": ["web-pages", "web-components"],
    }


def test_web_api_client_may_import_ui_framework() -> None:
    files = {
        **WEB,
        "web/src/api/users.ts": "import { useState } from 'react'\n",
        "web/src/services/users.ts": "import { get } from '../api/users'\n",
        "web/src/pages/all.tsx": "import React from 'react'\nimport '../services/users'\n",
    }
    rules = {
        layer["name"]: layer["forbidden"]  # pyright: ignore
        for layer in propose_boundaries(snapshot_of(files))["layers"]  # pyright: ignore
    }
    assert (rules["web-api"], rules["web-services"]) == (
        [],
        [{"import": "react", "reason": "web-services knows nothing of screens"}],
    )
