"""Parse, write and edit `skills.toml`."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from forge.bots.files.parsed import MAX_PROBLEMS, PATTERN_HINTS, Parsed, parse_result
from forge.bots.files.toml_positions import (
    KeyPositions,
    Statement,
    TooDeep,
    first_invalid_statement,
    read_toml,
    statements,
)
from forge.bots.models import BotFile, SkillEntry
from forge.documents.frontmatter import BOM
from forge.documents.problems import Problem, TextPositions, find_unusable_text
from forge.documents.validation_messages import explain_error, unknown_key
from forge.skills.models import Capability

_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class _KeyProblem:
    """A problem at a key."""

    path: tuple[str, ...]
    message: str
    hint: str | None = None
    is_warning: bool = False


def parse_skills(text: str) -> Parsed[list[SkillEntry]]:
    if problem := find_unusable_text(text):
        return parse_result(BotFile.SKILLS, None, [problem])
    text = text.removeprefix(BOM).replace("\r\n", "\n")
    try:
        content = read_toml(text)
    except TooDeep as error:
        return parse_result(
            BotFile.SKILLS, None, [_problem(text, error.offset, "This is nested too deeply.", _BRACKETS)]
        )
    except ValueError:
        invalid = first_invalid_statement(text)
        return parse_result(
            BotFile.SKILLS,
            None,
            [_problem(text, invalid.start if invalid else 0, "The file is not valid TOML.", _SYNTAX)],
        )
    found = list(_entries(content))
    key_problems = sorted(
        (result for result in found if isinstance(result, _KeyProblem)),
        key=lambda problem: problem.is_warning,
    )
    entries = [result for result in found if isinstance(result, SkillEntry)]
    return parse_result(BotFile.SKILLS, entries, _with_positions(text, key_problems[:MAX_PROBLEMS]))


_BRACKETS = "Check for an unclosed bracket."
_SYNTAX = 'Each skill is a table `[skills.<name>]` with keys such as `enabled = true` or `version = "1.0"`.'


def _problem(text: str, offset: int, message: str, hint: str | None) -> Problem:
    line, column = TextPositions(text).at(offset)
    return Problem(line, column, message, hint)


def _with_positions(text: str, key_problems: list[_KeyProblem]) -> Iterator[Problem]:
    if not key_problems:
        return
    positions = KeyPositions(text)
    for found in key_problems:
        problem = _problem(text, positions.at(found.path), found.message, found.hint)
        yield replace(problem, is_warning=found.is_warning)


def _entries(content: dict[str, Any]) -> Iterator[SkillEntry | _KeyProblem]:
    for name in content:
        if name != "skills":
            yield _KeyProblem((name,), *unknown_key(name, ["skills"]))
    skills = content.get("skills", {})
    if not isinstance(skills, dict):
        yield _KeyProblem(("skills",), "`skills` must be a table.", _SYNTAX)
        return
    for name, table in cast("dict[str, Any]", skills).items():
        yield from _entry(name, table)


def _entry(name: str, table: Any) -> Iterator[SkillEntry | _KeyProblem]:
    path = ("skills", name)
    if not isinstance(table, dict):
        yield _KeyProblem(path, f"`{name[:60]}` must be a table.", _SYNTAX)
        return
    fields = cast("dict[str, Any]", table)
    if fields.get("skill_name", name) != name:
        yield _KeyProblem(
            (*path, "skill_name"), "`skill_name` differs from the name of the table.", "Remove the line."
        )
        return
    try:
        entry = SkillEntry.model_validate({**fields, "skill_name": name}, strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            yield _to_key_problem(path, one)
        return
    yield entry
    for word in entry.capabilities or ():
        if word not in set(Capability):
            message = f"Unknown capability `{word[:60]}`: it has no effect."
            hint = f"Known capabilities: {', '.join(Capability)}."
            yield _KeyProblem((*path, "capabilities"), message, hint, is_warning=True)


def _to_key_problem(table: tuple[str, ...], error: ErrorDetails) -> _KeyProblem:
    path = (*table, *(str(part) for part in error["loc"]))
    if error["type"] == "extra_forbidden":
        return _KeyProblem(path, *unknown_key(path[-1], SkillEntry.model_fields))
    return _KeyProblem(path, *explain_error(error, PATTERN_HINTS))


def render_skills(entries: list[SkillEntry]) -> str:
    return "\n".join(_table(entry) for entry in entries)


def _table(entry: SkillEntry) -> str:
    header = f"skills.{_key(entry.skill_name)}"
    rows = [
        f"[{header}]",
        f"skill_name = {_quoted_string(entry.skill_name)}",
        f"enabled = {str(entry.enabled).lower()}",
    ]
    if entry.version is not None:
        rows.append(f"version = {_quoted_string(entry.version)}")
    if entry.capabilities is not None:
        rows.append(f"capabilities = [{', '.join(_quoted_string(one) for one in entry.capabilities)}]")
    if entry.overrides:
        rows.append(f"[{header}.overrides]")
        rows += [f"{_key(key)} = {_quoted_string(value)}" for key, value in entry.overrides.items()]
    return "\n".join(rows) + "\n"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _quoted_string(name)


def _quoted_string(text: str) -> str:
    """Quote a string. JSON strings are valid TOML except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_TABLE = re.compile(r"\[(?!\[)")


def with_skill(text: str, entry: SkillEntry) -> str:
    """Replace a skill, or append it. The text must be valid."""
    entries = parse_skills(text).value or []
    names = [one.skill_name for one in entries]
    if entry.skill_name in names:
        wanted = [entry if one.skill_name == entry.skill_name else one for one in entries]
        return _verified(_replaced(text, entry.skill_name, render_skills([entry])), wanted)
    plain = _plain(text)
    appended = f"{plain.rstrip()}\n\n{render_skills([entry])}" if plain.strip() else render_skills([entry])
    return _verified(appended, [*entries, entry])


def without_skill(text: str, name: str) -> str:
    wanted = [one for one in parse_skills(text).value or [] if one.skill_name != name]
    return _verified(_replaced(text, name, ""), wanted)


def _verified(text: str | None, wanted: Sequence[SkillEntry]) -> str:
    """Return the edited text if it parses as wanted; otherwise rewrite the file. Some table layouts cannot be edited in place."""
    if text is not None and parse_skills(text).value == list(wanted):
        return text
    return render_skills(list(wanted))


def _replaced(text: str, name: str, table: str) -> str | None:
    """Replace the table of a skill; None if it is not one contiguous table."""
    text = _plain(text)
    found = statements(text)
    owners = list(_owners(found))
    own = [place for place, owner in enumerate(owners) if owner == name]
    if not own or own != list(range(own[0], own[-1] + 1)):
        return None
    start, end = found[own[0]].start, found[own[-1]].end
    before, after = text[:start], text[end:]
    if not table:
        return before.rstrip() + "\n\n" + after.lstrip("\n") if before.strip() else after.lstrip("\n")
    return before + table + after


def _owners(found: Sequence[Statement]) -> list[str | None]:
    """Return the skill whose table contains each statement; None for others."""
    owners: list[str | None] = []
    owner: str | None = None
    for statement in found:
        if _TABLE.match(statement.text):
            content = tomllib.loads(statement.text)
            owner = next(iter(content.get("skills", {})), None)
        owners.append(owner)
    return owners


def _plain(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")
