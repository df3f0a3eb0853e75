"""Validate the payload of a run and read its inputs from it."""

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
from pydantic import JsonValue

from forge.errors import Invalid, TooLarge
from forge.workflows.definition.models import Definition, Input, InputType
from forge.workflows.models import MAX_PAYLOAD


def check_payload(payload: JsonValue) -> None:
    """Raise if the payload is not JSON or is too large."""
    try:
        size = len(json.dumps(payload, allow_nan=False, ensure_ascii=False).encode())
    except ValueError as error:
        raise Invalid(f"The payload is not valid JSON: {error}.") from error
    if size > MAX_PAYLOAD:
        raise TooLarge(f"The payload has {size:,} bytes; the maximum is {MAX_PAYLOAD:,}.")


def read_inputs(definition: Definition, payload: JsonValue) -> dict[str, Any]:
    """Read the declared inputs from the payload and their defaults. Raises Invalid with all problems."""
    values: Mapping[str, Any] = payload if isinstance(payload, dict) else {}
    found: dict[str, Any] = {}
    problems: list[str] = []
    for name, declared in definition.inputs.items():
        if name not in values and declared.required and declared.default is None:
            problems.append(f"{name} is missing")
            continue
        value = values.get(name, declared.default)
        if name in values and (problem := _problem(declared, value)):
            problems.append(f"{name} {problem}")
        found[name] = value
    if problems:
        raise Invalid(
            f"Invalid inputs for {definition.name}: {'; '.join(problems)}.",
            hint=f"Inputs: {', '.join(_described(*one) for one in definition.inputs.items())}.",
            field=problems[0].split(" ")[0],
            detail={"problems": problems},
        )
    return found


def _problem(declared: Input, value: JsonValue) -> str | None:
    if declared.type is not InputType.ANY and not jsonschema_rs.is_valid(
        {"type": declared.type.value}, value
    ):
        return f"must be {_article(declared.type)}"
    if declared.enum is not None and value not in declared.enum:
        return f"must be one of {', '.join(json.dumps(one, ensure_ascii=False) for one in declared.enum)}"
    return None


def _article(kind: InputType) -> str:
    return f"an {kind.value}" if kind.value[0] in "aio" else f"a {kind.value}"


def _described(name: str, declared: Input) -> str:
    kind = "anything" if declared.type is InputType.ANY else declared.type.value
    return f"{name} ({kind}{', required' if declared.required else ''})"
