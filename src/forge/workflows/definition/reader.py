"""Read a definition from YAML or JSON and report all problems with their positions."""

import re
from dataclasses import dataclass, field
from typing import Any, cast

from forge.documents.frontmatter import BOM
from forge.documents.problems import Problem, TextPositions, find_hidden_text, find_unusable_text
from forge.documents.yaml_nodes import YamlError
from forge.workflows.definition.checks import check
from forge.workflows.definition.models import MAX_SOURCE, Definition, Place
from forge.workflows.definition.source import Source
from forge.workflows.definition.structure import is_json, parse, parse_structure
from forge.workflows.definition.writer import compose, write

MAX_PROBLEMS = 100
"""The maximum number of reported problems."""

_BRACES = re.compile(r"(?:^|[:\-,\[])\s*\{\{")


@dataclass(frozen=True)
class ReadResult:
    definition: Definition | None
    """Set if the structure is valid; there may still be problems that make the definition unusable."""
    problems: list[Place] = field(default_factory=list[Place])
    """Sorted by position, warnings last."""
    source: str = ""

    @property
    def is_usable(self) -> bool:
        return self.definition is not None and all(problem.is_warning for problem in self.problems)


def read_source(text: str) -> ReadResult:
    """Read YAML, of which JSON is a subset."""
    text = text.removeprefix(BOM)
    if problem := _unreadable(text):
        return ReadResult(None, [_place(problem)], text)
    try:
        source = Source.of(text)
    except YamlError as error:
        line, column = TextPositions(text).at(error.offset)
        problem = Problem(line, column, error.message, _hint(text, error))
        return ReadResult(None, [_place(problem)], text)
    definition, found = parse_structure(source)
    if definition and not found:
        found = check(definition)
    places = [source.place(fault) for fault in found]
    if problem := find_hidden_text(text):
        places.append(_place(problem))
    places.sort(key=lambda place: (place.is_warning, place.line, place.column))
    return ReadResult(definition, places[:MAX_PROBLEMS], text)


def read_data(data: object) -> ReadResult:
    """Read parsed JSON. Positions refer to the YAML that it is converted to."""
    if not isinstance(data, dict) or not is_json(cast("Any", data)):
        problem = Problem(1, 1, "A workflow must be a JSON object.", "Send `name` and `steps`.")
        return ReadResult(None, [_place(problem)])
    values = cast("dict[str, Any]", data)
    return read_source(write(definition, None) if (definition := parse(values)) else compose(values))


def _unreadable(text: str) -> Problem | None:
    if len(text) > MAX_SOURCE:
        message = f"The definition has {len(text):,} characters; the maximum is {MAX_SOURCE:,}."
        return Problem(1, 1, message, "Move some of its steps to a separate workflow.")
    return find_unusable_text(text)


def _hint(text: str, error: YamlError) -> str | None:
    """Replace the parser's hint for unquoted braces, which are the most common mistake."""
    start = text.rfind("\n", 0, error.offset) + 1
    lines = text[text.rfind("\n", 0, max(start - 1, 0)) + 1 :].split("\n", 2)[:2]
    if any(_BRACES.search(line) for line in lines):
        return 'Quote a value that begins with braces: `"{{ … }}"`.'
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
