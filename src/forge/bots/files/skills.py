"""`skills.toml`: which skills of the library a bot has."""

import json
import re
import tomllib
from collections.abc import Iterator
from typing import Any, cast

from pydantic import ValidationError

from forge.bots.files.frontmatter import BOM
from forge.bots.files.parsed import Parsed, parsed
from forge.bots.files.places import Places
from forge.bots.files.text import unusable_text
from forge.bots.files.toml_lines import KeyLines, first_spoiler
from forge.bots.files.wording import explain, unknown
from forge.bots.models import BotFile, FileProblem, SkillEntry

_BARE = re.compile(r"[A-Za-z0-9_-]+")


class _Mistake(Exception):
    """Something is wrong at a key; raised and caught while reading one file."""

    def __init__(self, path: tuple[str, ...], message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.message = message
        self.hint = hint


def parse_skills(text: str) -> Parsed[list[SkillEntry]]:
    if problem := unusable_text(BotFile.SKILLS, text):
        return Parsed(None, [problem])
    text = text.removeprefix(BOM).replace("\r\n", "\n")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return Parsed(None, [_not_toml(text, "This is not TOML.", _SYNTAX)])
    except RecursionError:
        return Parsed(None, [_not_toml(text, "This is nested too deeply.", None)])
    entries: list[SkillEntry] = []
    mistakes: list[_Mistake] = []
    for result in _entries(content):
        mistakes.append(result) if isinstance(result, _Mistake) else entries.append(result)
    return parsed(entries, _placed(text, mistakes))


_SYNTAX = 'Each skill is a table `[skills.<name>]` with lines such as `enabled = true` or `version = "1.0"`.'


def _not_toml(text: str, message: str, hint: str | None) -> FileProblem:
    spoiler = first_spoiler(text)
    line, column = Places(text).at(spoiler.start) if spoiler else (1, 1)
    return FileProblem(file=BotFile.SKILLS, line=line, column=column, message=message, hint=hint)


def _placed(text: str, mistakes: list[_Mistake]) -> Iterator[FileProblem]:
    if not mistakes:
        return
    lines = KeyLines(text)
    for mistake in mistakes:
        line, column = lines.at(mistake.path)
        yield FileProblem(
            file=BotFile.SKILLS, line=line, column=column, message=mistake.message, hint=mistake.hint
        )


def _entries(content: dict[str, Any]) -> "Iterator[SkillEntry | _Mistake]":
    for name in content:
        if name != "skills":
            yield _Mistake((name,), *unknown(name, ["skills"]))
    skills = content.get("skills", {})
    if not isinstance(skills, dict):
        yield _Mistake(("skills",), "`skills` must be a table.", _SYNTAX)
        return
    for name, table in cast("dict[str, Any]", skills).items():
        yield from _entry(name, table)


def _entry(name: str, table: Any) -> "Iterator[SkillEntry | _Mistake]":
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
        yield SkillEntry.model_validate({**given, "skill_name": name}, strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False, include_input=False):
            yield _mistake(place, one)


def _mistake(place: tuple[str, ...], error: Any) -> _Mistake:
    key = str(error["loc"][0])
    path = (*place, *(str(part) for part in error["loc"]))
    if error["type"] == "extra_forbidden":
        return _Mistake(path, *unknown(key, SkillEntry.model_fields))
    return _Mistake(path, *explain(key, error["type"], error.get("ctx", {}), error["msg"]))


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
    if entry.capabilities:
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
