"""Front matter against a model: every mistake at the line of the key, or of the item of a list, that has it."""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forge.bots.files.frontmatter import FrontMatter
from forge.bots.files.nodes import Node, Shape
from forge.bots.files.wording import explain, unknown
from forge.bots.models import FileProblem

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], front: FrontMatter, **given: Any) -> tuple[M | None, list[FileProblem]]:
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
        found = error.errors(include_url=False, include_input=False)
        return None, problems + [_problem(front, one) for one in found]


def _unknown_keys(front: FrontMatter, keys: list[str]) -> Iterator[FileProblem]:
    for key, _ in front.root.entries():
        if key.text not in keys:
            message, hint = unknown(key.text, keys)
            yield front.problem(message, key, hint=hint)


def _filled(node: Node) -> Any:
    """An item without a value is an empty text, so that it is found."""
    if node.shape is Shape.LIST:
        return [item.text if item.shape is Shape.SCALAR else item.plain() for item in node.items]
    return node.plain()


def _problem(front: FrontMatter, error: Any) -> FileProblem:
    name, *path = error["loc"]
    pair = front.find(str(name))
    message, hint = explain(str(name), error["type"], error.get("ctx", {}), error["msg"])
    if pair is None:
        return front.problem(message, hint=hint)
    node = pair[0]
    if path and isinstance(path[0], int):
        node = pair[1].items[path[0]]
        message, hint = explain(
            f"{name}, item {path[0] + 1}", error["type"], error.get("ctx", {}), error["msg"]
        )
    return front.problem(message, node, hint=hint)
