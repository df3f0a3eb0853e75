"""A definition as somebody wrote it: what it says in its one form, and everything that is wrong with it, each at its place."""

import re
from dataclasses import dataclass, field
from typing import Any, cast

from forge.documents.frontmatter import BOM
from forge.documents.nodes import NotYaml
from forge.documents.places import Places
from forge.documents.problem import Problem
from forge.documents.text import unseen_text, unusable_text
from forge.workflows.definition.checking import check
from forge.workflows.definition.form import form_of, is_json, parse
from forge.workflows.definition.models import MAX_SOURCE, Definition
from forge.workflows.definition.place import Place
from forge.workflows.definition.source import Source
from forge.workflows.definition.writing import compose, write

MAX_PROBLEMS = 100
"""Nobody reads more."""

_BRACES = re.compile(r"(?:^|[:\-,\[])\s*\{\{")


@dataclass(frozen=True)
class Read:
    definition: Definition | None
    """In its one form, as soon as that can be told; it may still have problems that keep it from being run."""
    problems: list[Place] = field(default_factory=list[Place])
    """By their places, the warnings last."""
    source: str = ""

    @property
    def is_usable(self) -> bool:
        return self.definition is not None and all(problem.is_warning for problem in self.problems)


def read_source(text: str) -> Read:
    """From YAML, which JSON is as well."""
    text = text.removeprefix(BOM)
    if problem := _unreadable(text):
        return Read(None, [_place(problem)], text)
    try:
        source = Source.of(text)
    except NotYaml as error:
        line, column = Places(text).at(error.offset)
        problem = Problem(line, column, error.message, _hint(text, error))
        return Read(None, [_place(problem)], text)
    definition, found = form_of(source)
    if definition and not found:
        found = check(definition)
    places = [source.place(fault) for fault in found]
    if problem := unseen_text(text):
        places.append(_place(problem))
    places.sort(key=lambda place: (place.is_warning, place.line, place.column))
    return Read(definition, places[:MAX_PROBLEMS], text)


def read_data(data: object) -> Read:
    """From JSON that was parsed. Places are those of the YAML it is written as."""
    if not isinstance(data, dict) or not is_json(cast("Any", data)):
        problem = Problem(1, 1, "A workflow is a JSON object of keys and values.", "Send `name` and `steps`.")
        return Read(None, [_place(problem)])
    values = cast("dict[str, Any]", data)
    return read_source(write(definition, None) if (definition := parse(values)) else compose(values))


def _unreadable(text: str) -> Problem | None:
    if len(text) > MAX_SOURCE:
        message = f"The definition has {len(text):,} characters; {MAX_SOURCE:,} are the most."
        return Problem(1, 1, message, "Move some of its steps into a workflow of their own.")
    return unusable_text(text)


def _hint(text: str, error: NotYaml) -> str | None:
    """Braces that begin a value are the most common mistake, and what the parser says about them helps nobody."""
    start = text.rfind("\n", 0, error.offset) + 1
    lines = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 :].split("\n", 2)[:2]
    if any(_BRACES.search(line) for line in lines):
        return 'Put a text that begins with braces in quotes: `"{{ … }}"`.'
    return error.hint


def _place(problem: Problem) -> Place:
    return Place(
        line=problem.line,
        column=problem.column,
        path="",
        message=problem.message,
        hint=problem.hint,
        is_warning=problem.is_warning,
    )
