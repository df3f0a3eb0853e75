"""Where names of a source file are bound: the little that Python and scripts have in common."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor

from forge.audits.facts.parsing import line_of
from forge.audits.facts.route_facts import UNKNOWN

MAX_STEPS = 12
"""From a name to what it stands for: names of names of names end somewhere."""
MAX_NAMES = 64
MAX_LOOPS = 500
"""Of a file, to go through round by round."""
_MAX_TEXT = 2000
_MAX_QUERIED = 60_000


def _nodes() -> dict[str, list[Node]]:
    return {}


@dataclass(frozen=True, slots=True)
class Loop:
    over: Node
    body: Node
    place: int | None = None
    """Which place of a tuple a variable takes, as in `for prefix, router in …`."""

    def holds(self, node: Node) -> bool:
        return self.body.start_byte <= node.start_byte and node.end_byte <= self.body.end_byte


@dataclass(eq=False)
class Scope:
    name: str
    """Empty for the module; `create_app`, `Users`, `Users.register`."""
    outer: "Scope | None"
    end: int
    is_class: bool = False
    values: dict[str, list[Node]] = field(default_factory=_nodes)
    loops: dict[str, Loop] = field(default_factory=dict[str, Loop])
    parameters: list[str] = field(default_factory=list[str])
    inner: dict[str, "Scope"] = field(default_factory=dict[str, "Scope"])
    imports: dict[str, str] = field(default_factory=dict[str, str])
    """Local names to originals."""
    returned: list[Node] = field(default_factory=list[Node])
    node: Node | None = None

    @property
    def of_class(self) -> "Scope | None":
        return self.outer if self.outer is not None and self.outer.is_class and not self.is_class else None

    def has(self, name: str) -> bool:
        # Written out, as this is asked for every name of a file.
        if name in self.values or name in self.parameters or name in self.imports:
            return True
        return name in self.inner or name in self.loops


@dataclass(frozen=True, slots=True)
class Source:
    """Nodes are not asked for their text: see `parsing`."""

    data: bytes

    def text(self, node: Node) -> str:
        """No more than a path or a name can be, so that asking for it costs nothing however large the node is."""
        piece = self.data[node.start_byte : min(node.end_byte, node.start_byte + _MAX_TEXT)]
        return piece.decode("utf-8", "replace").replace(UNKNOWN, "")


@dataclass(frozen=True)
class Met:
    node: Node
    scope: Scope


def find(name: str, scope: Scope) -> Scope | None:
    """The scope that binds a name; bodies of classes are seen only from within."""
    here: Scope | None = scope
    while here is not None:
        if (here is scope or not here.is_class) and here.has(name):
            return here
        here = here.outer
    return None


def parameter_name(scope: Scope, name: str) -> str:
    """`self` is its class's instance; of Python's methods the others are counted without it."""
    index = scope.parameters.index(name)
    if scope.of_class is None:
        return f"{scope.name}({index})"
    if index == 0:
        return f"{scope.of_class.name}()"
    return f"{scope.of_class.name}().{scope.name.rpartition('.')[2]}({index - 1})"


def rounds(
    met: Met, text: Callable[[Node], str], items: Callable[[Node, Scope], Sequence[Node] | None]
) -> list[Scope]:
    """One scope per round of the loop whose variable a node mentions, where the file says what is looped over."""
    here: Scope | None = met.scope
    while here is not None:
        for name, loop in here.loops.items():
            if loop.holds(met.node) and re.search(rf"\b{re.escape(name)}\b", text(met.node)):
                over = items(loop.over, here)
                if over is not None:
                    return [_round(here, loop.body, met.scope, item) for item in over[:MAX_NAMES]]
        here = here.outer
    return [met.scope]


def _round(home: Scope, body: Node, scope: Scope, item: Node) -> Scope:
    values: dict[str, list[Node]] = {}
    for name, loop in home.loops.items():
        part = item if loop.place is None else nth(item, loop.place)
        if part is not None and loop.body == body:
            values[name] = [part]
    return Scope(scope.name, scope, scope.end, values=values)


def joined(parts: Iterable[str]) -> str:
    """As long as a path can be: text made of text made of text grows without end."""
    whole = ""
    for part in parts:
        whole += part
        if len(whole) > _MAX_TEXT:
            return UNKNOWN
    return whole


def captured(root: Node, query: Query, kinds: frozenset[str]) -> list[Node]:
    """The nodes of these kinds in their order, the outer before the inner.

    tree-sitter's queries count depth in 16 bits and never come back from trees that are deeper: no tree can be that has
    not as many nodes, and larger ones are taken apart first.
    """
    waiting, found = [root], list[Node]()
    while waiting:
        node = waiting.pop()
        if node.descendant_count < _MAX_QUERIED:
            found += [each for nodes in QueryCursor(query).captures(node).values() for each in nodes]
            continue
        if node.type in kinds:
            found.append(node)
        waiting += node.named_children
    return sorted(found, key=lambda n: (n.start_byte, -n.end_byte))


def nth(node: Node | None, place: int) -> Node | None:
    """A named child; None where there are not so many, or none at all."""
    return node.named_child(place) if node is not None and place < node.named_child_count else None


def anonymous(node: Node) -> str:
    return f"[{line_of(node)}:{node.start_point[1]}]"
