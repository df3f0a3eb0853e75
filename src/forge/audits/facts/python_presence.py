"""Which modules are there when a condition holds: `find_spec("torch") is not None`, or a name that was given this value."""

from dataclasses import dataclass

from tree_sitter import Node

from forge.audits.facts.parsing import cut, path_to, words

_FINDERS = ("find_spec", "find_loader")
_IS_THERE = {"is not": True, "!=": True, "is": False, "==": False}
_DEEPEST = 8
_LONGEST = 200
_MAX_ASKED = 1_000


@dataclass(frozen=True, slots=True)
class Presence:
    """Top-level modules that are there if the condition is true, and if it is false."""

    if_true: frozenset[str] = frozenset()
    if_false: frozenset[str] = frozenset()

    def __invert__(self) -> "Presence":
        return Presence(self.if_false, self.if_true)


NOTHING = Presence()


class Presences:
    """What one file asks about modules before it imports them."""

    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._named: dict[str, Presence] = {}
        places = words(source, *_FINDERS)[:_MAX_ASKED]
        self.is_asked = bool(places)
        for offset in places:
            self._name(path_to(root, offset))

    def _name(self, path: list[tuple[str | None, Node]]) -> None:
        """`HAS_TORCH = find_spec(…)`, or `def has_torch(): return find_spec(…)`."""
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
            self._named[cut(self._source, name)] = self.of(value)

    def of(self, condition: Node, depth: int = 0) -> Presence:
        if depth > _DEEPEST:
            return NOTHING
        match condition.type:
            case "identifier":
                return self._named.get(cut(self._source, condition), NOTHING)
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
        name = cut(self._source, function).rpartition(".")[2].strip()
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
        top = cut(self._source, pieces[0]).partition(".")[0]
        return frozenset({top}) if top.isidentifier() else frozenset()

    def _of_comparison(self, condition: Node, depth: int) -> Presence:
        """With None and nothing else."""
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
        """`a or b` promises neither; who then imports both has asked for both, and that is enough."""
        operator = condition.child_by_field_name("operator")
        sides = (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
        left, right = (self.of(side, depth + 1) if side is not None else NOTHING for side in sides)
        true, false = left.if_true | right.if_true, left.if_false | right.if_false
        if operator is not None and operator.type == "and":
            return Presence(true, frozenset())
        return Presence(true if left.if_true and right.if_true else frozenset(), false)
