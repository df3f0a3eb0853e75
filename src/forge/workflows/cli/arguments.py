"""Parse arguments of the workflow commands: names and ids, inputs of a run, samples of a dry run."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn
from urllib.parse import quote

from pydantic import FiniteFloat, JsonValue, TypeAdapter, ValidationError

from forge.errors import Invalid, NotFound
from forge.terminal.client import Client
from forge.terminal.lookup import SEARCHED, choose, is_id
from forge.workflows.definition.models import Input, InputType
from forge.workflows.models import WorkflowCard, WorkflowDetail, WorkflowRun

_INPUTS = TypeAdapter(dict[str, Input])
_TYPES: dict[InputType, tuple[TypeAdapter[Any], str, str]] = {
    InputType.NUMBER: (TypeAdapter(int | FiniteFloat), "a number", "2.5"),
    InputType.INTEGER: (TypeAdapter(int), "an integer", "3"),
    InputType.BOOLEAN: (TypeAdapter(bool), "true or false", "true"),
    InputType.ARRAY: (TypeAdapter(list[JsonValue]), "a JSON array", """'["a", "b"]'"""),
    InputType.OBJECT: (TypeAdapter(dict[str, JsonValue]), "a JSON object", """'{"a": 1}'"""),
}


def declared_inputs(definition: Mapping[str, Any]) -> dict[str, Input]:
    return _INPUTS.validate_python(definition.get("inputs", {}))


def read_inputs(options: Iterable[str], declared: Mapping[str, Input]) -> dict[str, JsonValue]:
    """Parse options such as `count=3` according to the declared types.

    If the workflow declares inputs, unknown names are rejected, so that a misspelled name is noticed.
    """
    values: dict[str, JsonValue] = {}
    for name, value in _split_pairs(options, "--input topic=whales"):
        if declared and name not in declared:
            raise Invalid(f"The workflow has no input {name!r}.", hint=f"Inputs: {', '.join(declared)}.")
        values[name] = _parse_input(name, value, declared[name].type if declared else InputType.ANY)
    return values


def read_samples(options: Iterable[str]) -> dict[str, JsonValue]:
    """Parse options such as `fetch={"status": 200}`; a value that is not JSON is text."""
    pairs = _split_pairs(options, """--sample fetch='{"status": 200}'""")
    return {step: _parse_json_or_text(value) for step, value in pairs}


def _split_pairs(options: Iterable[str], example: str) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in options]
    for name, equals, value in pairs:
        if not (name.strip() and equals):
            raise Invalid(
                f"{(name + equals + value)[:100]!r} is not of the form NAME=VALUE.",
                hint=f"Write it like {example}",
            )
    return [(name.strip(), value) for name, _, value in pairs]


def _parse_input(name: str, value: str, kind: InputType) -> JsonValue:
    if kind is InputType.STRING:
        return value
    if kind is InputType.ANY:
        return _parse_json_or_text(value)
    adapter, expected, example = _TYPES[kind]
    try:
        return adapter.validate_json(value.lower() if kind is InputType.BOOLEAN else value)
    except ValidationError as error:
        raise Invalid(
            f"The input {name} must be {expected}, got {value[:100]!r}.",
            hint=f"Write it like {name}={example}",
        ) from error


def _parse_json_or_text(value: str) -> JsonValue:
    try:
        return json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid JSON")


_REF = re.compile(r"([^\W_]|-){1,64}")


def find_workflow(client: Client, ref: str) -> WorkflowDetail:
    """Find a workflow by its name, its id or an id prefix."""
    if _REF.fullmatch(ref):
        try:
            return client.get(workflow_path(ref), WorkflowDetail)
        except NotFound:
            if is_id(ref):
                raise
    found = client.get("/workflows", list[WorkflowCard])
    card = choose(ref, "workflow", found, lambda one: one.id, listed_by="workflow list")
    return client.get(workflow_path(card.id), WorkflowDetail)


def find_workflow_run(client: Client, ref: str) -> str:
    """Return the id of a run: the newest run of the workflow with this name, or the run with this id prefix."""
    if is_id(ref):
        return ref
    newest = _newest_run_of(client, ref)
    if newest is not None:
        return newest
    runs = client.pages("/workflow-runs", WorkflowRun, SEARCHED)
    return choose(ref, "run", runs, lambda run: run.id, listed_by="workflow runs").id


def workflow_path(ref: str) -> str:
    return f"/workflows/{quote(ref, safe='')}"


def run_path(run_id: str) -> str:
    return f"/workflow-runs/{run_id}"


def _newest_run_of(client: Client, name: str) -> str | None:
    if not _REF.fullmatch(name):
        return None
    try:
        found = list(client.pages(f"{workflow_path(name)}/runs", WorkflowRun, 1))
    except NotFound:
        return None
    if not found:
        raise NotFound(f"{name} has no runs yet.", hint=f"Start it with: forge workflow trigger {name}")
    return found[0].id
