"""Front matter against a model: every mistake at the line of the key, or of the item of a list, that has it."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from forge.bots.files.parsed import MAX_PROBLEMS, PATTERN_HINTS
from forge.documents.frontmatter import FrontMatter
from forge.documents.nodes import Node, Shape
from forge.documents.problem import Problem
from forge.documents.wording import explain, unknown

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], front: FrontMatter, **given: Any) -> tuple[M | None, list[Problem]]:
    """`given` are fields that are no keys of the front matter. A key without a value counts as not there."""
    keys = [name for name in model.model_fields if name not in given]
    problems = list(_unknown_keys(front, keys))
    values = {
        key.text: _filled(value)
        for key, value in front.root.entries()
        if key.text in keys and not value.is_null
    }
    try:
        return model.model_validate({**values, **given}), problems
    except ValidationError as error:
        return None, problems + [_problem(front, one) for one in error.errors(include_url=False)]


def _unknown_keys(front: FrontMatter, keys: list[str]) -> Iterator[Problem]:
    strangers = (key for key, _ in front.root.entries() if key.text not in keys)
    for key in islice(strangers, MAX_PROBLEMS):
        message, hint = unknown(key.text, keys)
        yield front.problem(message, key, hint=hint)


def _filled(node: Node) -> Any:
    """An item without a value is an empty text, so that it is found."""
    if node.shape is Shape.LIST:
        return [item.text if item.shape is Shape.SCALAR else item.plain() for item in node.items]
    return node.plain()


def _problem(front: FrontMatter, error: ErrorDetails) -> Problem:
    name, *path = error["loc"]
    message, hint = explain(error, PATTERN_HINTS)
    pair = front.find(str(name))
    if pair is None:
        return front.problem(message, hint=hint)
    if error["type"] == "missing":
        return front.problem(
            f"`{name}` is empty.", pair[0], hint="Write a value behind it, in quotes if need be."
        )
    is_item = bool(path) and isinstance(path[0], int)
    return front.problem(message, pair[1].items[int(path[0])] if is_item else pair[0], hint=hint)
