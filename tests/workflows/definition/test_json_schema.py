"""The JSON Schema for editors accepts valid definitions, rejects invalid ones and is up to date."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from tests.workflows.definition.test_writer import BEFORE

from forge.workflows.definition.json_schema import schema
from forge.workflows.definition.reader import read_source
from forge.workflows.definition.source import Source
from forge.workflows.definition.writer import write
from forge.workflows.definition.yaml_values import value_of
from forge.workflows.starter_templates import TEMPLATES

DOCS = Path(__file__).parents[3] / "docs"
EXAMPLES = {
    f"{page.stem}-{index}": text
    for page in (DOCS / "reference/workflow-files.md", DOCS / "guides/workflows.md")
    for index, text in enumerate(
        re.findall(r"```yaml\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    )
    if re.search(r"^name: ", text, re.MULTILINE) and re.search(r"^steps:", text, re.MULTILINE)
}
LENIENT = """\
name: x
version: 1.0
owner: ada
triggers: manual
steps:
  - id: a
    config: {type: http, url: https://x.org, method: get, expect_status: [200]}
  - {id: b, type: code, depends_on: a, condition: true, config: {language: typescript, source: x}}
  - {id: c, type: wait, on_error: {goto: d}, config: {seconds: '{{ trigger.n }}'}}
  - {id: d, type: wait, config: {seconds: 1}}
finally: [c, d]
"""


@pytest.fixture(scope="module")
def validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(schema())


def data(text: str) -> Any:
    return value_of(Source.of(text).root)


def test_published_schema_is_up_to_date():
    published = json.loads((DOCS / "reference/workflow.schema.json").read_text())
    assert published == schema(), "run `make docs`"


def test_schema_is_valid_and_complete():
    jsonschema_rs.meta.validate(schema())
    parts = {"the workflow": schema(), **schema()["$defs"]}
    undocumented = {
        (name, key)
        for name, part in parts.items()
        for key, value in part.get("properties", {}).items()
        if "description" not in value and key != "type"
    }
    assert undocumented == {("BotOwner", "bot_id"), ("Position", "x"), ("Position", "y")}


@pytest.mark.parametrize(
    "text",
    [
        *(template.source for template in TEMPLATES),
        *EXAMPLES.values(),
        BEFORE.replace("    depends_on:\n", ""),
        LENIENT,
    ],
    ids=[*(template.id for template in TEMPLATES), *EXAMPLES, "commented", "lenient"],
)
def test_valid_definition_passes_schema(validator: jsonschema_rs.Validator, text: str):
    read = read_source(text)
    assert [problem for problem in read.problems if not problem.is_warning] == []
    assert [error.message for error in validator.iter_errors(data(text))] == []
    assert read.definition
    assert list(validator.iter_errors(read.definition.as_json())) == []
    assert list(validator.iter_errors(data(write(read.definition, None)))) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("name: x", "nam: x"),
        ("name: x", "name: two words"),
        ("triggers: manual", "triggers: [{type: cron}]"),
        ("triggers: manual", "triggers: [{type: timer}]"),
        ("triggers: manual", "triggers: [{type: webhook, path: a}]"),
        ("{type: http, url", "{type: http, ulr"),
        ("{type: http, url", "{url"),
        ("expect_status: [200]", "expect_status: [20]"),
        ("depends_on: a", "dependson: a"),
        ("language: typescript", "language: cobol"),
        ("{seconds: '{{ trigger.n }}'}", "{}"),
        ("{seconds: '{{ trigger.n }}'}", "{seconds: 1, until: x}"),
        ("{goto: d}", "{goto: 1 2}"),
        ("type: wait", "type: waits"),
        ("finally:", "finaly:"),
    ],
)
def test_invalid_definition_fails_schema(validator: jsonschema_rs.Validator, old: str, new: str):
    text = LENIENT.replace(old, new)
    assert text != LENIENT
    assert not validator.is_valid(data(text))
    assert not read_source(text).is_usable
