"""Each false result that was measured in earlier audits, with the correct verdict."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from forge.audits.check import Check
from forge.audits.engine.check_runner import verdict_of
from forge.audits.engine.registry import load_checks
from forge.audits.evidence.examples import CODE, TRUST, id_of, level, proven, run_of
from forge.audits.evidence.records import LevelName, Status
from forge.audits.memory import snapshot_of
from forge.audits.snapshot import Change, ChangeKind, Snapshot

CHECKS: dict[str, Check] = {check.code: check for check in load_checks([])}
TOKEN = "ghp_" + "wJ4rT9xK2mQ8vB5nL1cZ" + "7hD3fG6sA0pYeUiO"
PHYSICS = "paths:\n  /api/v1/timers:\n    get:\n      summary: All of them\n"
TIMERS = (
    "from fastapi import APIRouter, FastAPI\n\n"
    'router = APIRouter(prefix="/timers")\n\n\n'
    '@router.get("")\ndef timers() -> None: ...\n\n\n'
    'app = FastAPI()\napp.include_router(router, prefix="/api/v1")\n'
)


def boundaries(glob: str, rule: object = None) -> dict[str, str]:
    rule = rule or {"pattern": "import asyncpg", "reason": "ask a repo"}
    layers = [{"name": "routers", "glob": glob, "forbidden": [rule]}]
    return {"Forge/Contracts/boundaries.json": json.dumps({"layers": layers})}


def layered(glob: str, path: str, text: str, rule: object = None) -> Snapshot:
    return snapshot_of({**boundaries(glob, rule), path: text})


def needing(text: str, declared: str = "", **files: str) -> Snapshot:
    return snapshot_of(
        {"requirements.txt": declared, "app.py": text, **{k.replace("__", "."): v for k, v in files.items()}}
    )


def renamed() -> Snapshot:
    snapshot = snapshot_of({"new.py": "x = 1\n"}, base={"old.py": "x = 1\n"})
    return replace(snapshot, changes=[Change(ChangeKind.RENAMED, "new.py", old_path="old.py")])


def typed(name: str, text: str) -> Snapshot:
    """Write evidence by hand, as with an editor."""
    return snapshot_of({**CODE, f"Forge/evidence/{name}": text}, base={}, trust=TRUST, claims=["app.py"])


def verified(status: Status = Status.PASS, **given: str) -> Snapshot:
    return proven(CODE, run_of(id_of(CODE), *(level(name, status, **given) for name in LevelName)))


VIOLATION = "import asyncpg\n"
ROWS: list[tuple[str, str, Callable[[], Snapshot], str]] = [
    ("A1", "a new file, claimed and untracked", lambda: snapshot_of({"new.py": "x"}, base={}, claims=["new.py"]), "PASS"),
    ("A1", "a name that git quotes", lambda: snapshot_of({"naïve.py": "x"}, base={}, claims=["naïve.py"]), "PASS"),
    ("A2", "a new file called rename_user.py", lambda: snapshot_of({"rename_user.py": "x"}, base={}), "PASS"),
    ("A2", "a rename that is not staged", renamed, "FAIL"),
    ("A4", "the glob every project was given", lambda: layered("app/routers/**/*.py", "app/routers/users.py", VIOLATION), "FAIL"),
    ("A4", "a violation in a sub-folder", lambda: layered("app/routers/*.py", "app/routers/v1/users.py", VIOLATION), "FAIL"),
    ("A4", "a word in a docstring", lambda: layered("app/*.py", "app/a.py", '"""never use import asyncpg"""\n'), "PASS"),
    ("A4", "** and a file directly in the folder", lambda: layered("app/routers/**", "app/routers/a.py", VIOLATION), "FAIL"),
    ("A4", "a rule that is a plain string", lambda: layered("app/*.py", "app/a.py", VIOLATION, "import asyncpg"), "FAIL"),
    ("A9", "import os, sys", lambda: needing("import os, sys\n"), "PASS"),
    ("A9", "from __future__ import annotations", lambda: needing("from __future__ import annotations\n"), "PASS"),
    ("A9", "a docstring that begins a line with from", lambda: needing('"""Reads\nfrom the database.\n"""\n'), "PASS"),
    ("A9", "requests, with requests-mock declared", lambda: needing("import requests\n", "requests-mock\n"), "FAIL"),
    ("A9", "an indented import", lambda: needing("def f():\n    import requests\n", "httpx\n"), "FAIL"),
    ("A9", "a sibling at the top", lambda: needing("import helpers\n", helpers__py="x = 1\n"), "PASS"),
    ("A9", "google.protobuf, with protobuf declared", lambda: needing("import google.protobuf\n", "protobuf\n"), "PASS"),
    ("A9", "TypeScript", lambda: snapshot_of({"package.json": "{}", "a.ts": "import x from 'left-pad'\n"}), "FAIL"),
    ("A7", "contract types compile, said first", lambda: verified(summary="contract types compile"), "PASS"),
    ("A7", "four levels that failed", lambda: verified(Status.FAIL), "FAIL"),
    ("A6", "prose with a word like a hash", lambda: typed("audit_ledger.md", "commit defaced by nobody\n"), "SKIP"),
    ("A8", "Status: PASSING-ISH", lambda: typed("test_runs_latest.md", "Status: PASSING-ISH\n"), "FAIL"),
    ("A8", "Status: PASS, typed by hand", lambda: typed("test_runs_latest.md", "Status: PASS\n"), "FAIL"),
    ("A8", "a BOM before real evidence", lambda: with_bom(), "PASS"),
    ("W1", "task-list", lambda: snapshot_of({"a.css": ".task-list { }\n"}, base={}), "PASS"),
    ("W1", "a token of GitHub", lambda: snapshot_of({"a.py": f'TOKEN = "{TOKEN}"\n'}, base={}), "WARN"),
    ("W3", "/api/v1/timers with a router of timers", lambda: snapshot_of({"Forge/Contracts/physics.yaml": PHYSICS, "app/timers.py": TIMERS}), "PASS"),
]  # fmt: skip


def with_bom() -> Snapshot:
    snapshot = proven()
    latest = b"\xef\xbb\xbf" + snapshot.evidence["test_runs_latest.md"]
    return replace(snapshot, evidence={**snapshot.evidence, "test_runs_latest.md": latest})


@pytest.mark.parametrize(("code", "case", "make", "right"), ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_former_false_result_is_correct(code: str, case: str, make: Callable[[], Snapshot], right: str):
    check = CHECKS[code]
    assert verdict_of(check, check.examine(make())) == right, case
