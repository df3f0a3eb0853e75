"""When a piece of Python is executed: on import or later, only for a type checker, or with its failure caught."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from forge.audits.facts.models import Import
from forge.audits.facts.parsing import cut

_CATCHING = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_NEVER = {"False", "0"}


@dataclass(frozen=True, slots=True)
class Context:
    is_type_only: bool = False
    is_optional: bool = False
    is_lazy: bool = False

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
        return Import(
            module=module,
            line=line,
            level=level,
            names=names,
            is_from=is_from,
            is_type_only=self.is_type_only,
            is_optional=self.is_optional,
            is_dynamic=is_dynamic,
            is_lazy=self.is_lazy,
        )


AT_ONCE = Context()


def context_of(path: list[tuple[str | None, Node]], source: bytes, typing_names: frozenset[str]) -> Context:
    """Of the last node of a path from the root."""
    if len(path) <= 3:
        return AT_ONCE
    is_type_only = is_optional = is_lazy = False
    for (_, outer), (field, node) in pairwise(path):
        match outer.type:
            case "function_definition" | "lambda" if field == "body":
                is_lazy, is_optional = True, False
            case "if_statement" | "elif_clause":
                is_type_only = is_type_only or _is_typing_branch(outer, field, node, source, typing_names)
            case "try_statement":
                is_optional = is_optional or _is_caught(outer, field, node, source)
            case "with_statement" if field == "body":
                is_optional = is_optional or _suppresses(outer, source)
            case _:
                pass
    return Context(is_type_only, is_optional, is_lazy)


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


def _is_caught(statement: Node, field: str | None, part: Node, source: bytes) -> bool:
    """The `else` as well: it is reached only where the import before it worked."""
    if field == "body" or part.type == "else_clause":
        clauses = (c for c in statement.named_children if c.type in ("except_clause", "except_group_clause"))
        return any(_catches(clause, source) for clause in clauses)
    return part.type in ("except_clause", "except_group_clause") and _catches(part, source)


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
