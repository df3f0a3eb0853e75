"""What a run of a workflow is started with, and what its inputs come to."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, ConfigDict, JsonValue

from forge.errors import Invalid, TooLarge
from forge.workflows.definition.models import Definition, Input, InputType
from forge.workflows.models import MAX_PAYLOAD

KIND = "workflow"


class WorkflowInput(BaseModel):
    """The rest is in the row of the run."""

    model_config = ConfigDict(frozen=True)

    workflow_id: str
    workflow_name: str
    number: int


def check_payload(payload: JsonValue) -> None:
    """How much of it there may be."""
    try:
        size = len(json.dumps(payload, allow_nan=False, ensure_ascii=False).encode())
    except ValueError as error:
        raise Invalid(f"What it starts with is no JSON: {error}.") from error
    if size > MAX_PAYLOAD:
        raise TooLarge(f"A run starts with {MAX_PAYLOAD:,} bytes at most; this has {size:,}.")


def read_inputs(definition: Definition, payload: JsonValue) -> dict[str, Any]:
    """The declared inputs, from what came and from their defaults. Raises Invalid with all that is wrong."""
    given: Mapping[str, Any] = payload if isinstance(payload, dict) else {}
    found: dict[str, Any] = {}
    problems: list[str] = []
    for name, declared in definition.inputs.items():
        if name not in given and declared.required and declared.default is None:
            problems.append(f"{name} is missing")
            continue
        value = given.get(name, declared.default)
        if name in given and (problem := _problem(declared, value)):
            problems.append(f"{name} {problem}")
        found[name] = value
    if problems:
        raise Invalid(
            f"The inputs of {definition.name} do not fit: {'; '.join(problems)}.",
            hint=f"It takes: {', '.join(_described(*one) for one in definition.inputs.items())}.",
            field=problems[0].split(" ")[0],
            detail={"problems": problems},
        )
    return found


def _problem(declared: Input, value: JsonValue) -> str | None:
    if declared.type is not InputType.ANY and not jsonschema_rs.is_valid(
        {"type": declared.type.value}, value
    ):
        return f"is to be {_article(declared.type)}"
    if declared.enum is not None and value not in declared.enum:
        return f"is to be one of {', '.join(json.dumps(one, ensure_ascii=False) for one in declared.enum)}"
    return None


def _article(kind: InputType) -> str:
    return f"an {kind.value}" if kind.value[0] in "aio" else f"a {kind.value}"


def _described(name: str, declared: Input) -> str:
    kind = "anything" if declared.type is InputType.ANY else declared.type.value
    return f"{name} ({kind}{', required' if declared.required else ''})"
