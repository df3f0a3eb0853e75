"""Resolve names in a JavaScript or TypeScript file to routers and text."""

from collections.abc import Callable, Iterator

import tree_sitter_javascript
import tree_sitter_typescript
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
    nth,
)

_WRAPPERS = (
    "parenthesized_expression",
    "as_expression",
    "non_null_expression",
    "await_expression",
    "satisfies_expression",
)


def unwrapped(node: Node) -> Node:
    """Remove parentheses and TypeScript type wrappers."""
    while node.type in _WRAPPERS and node.named_children:
        node = node.named_children[0]
    return node


class ScriptSyntax:
    text: Callable[[Node], str]

    def required(self, node: Node) -> str | None:
        """Return the specifier of `require("./x")`, or None."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if (
            node.type != "call_expression"
            or function is None
            or arguments is None
            or self.text(function) != "require"
        ):
            return None
        source = nth(arguments, 0)
        return self._specifier(source) if source is not None and source.type == "string" else None

    def members(self, node: Node) -> Iterator[tuple[str, Node]]:
        """Yield the members of a literal object."""
        for member in node.named_children if node.type == "object" else []:
            key, value = member.child_by_field_name("key"), member.child_by_field_name("value")
            if member.type == "pair" and key is not None and value is not None:
                yield self.text(key).strip("'\""), value
            elif member.type == "shorthand_property_identifier":
                yield self.text(member), member

    def exported_name(self, left: Node) -> str | None:
        """Return the exported name of `module.exports = …` or `exports.x = …`."""
        written = self.text(left)
        if written == "module.exports":
            return "default"
        for prefix in ("module.exports.", "exports."):
            if written.startswith(prefix):
                return written.removeprefix(prefix)
        return None

    def _specifier(self, source: Node) -> str:
        return "".join(self.text(part) for part in source.named_children).replace("(", "").replace(")", "")

    def unpacked(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """Yield (local, original) names of a destructuring pattern such as `{ a, b: c }`."""
        for part in pattern.named_children if pattern.type == "object_pattern" else []:
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if part.type == "shorthand_property_identifier_pattern":
                yield self.text(part), self.text(part)
            elif key is not None and value is not None and value.type == "identifier":
                yield self.text(value), self.text(key)

    def import_source(self, node: Node) -> str:
        """Return the source of an import or re-export in `require(…)` form, or an empty string."""
        source = node.child_by_field_name("source")
        return f"require({self._specifier(source)})" if source is not None else ""

    def imports(self, node: Node) -> Iterator[tuple[str, str]]:
        module = self.import_source(node)
        clauses = [child for child in node.named_children if child.type == "import_clause"]
        for part in [part for clause in clauses for part in clause.named_children]:
            if part.type == "identifier":
                yield self.text(part), module
            elif part.type == "namespace_import" and part.named_children:
                yield self.text(part.named_children[0]), module
            for specifier in part.named_children if part.type == "named_imports" else []:
                name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
                if name is not None:
                    yield self.text(alias or name), f"{module}.{self.text(name)}".removesuffix(".default")


_FUNCTIONS = (
    "function_declaration",
    "function_expression",
    "generator_function_declaration",
    "arrow_function",
    "method_definition",
)
_CLASSES = ("class_declaration", "class")
_LANGUAGES = {
    Language(tree_sitter_javascript.language()): "field_definition",
    Language(tree_sitter_typescript.language_typescript()): "public_field_definition",
    Language(tree_sitter_typescript.language_tsx()): "public_field_definition",
}
_PLAIN = (
    "variable_declarator",
    "assignment_expression",
    "return_statement",
    "import_statement",
    "export_statement",
)
_CAPTURED = (*_FUNCTIONS, *_CLASSES, *_PLAIN, "for_in_statement", "call_expression", "new_expression")
_QUERIES = {
    language.id_for_node_kind("program", True): Query(
        language, " ".join(f"({kind}) @n" for kind in (*_CAPTURED, field))
    )
    for language, field in _LANGUAGES.items()
}
"""Queries by the node kind id of the root, which identifies the grammar."""
_KINDS = frozenset((*_CAPTURED, *_LANGUAGES.values()))
APPS = ("express", "koa")
ROUTERS = ("express.Router", "express-promise-router", "@koa/router", "koa-router")


class ScriptNames(ScriptSyntax, Names):
    """Collects bindings in one pass, then resolves names on request."""

    def __init__(self, root: Node, data: bytes) -> None:
        super().__init__(root, data)
        self._named: dict[int, str] = {}
        self._looped: dict[int, Loop] = {}
        query = _QUERIES.get(root.kind_id)
        if query is not None:
            self._read(root, query)

    def _read(self, root: Node, query: Query) -> None:
        scope = self.module
        for node in captured(root, query, _KINDS):
            while scope.outer is not None and node.start_byte >= scope.end:
                scope = scope.outer
            if node.type in _FUNCTIONS or node.type in _CLASSES:
                scope = self._enter(node, scope)
            else:
                self._bind(node, scope)

    def _enter(self, node: Node, scope: Scope) -> Scope:
        own = node.child_by_field_name("name")
        name = self._named.get(node.id) or (self.text(own) if own is not None else anonymous(node))
        full = f"{scope.name}.{name}" if scope.name else name
        inner = Scope(full, scope, node.end_byte, is_class=node.type in _CLASSES, node=node)
        single, listed = node.child_by_field_name("parameter"), node.child_by_field_name("parameters")
        for parameter in (
            [single] if single is not None else listed.named_children if listed is not None else []
        ):
            pattern = (
                parameter.child_by_field_name("pattern") or parameter.child_by_field_name("left") or parameter
            )
            inner.parameters.append(self.text(pattern) if pattern.type == "identifier" else "")
        if node.id in self._looped and inner.parameters:
            inner.loops[inner.parameters.pop(0)] = self._looped[node.id]
        body = node.child_by_field_name("body")
        if node.type == "arrow_function" and body is not None and body.type != "statement_block":
            inner.returned.append(body)
        scope.inner[name] = inner
        if own is not None:
            scope.inner[self.text(own)] = inner
        self.scopes.append(inner)
        return inner

    def _bind(self, node: Node, scope: Scope) -> None:
        if node.type == "return_statement":
            scope.returned += node.named_children[:1]
        elif node.type == "variable_declarator":
            self._declare(node, scope)
        elif node.type == "import_statement":
            scope.imports.update(self.imports(node))
        elif node.type == "for_in_statement":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            if left is not None and right is not None and left.type == "identifier":
                scope.loops[self.text(left)] = Loop(right, node)
        elif node.type.endswith("field_definition"):
            self._field(node, scope)
        else:
            self._prepare(node, scope)
            self.met.append(Candidate(node, scope))

    def _declare(self, node: Node, scope: Scope) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return
        if name.type == "identifier":
            self._named[unwrapped(value).id] = self.text(name)
            scope.values.setdefault(self.text(name), []).append(value)
            return
        module = self._full_name(value, scope)
        if module:
            scope.imports.update((local, f"{module}.{original}") for local, original in self.unpacked(name))

    def _field(self, node: Node, scope: Scope) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        name = name or node.child_by_field_name("property")
        if name is not None and value is not None and scope.is_class:
            self.attributes.setdefault(f"{scope.name}().{self.text(name)}", []).append((value, scope))

    def _prepare(self, node: Node, scope: Scope) -> None:
        """Name functions after their assignment or export."""
        if node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            exported = self.exported_name(left) if left is not None else None
            if right is not None and exported is not None:
                self._named[unwrapped(right).id] = exported
            owner = self.this(scope)
            if left is not None and right is not None and owner and self.text(left).startswith("this."):
                self.attributes.setdefault(f"{owner}.{self.text(left)[5:]}", []).append((right, scope))
        elif node.type == "export_statement" and any(child.type == "default" for child in node.children):
            value = node.child_by_field_name("value") or node.child_by_field_name("declaration")
            if value is not None:
                self._named[unwrapped(value).id] = "default"
        elif node.type == "call_expression":
            self._prepare_loop(node)

    def _prepare_loop(self, call: Node) -> None:
        """Record loops such as `list.forEach((item) => …)`."""
        function, arguments = call.child_by_field_name("function"), call.child_by_field_name("arguments")
        verb = function.child_by_field_name("property") if function is not None else None
        over = function.child_by_field_name("object") if function is not None else None
        body = nth(arguments, 0)
        if (
            verb is not None
            and over is not None
            and body is not None
            and self.text(verb) in ("forEach", "map")
        ):
            self._looped[body.id] = Loop(over, body)

    def this(self, scope: Scope) -> str:
        here: Scope | None = scope
        while here is not None and not here.is_class:
            here = here.outer
        return f"{here.name}()" if here is not None else ""

    def made(self, node: Node, scope: Scope) -> str | None:
        """Return the full name of the router (`express.Router`) that a call or `new` creates, or None."""
        node = unwrapped(node)
        function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
        if function is None or node.type not in ("call_expression", "new_expression"):
            return None
        full = (
            self._full_name(function, scope)
            .replace(".default", "")
            .removeprefix("require(")
            .replace(")", "", 1)
        )
        return full if full in APPS or full in ROUTERS else None

    def _full_name(self, node: Node, scope: Scope) -> str:
        """Return the full name, such as `require(express).Router`; empty if it is not imported."""
        parts: list[str] = []
        for _ in range(MAX_STEPS):
            node = unwrapped(node)
            base, name = node.child_by_field_name("object"), node.child_by_field_name("property")
            home = find(self.text(node), scope) if node.type == "identifier" else None
            if (source := self.required(node)) is not None:
                return ".".join([f"require({source})", *reversed(parts)])
            if node.type == "member_expression" and base is not None and name is not None:
                parts.append(self.text(name))
                node = base
            elif home is not None and self.text(node) in home.imports:
                return ".".join([home.imports[self.text(node)], *reversed(parts)])
            elif home is not None and len(home.values.get(self.text(node), [])) == 1:
                node, scope = home.values[self.text(node)][0], home
            else:
                break
        return ""

    def text_of(self, node: Node | None, scope: Scope, steps: int = 0) -> str:
        if node is None or steps > MAX_STEPS:
            return UNKNOWN
        node = unwrapped(node)
        match node.type:
            case "string":
                return joined(self.text(part) for part in node.named_children)
            case "template_string":
                return joined(self._template_part(part, scope, steps) for part in node.named_children)
            case "binary_expression" if (
                operator := node.child_by_field_name("operator")
            ) and operator.type == "+":
                sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
                return joined(self.text_of(side, scope, steps + 1) for side in sides)
            case "identifier":
                return self._constant(self.text(node), scope, steps)
            case "member_expression":
                value, home = self.value_of(node, scope)
                return UNKNOWN if value == node else self.text_of(value, home, steps + 1)
            case _:
                return UNKNOWN

    def _template_part(self, part: Node, scope: Scope, steps: int) -> str:
        return (
            self.text_of(nth(part, 0), scope, steps + 1)
            if part.type == "template_substitution"
            else self.text(part)
        )

    def value_of(self, node: Node, scope: Scope, steps: int = 0) -> tuple[Node, Scope]:
        """Return the value of a name or of a member of a literal object, else the node itself."""
        node = unwrapped(node)
        if steps > MAX_STEPS:
            return node, scope
        if node.type == "identifier" and (home := find(self.text(node), scope)) is not None:
            values = home.values.get(self.text(node), [])
            return self.value_of(values[0], home, steps + 1) if len(values) == 1 else (node, scope)
        if node.type == "member_expression":
            base, name = node.child_by_field_name("object"), node.child_by_field_name("property")
            if base is not None and name is not None and base.type == "this":
                assigned = self.attributes.get(f"{self.this(scope)}.{self.text(name)}", [])
                return self.value_of(*assigned[0], steps + 1) if len(assigned) == 1 else (node, scope)
            if base is not None and name is not None:
                owner, home = self.value_of(base, scope, steps + 1)
                found = dict(self.members(owner)).get(self.text(name))
                return self.value_of(found, home, steps + 1) if found is not None else (node, scope)
        return node, scope

    def names_of(self, node: Node | None, scope: Scope, steps: int = 0) -> list[str]:
        if node is None or steps > MAX_STEPS:
            return []
        node = unwrapped(node)
        if (source := self.required(node)) is not None:
            return [f"require({source})"]
        match node.type:
            case "identifier" | "shorthand_property_identifier":
                return self._names_of_identifier(self.text(node), scope, steps)
            case "this":
                return [self.this(scope)] if self.this(scope) else []
            case "member_expression":
                return self._names_of_member(node, scope, steps)
            case "call_expression" | "new_expression":
                if self.made(node, scope) is not None:
                    return [anonymous(node)]
                function = node.child_by_field_name("function") or node.child_by_field_name("constructor")
                return [
                    f"{name}()".removesuffix(".routes()")
                    for name in self.names_of(function, scope, steps + 1)
                ]
            case _ if node.type in _FUNCTIONS:
                return [self._named.get(node.id, anonymous(node))]
            case _:
                return []

    def _names_bound(self, name: str, home: Scope, steps: int) -> list[str]:
        if name in home.imports:
            return [home.imports[name]]
        if name in home.loops:
            return self._names_in_loop(home.loops[name], home, steps)
        values = home.values.get(name, [])
        if any(self.made(value, home) is not None for value in values):
            return [self.own_name(name, home)]
        if name in home.parameters:
            owner = home.of_class
            called = f"{owner.name}().{home.name.rpartition('.')[2]}" if owner is not None else home.name
            return [f"{called}({home.parameters.index(name)})"]
        if values and name not in home.inner:
            return [each for value in values for each in self.names_of(value, home, steps + 1)][:MAX_NAMES]
        return [home.inner[name].name if name in home.inner else self.own_name(name, home)]

    def _find_items(self, over: Node, scope: Scope) -> list[Node] | None:
        value, _ = self.value_of(over, scope)
        return value.named_children[:MAX_NAMES] if value.type == "array" else None

    def _names_of_member(self, node: Node, scope: Scope, steps: int) -> list[str]:
        value, home = self.value_of(node, scope)
        if value != node and self.made(value, home) is None:
            return self.names_of(value, home, steps + 1)
        name = node.child_by_field_name("property")
        bases = self.names_of(node.child_by_field_name("object"), scope, steps + 1)
        return [f"{base}.{self.text(name)}" for base in bases] if name is not None else []

    def own_name(self, name: str, home: Scope) -> str:
        if any(node.type == "identifier" and self.text(node) == name for node in home.returned):
            return f"{home.name}()"
        return f"{home.name}.{name}" if home.name else name
