"""docs/reference/workflow-files.md documents every key with its default, and its example is valid."""

import ast
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from forge.workflows.definition import models
from forge.workflows.definition.models import (
    HTTP_TIMEOUT_S,
    LONGEST_S,
    MAX_DEPTH,
    MAX_ITERATIONS,
    MAX_SOURCE,
    MAX_STEPS,
    RUN_TIMEOUT_S,
    STEP_TIMEOUT_S,
    ConcurrencyPolicy,
    Definition,
    Input,
    InputType,
    Language,
    RetryPolicy,
    RetryStrategy,
    Step,
    StepConfig,
    StepType,
)
from forge.workflows.definition.reader import read_source
from forge.workflows.models import MAX_OUTPUT, MAX_PAYLOAD

PAGE = (Path(__file__).parents[2] / "docs/reference/workflow-files.md").read_text()
SECTIONS = dict(re.findall(r"^##+ (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
CONFIGS: dict[str, type[StepConfig]] = {
    kind.model_fields["type"].default: kind for kind in get_args(get_args(models.Config)[0])
}
TRIGGERS: dict[str, type[BaseModel]] = {
    kind.model_fields["type"].default: kind for kind in get_args(get_args(models.Trigger)[0])
}


def rows(section: str) -> dict[str, list[str]]:
    """Return the cells of a section's tables by the name in the first one; a star marks templates."""
    found = re.findall(r"^\| `([\w-]+)`( \*)? \|(.*)\|$", SECTIONS[section], re.MULTILINE)
    return {
        name: [star.strip(), *(cell.strip() for cell in cells.split(" | "))] for name, star, cells in found
    }


def keys(model: type[BaseModel]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize(
    ("section", "model"),
    [("The workflow", Definition), ("Inputs", Input), ("Steps", Step), ("Retry", RetryPolicy)],
    ids=str,
)
def test_every_key_is_documented(section: str, model: type[BaseModel]):
    assert set(rows(section)) == keys(model)


@pytest.mark.parametrize("kind", StepType)
def test_every_config_key_is_documented(kind: StepType):
    described = rows(f"`{kind.value}`")
    assert set(described) == keys(CONFIGS[kind.value]) - {"type"}
    assert {name for name, cells in described.items() if cells[0]} == set(CONFIGS[kind.value].templated)


@pytest.mark.parametrize("kind", TRIGGERS)
def test_every_trigger_key_is_documented(kind: str):
    named = set(re.findall(r"`(\w+)`", rows("Triggers")[kind][1]))
    assert named == keys(TRIGGERS[kind]) - {"type"}


@pytest.mark.parametrize(
    ("section", "model"),
    [
        ("The workflow", Definition),
        ("Inputs", Input),
        ("Steps", Step),
        ("Retry", RetryPolicy),
        *((f"`{kind}`", config) for kind, config in CONFIGS.items()),
    ],
    ids=str,
)
def test_documented_defaults_match_code(section: str, model: type[BaseModel]):
    described = rows(section)
    for name, field in model.model_fields.items():
        default: Any = field.default
        documented = described.get(field.alias or name, [""])[-1].strip("`")
        if field.is_required() and name in described:
            assert documented in ("required", "that of `config"), name
        elif isinstance(default, bool):
            assert documented == str(default).lower(), name
        elif isinstance(default, int | float) and name != "max_bytes":
            assert float(documented.partition(";")[0]) == default, name
        elif isinstance(default, str) and default and name != "type":
            assert documented == default, name


def test_every_enum_value_is_documented():
    named = set(re.findall(r"`([^`\s]+)`", PAGE))
    assert {*InputType, *Language, *ConcurrencyPolicy, *RetryStrategy, *StepType, *TRIGGERS} <= named
    for config in CONFIGS.values():
        for name, field in config.model_fields.items():
            values = {value for value in get_args(field.annotation) if isinstance(value, str)}
            assert values <= named, (config, name)


def test_every_error_code_is_documented():
    folder = Path(models.__file__).parents[1]
    raised = {
        call.args[0].value
        for path in (*folder.glob("steps/*.py"), *folder.glob("engine/*.py"), folder / "run_starter.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id == "StepError"
        and isinstance(call.args[0], ast.Constant)
    }
    assert len(raised) > 15
    assert raised <= set(re.findall(r"`(\w+)`", SECTIONS["Error codes"]))


def test_documented_limits_match_code():
    limits = dict(re.findall(r"^\| ([\w ,]+) \| (.+) \|$", SECTIONS["Limits"], re.MULTILINE))
    assert limits["steps of a workflow"] == f"{MAX_STEPS:,}"
    assert limits["a definition as YAML"] == f"{MAX_SOURCE >> 20} MB"
    assert limits["payload of a run"] == f"{MAX_PAYLOAD >> 20} MB of JSON"
    assert limits["output of a step"] == f"{MAX_OUTPUT >> 20} million characters of JSON"
    assert limits["iterations of a loop"] == str(MAX_ITERATIONS)
    assert limits["nested workflows, runs that cause runs"] == f"{MAX_DEPTH} levels"
    assert rows("The workflow")["timeout_secs"][-1] == str(RUN_TIMEOUT_S)
    documented = f"{STEP_TIMEOUT_S}; `http`: {HTTP_TIMEOUT_S:g}; none for steps that only wait"
    assert rows("Steps")["timeout_secs"][-1] == documented
    assert LONGEST_S // 86400 == 366


def test_example_is_valid():
    [example] = re.findall(r"```yaml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    found = read_source(example)
    assert found.problems == []
    assert found.definition
    assert [step.id for step in found.definition.steps] == ["fetch", "write", "ask", "send", "note"]
    assert found.source == example
