"""Scopes and name resolution shared by Python and scripts. Results are cached, and cycles end."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from tree_sitter import Node, Query, QueryCursor

from forge.audits.facts.models import UNKNOWN
from forge.audits.facts.parsing import line_of

MAX_STEPS = 12
"""The maximum of steps to resolve a name."""
MAX_NAMES = 64
MAX_LOOPS = 500
"""The maximum of loops per file that are unrolled."""
_MAX_TEXT = 2000
_MAX_QUERIED = 60_000


def _nodes() -> dict[str, list[Node]]:
    return {}


@dataclass(frozen=True, slots=True)
class Loop:
    over: Node
    body: Node
    place: int | None = None
    """The tuple index of the variable, as in `for prefix, router in …`."""

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
        # Unrolled for speed, as it is called for every name of a file.
        if name in self.values or name in self.parameters or name in self.imports:
            return True
        return name in self.inner or name in self.loops


@dataclass(frozen=True, slots=True)
class Source:
    """Returns the text of nodes from the source bytes, which is faster than `Node.text`."""

    data: bytes

    def text(self, node: Node) -> str:
        """Return the text of a node, truncated to a length that is enough for names and paths."""
        piece = self.data[node.start_byte : min(node.end_byte, node.start_byte + _MAX_TEXT)]
        return piece.decode("utf-8", "replace").replace(UNKNOWN, "")


@dataclass(frozen=True)
class Candidate:
    node: Node
    scope: Scope


def find(name: str, scope: Scope) -> Scope | None:
    """Return the scope that binds a name. Class bodies are only visible from inside."""
    here: Scope | None = scope
    while here is not None:
        if (here is scope or not here.is_class) and here.has(name):
            return here
        here = here.outer
    return None


def parameter_name(scope: Scope, name: str) -> str:
    """Return the name of a parameter; `self` is the instance, and other parameters are counted without it."""
    index = scope.parameters.index(name)
    if scope.of_class is None:
        return f"{scope.name}({index})"
    if index == 0:
        return f"{scope.of_class.name}()"
    return f"{scope.of_class.name}().{scope.name.rpartition('.')[2]}({index - 1})"


def loop_scopes(
    met: Candidate, text: Callable[[Node], str], items: Callable[[Node, Scope], Sequence[Node] | None]
) -> list[Scope]:
    """Return one scope per iteration of the loop whose variable a node uses, if its items are known."""
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
    """Join text; UNKNOWN if it grows beyond the length of a path."""
    whole = ""
    for part in parts:
        whole += part
        if len(whole) > _MAX_TEXT:
            return UNKNOWN
    return whole


def captured(root: Node, query: Query, kinds: frozenset[str]) -> list[Node]:
    """Return the nodes of these kinds in source order, outer before inner.

    tree-sitter's queries count depth in 16 bits and hang on deeper trees, so trees with that many nodes are split first.
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
    """Return a named child, or None."""
    return node.named_child(place) if node is not None and place < node.named_child_count else None


def anonymous(node: Node) -> str:
    return f"[{line_of(node)}:{node.start_point[1]}]"


class Names(ABC):
    def __init__(self, root: Node, data: bytes) -> None:
        self.source = Source(data)
        self.text = self.source.text
        self.module = Scope("", None, root.end_byte)
        self.scopes = [self.module]
        self.met: list[Candidate] = []
        """Nodes that may declare a route or a router: calls, decorated definitions, exports."""
        self.attributes: dict[str, list[tuple[Node, Scope]]] = {}
        """Values assigned to `self.x` and `this.x`, by `Class().x`."""
        self._items: dict[int, list[Node] | None] = {}
        self._loops_read = 0
        self._texts: dict[tuple[int, str], str] = {}
        self._names: dict[tuple[int, str], list[str]] = {}

    @abstractmethod
    def text_of(self, node: Node | None, scope: Scope, steps: int = 0) -> str:
        """Return the text of an expression, with UNKNOWN for parts that are only known at run time."""

    @abstractmethod
    def names_of(self, node: Node | None, scope: Scope, steps: int = 0) -> list[str]:
        """Return the names of the routers an expression may refer to (see `facts.models`)."""

    @abstractmethod
    def _names_bound(self, name: str, home: Scope, steps: int) -> list[str]:
        """Return the same for a name in the scope that binds it."""

    @abstractmethod
    def _find_items(self, over: Node, scope: Scope) -> list[Node] | None: ...

    def items_of(self, over: Node, scope: Scope) -> list[Node] | None:
        """Return the items of a loop, if they are a literal."""
        self._loops_read += 1
        if self._loops_read > MAX_LOOPS:
            return None
        if over.id not in self._items:
            self._items[over.id] = self._find_items(over, scope)
        return self._items[over.id]

    def _constant(self, name: str, scope: Scope, steps: int) -> str:
        home = find(name, scope)
        values = home.values.get(name, []) if home is not None else []
        if home is None or len(values) != 1 or name in home.parameters:
            return UNKNOWN
        key = (id(home), name)
        if key not in self._texts:
            self._texts[key] = UNKNOWN  # guards against cycles
            self._texts[key] = self.text_of(values[0], home, steps + 1)
        return self._texts[key]

    def _names_of_identifier(self, name: str, scope: Scope, steps: int) -> list[str]:
        home = find(name, scope)
        if home is None:
            return []
        key = (id(home), name)
        if key not in self._names:
            self._names[key] = []  # guards against cycles
            self._names[key] = self._names_bound(name, home, steps)
        return self._names[key]

    def _names_in_loop(self, loop: Loop, scope: Scope, steps: int) -> list[str]:
        items = self.items_of(loop.over, scope)
        if items is None:
            return [f"{name}[]" for name in self.names_of(loop.over, scope, steps + 1)]
        parts = [item if loop.place is None else nth(item, loop.place) for item in items]
        return [name for part in parts for name in self.names_of(part, scope, steps + 1)][:MAX_NAMES]
