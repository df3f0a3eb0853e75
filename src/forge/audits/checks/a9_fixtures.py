"""Small projects that A9 must let through, and those it must not."""

from collections.abc import Mapping

from forge.audits.check import Fixture
from forge.audits.memory import snapshot_of
from forge.audits.snapshot import Snapshot

_BOTH = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["requests>=2", "PyYAML"]\n\n'
    '[dependency-groups]\ndev = ["pytest"]\n',
    "src/shop/__init__.py": "from __future__ import annotations\nimport os, sys\nimport requests, yaml\n",
    "src/shop/prices.py": '"""Prices come\nfrom the database.\n"""\nfrom shop import __doc__\n',
    "tests/test_shop.py": "import pytest\nimport shop\n",
    "web/package.json": '{"name": "web", "dependencies": {"react": "19"}}',
    "web/src/main.ts": 'import React from "react";\nimport fs from "node:fs";\nimport "./style.css";\n',
}


def _bad(name: str, rule: str, expect: str, files: Mapping[str, str | bytes]) -> Fixture:
    def snapshot() -> Snapshot:
        return snapshot_of(files)

    return Fixture(name, snapshot, expect, (rule,))


FIXTURES = (
    Fixture("what is imported is declared", lambda: snapshot_of(_BOTH), "PASS"),
    Fixture("nothing to look at", lambda: snapshot_of({"README.md": "Hello"}), "SKIP"),
    _bad(
        "a look-alike is declared",
        "undeclared",
        "FAIL",
        {"requirements.txt": "requests-mock\n", "app.py": "def go():\n    import requests\n"},
    ),
    _bad(
        "an undeclared import in TypeScript",
        "undeclared",
        "FAIL",
        {"package.json": '{"dependencies": {}}', "src/pad.ts": 'import pad from "left-pad";\n'},
    ),
    _bad("no manifest at all", "no-manifest", "FAIL", {"app.py": "import requests\n"}),
    _bad(
        "a manifest that is named and not there",
        "missing-manifest",
        "FAIL",
        {"forge.json": '{"backend": {"dependency_file": "requirements.txt"}}', "app.py": "import os\n"},
    ),
    _bad(
        "a manifest that is no TOML",
        "broken-manifest",
        "ERROR",
        {"pyproject.toml": "[project\n", "app.py": "import requests\n"},
    ),
    _bad(
        "a new file that is no Python",
        "unparsable",
        "ERROR",
        {"requirements.txt": "", "app.py": "def go(:\n    return (\n"},
    ),
    _bad("settings that cannot be read", "bad-config", "ERROR", {"forge.json": "{", "app.py": "import os\n"}),
    _bad(
        "a tool of developers in what users run",
        "dev-dependency",
        "WARN",
        {"requirements.txt": "", "requirements-dev.txt": "pytest\n", "shop/cart.py": "import pytest\n"},
    ),
    _bad(
        "a package that may well bring it",
        "unsure",
        "WARN",
        {"requirements.txt": "frobnicate-rest-client\n", "app.py": "import frobnicate\n"},
    ),
    _bad(
        "a line that is no requirement",
        "unreadable-line",
        "WARN",
        {"requirements.txt": "requests\n<<<<<<< HEAD\n", "app.py": "import requests\n"},
    ),
)
