"""Changes front matter key by key: everything that is not named stays as it is, comments included."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from forge.bots.files.validation import validate
from forge.bots.models import BotFile
from forge.documents.frontmatter import FrontMatter, Unusable, read_front_matter, write_yaml
from forge.documents.nodes import Node, read_yaml
from forge.documents.places import LINE_END
from forge.documents.problem import Problem
from forge.documents.text import unusable_text
from forge.errors import Invalid


def change_keys(
    file: BotFile, model: type[BaseModel], text: str, changes: Mapping[str, Any], **given: Any
) -> str:
    """The file with these keys set, or removed by None. `given` are fields of the model that are no keys."""
    front = _readable(file, text)
    wanted: dict[str, Any] = to_jsonable_python(dict(changes))
    said = _said(front, model, **given)
    values = {key: value for key, value in wanted.items() if key not in said or said[key] != value}
    edits = [edit for key, value in values.items() if (edit := _edit(front, key, value))]
    changed = _edited(text, edits)
    _check_only_these_changed(file, front, changed, values)
    return changed


def _readable(file: BotFile, text: str) -> FrontMatter:
    if problem := unusable_text(text):
        raise _unchangeable(file, problem)
    try:
        front = read_front_matter(text)
    except Unusable as error:
        raise _unchangeable(file, error.problem) from error
    if front.root.is_flow:
        raise _unchangeable(file, front.problem("The front matter is written in braces.", front.root))
    return front


def _unchangeable(file: BotFile, problem: Problem) -> Invalid:
    where = f"{file.file_name}, line {problem.line}: "
    return Invalid(where + problem.message, hint=problem.hint or "Write one key per line.")


def _said(front: FrontMatter, model: type[BaseModel], **given: Any) -> dict[str, Any]:
    """What the file has already, in whatever spelling."""
    found, _ = validate(model, front, **given)
    values: dict[str, Any] = found.model_dump(mode="json") if found else {}
    return {key: value for key, value in values.items() if value is not None and front.find(key)}


def _edit(front: FrontMatter, key: str, value: Any) -> tuple[int, int, str] | None:
    """Which part of the text becomes what; None when nothing does."""
    pair = front.find(key)
    if value is None:
        return _removal(front, *pair) if pair else None
    entry = write_yaml({key: value}).rstrip("\n")
    if pair is None:
        newline, indent = _newline(front), " " * _indent(front)
        return front.end, front.end, indent + _laid_out(front, entry) + newline
    return (
        front.start + pair[0].start,
        front.start + max(pair[1].end, pair[0].end + 1),
        _laid_out(front, entry),
    )


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """What is put at the same place keeps its order."""
    pieces: list[str] = []
    place = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[0]):
        pieces += [text[place:start], new]
        place = end
    return "".join([*pieces, text[place:]])


def _removal(front: FrontMatter, key: Node, value: Node) -> tuple[int, int, str]:
    """Whole lines, with a comment at their end."""
    start = front.start + key.start - _indent(front)
    behind = LINE_END.search(front.text, front.start + max(key.end, value.end))
    return start, behind.end() if behind else front.end, ""


def _laid_out(front: FrontMatter, entry: str) -> str:
    return entry.replace("\n", _newline(front) + " " * _indent(front))


def _newline(front: FrontMatter) -> str:
    """As the first line of the file ends."""
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
    except Unusable as error:
        raise _unchangeable(file, error.problem) from error
    if after.root.plain() != wanted or after.text[after.end :] != front.text[front.end :]:
        message = "The front matter is written in a way that cannot be changed key by key."
        raise _unchangeable(file, front.problem(message, front.root))
