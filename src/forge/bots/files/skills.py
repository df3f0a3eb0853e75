"""`skills.toml`: which skills of the library a bot has."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from forge.bots.files.parsed import MAX_PROBLEMS, PATTERN_HINTS, Parsed, parsed
from forge.bots.files.toml_lines import KeyPlaces, TooDeep, first_spoiler, read_toml
from forge.bots.models import BotFile, SkillEntry
from forge.documents.frontmatter import BOM
from forge.documents.places import Places
from forge.documents.problem import Problem
from forge.documents.text import unusable_text
from forge.documents.wording import explain, unknown
from forge.skills.models import Capability

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class _Mistake:
    """Something is wrong at a key."""

    path: tuple[str, ...]
    message: str
    hint: str | None = None
    is_warning: bool = False


def parse_skills(text: str) -> Parsed[list[SkillEntry]]:
    if problem := unusable_text(text):
        return parsed(BotFile.SKILLS, None, [problem])
    text = text.removeprefix(BOM).replace("\r\n", "\n")
    try:
        content = read_toml(text)
    except TooDeep as error:
        return parsed(
            BotFile.SKILLS, None, [_problem(text, error.offset, "This is nested too deeply.", _BRACKETS)]
        )
    except ValueError:
        spoiler = first_spoiler(text)
        return parsed(
            BotFile.SKILLS,
            None,
            [_problem(text, spoiler.start if spoiler else 0, "This is not TOML.", _SYNTAX)],
        )
    found = list(_entries(content))
    mistakes = sorted(
        (result for result in found if isinstance(result, _Mistake)), key=lambda mistake: mistake.is_warning
    )
    entries = [result for result in found if isinstance(result, SkillEntry)]
    return parsed(BotFile.SKILLS, entries, _placed(text, mistakes[:MAX_PROBLEMS]))


_BRACKETS = "Perhaps a bracket is not closed."
_SYNTAX = 'Each skill is a table `[skills.<name>]` with lines such as `enabled = true` or `version = "1.0"`.'


def _problem(text: str, offset: int, message: str, hint: str | None) -> Problem:
    line, column = Places(text).at(offset)
    return Problem(line, column, message, hint)


def _placed(text: str, mistakes: list[_Mistake]) -> Iterator[Problem]:
    if not mistakes:
        return
    places = KeyPlaces(text)
    for mistake in mistakes:
        problem = _problem(text, places.at(mistake.path), mistake.message, mistake.hint)
        yield replace(problem, is_warning=mistake.is_warning)


def _entries(content: dict[str, Any]) -> Iterator[SkillEntry | _Mistake]:
    for name in content:
        if name != "skills":
            yield _Mistake((name,), *unknown(name, ["skills"]))
    skills = content.get("skills", {})
    if not isinstance(skills, dict):
        yield _Mistake(("skills",), "`skills` must be a table.", _SYNTAX)
        return
    for name, table in cast("dict[str, Any]", skills).items():
        yield from _entry(name, table)


def _entry(name: str, table: Any) -> Iterator[SkillEntry | _Mistake]:
    place = ("skills", name)
    if not isinstance(table, dict):
        yield _Mistake(place, f"`{name[:60]}` must be a table.", _SYNTAX)
        return
    given = cast("dict[str, Any]", table)
    if given.get("skill_name", name) != name:
        yield _Mistake(
            (*place, "skill_name"), "`skill_name` is another than the table's.", "Remove the line."
        )
        return
    try:
        entry = SkillEntry.model_validate({**given, "skill_name": name}, strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            yield _mistake(place, one)
        return
    yield entry
    for word in entry.capabilities or ():
        if word not in set(Capability):
            message = f"There is no capability `{word[:60]}`: the skill gets nothing by it."
            hint = f"There are {', '.join(Capability)}."
            yield _Mistake((*place, "capabilities"), message, hint, is_warning=True)


def _mistake(place: tuple[str, ...], error: ErrorDetails) -> _Mistake:
    path = (*place, *(str(part) for part in error["loc"]))
    if error["type"] == "extra_forbidden":
        return _Mistake(path, *unknown(path[-1], SkillEntry.model_fields))
    return _Mistake(path, *explain(error, PATTERN_HINTS))


def render_skills(entries: list[SkillEntry]) -> str:
    return "\n".join(_table(entry) for entry in entries)


def _table(entry: SkillEntry) -> str:
    header = f"skills.{_key(entry.skill_name)}"
    rows = [
        f"[{header}]",
        f"skill_name = {_text(entry.skill_name)}",
        f"enabled = {str(entry.enabled).lower()}",
    ]
    if entry.version is not None:
        rows.append(f"version = {_text(entry.version)}")
    if entry.capabilities is not None:
        rows.append(f"capabilities = [{', '.join(_text(one) for one in entry.capabilities)}]")
    if entry.overrides:
        rows.append(f"[{header}.overrides]")
        rows += [f"{_key(key)} = {_text(value)}" for key, value in entry.overrides.items()]
    return "\n".join(rows) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _text(text: str) -> str:
    """A text of JSON is one of TOML, but for one character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
