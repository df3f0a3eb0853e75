"""What names of a file stand for, as far as Python and scripts agree: each is asked about once, and never in a circle."""

from abc import ABC, abstractmethod

from tree_sitter import Node

from forge.audits.facts.route_facts import UNKNOWN
from forge.audits.facts.scopes import MAX_LOOPS, MAX_NAMES, Loop, Met, Scope, Source, find, nth


class Names(ABC):
    def __init__(self, root: Node, data: bytes) -> None:
        self.source = Source(data)
        self.text = self.source.text
        self.module = Scope("", None, root.end_byte)
        self.scopes = [self.module]
        self.met: list[Met] = []
        """What may declare a route or a router: calls, decorated definitions, exports."""
        self.attributes: dict[str, list[tuple[Node, Scope]]] = {}
        """What was assigned to `self.x` and `this.x`, by `Class().x`."""
        self._items: dict[int, list[Node] | None] = {}
        self._loops_read = 0
        self._texts: dict[tuple[int, str], str] = {}
        self._names: dict[tuple[int, str], list[str]] = {}

    @abstractmethod
    def text_of(self, node: Node | None, scope: Scope, steps: int = 0) -> str:
        """The text of an expression, UNKNOWN for every part that only running it would tell."""

    @abstractmethod
    def names_of(self, node: Node | None, scope: Scope, steps: int = 0) -> list[str]:
        """Which routers an expression may mean, in the language of `route_facts`."""

    @abstractmethod
    def _names_bound(self, name: str, home: Scope, steps: int) -> list[str]:
        """The same of a name, in the scope that binds it."""

    @abstractmethod
    def _find_items(self, over: Node, scope: Scope) -> list[Node] | None: ...

    def items_of(self, over: Node, scope: Scope) -> list[Node] | None:
        """What a loop goes over, if the file has it as a literal."""
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
            self._texts[key] = UNKNOWN  # a name made of itself
            self._texts[key] = self.text_of(values[0], home, steps + 1)
        return self._texts[key]

    def _names_of_identifier(self, name: str, scope: Scope, steps: int) -> list[str]:
        home = find(name, scope)
        if home is None:
            return []
        key = (id(home), name)
        if key not in self._names:
            self._names[key] = []  # a name that stands for itself
            self._names[key] = self._names_bound(name, home, steps)
        return self._names[key]

    def _names_in_loop(self, loop: Loop, scope: Scope, steps: int) -> list[str]:
        items = self.items_of(loop.over, scope)
        if items is None:
            return [f"{name}[]" for name in self.names_of(loop.over, scope, steps + 1)]
        parts = [item if loop.place is None else nth(item, loop.place) for item in items]
        return [name for part in parts for name in self.names_of(part, scope, steps + 1)][:MAX_NAMES]
