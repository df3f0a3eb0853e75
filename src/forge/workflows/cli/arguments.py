"""What people write about workflows at the command line: inputs of a run, samples of a dry run."""

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
    InputType.INTEGER: (TypeAdapter(int), "a whole number", "3"),
    InputType.BOOLEAN: (TypeAdapter(bool), "true or false", "true"),
    InputType.ARRAY: (TypeAdapter(list[JsonValue]), "a list as JSON", """'["a", "b"]'"""),
    InputType.OBJECT: (TypeAdapter(dict[str, JsonValue]), "an object as JSON", """'{"a": 1}'"""),
}


def declared_inputs(definition: Mapping[str, Any]) -> dict[str, Input]:
    return _INPUTS.validate_python(definition.get("inputs", {}))


def read_inputs(given: Iterable[str], declared: Mapping[str, Input]) -> dict[str, JsonValue]:
    """Of `count=3`, each as the type that is declared for it.

    A workflow that declares inputs takes no others here, so that a misspelt name is noticed.
    """
    said: dict[str, JsonValue] = {}
    for name, value in _pairs(given, "--input topic=whales"):
        if declared and name not in declared:
            raise Invalid(f"It has no input {name!r}.", hint=f"It has: {', '.join(declared)}.")
        said[name] = _typed(name, value, declared[name].type if declared else InputType.ANY)
    return said


def read_samples(given: Iterable[str]) -> dict[str, JsonValue]:
    """Of `fetch={"status": 200}`: JSON, and what is none is text."""
    return {
        step: _read_anything(value) for step, value in _pairs(given, """--sample fetch='{"status": 200}'""")
    }


def _pairs(given: Iterable[str], example: str) -> list[tuple[str, str]]:
    pairs = [text.partition("=") for text in given]
    for name, equals, value in pairs:
        if not (name.strip() and equals):
            raise Invalid(
                f"{(name + equals + value)[:100]!r} is no name with a value.", hint=f"Such as {example}"
            )
    return [(name.strip(), value) for name, _, value in pairs]


def _typed(name: str, value: str, kind: InputType) -> JsonValue:
    if kind is InputType.STRING:
        return value
    if kind is InputType.ANY:
        return _read_anything(value)
    adapter, meant, example = _TYPES[kind]
    try:
        return adapter.validate_json(value.lower() if kind is InputType.BOOLEAN else value)
    except ValidationError as error:
        raise Invalid(
            f"The input {name} is {meant}, and {value[:100]!r} is none.", hint=f"Such as {name}={example}"
        ) from error


def _read_anything(value: str) -> JsonValue:
    try:
        return json.loads(value, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


_REF = re.compile(r"([^\W_]|-){1,64}")


def find_workflow(client: Client, given: str) -> WorkflowDetail:
    """By its name, its id or the beginning of its id."""
    if _REF.fullmatch(given):
        try:
            return client.get(workflow_path(given), WorkflowDetail)
        except NotFound:
            if is_id(given):
                raise
    found = client.get("/workflows", list[WorkflowCard])
    card = choose(given, "workflow", found, lambda one: one.id, listed_by="workflow list")
    return client.get(workflow_path(card.id), WorkflowDetail)


def find_workflow_run(client: Client, given: str) -> str:
    """The id of a run from its beginning, or the newest run of the workflow of that name."""
    if is_id(given):
        return given
    newest = _newest_of(client, given)
    if newest is not None:
        return newest
    runs = client.pages("/workflow-runs", WorkflowRun, SEARCHED)
    return choose(given, "run", runs, lambda run: run.id, listed_by="workflow runs").id


def workflow_path(ref: str) -> str:
    """Of the API."""
    return f"/workflows/{quote(ref, safe='')}"


def run_path(run_id: str) -> str:
    return f"/workflow-runs/{run_id}"


def _newest_of(client: Client, name: str) -> str | None:
    if not _REF.fullmatch(name):
        return None
    try:
        found = list(client.pages(f"{workflow_path(name)}/runs", WorkflowRun, 1))
    except NotFound:
        return None
    if not found:
        raise NotFound(f"{name} was not run yet.", hint=f"Start it: forge workflow trigger {name}")
    return found[0].id
