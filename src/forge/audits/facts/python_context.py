"""When a piece of Python is executed: on import or later, only for a type checker, or with its failure caught."""

from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from forge.audits.facts.models import Import
from forge.audits.facts.parsing import cut
from forge.audits.facts.python_guards import Guard, Guards

_NEVER = {"False", "0"}


@dataclass(frozen=True, slots=True)
class Context:
    is_type_only: bool = False
    is_lazy: bool = False
    guards: tuple[Guard, ...] = ()

    def make(
        self,
        module: str,
        line: int,
        *,
        level: int = 0,
        names: tuple[str, ...] = (),
        is_from: bool = False,
        is_dynamic: bool = False,
    ) -> Import:
        top = module.partition(".")[0]
        return Import(
            module=module,
            line=line,
            level=level,
            names=names,
            is_from=is_from,
            is_type_only=self.is_type_only,
            is_optional=any(guard.covers(top) for guard in self.guards),
            is_dynamic=is_dynamic,
            is_lazy=self.is_lazy,
        )


AT_ONCE = Context()


def context_of(
    path: list[tuple[str | None, Node]], source: bytes, typing_names: frozenset[str], guards: Guards
) -> Context:
    """Of the last node of a path from the root."""
    if len(path) <= 3:
        return AT_ONCE
    is_type_only = is_lazy = False
    found: list[Guard] = []
    for (_, outer), (field, node) in pairwise(path):
        if outer.type in ("function_definition", "lambda") and field == "body":
            is_lazy = True
            found.clear()
            continue
        if outer.type in ("if_statement", "elif_clause"):
            is_type_only = is_type_only or _is_typing_branch(outer, field, node, source, typing_names)
        guard = guards.at(outer, field, node, is_lazy=is_lazy)
        if guard is not None:
            found.append(guard)
    return Context(is_type_only, is_lazy, tuple(found))


def _is_typing_branch(
    statement: Node, field: str | None, branch: Node, source: bytes, typing_names: frozenset[str]
) -> bool:
    condition = statement.child_by_field_name("condition")
    if condition is None:
        return False
    if field == "consequence":
        return _is_typing(condition, source, typing_names)
    negated = condition.type == "not_operator" and condition.child_by_field_name("argument")
    if field == "alternative" and branch.type == "else_clause" and negated:
        return _is_typing(negated, source, typing_names)
    return False


def _is_typing(condition: Node, source: bytes, typing_names: frozenset[str]) -> bool:
    """A condition that only a type checker takes for true."""
    for _ in range(8):
        match condition.type:
            case "identifier" | "false" | "integer":
                return cut(source, condition) in typing_names | _NEVER
            case "attribute":
                name = condition.child_by_field_name("attribute")
                return name is not None and cut(source, name) == "TYPE_CHECKING"
            case "parenthesized_expression" if condition.named_child_count == 1:
                condition = condition.named_children[0]
            case "boolean_operator":
                return _is_typing_and(condition, source, typing_names)
            case _:
                return False
    return False


def _is_typing_and(condition: Node, source: bytes, typing_names: frozenset[str]) -> bool:
    operator = condition.child_by_field_name("operator")
    if operator is None or operator.type != "and":
        return False
    sides = (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
    plain = (side for side in sides if side is not None and side.type in ("identifier", "attribute", "false"))
    return any(_is_typing(side, source, typing_names) for side in plain)
