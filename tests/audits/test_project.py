"""forge.json: every mistake is reported in the same way, and every key is documented."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from forge.audits.checks import a4_boundaries, a9_dependencies, w1_secrets, w3_routes
from forge.audits.display_text import format_count
from forge.audits.engine.check_runner import verdict_of
from forge.audits.memory import snapshot_of
from forge.audits.models import Verdict
from forge.audits.project import AuditSettings, Backend, ForgeJson, Frontend, read_project

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "forge-json.md"
KNOWN = "first_party, import_names, ignore, most_changed_lines, spec"
BROKEN = [
    ('{"audit": {"ignore": ["[z-a]"]}}', "forge.json: audit.ignore: '[z-a]' is not a valid glob"),
    ('{"audit": {"ignore": ["ok/**", "["]}}', "forge.json: audit.ignore: '[' is not a valid glob"),
    ('{"audit": {"ignore": ["a{b"]}}', "forge.json: audit.ignore: 'a{b' is not a valid glob"),
    ('{"audit": {"ignore": [""]}}', "forge.json: audit.ignore: '' is not a valid glob"),
    ('{"audit": {"ignores": []}}', f"forge.json: unknown key 'audit.ignores'; the keys of audit are {KNOWN}"),
    ('{"audit": {"ignore": "a"}}', "forge.json: audit.ignore: Input should be a valid array"),
]


@pytest.mark.parametrize(("text", "problem"), BROKEN)
def test_config_error_is_reported_equally_by_all_checks(text: str, problem: str):
    assert read_project(text.encode()).problem == problem
    files = {
        "forge.json": text,
        "app/a.py": "import os\n",
        "Forge/Contracts/boundaries.json": '{"layers": [{"name": "app", "glob": "app/**"}]}',
        "openapi.json": '{"openapi": "3.0.0", "paths": {"/a": {"get": {}}}}',
    }
    for module in (a4_boundaries, a9_dependencies, w1_secrets, w3_routes):
        examination = module.CHECK.examine(snapshot_of(files))
        found = [(one.rule, one.path, one.message.rstrip(".")) for one in examination.found]
        assert (verdict_of(module.CHECK, examination), found) == (
            Verdict.ERROR,
            [("bad-config", "forge.json", problem)],
        )


@pytest.mark.parametrize("glob", ["vendor/**", "[a-z].py", "[]a].py", "*.{js,ts}", "/gen/", "[!a]?"])
def test_valid_glob_is_accepted(glob: str):
    assert read_project(f'{{"audit": {{"ignore": ["{glob}"]}}}}'.encode()).problem is None


@pytest.mark.parametrize("model", [ForgeJson, Backend, Frontend, AuditSettings])
def test_every_key_is_documented(model: type[BaseModel]):
    text = PAGE.read_text(encoding="utf-8")
    section = {Backend: "backend.", Frontend: "frontend.", AuditSettings: "audit."}.get(model, "")
    assert [name for name in model.model_fields if f"`{section}{name}`" not in text] == []


@pytest.mark.parametrize(
    ("count", "unit", "text"),
    [
        (1, "files", "1 file"),
        (2, "files", "2 files"),
        (1, "entries", "1 entry"),
        (0, "added lines", "0 added lines"),
        (1000, "x", "1,000 x"),
    ],
)
def test_unit_is_singular_for_one(count: int, unit: str, text: str):
    assert format_count(count, unit) == text
