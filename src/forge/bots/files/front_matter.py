"""Validate front matter, and edit single keys without changing the rest of the file."""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, to_jsonable_python

from forge.bots.files.parsed import MAX_PROBLEMS, PATTERN_HINTS
from forge.bots.models import BotFile
from forge.documents.frontmatter import FrontMatter, UnreadableFrontMatter, read_front_matter, write_yaml
from forge.documents.problems import LINE_END, Problem, find_unusable_text
from forge.documents.validation_messages import explain_error, unknown_key
from forge.documents.yaml_nodes import Node, Shape, read_yaml
from forge.errors import Invalid

M = TypeVar("M", bound=BaseModel)


def validate(model: type[M], front: FrontMatter, **fields: Any) -> tuple[M | None, list[Problem]]:
    """Validate the keys against a model. `fields` are model fields that are not keys; a key without a value is ignored."""
    keys = [name for name in model.model_fields if name not in fields]
    problems = list(_unknown_keys(front, keys))
    values = {
        key.text: _node_value(value)
        for key, value in front.root.entries()
        if key.text in keys and not value.is_null
    }
    try:
        return model.model_validate({**values, **fields}), problems
    except ValidationError as error:
        return None, problems + [_problem(front, one) for one in error.errors(include_url=False)]


def _unknown_keys(front: FrontMatter, keys: list[str]) -> Iterator[Problem]:
    unknown = (key for key, _ in front.root.entries() if key.text not in keys)
    for key in islice(unknown, MAX_PROBLEMS):
        message, hint = unknown_key(key.text, keys)
        yield front.problem(message, key, hint=hint)


def _node_value(node: Node) -> Any:
    """Return the value of a node. A list item without a value becomes an empty string, so that validation reports it."""
    if node.shape is Shape.LIST:
        return [item.text if item.shape is Shape.SCALAR else item.plain() for item in node.items]
    return node.plain()


def _problem(front: FrontMatter, error: ErrorDetails) -> Problem:
    name, *path = error["loc"]
    message, hint = explain_error(error, PATTERN_HINTS)
    pair = front.find(str(name))
    if pair is None:
        return front.problem(message, hint=hint)
    if error["type"] == "missing":
        return front.problem(f"`{name}` is empty.", pair[0], hint="Add a value, in quotes if necessary.")
    is_item = bool(path) and isinstance(path[0], int)
    return front.problem(message, pair[1].items[int(path[0])] if is_item else pair[0], hint=hint)


def change_keys(
    file: BotFile, model: type[BaseModel], text: str, changes: Mapping[str, Any], **fields: Any
) -> str:
    """Return the file with these keys set, or removed if None. `fields` are model fields that are not keys."""
    front = _read_editable(file, text)
    wanted: dict[str, Any] = to_jsonable_python(dict(changes))
    current = _current_values(front, model, **fields)
    values = {key: value for key, value in wanted.items() if key not in current or current[key] != value}
    edits = [edit for key, value in values.items() if (edit := _edit_for_key(front, key, value))]
    changed = _apply_edits(text, edits)
    _check_only_these_changed(file, front, changed, values)
    return changed


def _read_editable(file: BotFile, text: str) -> FrontMatter:
    if problem := find_unusable_text(text):
        raise _not_editable(file, problem)
    try:
        front = read_front_matter(text)
    except UnreadableFrontMatter as error:
        raise _not_editable(file, error.problem) from error
    if front.root.is_flow:
        raise _not_editable(file, front.problem("The front matter uses flow style (braces).", front.root))
    return front


def _not_editable(file: BotFile, problem: Problem) -> Invalid:
    where = f"{file.file_name}, line {problem.line}: "
    return Invalid(where + problem.message, hint=problem.hint or "Write one key per line.")


def _current_values(front: FrontMatter, model: type[BaseModel], **fields: Any) -> dict[str, Any]:
    """Return the parsed values of the file."""
    found, _ = validate(model, front, **fields)
    values: dict[str, Any] = found.model_dump(mode="json") if found else {}
    return {key: value for key, value in values.items() if value is not None and front.find(key)}


def _edit_for_key(front: FrontMatter, key: str, value: Any) -> tuple[int, int, str] | None:
    """Return the replacement `(start, end, text)` that sets a key; None if nothing changes."""
    pair = front.find(key)
    if value is None:
        return _removal(front, *pair) if pair else None
    entry = write_yaml({key: value}).rstrip("\n")
    if pair is None:
        newline, indent = _newline(front), " " * _indent(front)
        return front.end, front.end, indent + _indented(front, entry) + newline
    return (
        front.start + pair[0].start,
        front.start + max(pair[1].end, pair[0].end + 1),
        _indented(front, entry),
    )


def _apply_edits(text: str, edits: list[tuple[int, int, str]]) -> str:
    """Apply replacements; insertions at the same position keep their order."""
    pieces: list[str] = []
    position = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        pieces += [text[position:start], new]
        position = end
    return "".join([*pieces, text[position:]])


def _removal(front: FrontMatter, key: Node, value: Node) -> tuple[int, int, str]:
    """Remove the whole lines of a key, including a trailing comment."""
    start = front.start + key.start - _indent(front)
    line_end = LINE_END.search(front.text, front.start + max(key.end, value.end))
    return start, line_end.end() if line_end else front.end, ""


def _indented(front: FrontMatter, entry: str) -> str:
    return entry.replace("\n", _newline(front) + " " * _indent(front))


def _newline(front: FrontMatter) -> str:
    """Return the line ending of the first line."""
    found = LINE_END.search(front.text)
    return found[0] if found else "\n"


def _indent(front: FrontMatter) -> int:
    before = front.text[front.start : front.start + front.root.start]
    return len(before) - max(before.rfind("\n"), before.rfind("\r")) - 1


def _read_back(key: str, value: Any) -> Any:
    return read_yaml(write_yaml({key: value})).plain()[key]


def _check_only_these_changed(
    file: BotFile, front: FrontMatter, text: str, values: Mapping[str, Any]
) -> None:
    wanted: dict[str, Any] = {key: value for key, value in front.root.plain().items() if key not in values}
    wanted |= {key: _read_back(key, value) for key, value in values.items() if value is not None}
    try:
        after = read_front_matter(text)
    except UnreadableFrontMatter as error:
        raise _not_editable(file, error.problem) from error
    if after.root.plain() != wanted or after.text[after.end :] != front.text[front.end :]:
        message = "The layout of the front matter does not allow changing single keys."
        raise _not_editable(file, front.problem(message, front.root))
