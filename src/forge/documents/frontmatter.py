"""Front matter: a `---` line, YAML, a `---` line, and Markdown below it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from forge.documents.nodes import Node, NotYaml, Shape, read_yaml
from forge.documents.places import Places
from forge.documents.problem import Problem

BOM = "\ufeff"

_FENCE = re.compile(r"---[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = re.compile(r"(?:(?<=\n)|(?<=\r))---[ \t]*(?:\r\n|\n|\r|\Z)")
_BLANK = re.compile(r"\r\n|\n|\r|")
_HYPHENS = re.compile(r"-(?=--)")
_ESCAPED = r"\\x2D"


class Unusable(Exception):
    """The front matter cannot be read at all; raised and caught while reading one file."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


@dataclass(frozen=True)
class FrontMatter:
    text: str
    """The whole file."""
    start: int
    """Of the YAML in it."""
    end: int
    body: str
    """What is below, without the blank line that separates it."""
    root: Node
    """Its places count from `start`."""

    @cached_property
    def _places(self) -> Places:
        return Places(self.text)

    def problem(
        self, message: str, node: Node | None = None, *, hint: str | None = None, is_warning: bool = False
    ) -> Problem:
        """With the place of a node, or of the front matter as a whole."""
        line, column = self._places.at(self.start + node.start) if node else (1, 1)
        return Problem(line, column, message, hint, is_warning)

    def find(self, key: str) -> tuple[Node, Node] | None:
        """A key and its value."""
        return next((pair for pair in self.root.entries() if pair[0].text == key), None)


def read_front_matter(text: str) -> FrontMatter:
    """Raises Unusable."""
    opening = _FENCE.match(text, len(BOM) if text.startswith(BOM) else 0)
    if opening is None:
        raise Unusable(_missing("The file does not begin with front matter."))
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise Unusable(_missing("The front matter has no end."))
    blank = _BLANK.match(text, closing.end())
    body = text[blank.end() if blank else closing.end() :]
    root = _root(text, opening.end(), closing.start())
    return FrontMatter(text, opening.end(), closing.start(), body, root)


def _root(text: str, start: int, end: int) -> Node:
    try:
        root = read_yaml(text[start:end])
        if root.is_null:
            return Node(Shape.MAPPING, root.start, root.end)
        if root.shape is not Shape.MAPPING:
            raise NotYaml(
                "The front matter is no list of keys.", root.start, "Write lines such as `name: Ada`."
            )
    except NotYaml as error:
        line, column = Places(text).at(start + error.offset)
        raise Unusable(Problem(line, column, error.message, error.hint)) from error
    return root


def _missing(message: str) -> Problem:
    hint = "Begin the file with a line `---`, then lines such as `key: value`, then another line `---`."
    return Problem(1, 1, message, hint)


def write_front_matter(values: Mapping[str, Any], body: str) -> str:
    """Some readers take any three hyphens for its end, wherever they stand: inside of it there are none."""
    separator = "\n" if body else ""
    return f"---\n{_HYPHENS.sub(_ESCAPED, write_yaml(values))}---\n{separator}{body}"


def write_yaml(values: Mapping[str, Any]) -> str:
    """Block style, a line per key, lists below; no text is folded, so that all of it is read back as it was."""
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
    """Texts of several lines in double quotes: the other styles change some of them. Those with three hyphens as well:
    only there can they be escaped."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        style = None if text.isprintable() and "---" not in text else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)  # pyright: ignore[reportUnknownMemberType]


_Dumper.add_representer(str, _Dumper.represent_text)
