"""Small projects that A4 must judge rightly: run by every self-test."""

import json
from collections.abc import Callable, Mapping

from forge.audits.check import Fixture
from forge.audits.memory import snapshot_of
from forge.audits.snapshot import Snapshot

WHERE = "Forge/Contracts/boundaries.json"

LAYERED: dict[str, object] = {
    "layers": [
        {
            "name": "routers",
            "glob": "app/routers/*.py",
            "forbidden": [
                {"layer": "repos", "reason": "routers talk to services"},
                {"import": "asyncpg", "reason": "no database driver here"},
                {"pattern": "SELECT |INSERT ", "reason": "no SQL here"},
                "requests",
            ],
        },
        {"name": "services", "glob": "app/services/**/*.py"},
        {"name": "repos", "glob": ["app/repos/**/*.py", "app/db.py"]},
    ],
    "order": ["routers", "services", "repos"],
}

FILES = {
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/routers/users.py": '"""Never imports asyncpg, never does SELECT x."""\nfrom app.services import users\n',
    "app/services/__init__.py": "",
    "app/services/users.py": "from ..repos import users\n",
    "app/repos/__init__.py": "",
    "app/repos/users.py": 'import asyncpg\n\nQUERY = "SELECT id FROM users"\n',
    "app/db.py": "",
}


def _project(
    boundaries: Mapping[str, object] | str | None = None, files: Mapping[str, str | bytes] | None = None
) -> Callable[[], Snapshot]:
    text = boundaries if isinstance(boundaries, str) else json.dumps(boundaries or LAYERED)
    return lambda: snapshot_of({**FILES, **(files or {}), WHERE: text})


def _file(path: str, text: str) -> Callable[[], Snapshot]:
    return _project(files={path: text})


def _known(**more: str) -> dict[str, object]:
    entry = {"layer": "routers", "file": "users.py", "pattern": "asyncpg", **more}
    return {**LAYERED, "known_violations": [entry]}


_USERS = "app/routers/users.py"
_DRIVER = {_USERS: "import asyncpg\n"}

FIXTURES = (
    Fixture("layers that keep to themselves", _project(), "PASS"),
    Fixture("no boundaries", lambda: snapshot_of(FILES), "SKIP"),
    Fixture(
        "an import of a forbidden layer",
        _file(_USERS, "from app.repos import users\n"),
        "FAIL",
        ("forbidden-layer",),
    ),
    Fixture(
        "the same, relative", _file(_USERS, "from ..repos.users import x\n"), "FAIL", ("forbidden-layer",)
    ),
    Fixture(
        "in a folder below", _file("app/routers/v1/a.py", "import asyncpg\n"), "FAIL", ("forbidden-import",)
    ),
    Fixture("a forbidden package", _project(files=_DRIVER), "FAIL", ("forbidden-import",)),
    Fixture(
        "SQL where none may be",
        _file(_USERS, 'SQL = "select id from users"\n'),
        "FAIL",
        ("forbidden-pattern",),
    ),
    Fixture("a plain string as rule", _file(_USERS, "import requests\n"), "FAIL", ("forbidden-pattern",)),
    Fixture("a variable of that name", _file(_USERS, "requests = []\nrequests.append(1)\n"), "PASS"),
    Fixture(
        "a service that knows a router",
        _file("app/services/users.py", "import app.routers.users\n"),
        "FAIL",
        ("layer-order",),
    ),
    Fixture(
        "the same, by a file of no layer",
        _project(
            files={"app/tools.py": "from app import routers\n", "app/services/x.py": "import app.tools\n"}
        ),
        "FAIL",
        ("layer-order",),
    ),
    Fixture("a known violation", _project(_known(), _DRIVER), "PASS", ("forbidden-import",)),
    Fixture(
        "one that is over", _project(_known(expires="2025-12-31"), _DRIVER), "FAIL", ("forbidden-import",)
    ),
    Fixture("one that is no more", _project(_known()), "PASS", ("stale-known-violation",)),
    Fixture("a file that is no code", _file(_USERS, "def (:\n"), "ERROR", ("unparsable",)),
    Fixture(
        "a glob that is none",
        _file("forge.json", '{"audit": {"ignore": ["[z-a]"]}}'),
        "ERROR",
        ("bad-config",),
    ),
    Fixture("boundaries that are no JSON", _project("{"), "ERROR", ("bad-boundaries",)),
    Fixture(
        "an expression with look-around",
        _project({"layers": [{"name": "a", "glob": "app/**", "forbidden": ["(?<!x)y"]}]}),
        "ERROR",
        ("bad-pattern",),
    ),
    Fixture(
        "globs that match nothing",
        _project({"layers": [{"name": "a", "glob": "nowhere/**"}]}),
        "ERROR",
        ("no-files",),
    ),
    Fixture(
        "a layer that matches nothing",
        _project({"layers": [{"name": "a", "glob": "nowhere/**"}, {"name": "b", "glob": "app/**"}]}),
        "WARN",
        ("empty-layer",),
    ),
    Fixture(
        "a file outside of exhaustive layers",
        _project({**LAYERED, "containers": "app", "exhaustive": True}, {"app/stray.py": ""}),
        "FAIL",
        ("no-layer",),
    ),
)
