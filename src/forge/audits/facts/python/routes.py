"""Find the routes a Python file declares with FastAPI, Starlette or Flask, without importing it.

Calls that only look like routes (`client.get("/x")`, `cache.get("/x")`) are distinguished by their form: a route is a
decorator or a framework call on something that is a router here, or may be one in the file it is imported from.
"""

import re

from tree_sitter import Node

from forge.audits.facts.models import INSTEAD, UNKNOWN, Mount, Route, RouteFacts, Router
from forge.audits.facts.parsing import line_of
from forge.audits.facts.python.names import CONSTRUCTORS, PythonNames, bases
from forge.audits.facts.scopes import Candidate, Scope, Source, anonymous, find, loop_scopes, parameter_name


class Arguments:
    def __init__(self, call: Node, source: Source) -> None:
        self.positional: list[Node] = []
        self.keywords: dict[str, Node] = {}
        given = call.child_by_field_name("arguments")
        for node in given.named_children if given is not None else []:
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if node.type == "keyword_argument" and name is not None and value is not None:
                self.keywords[source.text(name)] = value
            elif node.type not in ("comment", "keyword_argument", "dictionary_splat"):
                self.positional.append(node)

    def at(self, place: int) -> Node | None:
        return self.positional[place] if place < len(self.positional) else None

    def named(self, name: str) -> Node | None:
        return self.keywords.get(name)

    def get(self, name: str, place: int) -> Node | None:
        return self.keywords.get(name) or self.at(place)


def lists_in(node: Node) -> list[Node]:
    """Return the lists in an expression such as `[a] + [b]`."""
    waiting, found = [node], list[Node]()
    while waiting:
        place = waiting.pop()
        if place.type in ("list", "tuple"):
            found.append(place)
        elif place.type in ("binary_operator", "parenthesized_expression"):
            waiting += place.named_children
    return found


def is_false(node: Node | None) -> bool:
    return node is not None and node.type == "false"


_WORDS = (
    *(
        b"router",
        b"Router",
        b"ROUTE",
        b".route(",
        b"Route(",
        b"routes",
        b"FastAPI",
        b"Flask",
        b"Starlette",
        b"Quart",
    ),
    *(b"lueprint", b"add_url_rule", b"add_api_", b"add_route", b"(app)", b"(app,", b"=app)", b"=app,"),
)
"""Every file with routes contains one of these; a substring search is a hundred times faster than a pattern."""
_DECORATED = re.compile(rb"@[\w.]+\.(?:get|post|put|patch|delete|websocket)\(")
VERBS = ("get", "post", "put", "delete", "patch", "head", "options", "trace")
_DECORATORS = {
    **{verb: verb.upper() for verb in VERBS},
    "websocket": "WEBSOCKET",
    "websocket_route": "WEBSOCKET",
}
_WITH_METHODS = ("route", "api_route")
_ADDING = {"add_api_route": "endpoint", "add_route": "route", "add_url_rule": "view_func"}
"""The name of the handler argument by method."""
_ADDING_WEBSOCKETS = ("add_api_websocket_route", "add_websocket_route")
_MOUNTING = ("include_router", "register_blueprint", "mount")
_WORTH_A_NAME = re.compile(r"app|api|rout|blueprint|bps?\b|server|module", re.IGNORECASE)
_MAX_PASSED = 16
_LISTS = ("list", "tuple", "binary_operator")
_STATIC = re.compile(r"static", re.IGNORECASE)


def routes_of(root: Node, data: bytes) -> RouteFacts:
    if not any(word in data for word in _WORDS) and _DECORATED.search(data) is None:
        return RouteFacts()
    return _Reader(root, data).read()


class _Reader:
    def __init__(self, root: Node, data: bytes) -> None:
        self._names = PythonNames(root, data)
        self._text = self._names.text
        self._routes: list[Route] = []
        self._mounts: list[Mount] = []
        self._routers: dict[str, Router] = {}
        self._hidden: set[str] = set()
        """Routers made with `include_in_schema=False`."""
        self._imported = {name for scope in self._names.scopes for name in scope.imports}

    def read(self) -> RouteFacts:
        self._declare()
        for name, assigned in self._names.attributes.items():
            for value, scope in assigned:
                self._declare_value(name, value, scope)
        for met in self._names.met:
            for scope in loop_scopes(met, self._text, self._names.items_of):
                if met.node.type == "decorated_definition":
                    self._read_decorators(Candidate(met.node, scope))
                else:
                    self._read_call(Candidate(met.node, scope))
        self._name_parameters()
        routes = [r if r.target not in self._hidden else _hidden(r) for r in self._routes]
        used = {m.parent for m in self._mounts} | {r.target for r in self._routes}
        routers = [
            r for name, r in self._routers.items() if name in used or not name.endswith(")") or r.is_app
        ]
        return RouteFacts(tuple(dict.fromkeys(routes)), tuple(dict.fromkeys(self._mounts)), tuple(routers))

    # Routers, and other names for them.

    def _declare(self) -> None:
        for scope in self._names.scopes:
            for name, values in scope.values.items():
                for value in values:
                    self._declare_value(self._names.own_name(name, scope), value, scope)
                    if not scope.name:
                        self._declare_alias(name, value, scope)
            for value in scope.returned:
                self._declare_returned(value, scope)

    def _declare_value(self, name: str, value: Node, scope: Scope) -> None:
        if self._names.constructor(value, scope) is not None:
            self._declare_router(name, value, scope)
        elif value.type in _LISTS and self._holds_routes(value, scope):
            self._routers[f"{name}[]"] = Router(f"{name}[]", "", is_app=False, line=line_of(value))
            self._read_list(value, f"{name}[]", scope)

    def _declare_router(self, name: str, call: Node, scope: Scope) -> None:
        made = self._names.constructor(call, scope) or ""
        arguments = Arguments(call, self._names.source)
        given = arguments.named("prefix") or arguments.named("url_prefix")
        prefix = "" if given is None else self._names.text_of(given, scope)
        self._routers[name] = Router(name, prefix, is_app=CONSTRUCTORS.get(made, False), line=line_of(call))
        if is_false(arguments.named("include_in_schema")):
            self._hidden.add(name)
        routes = arguments.named("routes") or (arguments.at(0) if made == "Router" else None)
        if routes is not None:
            self._read_list(routes, name, scope)
        if made == "Api" and arguments.at(0) is not None:
            self._mount(self._names.names_of(arguments.at(0), scope), [name], "", call)

    def _declare_alias(self, name: str, value: Node, scope: Scope) -> None:
        """Record an alias that other files may import, if the value is not a router."""
        is_worth_it = _WORTH_A_NAME.search(name + self._text(value)[:200]) is not None
        if value.type in ("list", "tuple") and is_worth_it:
            children = [child for item in value.named_children for child in self._names.names_of(item, scope)]
            self._alias(f"{name}[]", children, value)
        elif value.type in ("call", "identifier", "attribute") and is_worth_it and name not in self._routers:
            self._alias(name, self._names.names_of(value, scope), value)

    def _declare_returned(self, value: Node, scope: Scope) -> None:
        name = f"{scope.name}()"
        if value.type == "call" or value.type in _LISTS:
            self._declare_value(name, value, scope)
        elif value.type in ("identifier", "attribute"):
            known = [
                child
                for child in self._names.names_of(value, scope)
                if child in self._routers or "[" in child
            ]
            self._alias(name, known, value)

    def _name_parameters(self) -> None:
        """Alias parameters by name, as in `register(app=api)`."""
        for scope in self._names.scopes:
            for parameter in scope.parameters if scope.name else []:
                name = parameter_name(scope, parameter)
                if name in self._routers and scope.node is not None:
                    self._alias(f"{name.rpartition('(')[0]}({parameter})", [name], scope.node)

    # Lists of Starlette's Route and Mount.

    def _is(self, node: Node, scope: Scope, *wanted: str) -> bool:
        function = node.child_by_field_name("function") if node.type == "call" else None
        package, _, name = (
            self._names.full_name(function, scope) if function is not None else ""
        ).rpartition(".")
        return name in wanted and package.partition(".")[0] in ("starlette", "fastapi")

    def _holds_routes(self, node: Node, scope: Scope) -> bool:
        items = [item for each in lists_in(node) for item in each.named_children]
        return any(self._is(item, scope, "Route", "APIRoute", "Mount", "WebSocketRoute") for item in items)

    def _read_list(self, node: Node, target: str, scope: Scope) -> None:
        waiting = [(node, target)]
        while waiting:
            place, parent = waiting.pop()
            self._mount([parent], [f"{name}[]" for name in self._lists_named(place, scope)], "", place)
            for item in [item for each in lists_in(place) for item in each.named_children]:
                if item.type == "list_splat" and item.named_children:
                    waiting.append((item.named_children[0], parent))
                elif self._is(item, scope, "Mount"):
                    waiting += self._read_mount(item, parent, scope)
                elif self._is(item, scope, "Route", "APIRoute", "WebSocketRoute"):
                    self._read_listed(item, parent, scope)

    def _lists_named(self, node: Node, scope: Scope) -> list[str]:
        """Return the names of lists that a node refers to."""
        home = find(self._text(node), scope) if node.type == "identifier" else None
        if home is not None and any(value.type in _LISTS for value in home.values.get(self._text(node), [])):
            return [self._names.own_name(self._text(node), home)]
        return self._names.names_of(node, scope)

    def _read_listed(self, call: Node, target: str, scope: Scope) -> None:
        arguments = Arguments(call, self._names.source)
        if self._is(call, scope, "WebSocketRoute"):
            self._add(["WEBSOCKET"], arguments.get("path", 0), [target], call, scope)
            return
        handler = arguments.get("endpoint", 1)
        methods = self._methods(arguments, handler, scope)
        self._add(methods, arguments.get("path", 0), [target], call, scope)

    def _read_mount(self, call: Node, parent: str, scope: Scope) -> list[tuple[Node, str]]:
        arguments = Arguments(call, self._names.source)
        prefix = self._names.text_of(arguments.get("path", 0), scope)
        routes, app = arguments.named("routes"), arguments.get("app", 1)
        if routes is not None:
            name = anonymous(call)
            self._routers[name] = Router(name, "", is_app=False, line=line_of(call))
            self._mount([parent], [name], prefix, call)
            return [(routes, name)]
        if app is not None and not _STATIC.search(self._text(app)[:200]):
            self._mount_child([parent], app, prefix, call, scope)
        return []

    # What is called and what is decorated.

    def _read_decorators(self, met: Candidate) -> None:
        definition = met.node.child_by_field_name("definition")
        for decorator in met.node.children:
            call = (
                decorator.named_children[0]
                if decorator.type == "decorator" and decorator.named_children
                else None
            )
            if call is not None and call.type == "call":
                self._read_route(call, definition, met.scope)

    def _read_route(self, call: Node, handler: Node | None, scope: Scope) -> None:
        """Read a route such as `@target.get("/path")`. `handler` is the decorated or passed function."""
        function = call.child_by_field_name("function")
        target, verb = self._split(function)
        if target is None or verb not in (*_DECORATORS, *_WITH_METHODS):
            return
        arguments = Arguments(call, self._names.source)
        method = _DECORATORS.get(verb)
        methods = [method] if method is not None else self._methods(arguments, handler, scope)
        path = arguments.named("path") or arguments.get("rule", 0)
        self._add(methods, path, self._names.names_of(target, scope), call, scope)

    def _read_call(self, met: Candidate) -> None:
        call, scope = met.node, met.scope
        function = call.child_by_field_name("function")
        arguments = Arguments(call, self._names.source)
        if function is not None and function.type == "call":
            self._read_route(function, arguments.at(0), scope)
            return
        target, verb = self._split(function)
        if target is not None and verb in _MOUNTING:
            self._read_mounting(verb, target, arguments, met)
        elif target is not None and verb in _ADDING:
            handler = arguments.named(_ADDING[verb]) or arguments.at(2 if verb == "add_url_rule" else 1)
            methods = self._methods(arguments, handler, scope)
            path = arguments.named("path") or arguments.get("rule", 0)
            self._add(methods, path, self._names.names_of(target, scope), call, scope)
        elif target is not None and verb in _ADDING_WEBSOCKETS:
            self._add(
                ["WEBSOCKET"], arguments.get("path", 0), self._names.names_of(target, scope), call, scope
            )
        elif target is not None and verb == "add_resource":
            self._read_resource(target, arguments, met)
        else:
            self._read_passing(function, arguments, met)

    def _read_mounting(self, verb: str, target: Node, arguments: Arguments, met: Candidate) -> None:
        parents = self._names.names_of(target, met.scope)
        if verb == "mount":
            prefix = self._names.text_of(arguments.get("path", 0), met.scope)
            child = arguments.get("app", 1)
            is_static = child is not None and _STATIC.search(self._text(child)[:200]) is not None
            if child is not None and not is_static and not prefix.startswith(UNKNOWN):
                self._mount_child(parents, child, prefix, met.node, met.scope)
            return
        given = arguments.named("prefix" if verb == "include_router" else "url_prefix")
        prefix = "" if given is None else self._names.text_of(given, met.scope)
        replaces = INSTEAD if verb == "register_blueprint" and prefix else ""
        child = arguments.get("router" if verb == "include_router" else "blueprint", 0)
        if child is not None:
            self._mount_child(parents, child, replaces + prefix, met.node, met.scope)

    def _mount_child(self, parents: list[str], child: Node, prefix: str, call: Node, scope: Scope) -> None:
        names = self._names.names_of(child, scope)
        if self._names.constructor(child, scope) is not None:
            self._declare_router(anonymous(child), child, scope)
        self._mount(parents, names or [self._text(child)[:100] or "?"], prefix, call)

    def _read_resource(self, target: Node, arguments: Arguments, met: Candidate) -> None:
        methods = self._methods(arguments, arguments.at(0), met.scope)
        for path in arguments.positional[1:]:
            self._add(methods, path, self._names.names_of(target, met.scope), met.node, met.scope)

    def _read_passing(self, function: Node | None, arguments: Arguments, met: Candidate) -> None:
        """Record calls such as `register(app)`, which declare routes on the passed router."""
        is_name = function is not None and function.type in ("identifier", "attribute")
        if not is_name or self._names.constructor(met.node, met.scope) is not None:
            return
        given = [(str(index), node) for index, node in enumerate(arguments.positional)]
        for place, node in [*given, *arguments.keywords.items()][:_MAX_PASSED]:
            if node.type not in ("identifier", "attribute") or not _WORTH_A_NAME.search(
                self._text(node)[:100]
            ):
                continue
            parents = [
                n for n in self._names.names_of(node, met.scope) if n in self._routers or n.endswith(")")
            ]
            called = self._names.names_of(function, met.scope) if parents else []
            for parent in parents:
                self._alias(parent, [f"{name}({place})" for name in called], met.node)

    # Methods, and what is found.

    def _methods(self, arguments: Arguments, handler: Node | None, scope: Scope) -> list[str]:
        given = arguments.named("methods")
        if given is None:
            return self._methods_of_handler(handler, scope)
        return self._listed_methods(given, scope)

    def _listed_methods(self, given: Node, scope: Scope) -> list[str]:
        value, home = self._names.value_of(given, scope)
        if value.type == "none":
            return ["GET"]
        methods = [self._names.text_of(item, home).upper() for item in value.named_children]
        known = (
            value.type in ("list", "tuple", "set") and methods and all(m.lower() in VERBS for m in methods)
        )
        return methods if known else ["ANY"]

    def _methods_of_handler(self, handler: Node | None, scope: Scope) -> list[str]:
        """Return the methods of a handler: GET for functions, the defined methods for classes, ANY for unknown ones."""
        node, home = self._names.value_of(handler, scope) if handler is not None else (None, scope)
        if node is not None and node.type == "class_definition":
            name = node.child_by_field_name("name")
            return self._methods_of_class(self._text(name) if name is not None else "", scope, set())
        if node is not None and node.type == "call":
            owner, made = self._split(node.child_by_field_name("function"))
            node = owner if made == "as_view" else None
        if node is None or node.type not in ("identifier", "attribute"):
            return ["GET"]
        name = self._names.full_name(node, home).rpartition(".")[2]
        is_class = name[:1].isupper()
        return self._methods_of_class(name, home, set()) if is_class else ["GET"]

    def _methods_of_class(self, name: str, scope: Scope, seen: set[str]) -> list[str]:
        home = find(name, scope)
        inner = home.inner.get(name) if home is not None else None
        if home is None or inner is None or inner.node is None or name in seen:
            return ["ANY"]
        if (listed := inner.values.get("methods")) is not None:
            return self._listed_methods(listed[-1], inner)
        found = [verb.upper() for verb in VERBS if verb in inner.inner]
        for base in bases(inner.node):
            parent = self._names.full_name(base, home)
            if parent in home.inner:
                found += self._methods_of_class(parent, home, seen | {name})
        return sorted(set(found)) or ["GET"]

    def _add(
        self, methods: list[str], path: Node | None, targets: list[str], call: Node, scope: Scope
    ) -> None:
        if path is None:
            return
        hidden = is_false(Arguments(call, self._names.source).named("include_in_schema"))
        written = self._names.text_of(path, scope)
        for target in self._known(targets, call):
            self._routes += [Route(method, written, line_of(call), target, hidden) for method in methods]

    def _mount(self, parents: list[str], children: list[str], prefix: str, call: Node) -> None:
        for parent in self._known(parents, call):
            self._mounts += [
                Mount(parent, child, prefix, line_of(call)) for child in children if child != parent
            ]

    def _alias(self, name: str, children: list[str], node: Node) -> None:
        """Record an alias. The alias itself does not become a router."""
        self._mounts += [Mount(name, child, "", line_of(node)) for child in children if child != name]

    def _known(self, targets: list[str], call: Node) -> list[str]:
        """Return known routers. Parameters and likely routers become known by being used as such."""
        known: list[str] = []
        for target in targets:
            base = target.removesuffix(".router")
            name = base if base in self._routers else target
            if name not in self._routers and not self._is_from_elsewhere(name):
                self._routers[name] = Router(name, "", is_app=False, line=line_of(call))
            known.append(name)
        return known

    def _is_from_elsewhere(self, name: str) -> bool:
        return re.split(r"[.(\[]", name, maxsplit=1)[0] in self._imported

    def _split(self, function: Node | None) -> tuple[Node | None, str]:
        """Split `router.get` into object and method name."""
        if function is None or function.type != "attribute":
            return None, ""
        verb = function.child_by_field_name("attribute")
        return function.child_by_field_name("object"), self._text(verb) if verb is not None else ""


def _hidden(route: Route) -> Route:
    return Route(route.method, route.path, route.line, route.target, is_hidden=True)
