"""Find the routes a JavaScript or TypeScript file declares with Express, without running it.

`axios.get("/x")` and `request(app).get("/x")` look like routes. Only calls on a router of this file, or on something
imported that may be one, are kept; the route table drops those that are not.
"""

import re
from collections.abc import Iterator

from tree_sitter import Node

from forge.audits.facts.models import Mount, Route, RouteFacts, Router
from forge.audits.facts.parsing import line_of
from forge.audits.facts.scopes import Candidate, Scope, anonymous, loop_scopes, nth
from forge.audits.facts.script.names import APPS, ScriptNames, unwrapped

_WORDS = (
    b"express",
    b"koa",
    b"oute",
    b"(app)",
    b"(app,",
    b"app.",
    b".get('",
    b'.get("',
    b".post('",
    b'.post("',
    b".use(",
)
"""Every file with routes contains one of these; a substring search is a hundred times faster than a pattern."""
_LONG_LINES = 500
"""Files with a longer mean line are browser bundles, which declare no routes and are slow to examine."""
_MAX_CHAINED = 200
_SHORT = 2_000
"""Shorter files are always examined, as a file with only re-exports contains none of the words."""
_VERBS = {
    verb: verb.upper() for verb in ("get", "post", "put", "delete", "patch", "head", "options", "trace")
}
_METHODS = {**_VERBS, "del": "DELETE", "all": "ANY", "ws": "WEBSOCKET"}
_STATIC = re.compile(r"static|serve", re.IGNORECASE)
_HANDLERS = ("function_expression", "arrow_function", "object", "string", "number", "true", "false", "null")
_NO_PATHS = (
    "function_expression",
    "arrow_function",
    "object",
    "number",
    "call_expression",
    "new_expression",
    "this",
)


def routes_of(root: Node, data: bytes) -> RouteFacts:
    is_packed = len(data) > 20_000 and len(data) > _LONG_LINES * (data.count(b"\n") + 1)
    if is_packed or (len(data) > _SHORT and not any(word in data for word in _WORDS)):
        return RouteFacts()
    return _Reader(root, data).read()


class _Reader:
    def __init__(self, root: Node, data: bytes) -> None:
        self._names = ScriptNames(root, data)
        self._text = self._names.text
        self._routes: list[Route] = []
        self._mounts: list[Mount] = []
        self._routers: dict[str, Router] = {}

    def read(self) -> RouteFacts:
        for scope in self._names.scopes:
            self._declare(scope)
        for name, assigned in self._names.attributes.items():
            for value, scope in assigned:
                self._declare_router(name, value, scope)
        for met in self._names.met:
            if met.node.type in ("assignment_expression", "export_statement"):
                self._read_export(met)
                continue
            for scope in loop_scopes(met, self._text, self._names.items_of):
                self._read_call(Candidate(met.node, scope))
        routes, mounts = dict.fromkeys(self._routes), dict.fromkeys(self._mounts)
        return RouteFacts(tuple(routes), tuple(mounts), tuple(self._routers.values()))

    # Routers, and the names they are exported by.

    def _declare(self, scope: Scope) -> None:
        for name, values in scope.values.items():
            for value in values:
                self._declare_router(self._names.own_name(name, scope), value, scope)
        for value in scope.returned:
            name = f"{scope.name}()"
            if not self._declare_router(name, value, scope):
                known = [child for child in self._names.names_of(value, scope) if child in self._routers]
                self._alias(name, known, value)

    def _declare_router(self, name: str, value: Node, scope: Scope) -> bool:
        made = self._names.made(value, scope)
        if made is None:
            return False
        arguments = unwrapped(value).child_by_field_name("arguments")
        options = nth(arguments, 0)
        prefix = dict(self._names.members(options)).get("prefix") if options is not None else None
        written = self._names.text_of(prefix, scope) if prefix is not None else ""
        self._routers[name] = Router(name, written, is_app=made in APPS, line=line_of(value))
        return True

    def _read_export(self, met: Candidate) -> None:
        for name, value in self._exports(met.node):
            if isinstance(value, str):
                self._alias(name, [value], met.node)
            elif value.type == "object":
                for member, inner in self._names.members(value):
                    self._export(member, inner, met.scope)
            else:
                self._export(name, value, met.scope)

    def _export(self, name: str, value: Node, scope: Scope) -> None:
        if not self._declare_router(name, value, scope):
            self._alias(name, self._names.names_of(value, scope), value)
            items = value.named_children if value.type == "array" else []
            self._alias(
                f"{name}[]", [each for item in items for each in self._names.names_of(item, scope)], value
            )

    # What is called.

    def _read_call(self, met: Candidate) -> None:
        function = met.node.child_by_field_name("function")
        arguments = met.node.child_by_field_name("arguments")
        given = [n for n in arguments.named_children if n.type != "comment"] if arguments is not None else []
        verb = function.child_by_field_name("property") if function is not None else None
        target = function.child_by_field_name("object") if function is not None else None
        if target is not None and verb is not None and given:
            if self._text(verb) in _METHODS:
                self._read_route(_METHODS[self._text(verb)], target, given, met)
                return
            if self._text(verb) == "use":
                self._read_use(target, given, met)
                return
        self._read_passing(given, met)

    def _read_route(self, method: str, target: Node, given: list[Node], met: Candidate) -> None:
        chained = self._chained_route(target)
        if chained is not None:
            owner, path = chained
            self._add(method, path, owner, met)
        elif len(given) > 1 and given[0].type not in _NO_PATHS and given[1].type not in ("object", "string"):
            self._add(method, given[0], self._unchained(target), met)

    def _read_use(self, target: Node, given: list[Node], met: Candidate) -> None:
        parents = self._names.names_of(self._unchained(target), met.scope)
        prefixes = [""]
        if len(given) > 1 and given[0].type not in _NO_PATHS:
            prefixes = self._paths(given[0], met.scope)
            given = given[1:]
        flat = [item for node in given for item in (node.named_children if node.type == "array" else [node])]
        children = [name for node in flat for name in self._mounted(node, met.scope)]
        for prefix in prefixes:
            self._mount(parents, children, prefix, met.node)

    def _mounted(self, node: Node, scope: Scope) -> list[str]:
        if unwrapped(node).type in _HANDLERS or _STATIC.search(self._text(node)[:100]):
            return []
        if self._names.made(node, scope) is not None:
            self._declare_router(anonymous(unwrapped(node)), node, scope)
        return self._names.names_of(node, scope)

    def _read_passing(self, given: list[Node], met: Candidate) -> None:
        """Record `register(app)`, `require("./routes")(app)` and `new Routes(app)`, which declare routes on `app`."""
        is_new = met.node.type == "new_expression"
        function = met.node.child_by_field_name("constructor" if is_new else "function")
        for place, node in enumerate(given[:8]):
            if node.type not in ("identifier", "member_expression"):
                continue
            parents = [
                n for n in self._names.names_of(node, met.scope) if n in self._routers or n.endswith(")")
            ]
            called = self._names.names_of(function, met.scope) if parents else []
            if not called and function is not None and "require(" in self._text(function)[:100]:
                called = ["?[]"]  # a file that is only known at run time
            for parent in parents:
                suffix = f"().constructor({place})" if is_new else f"({place})"
                self._alias(parent, [name + suffix for name in called], met.node)

    # What is found.

    def _paths(self, node: Node, scope: Scope) -> list[str]:
        value, home = self._names.value_of(node, scope)
        if value.type == "array":
            return [self._names.text_of(item, home) for item in value.named_children]
        return [self._names.text_of(value, home)]

    def _add(self, method: str, path: Node, target: Node, met: Candidate) -> None:
        parents = self._known(self._names.names_of(target, met.scope), met.node)
        for written in self._paths(path, met.scope) if parents else []:
            self._routes += [Route(method, written, line_of(path), parent) for parent in parents]

    def _mount(self, parents: list[str], children: list[str], prefix: str, node: Node) -> None:
        for parent in self._known(parents, node) if children else []:
            self._mounts += [
                Mount(parent, child, prefix, line_of(node)) for child in children if child != parent
            ]

    def _alias(self, name: str, children: list[str], node: Node) -> None:
        self._mounts += [Mount(name, child, "", line_of(node)) for child in children if child != name]

    def _known(self, targets: list[str], node: Node) -> list[str]:
        """Return known routers. Parameters count, as the route table resolves what they are called with."""
        known = [
            t for t in targets if t in self._routers or t.startswith("require(") or re.search(r"\(\d+\)", t)
        ]
        for target in known:
            if target not in self._routers and not target.startswith("require("):
                self._routers[target] = Router(target, "", is_app=False, line=line_of(node))
        return known

    def _exports(self, node: Node) -> Iterator[tuple[str, Node | str]]:
        """Yield exported names with their nodes, or with a name for re-exports of another file."""
        if node.type == "assignment_expression":
            left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
            name = self._names.exported_name(left) if left is not None else None
            if name is not None and right is not None:
                yield name, unwrapped(right)
            return
        source = self._names.import_source(node)
        default = node.child_by_field_name("value")
        if default is not None:
            yield "default", unwrapped(default)
        if source and any(child.type == "*" for child in node.children):
            yield "*", source
        for clause in [child for child in node.named_children if child.type == "export_clause"]:
            for each in clause.named_children:
                name, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                if name is not None:
                    origin = f"{source}.{self._text(name)}".removesuffix(".default") if source else name
                    yield self._text(alias or name), origin

    def _chained_route(self, node: Node) -> tuple[Node, Node] | None:
        """Return owner and path of a chain such as `owner.route("/x").get(f).post(g)`."""
        for _ in range(_MAX_CHAINED):
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            verb = function.child_by_field_name("property") if function is not None else None
            owner = function.child_by_field_name("object") if function is not None else None
            path = nth(arguments, 0)
            if node.type != "call_expression" or verb is None or owner is None:
                return None
            if self._text(verb) == "route":
                return (owner, path) if path is not None else None
            node = owner
        return None

    def _unchained(self, node: Node) -> Node:
        """Return the `app` of `app.get("/x", f).get("/y", g)`, as Express methods return their object."""
        start = node
        for _ in range(_MAX_CHAINED):
            function = node.child_by_field_name("function")
            verb = function.child_by_field_name("property") if function is not None else None
            owner = function.child_by_field_name("object") if function is not None else None
            if node.type != "call_expression":
                return node
            if verb is None or owner is None or self._text(verb) not in (*_METHODS, "use"):
                return start
            node = owner
        return start
