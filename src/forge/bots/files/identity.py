"""`IDENTITY.md`: how a bot looks, and what it runs on."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from forge.bots.files.parsed import Parsed, parsed
from forge.bots.files.validation import validate
from forge.bots.models import BotFile, Identity
from forge.documents.frontmatter import (
    FrontMatter,
    Unusable,
    read_front_matter,
    write_front_matter,
    write_yaml,
)
from forge.documents.nodes import Node, read_yaml
from forge.documents.places import LINE_END
from forge.documents.problem import Problem
from forge.documents.text import unusable_text
from forge.errors import Invalid

NARROW_PROVIDER = "anthropic"
"""Takes temperatures up to 1 only."""


def parse_identity(text: str) -> Parsed[Identity]:
    if problem := unusable_text(text):
        return parsed(BotFile.IDENTITY, None, [problem])
    try:
        front = read_front_matter(text)
    except Unusable as error:
        return parsed(BotFile.IDENTITY, None, [error.problem])
    identity, problems = validate(Identity, front)
    if identity is not None:
        problems += _combinations(identity, front)
    return parsed(BotFile.IDENTITY, identity, problems)


def _combinations(identity: Identity, front: FrontMatter) -> Iterator[Problem]:
    """What is fine by itself and not together."""
    provider, temperature = front.find("provider"), front.find("temperature")
    if identity.provider and not identity.model and provider:
        hint = "Add a line `model: …`, or remove `provider` to use the model chosen for bots."
        yield front.problem("`provider` is named without a `model`.", provider[0], hint=hint)
    if identity.temperature > 1 and identity.provider in (NARROW_PROVIDER, None) and temperature:
        hint = "Lower it, or name a provider that takes more."
        message = "`temperature` is above 1, and Anthropic's models take 1 at most."
        yield front.problem(message, temperature[0], hint=hint, is_warning=True)


def render_identity(identity: Identity) -> str:
    return write_front_matter(identity.model_dump(mode="json", exclude_none=True), "")


def change_identity(text: str, changes: Mapping[str, Any]) -> str:
    """The file with these keys set, or removed by None. Everything else stays as it is, comments included."""
    front = _readable(text)
    given: dict[str, Any] = to_jsonable_python(dict(changes))
    values = {key: value for key, value in given.items() if not _says(front, key, value)}
    edits = [edit for key, value in values.items() if (edit := _edit(front, key, value))]
    changed = _edited(text, edits)
    _check_only_these_changed(front, changed, values)
    return changed


def _readable(text: str) -> FrontMatter:
    if problem := unusable_text(text):
        raise _unchangeable(problem)
    try:
        front = read_front_matter(text)
    except Unusable as error:
        raise _unchangeable(error.problem) from error
    if front.root.is_flow:
        raise _unchangeable(front.problem("The front matter is written in braces.", front.root))
    return front


def _unchangeable(problem: Problem) -> Invalid:
    where = f"{BotFile.IDENTITY.file_name}, line {problem.line}: "
    return Invalid(where + problem.message, hint=problem.hint or "Write one key per line.")


def _says(front: FrontMatter, key: str, value: Any) -> bool:
    """Whether the file has this value already, in whatever spelling."""
    identity, _ = validate(Identity, front)
    if identity is None or value is None or front.find(key) is None:
        return False
    return identity.model_dump(mode="json").get(key) == value


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


def _check_only_these_changed(front: FrontMatter, text: str, values: Mapping[str, Any]) -> None:
    wanted: dict[str, Any] = {key: value for key, value in front.root.plain().items() if key not in values}
    wanted |= {key: _read_back(key, value) for key, value in values.items() if value is not None}
    try:
        after = read_front_matter(text)
    except Unusable as error:
        raise _unchangeable(error.problem) from error
    if after.root.plain() != wanted or after.text[after.end :] != front.text[front.end :]:
        message = "The front matter is written in a way that cannot be changed key by key."
        raise _unchangeable(front.problem(message, front.root))
