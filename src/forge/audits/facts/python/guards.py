"""Find the imports of Python that may fail: caught ones, and those whose presence is checked first.

A handler that ends the program, or that imports the same package, does not make an import optional.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from forge.audits.facts.parsing import find_words, node_text, path_to
from forge.audits.facts.python.stdlib import STDLIB

_FINDERS = ("find_spec", "find_loader")
_IS_THERE = {"is not": True, "!=": True, "is": False, "==": False}
_DEEPEST = 8
_LONGEST = 200
_MAX_ASKED = 1_000


@dataclass(frozen=True, slots=True)
class Presence:
    """Top-level modules that are installed if a condition is true, and if it is false."""

    if_true: frozenset[str] = frozenset()
    if_false: frozenset[str] = frozenset()

    def __invert__(self) -> "Presence":
        return Presence(self.if_false, self.if_true)


NOTHING = Presence()


class Presences:
    """The checks of one file whether modules are installed."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._named: dict[str, Presence] = {}
        places = find_words(source, *_FINDERS)[:_MAX_ASKED]
        self.is_asked = bool(places)
        for offset in places:
            self._name(path_to(root, offset))

    def _name(self, path: list[tuple[str | None, Node]]) -> None:
        """Record names such as `HAS_TORCH = find_spec(…)` or `def has_torch(): return find_spec(…)`."""
        for _, node in reversed(path):
            if node.type in ("assignment", "named_expression"):
                name = node.child_by_field_name("left") or node.child_by_field_name("name")
                value = node.child_by_field_name("right") or node.child_by_field_name("value")
                break
            if node.type == "return_statement":
                functions = [outer for _, outer in path if outer.type == "function_definition"]
                name = functions[-1].child_by_field_name("name") if functions else None
                value = next(iter(node.named_children), None)
                break
            if node.type == "block":
                return
        else:
            return
        if name is not None and value is not None and name.type == "identifier":
            self._named[node_text(self._source, name)] = self.of(value)

    def of(self, condition: Node, depth: int = 0) -> Presence:
        if depth > _DEEPEST:
            return NOTHING
        match condition.type:
            case "identifier":
                return self._named.get(node_text(self._source, condition), NOTHING)
            case "call":
                return self._of_call(condition, depth)
            case "comparison_operator":
                return self._of_comparison(condition, depth)
            case "boolean_operator":
                return self._of_both(condition, depth)
            case "not_operator":
                argument = condition.child_by_field_name("argument")
                return ~self.of(argument, depth + 1) if argument is not None else NOTHING
            case "named_expression":
                value = condition.child_by_field_name("value")
                return self.of(value, depth + 1) if value is not None else NOTHING
            case "parenthesized_expression" if condition.named_child_count == 1:
                return self.of(condition.named_children[0], depth + 1)
            case _:
                return NOTHING

    def _of_call(self, call: Node, depth: int) -> Presence:
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        if function is None or arguments is None or function.end_byte - function.start_byte > _LONGEST:
            return NOTHING
        name = node_text(self._source, function).rpartition(".")[2].strip()
        given = arguments.named_children
        if name in _FINDERS and given and given[0].type == "string":
            return Presence(if_true=self._module(given[0]))
        if name == "bool" and len(given) == 1:
            return self.of(given[0], depth + 1)
        return self._named.get(name, NOTHING) if function.type == "identifier" and not given else NOTHING

    def _module(self, literal: Node) -> frozenset[str]:
        pieces = [child for child in literal.named_children if child.type == "string_content"]
        if len(pieces) != 1 or pieces[0].end_byte - pieces[0].start_byte > _LONGEST:
            return frozenset()
        top = node_text(self._source, pieces[0]).partition(".")[0]
        return frozenset({top}) if top.isidentifier() else frozenset()

    def _of_comparison(self, condition: Node, depth: int) -> Presence:
        """Return the presence for a comparison with None."""
        operators = condition.children_by_field_name("operators")
        sides = condition.named_children
        if len(operators) != 1 or len(sides) < 2 or sides[-1].type != "none":
            return NOTHING
        is_there = _IS_THERE.get(operators[0].type)
        if is_there is None:
            return NOTHING
        presence = self.of(sides[0], depth + 1)
        return presence if is_there else ~presence

    def _of_both(self, condition: Node, depth: int) -> Presence:
        """Combine `and` and `or`. For `a or b` both count, as the code has checked both."""
        operator = condition.child_by_field_name("operator")
        sides = (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
        left, right = (self.of(side, depth + 1) if side is not None else NOTHING for side in sides)
        true, false = left.if_true | right.if_true, left.if_false | right.if_false
        if operator is not None and operator.type == "and":
            return Presence(true, frozenset())
        return Presence(true if left.if_true and right.if_true else frozenset(), false)


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
"""Namespaces shared by many distributions."""
_ENDINGS = {"sys.exit", "exit", "quit", "os._exit", "os.abort"}
_CALLS = re.compile(rb"\b(?:import_module|__import__)\b")
_SKIPS = re.compile(r"(?i)skip")


@dataclass(frozen=True, slots=True)
class Guard:
    """A part of the code where imports may fail."""

    needed: frozenset[str] = frozenset()
    """Top-level modules that are required nonetheless."""
    only: frozenset[str] | None = None
    """The only modules that may be missing; None for all."""

    def covers(self, top: str) -> bool:
        return top not in self.needed and (self.only is None or top in self.only)


@dataclass(frozen=True, slots=True)
class _Try:
    """A `try` statement whose handler catches ImportError."""

    guard: Guard
    gives_up: bool
    """Whether the handler ends the program or re-raises."""
    tries_others: bool
    """Whether the body imports packages, so that `else` only runs if they are installed."""


class Guards:
    """The guards of one file. Each statement is analyzed once."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._presences = Presences(root, source)
        self._tries: dict[int, _Try | None] = {}
        self._catching: dict[int, bool] = {}
        self._conditions: dict[int, Presence] = {}

    def at(self, outer: Node, field: str | None, part: Node, *, is_lazy: bool) -> Guard | None:
        """Return the guard of a part of a statement, or None."""
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
    """Yield the top-level modules that the statements of a block import directly."""
    for statement in block.named_children if block is not None else ():
        if statement.type == "import_from_statement":
            module = statement.child_by_field_name("module_name")
            modules = [module] if module is not None else []
        elif statement.type == "import_statement":
            names = statement.children_by_field_name("name")
            modules = [name.child_by_field_name("name") or name for name in names]
        else:
            continue
        yield from (node_text(source, module).partition(".")[0].strip() for module in modules)


def _ends(statement: Node, source: bytes) -> bool:
    """Return whether a statement raises (except to skip a test) or ends the program."""
    if statement.type == "raise_statement":
        raised = next(iter(statement.named_children), None)
        return raised is None or _SKIPS.search(node_text(source, raised).partition("(")[0]) is None
    call = next(iter(statement.named_children), None) if statement.type == "expression_statement" else None
    function = call.child_by_field_name("function") if call is not None and call.type == "call" else None
    return function is not None and node_text(source, function) in _ENDINGS


def _catches(clause: Node, source: bytes) -> bool:
    """Return whether an `except` clause catches ImportError, in any syntax of Python 2 to 3.14."""
    values = [node for node in clause.named_children if node.type not in ("block", "comment")]
    return not values or any(name in _CATCHING for value in values for name in _exceptions(value, source))


def _exceptions(value: Node, source: bytes) -> Iterator[str]:
    waiting = [value]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield node_text(source, node)
        elif node.type == "attribute":
            yield node_text(source, node).rpartition(".")[2].strip()
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
    if node_text(source, function).rpartition(".")[2].strip() != "suppress":
        return False
    return any(
        name in _CATCHING for argument in arguments.named_children for name in _exceptions(argument, source)
    )
