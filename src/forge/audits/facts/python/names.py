"""Resolve names in a Python file to routers and text."""

import re
from collections.abc import Iterator

import tree_sitter_python
from tree_sitter import Language, Node, Query

from forge.audits.facts.models import UNKNOWN
from forge.audits.facts.scopes import (
    MAX_NAMES,
    MAX_STEPS,
    Candidate,
    Loop,
    Names,
    Scope,
    anonymous,
    captured,
    find,
    joined,
    parameter_name,
)

_LANGUAGE = Language(tree_sitter_python.language())
_KINDS = frozenset(
    (
        *("function_definition", "class_definition", "decorated_definition", "import_statement"),
        *("import_from_statement", "assignment", "for_statement", "return_statement", "call"),
    )
)
_QUERY = Query(_LANGUAGE, " ".join(f"({kind}) @n" for kind in sorted(_KINDS)))
CONSTRUCTORS = {
    "FastAPI": True,
    "Flask": True,
    "Quart": True,
    "Starlette": True,
    "APIRouter": False,
    "Blueprint": False,
    "APIBlueprint": False,
    "Api": False,
    "Router": False,
}
"""Router constructors, and whether they create an application, which needs no mount."""
_LIKELY = re.compile(r"(?:Router|Blueprint|FastAPI|Flask|Starlette|App|API|Api)$")


class PythonNames(Names):
    """Collects bindings in one pass, then resolves names on request."""

    def __init__(self, root: Node, data: bytes) -> None:
        super().__init__(root, data)
        self._read(root)

    def _read(self, root: Node) -> None:
        scope = self.module
        for node in captured(root, _QUERY, _KINDS):
            while scope.outer is not None and node.start_byte >= scope.end:
                scope = scope.outer
            if node.type in ("function_definition", "class_definition"):
                scope = self._enter(node, scope)
                self.scopes.append(scope)
            elif node.type in ("call", "decorated_definition"):
                self.met.append(Candidate(node, scope))
            else:
                self._bind(node, scope)

    def _bind(self, node: Node, scope: Scope) -> None:
        if node.type == "return_statement":
            scope.returned += node.named_children[:1]
        elif node.type == "assignment":
            self._assign(node.child_by_field_name("left"), node.child_by_field_name("right"), scope)
        elif node.type == "for_statement":
            self._bind_loop(node, scope)
        else:
            scope.imports.update(self._imports(node))

    def _assign(self, left: Node | None, right: Node | None, scope: Scope) -> None:
        if left is None or right is None:
            return
        if left.type == "identifier":
            scope.values.setdefault(self.text(left), []).append(right)
        elif left.type == "attribute" and scope.of_class is not None:
            base, name = left.child_by_field_name("object"), left.child_by_field_name("attribute")
            if base is not None and name is not None and self.text(base) in scope.parameters[:1]:
                self.attributes.setdefault(f"{scope.of_class.name}().{self.text(name)}", []).append(
                    (right, scope)
                )

    def full_name(self, node: Node, scope: Scope) -> str:
        """Return the full name, such as `fastapi.APIRouter`, of a possibly aliased name; empty if it is not dotted."""
        parts: list[str] = []
        while node.type == "attribute" and len(parts) < MAX_STEPS:
            name, base = node.child_by_field_name("attribute"), node.child_by_field_name("object")
            if name is None or base is None:
                return ""
            parts.append(self.text(name))
            node = base
        if node.type != "identifier":
            return ""
        head = self.text(node)
        home = find(head, scope)
        original = home.imports.get(head, head) if home is not None else head
        return ".".join([original, *reversed(parts)])

    def constructor(self, node: Node, scope: Scope, steps: int = 0) -> str | None:
        """Return the constructor of a router that a call creates, directly or by a subclass, or None."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        full = self.full_name(function, scope) if function is not None else ""
        name = full.rpartition(".")[2]
        if name in ("Router", "Api"):
            return (
                name
                if full.partition(".")[0] in ("starlette", "fastapi", "flask_restful", "flask_restx")
                else None
            )
        if name in CONSTRUCTORS:
            return name
        return self._extended(full, scope, steps)

    def _extended(self, name: str, scope: Scope, steps: int) -> str | None:
        home = find(name, scope)
        inner = home.inner.get(name) if home is not None else None
        if inner is None or not inner.is_class or inner.node is None or steps > MAX_STEPS:
            return None
        for base in bases(inner.node):
            known = self.full_name(base, scope).rpartition(".")[2]
            if known in CONSTRUCTORS:
                return known
            if known != name and (found := self._extended(known, scope, steps + 1)) is not None:
                return found
        return None

    def is_likely(self, node: Node, scope: Scope) -> bool:
        """Return whether a call of an unknown class looks like a router by its name."""
        function = node.child_by_field_name("function") if node.type == "call" else None
        return function is not None and _LIKELY.search(self.full_name(function, scope)) is not None

    def text_of(self, node: Node | None, scope: Scope, steps: int = 0) -> str:
        if node is None or steps > MAX_STEPS:
            return UNKNOWN
        match node.type:
            case "string":
                return self._string(node, scope, steps)
            case "concatenated_string" | "parenthesized_expression":
                return joined(self.text_of(part, scope, steps + 1) for part in node.named_children)
            case "binary_operator" if (
                operator := node.child_by_field_name("operator")
            ) and operator.type == "+":
                sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
                return joined(self.text_of(side, scope, steps + 1) for side in sides)
            case "identifier":
                return self._constant(self.text(node), scope, steps)
            case "attribute":
                return self._class_constant(node, scope, steps)
            case "none":
                return ""
            case _:
                return UNKNOWN

    def _string(self, node: Node, scope: Scope, steps: int) -> str:
        def piece(part: Node) -> str:
            if part.type == "interpolation":
                plain = part.child_by_field_name("format_specifier") is None
                inner = part.child_by_field_name("expression")
                return self.text_of(inner, scope, steps + 1) if plain else UNKNOWN
            if part.type != "string_content":
                return ""
            doubled = any(child.type == "escape_interpolation" for child in part.children)
            return self.text(part).replace("{{", "{").replace("}}", "}") if doubled else self.text(part)

        return joined(piece(part) for part in node.named_children)

    def _class_constant(self, node: Node, scope: Scope, steps: int) -> str:
        """Return a class constant such as `Paths.USERS`. Instance attributes are unknown."""
        owner, _, name = self.full_name(node, scope).rpartition(".")
        home = find(owner, scope)
        inner = home.inner.get(owner) if home is not None else None
        return (
            self._constant(name, inner, steps + 1) if inner is not None and name in inner.values else UNKNOWN
        )

    def value_of(self, node: Node, scope: Scope, steps: int = 0) -> tuple[Node, Scope]:
        """Return the value of a name that is assigned once, else the name itself."""
        home = find(self.text(node), scope) if node.type == "identifier" else None
        values = home.values.get(self.text(node), []) if home is not None else []
        if home is None or len(values) != 1 or steps > MAX_STEPS:
            return node, scope
        return self.value_of(values[0], home, steps + 1)

    def names_of(self, node: Node | None, scope: Scope, steps: int = 0) -> list[str]:
        if node is None or steps > MAX_STEPS:
            return []
        match node.type:
            case "identifier":
                return self._names_of_identifier(self.text(node), scope, steps)
            case "attribute":
                name = node.child_by_field_name("attribute")
                bases = self.names_of(node.child_by_field_name("object"), scope, steps + 1)
                return (
                    [each for base in bases for each in self._member(base, self.text(name), steps)]
                    if name
                    else []
                )
            case "call":
                if self.constructor(node, scope) is not None:
                    return [anonymous(node)]
                return [
                    f"{name}()"
                    for name in self.names_of(node.child_by_field_name("function"), scope, steps + 1)
                ]
            case "parenthesized_expression" | "await":
                return self.names_of(
                    node.named_children[0] if node.named_children else None, scope, steps + 1
                )
            case _:
                return []

    def _names_bound(self, name: str, home: Scope, steps: int) -> list[str]:
        if name in home.imports:
            return [name]
        if name in home.loops:
            return self._names_in_loop(home.loops[name], home, steps)
        values = home.values.get(name, [])
        if any(self.constructor(v, home) or self.is_likely(v, home) for v in values):
            return [self.own_name(name, home)]
        if name in home.parameters:
            return [parameter_name(home, name)]
        if values:
            return [each for value in values for each in self.names_of(value, home, steps + 1)][:MAX_NAMES]
        return [self.own_name(name, home)]

    def own_name(self, name: str, home: Scope) -> str:
        """Return the name by which other files refer to it: a returned local of a factory is `factory()`."""
        if home.is_class:
            return f"{home.name}().{name}"
        if any(node.type == "identifier" and self.text(node) == name for node in home.returned):
            return f"{home.name}()"
        return f"{home.name}.{name}" if home.name else name

    def _member(self, base: str, name: str, steps: int) -> list[str]:
        owner = self.module.inner.get(base)
        whole = f"{base}().{name}" if owner is not None and owner.is_class else f"{base}.{name}"
        assigned = self.attributes.get(whole, [])
        if any(self.constructor(v, s) or self.is_likely(v, s) for v, s in assigned):
            return [whole]
        return [each for v, s in assigned for each in self.names_of(v, s, steps + 1)] or [whole]

    def _find_items(self, over: Node, scope: Scope) -> list[Node] | None:
        """Return the items of a literal; the pairs for `{…}.items()`."""
        function = over.child_by_field_name("function") if over.type == "call" else None
        if function is not None and function.type == "attribute" and self.text(function).endswith(".items"):
            over = function.child_by_field_name("object") or over
        value, _ = self.value_of(over, scope)
        return (
            value.named_children[:MAX_NAMES] if value.type in ("tuple", "list", "set", "dictionary") else None
        )

    def _enter(self, node: Node, scope: Scope) -> Scope:
        name = self.text(found) if (found := node.child_by_field_name("name")) else ""
        full = f"{scope.name}.{name}" if scope.name else name
        inner = Scope(full, scope, node.end_byte, is_class=node.type == "class_definition", node=node)
        parameters = node.child_by_field_name("parameters")
        for parameter in parameters.named_children if parameters is not None else []:
            named = parameter.child_by_field_name("name") or parameter
            while named.type != "identifier" and named.named_children:
                named = named.named_children[0]
            inner.parameters.append(self.text(named))
        scope.inner[name] = inner
        return inner

    def _bind_loop(self, node: Node, scope: Scope) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "identifier":
            scope.loops[self.text(left)] = Loop(right, node)
        for place, part in enumerate(left.named_children if left.type != "identifier" else []):
            if part.type == "identifier":
                scope.loops[self.text(part)] = Loop(right, node, place)

    def _imports(self, node: Node) -> Iterator[tuple[str, str]]:
        module = node.child_by_field_name("module_name")
        prefix = f"{self.text(module)}." if module is not None else ""
        for name in node.children_by_field_name("name"):
            if name.type == "aliased_import":
                original, alias = name.child_by_field_name("name"), name.child_by_field_name("alias")
                if original is not None and alias is not None:
                    yield self.text(alias), prefix + self.text(original)
            elif module is not None:
                yield self.text(name), prefix + self.text(name)
            else:
                yield self.text(name).partition(".")[0], self.text(name).partition(".")[0]


def bases(definition: Node) -> list[Node]:
    arguments = definition.child_by_field_name("superclasses")
    return [] if arguments is None else [n for n in arguments.named_children if n.type != "keyword_argument"]
