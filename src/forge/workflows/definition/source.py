"""The source text of a definition, with the position of each value."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from forge.documents.problems import TextPositions
from forge.documents.yaml_nodes import Node, Shape, YamlError, read_yaml
from forge.workflows.definition.models import Place

Path = tuple[str | int, ...]

MAX_DEPTH = 40
"""Levels of nested values."""


@dataclass(frozen=True)
class Fault:
    """A problem with a value or its key."""

    path: Path
    message: str
    hint: str | None = None
    is_warning: bool = False
    within: tuple[str, int] | None = None
    """The text at the path and the offset of the problem in it."""
    is_key: bool = False


@dataclass(frozen=True)
class Source:
    text: str
    root: Node

    @classmethod
    def of(cls, text: str) -> "Source":
        """Parse the text. Raises YamlError."""
        root = read_yaml(text, MAX_DEPTH)
        if root.shape is not Shape.MAPPING:
            raise YamlError("A workflow must be a YAML mapping.", root.start, "Begin with a line `name: …`.")
        return cls(text, root)

    @cached_property
    def _places(self) -> TextPositions:
        return TextPositions(self.text)

    def node(self, path: Path) -> Node | None:
        """Return the node at a path, if it exists."""
        nodes = list(self._walk(path))
        return nodes[-1][1] if len(nodes) == len(path) + 1 else None

    def place(self, fault: Fault) -> Place:
        """Return the fault with its position: that of the value, or of the closest parent that exists."""
        *_, (key, value) = self._walk(fault.path)
        offset = value.start
        if fault.is_key and key:
            offset = key.start
        elif fault.within and value.shape is Shape.SCALAR:
            text, inside = fault.within
            offset = self._inside(value, max(value.text.find(text), 0) + inside)
        line, column = self._places.at(offset)
        return Place(
            line=line,
            column=column,
            path=format_path(fault.path),
            step=self._step(fault.path),
            message=fault.message,
            hint=fault.hint,
            is_warning=fault.is_warning,
        )

    def _walk(self, path: Path) -> Iterator[tuple[Node | None, Node]]:
        """Yield the keys and values along a path, as far as they exist."""
        found: tuple[Node | None, Node] | None = (None, self.root)
        yield found
        for part in path:
            found = _entry(found[1], part)
            if found is None:
                return
            yield found

    def _step(self, path: Path) -> str | None:
        if len(path) < 2 or path[0] != "steps":
            return None
        found = self.node((*path[:2], "id"))
        return found.text if found and found.shape is Shape.SCALAR else None

    def _inside(self, node: Node, offset: int) -> int:
        """Return the position of a character in a scalar; its start if escapes or folding make that unknown."""
        raw = self.text[node.start : node.end]
        if not raw.startswith("|"):
            begins = raw.find(node.text)
            return node.start + begins + offset if begins >= 0 else node.start
        before = node.text[:offset]
        row, column = before.count("\n"), offset - (before.rfind("\n") + 1)
        lines = raw.splitlines(keepends=True)
        if row + 1 >= len(lines):
            return node.start
        line = lines[row + 1].rstrip("\r\n")
        indent = len(line) - len(node.text.split("\n")[row])
        return node.start + sum(map(len, lines[: row + 1])) + max(indent, 0) + column


def _entry(node: Node, part: str | int) -> tuple[Node | None, Node] | None:
    if isinstance(part, int):
        is_there = node.shape is Shape.LIST and part < len(node.items)
        return (None, node.items[part]) if is_there else None
    if node.shape is not Shape.MAPPING:
        return None
    return next((pair for pair in node.entries() if pair[0].text == part), None)


def format_path(path: Path) -> str:
    """Format a path: `steps[2].config.url`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text
