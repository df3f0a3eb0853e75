"""The one form of a definition, found in its text whatever ways people have of writing it down."""

import json
from collections.abc import Mapping
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from forge.documents.nodes import Node, Shape
from forge.documents.text import unusable_text
from forge.workflows.definition.leniency import loosen
from forge.workflows.definition.mistakes import faults, path_of
from forge.workflows.definition.models import Definition
from forge.workflows.definition.notation import value_of
from forge.workflows.definition.source import MAX_DEPTH, Fault, Path, Source

_MAX_REPAIRS = 4


def form_of(source: Source) -> tuple[Definition | None, list[Fault]]:
    """The definition by its form alone, whatever it may mean; or what keeps it from being one."""
    if "\\" in source.text and (fault := _unusable(source.root)):
        return None, [fault]
    data = cast("dict[str, Any]", value_of(source.root))
    found = loosen(data)
    definition, errors = _validated(data, source)
    if definition is None or found:
        return None, [*found, *faults(errors, data)]
    return definition, []


def parse(data: Mapping[str, Any]) -> Definition | None:
    """From JSON, unless something is wrong with it or has to be looked at as it is spelled."""
    copy: dict[str, Any] = json.loads(json.dumps(data))
    if loosen(copy):
        return None
    try:
        return Definition.model_validate(copy)
    except ValidationError:
        return None


def is_json(data: object) -> bool:
    """Nothing but what JSON has, all keys texts, no deeper than is read."""
    try:
        json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return _is_keyed_and_shallow(data, MAX_DEPTH)


def _is_keyed_and_shallow(data: Any, depth: int) -> bool:
    if isinstance(data, dict):
        entries = cast("dict[Any, Any]", data)
        return depth > 0 and all(
            isinstance(key, str) and _is_keyed_and_shallow(value, depth - 1) for key, value in entries.items()
        )
    if isinstance(data, (list, tuple)):
        items = cast("list[Any]", data)
        return depth > 0 and all(_is_keyed_and_shallow(item, depth - 1) for item in items)
    return True


def _unusable(node: Node, path: Path = ()) -> Fault | None:
    """What cannot be kept anywhere, written as an escape."""
    match node.shape:
        case Shape.SCALAR:
            problem = unusable_text(node.text)
            return Fault(path, problem.message, problem.hint) if problem else None
        case Shape.LIST:
            inner = [(item, (*path, index)) for index, item in enumerate(node.items)]
        case Shape.MAPPING:
            pairs = list(node.entries())
            if any(unusable_text(key.text) for key, _ in pairs):
                return Fault(path, "There is a character in a key here that cannot be kept.", "Remove it.")
            inner = [(value, (*path, key.text)) for key, value in pairs]
    return next((fault for one in inner if (fault := _unusable(*one))), None)


def _validated(data: dict[str, Any], source: Source) -> tuple[Definition | None, list[ErrorDetails]]:
    errors: list[ErrorDetails] = []
    for _ in range(_MAX_REPAIRS):
        try:
            return Definition.model_validate(data), []
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if not any([_repair(data, one, source) for one in errors]):
            break
    return None, errors


def _repair(data: dict[str, Any], error: ErrorDetails, source: Source) -> bool:
    """A number where a text is meant is its spelling, one thing where a list is meant a list of it, and an empty key is
    no key."""
    path = path_of(error["loc"])
    container = _container(data, path)
    if container is None:
        return False
    key, value = path[-1], container[path[-1]]
    if value is None and isinstance(container, dict):
        del container[key]
    elif error["type"] == "string_type" and isinstance(value, (bool, int, float)):
        node = source.node(path)
        if node is None or node.shape is not Shape.SCALAR:
            return False
        container[key] = node.text
    elif error["type"] == "list_type" and isinstance(value, (str, int, float)):
        container[key] = [value]
    else:
        return False
    return True


def _container(data: Any, path: Path) -> Any:
    """What holds the value at a path, if there is one."""
    for part in path[:-1]:
        if not isinstance(data, (dict, list)):
            return None
        data = cast("Any", data)[part]
    is_there = (
        path[-1] in data if isinstance(data, dict) else isinstance(data, list) and isinstance(path[-1], int)
    )
    return cast("Any", data) if path and is_there else None
