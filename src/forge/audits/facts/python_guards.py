"""Which imports of Python may fail without harm: those whose failure is caught, and those that are asked for first.

A caught failure that ends the program all the same protects nothing, nor does a way out through the same package.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from forge.audits.facts.parsing import cut
from forge.audits.facts.python_presence import NOTHING, Presence, Presences
from forge.audits.facts.stdlib import STDLIB

_CATCHING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_CLAUSES = ("except_clause", "except_group_clause")
_SHARED = {
    "google",
    "azure",
    "zope",
    "opentelemetry",
    "backports",
    "jaraco",
    "ruamel",
    "oslo",
    "sphinxcontrib",
}
"""Many distributions have modules below these: the same first name says nothing."""
_ENDINGS = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}
_CALLS = re.compile(rb"\b(?:import_module|__import__)\b")
_SKIPS = re.compile(r"(?i)skip")


@dataclass(frozen=True, slots=True)
class Guard:
    """A place where imports may fail."""

    needed: frozenset[str] = frozenset()
    """Top-level modules that are needed there all the same."""
    only: frozenset[str] | None = None
    """The only modules that may fail; None for all."""

    def covers(self, top: str) -> bool:
        return top not in self.needed and (self.only is None or top in self.only)


@dataclass(frozen=True, slots=True)
class _Try:
    """What is known about one `try` whose handler takes ImportError."""

    guard: Guard
    gives_up: bool
    """The handler ends the program, or lets the failure through."""
    tries_others: bool
    """The body imports more than the standard library: the `else` is reached only where that is there."""


class Guards:
    """Of one file. Statements are looked at once, however many imports they contain."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._presences = Presences(root, source)
        self._tries: dict[int, _Try | None] = {}
        self._catching: dict[int, bool] = {}
        self._conditions: dict[int, Presence] = {}

    def at(self, outer: Node, field: str | None, part: Node, *, is_lazy: bool) -> Guard | None:
        """What the statement gives to this part of it."""
        match outer.type:
            case "try_statement":
                return self._in_try(outer, field, part, is_lazy=is_lazy)
            case "with_statement" if field == "body" and _suppresses(outer, self._source):
                return Guard()
            case "if_statement" | "elif_clause":
                return self._in_branch(outer, field, part)
            case _:
                return None

    def _in_try(self, statement: Node, field: str | None, part: Node, *, is_lazy: bool) -> Guard | None:
        if part.type in _CLAUSES:
            guard = self._try(statement)
            return guard.guard if guard is not None and self._catches(part) else None
        if field != "body" and part.type != "else_clause":
            return None
        found = self._try(statement)
        if found is None or (found.gives_up and not is_lazy):
            return None
        return found.guard if field == "body" or found.tries_others else None

    def _try(self, statement: Node) -> _Try | None:
        if statement.id not in self._tries:
            self._tries[statement.id] = self._read_try(statement)
        return self._tries[statement.id]

    def _read_try(self, statement: Node) -> _Try | None:
        clauses = (child for child in statement.named_children if child.type in _CLAUSES)
        handler = next((clause for clause in clauses if self._catches(clause)), None)
        body = statement.child_by_field_name("body")
        if handler is None or body is None:
            return None
        block = next((child for child in handler.named_children if child.type == "block"), None)
        tried = set(_tops(body, self._source))
        needed = tried & set(_tops(block, self._source)) - _SHARED
        calls = _CALLS.search(self._source, body.start_byte, body.end_byte) is not None
        return _Try(
            guard=Guard(needed=frozenset(needed)),
            gives_up=block is not None and any(_ends(child, self._source) for child in block.named_children),
            tries_others=calls or not tried <= STDLIB,
        )

    def _catches(self, clause: Node) -> bool:
        if clause.id not in self._catching:
            self._catching[clause.id] = _catches(clause, self._source)
        return self._catching[clause.id]

    def _in_branch(self, statement: Node, field: str | None, branch: Node) -> Guard | None:
        if not self._presences.is_asked:
            return None
        if statement.id not in self._conditions:
            condition = statement.child_by_field_name("condition")
            self._conditions[statement.id] = self._presences.of(condition) if condition else NOTHING
        presence = self._conditions[statement.id]
        if field == "consequence":
            there = presence.if_true
        else:
            there = presence.if_false if branch.type == "else_clause" else frozenset[str]()
        return Guard(only=there) if there else None


def _tops(block: Node | None, source: bytes) -> Iterator[str]:
    """First names of what the statements of a block import, without those that are nested in others."""
    for statement in block.named_children if block is not None else ():
        if statement.type == "import_from_statement":
            module = statement.child_by_field_name("module_name")
            modules = [module] if module is not None else []
        elif statement.type == "import_statement":
            names = statement.children_by_field_name("name")
            modules = [name.child_by_field_name("name") or name for name in names]
        else:
            continue
        yield from (cut(source, module).partition(".")[0].strip() for module in modules)


def _ends(statement: Node, source: bytes) -> bool:
    """`raise`, in any form but one that skips a test, or a call that ends the program."""
    if statement.type == "raise_statement":
        raised = next(iter(statement.named_children), None)
        return raised is None or _SKIPS.search(cut(source, raised).partition("(")[0]) is None
    call = next(iter(statement.named_children), None) if statement.type == "expression_statement" else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    return function is not None and cut(source, function) in _ENDINGS


def _catches(clause: Node, source: bytes) -> bool:
    """`except ImportError`, in a tuple, with a name, in the way of Python 2 or 3.14, or without any."""
    values = [node for node in clause.named_children if node.type not in ("block", "comment")]
    return not values or any(name in _CATCHING for value in values for name in _exceptions(value, source))


def _exceptions(value: Node, source: bytes) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield cut(source, node)
        elif node.type == "attribute":
            yield cut(source, node).rpartition(".")[2].strip()
        elif node.type in ("as_pattern", "tuple", "parenthesized_expression", "expression_list"):
            waiting.extend(node.named_children)


def _suppresses(statement: Node, source: bytes) -> bool:
    """`with contextlib.suppress(ImportError):`"""
    clause = next((child for child in statement.named_children if child.type == "with_clause"), None)
    items = clause.named_children if clause is not None else []
    return any(_is_suppress(item.child_by_field_name("value"), source) for item in items)


def _is_suppress(call: Node | None, source: bytes) -> bool:
    if call is None or call.type != "call":
        return False
    function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if function is None or arguments is None:
        return False
    if cut(source, function).rpartition(".")[2].strip() != "suppress":
        return False
    return any(
        name in _CATCHING for argument in arguments.named_children for name in _exceptions(argument, source)
    )
