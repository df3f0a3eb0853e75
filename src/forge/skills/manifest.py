"""`SKILL.md` under the Agent Skills standard: front matter with six fields, and instructions below it.

What breaks the standard is a mistake, with its line. What other clients add to it is read, with a warning.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from yaml.nodes import ScalarNode
from yaml.resolver import Resolver

from forge.documents.frontmatter import FrontMatter, Unusable, read_front_matter, write_front_matter
from forge.documents.nodes import Node, Shape
from forge.documents.problem import Problem
from forge.documents.text import unseen_text, unusable_text
from forge.errors import Invalid
from forge.skills.models import (
    MAX_DESCRIPTION,
    MAX_SKILL_NAME,
    SKILL_MD,
    Manifest,
    SkillProblem,
    first_mistake,
    is_skill_name,
)
from forge.skills.oddities import oddities

MAX_SKILL_MD = 200_000
"""Characters of the whole file."""
MAX_COMPATIBILITY = 500
FIELDS = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
MAX_PROBLEMS = 50

_QUOTES = "\"'|>"
_TEXT_TAG = "tag:yaml.org,2002:str"
_NAME_HINT = "Use lower-case letters, digits and single hyphens, such as `release-notes`."


@dataclass(frozen=True)
class Reading:
    manifest: Manifest | None
    """None when there is a mistake."""
    body: str
    problems: list[SkillProblem]

    @property
    def mistake(self) -> SkillProblem | None:
        return first_mistake(self.problems)

    @property
    def error(self) -> Invalid:
        """Of one without a manifest, told where several skills are spoken of."""
        problem = self.problems[0]
        return Invalid(f"Its {SKILL_MD}, {problem.said}", hint=problem.hint)


def read_skill_md(text: str, folder: str) -> Reading:
    """Of the skill in the folder of this name."""
    if len(text) > MAX_SKILL_MD:
        return _nothing(Problem(1, 1, f"The file has more than {MAX_SKILL_MD:,} characters.", _LONG))
    if problem := unusable_text(text):
        return _nothing(problem)
    try:
        front = read_front_matter(text)
    except Unusable as error:
        return _nothing(error.problem)
    reader = _Reader(front)
    manifest = reader.read(folder)
    if unseen := unseen_text(text):
        reader.problems.append(unseen)
    by_place = sorted(reader.problems, key=lambda problem: (problem.is_warning, problem.line, problem.column))
    return Reading(manifest, front.body, [_told(problem) for problem in by_place[:MAX_PROBLEMS]])


_LONG = "Put what is not always needed into files of its own, beside it."


def _nothing(problem: Problem) -> Reading:
    return Reading(None, "", [_told(problem)])


def _told(problem: Problem) -> SkillProblem:
    return SkillProblem(
        line=problem.line, message=problem.message, hint=problem.hint, is_warning=problem.is_warning
    )


def write_skill_md(manifest: Manifest, body: str) -> str:
    values = manifest.model_dump(by_alias=True, exclude_none=True)
    if not manifest.metadata:
        del values["metadata"]
    return write_front_matter(values, body)


class _Reader:
    """Of one front matter; what is wrong gathers in `problems`."""

    def __init__(self, front: FrontMatter) -> None:
        self._front = front
        self.problems: list[Problem] = []

    def read(self, folder: str) -> Manifest | None:
        for key, _ in self._front.root.entries():
            if key.text not in FIELDS:
                self._warn(f"The standard has no field `{key.text[:60]}`.", key, hint=_EXTRA)
        values: dict[str, Any] = {
            "name": self._name(folder),
            "description": self._text("description", most=MAX_DESCRIPTION, is_needed=True),
            "license": self._text("license"),
            "compatibility": self._text("compatibility", most=MAX_COMPATIBILITY),
            "allowed_tools": self._tools(),
            "metadata": self._metadata(),
        }
        if any(not problem.is_warning for problem in self.problems):
            return None
        manifest = Manifest.model_validate(values)
        self.problems += _oddities(self._front, manifest)
        return manifest

    def _name(self, folder: str) -> str | None:
        name = self._text("name", is_needed=True)
        if name is None:
            return None
        key = self._key("name")
        if len(name) > MAX_SKILL_NAME:
            self._refuse(f"`name` has more than {MAX_SKILL_NAME} characters.", key)
        elif not is_skill_name(name):
            self._refuse("`name` is not written as it must be.", key, hint=_NAME_HINT)
        elif name != folder:
            hint = "The folder of a skill has its name: change one of the two."
            self._refuse(f"`name` is {name}, and the folder is {folder[:MAX_SKILL_NAME]}.", key, hint=hint)
        return name

    def _text(self, name: str, *, most: int | None = None, is_needed: bool = False) -> str | None:
        pair = self._front.find(name)
        if pair is None or pair[1].is_null:
            if is_needed:
                what = "is missing" if pair is None else "is empty"
                self._refuse(f"`{name}` {what}.", pair and pair[0], hint=f"Add a line `{name}: …`.")
            return None
        key, value = pair
        if value.shape is not Shape.SCALAR:
            self._refuse(
                f"`{name}` must be a text.", key, hint="Put the text in quotes, on the line of the key."
            )
        elif is_needed and not value.text.strip():
            self._refuse(f"`{name}` is empty.", key, hint="Write a value behind it.")
        elif most is not None and len(value.text) > most:
            self._refuse(f"`{name}` has {len(value.text):,} characters; there can be {most:,}.", key)
        return value.text

    def _tools(self) -> str | None:
        pair = self._front.find("allowed-tools")
        if pair is None or pair[1].shape is not Shape.LIST:
            return self._text("allowed-tools")
        self._warn("`allowed-tools` is a list; the standard has one text, with blanks between.", pair[0])
        return _as_text(pair[1])

    def _metadata(self) -> Mapping[str, str]:
        pair = self._front.find("metadata")
        if pair is None or pair[1].is_null:
            return {}
        key, value = pair
        if value.shape is not Shape.MAPPING:
            self._refuse(
                "`metadata` must be a list of keys with texts.", key, hint="Write `  version: '1.0'`."
            )
            return {}
        for name, node in value.entries():
            if what := self._stranger(node):
                hint = "It is read as text; put it in quotes, so that every client does."
                self._warn(f"`metadata.{name.text[:60]}` is {what}, and must be a text.", name, hint=hint)
        return {name.text: _as_text(node) for name, node in value.entries()}

    def _stranger(self, node: Node) -> str | None:
        """What other clients would take it for, if not for a text."""
        if node.shape is not Shape.SCALAR:
            return "a list" if node.shape is Shape.LIST else "a table"
        first = self._front.text[self._front.start + node.start :][:1]
        if first and first in _QUOTES:
            return None
        resolver: Any = Resolver()
        tag: str = resolver.resolve(ScalarNode, node.text, (True, False))
        return None if tag == _TEXT_TAG else _TAGS.get(tag, "not a text")

    def _key(self, name: str) -> Node | None:
        pair = self._front.find(name)
        return pair and pair[0]

    def _refuse(self, message: str, node: Node | None, *, hint: str | None = None) -> None:
        self.problems.append(self._front.problem(message, node, hint=hint))

    def _warn(self, message: str, node: Node, *, hint: str | None = None) -> None:
        self.problems.append(self._front.problem(message, node, hint=hint, is_warning=True))


_EXTRA = (
    f"It is left alone. There are {', '.join(f'`{name}`' for name in FIELDS)}; more belongs below `metadata`."
)
_TAGS = {
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "a truth value",
    "tag:yaml.org,2002:null": "empty",
    "tag:yaml.org,2002:timestamp": "a date",
}


def _as_text(node: Node) -> str:
    """Of a list its items with blanks between; of what is deeper its JSON."""
    if node.shape is Shape.SCALAR:
        return "" if node.is_null else node.text
    if node.shape is Shape.LIST and all(item.shape is Shape.SCALAR for item in node.items):
        return " ".join(item.text for item in node.items)
    return json.dumps(node.plain(), ensure_ascii=False)


def _oddities(front: FrontMatter, manifest: Manifest) -> Iterator[Problem]:
    pair = front.find("metadata")
    places = {key.text: key for key, _ in pair[1].entries()} if pair else {}
    for odd in oddities(manifest):
        yield front.problem(odd.message, places[odd.key], hint=odd.hint, is_warning=True)
    if not front.body.strip():
        hint = "Write below the front matter how to proceed."
        yield front.problem("There are no instructions.", hint=hint, is_warning=True)
