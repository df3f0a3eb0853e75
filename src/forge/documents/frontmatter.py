"""Front matter: a `---` line, YAML, a `---` line, and Markdown below it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from forge.documents.problems import Problem, TextPositions
from forge.documents.yaml_nodes import Node, Shape, YamlError, read_yaml

BOM = "\ufeff"

_FENCE = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\n|\r|\Z)")
_BLANK = re.compile(r"\r\n|\n|\r|")
_HYPHENS = re.compile(r"-(?=--)")
_ESCAPED = r"\\x2D"


class UnreadableFrontMatter(Exception):
    """The front matter cannot be read; raised and caught while reading one file."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True)
class FrontMatter:
    text: str
    """The text of the file."""
    start: int
    """Start of the YAML in the text."""
    end: int
    body: str
    """The text below the front matter, without the separating blank line."""
    root: Node
    """Its offsets are relative to `start`."""

    @cached_property
    def _line_index(self) -> TextPositions:
        return TextPositions(self.text)

    def problem(
        self, message: str, node: Node | None = None, *, hint: str | None = None, is_warning: bool = False
    ) -> Problem:
        """Make a problem at the position of a node, or of the whole front matter."""
        line, column = self._line_index.at(self.start + node.start) if node else (1, 1)
        return Problem(line, column, message, hint, is_warning)

    def find(self, key: str) -> tuple[Node, Node] | None:
        """Find a key with its value."""
        return next((pair for pair in self.root.entries() if pair[0].text == key), None)


def read_front_matter(text: str) -> FrontMatter:
    """Read front matter; raise UnreadableFrontMatter."""
    opening = _FENCE.match(text, len(BOM) if text.startswith(BOM) else 0)
    if opening is None:
        raise UnreadableFrontMatter(_missing("The file does not start with front matter."))
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise UnreadableFrontMatter(_missing("The front matter is not closed."))
    blank = _BLANK.match(text, closing.end())
    body = text[blank.end() if blank else closing.end() :]
    root = _parse_root(text, opening.end(), closing.start())
    return FrontMatter(text, opening.end(), closing.start(), body, root)


def _parse_root(text: str, start: int, end: int) -> Node:
    try:
        root = read_yaml(text[start:end])
        if root.is_null:
            return Node(Shape.MAPPING, root.start, root.end)
        if root.shape is not Shape.MAPPING:
            raise YamlError(
                "The front matter must be a mapping.", root.start, "Write lines such as `name: Ada`."
            )
    except YamlError as error:
        line, column = TextPositions(text).at(start + error.offset)
        raise UnreadableFrontMatter(Problem(line, column, error.message, error.hint)) from error
    return root


def _missing(message: str) -> Problem:
    hint = "Start the file with a line `---`, then lines such as `key: value`, then another line `---`."
    return Problem(1, 1, message, hint)


def write_front_matter(values: Mapping[str, Any], body: str) -> str:
    """Write front matter and body. `---` inside of values is escaped, because some parsers mistake it for the end."""
    separator = "\n" if body else ""
    return f"---\n{_HYPHENS.sub(_ESCAPED, write_yaml(values))}---\n{separator}{body}"


def write_yaml(values: Mapping[str, Any]) -> str:
    """Write YAML in block style without folding texts, so that they are read back unchanged."""
    width = float("inf")
    return str(
        yaml.dump(  # pyright: ignore[reportUnknownMemberType]
            dict(values),
            Dumper=_Dumper,
            allow_unicode=True,
            sort_keys=False,
            width=width,
            default_flow_style=False,
        )
    )


class _Dumper(yaml.SafeDumper):
    """Writes multi-line texts in double quotes, because the other styles change some of them, and texts with `---` too,
    because it can only be escaped there."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if text.isprintable() and "---" not in text else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _Dumper.represent_text)
