"""Build the route table of a project: (method, path) of every route, with the prefixes of its mounts.

Routers are followed from the applications down, through imports. A router mounted twice is served twice; an unmounted one
is reported. Unknown parts (a prefix from settings, a router from a package) stay marked as unknown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from forge.audits.facts.models import (
    INSTEAD,
    UNKNOWN,
    FileFacts,
    Import,
    Language,
    Mount,
    Router,
    language_of,
)
from forge.audits.imports.modules import Modules
from forge.audits.routing.route_paths import joined_path, normal_paths

_MAX_STEPS = 25
_MAX_PLACES = 200
_CUTS = re.compile(r"[.(\[]")


class RouterRef(NamedTuple):
    file: str
    name: str


class RouterNames:
    def __init__(self, files: Mapping[str, FileFacts], modules: Modules) -> None:
        self._files = files
        self._modules = modules
        self.routers: dict[RouterRef, Router] = {
            RouterRef(path, router.name): router for path, facts in files.items() for router in facts.routers
        }
        self._bound: dict[str, dict[str, tuple[str, str]]] = {}
        self._aliases: dict[RouterRef, list[str]] = {}
        for path, facts in files.items():
            for mount in facts.mounts:
                if self.is_alias(path, mount):
                    self._aliases.setdefault(RouterRef(path, mount.parent), []).append(mount.child)
        self._memory: dict[RouterRef, tuple[RouterRef, ...]] = {}

    def is_alias(self, path: str, mount: Mount) -> bool:
        """Return whether a mount is an alias: its parent is neither a router nor an imported name."""
        return (
            not mount.prefix
            and RouterRef(path, mount.parent) not in self.routers
            and not self._is_foreign(path, mount)
        )

    def _is_foreign(self, path: str, mount: Mount) -> bool:
        if mount.parent.startswith("require("):
            return True
        return _CUTS.split(mount.parent, maxsplit=1)[0] in self._bound_in(path)

    def resolve(self, file: str, name: str) -> tuple[RouterRef, ...]:
        place = RouterRef(file, name)
        if place not in self._memory:
            self._memory[place] = self._resolve(place)
        return self._memory[place]

    def _resolve(self, start: RouterRef) -> tuple[RouterRef, ...]:
        found: dict[RouterRef, None] = {}
        seen: set[RouterRef] = set()
        waiting = [(start, 0)]
        while waiting and len(seen) < _MAX_PLACES:
            place, steps = waiting.pop()
            if place in seen or steps > _MAX_STEPS:
                continue
            seen.add(place)
            if place in self.routers:
                found[place] = None
            else:
                waiting += [(further, steps + 1) for further in self._further(place)]
        return tuple(found)

    def is_imported(self, file: str, name: str) -> bool:
        return name.startswith("require(") or _CUTS.split(name, maxsplit=1)[0] in self._bound_in(file)

    def _further(self, place: RouterRef) -> Iterator[RouterRef]:
        """Yield the names that a name which is not a router refers to."""
        file, name = place
        if name.startswith("require("):
            yield from self._required(file, name)
            return
        for cut in [len(name), *(match.start() for match in _CUTS.finditer(name))]:
            for child in self._aliases.get(RouterRef(file, name[:cut]), ()):
                yield RouterRef(file, child + name[cut:])
        for everything in self._aliases.get(RouterRef(file, "*"), ()):
            yield RouterRef(file, f"{everything}.{name}")
        yield from self._imported(file, name)

    def _required(self, file: str, name: str) -> Iterator[RouterRef]:
        specifier, _, rest = name.removeprefix("require(").partition(")")
        rest = rest.removeprefix(".default")
        local = rest[1:] if rest.startswith(".") else f"default{rest}"
        for path in self._modules.resolve(file, Import(specifier, 1)):
            yield RouterRef(path, local)

    def _imported(self, file: str, name: str) -> Iterator[RouterRef]:
        head = _CUTS.split(name, maxsplit=1)[0]
        rest = name[len(head) :]
        if head in self._bound_in(file):
            module, original = self._bound_in(file)[head]
            yield from self._from_module(file, module, original, rest)
        facts = self._files.get(file)
        for imp in facts.imports if facts is not None else ():
            if imp.names == ("*",):
                yield from (RouterRef(path, name) for path in self._modules.resolve(file, imp))

    def _from_module(self, file: str, module: str, original: str, rest: str) -> Iterator[RouterRef]:
        bare = module.lstrip(".")
        level = len(module) - len(bare)
        package = self._modules.resolve(file, Import(bare, 1, level, ("*",), is_from=True))
        if original:
            whole = self._modules.resolve(file, Import(bare, 1, level, (original,), is_from=True))
            submodule = [path for path in whole if path not in package]
            yield from (RouterRef(path, rest.removeprefix(".")) for path in submodule)
            yield from (RouterRef(path, original + rest) for path in package)
            return
        parts = rest.removeprefix(".").split(".")
        for count in range(len(parts), -1, -1):
            named = ".".join([bare, *parts[:count]])
            for path in self._modules.resolve(file, Import(named, 1, level)):
                yield RouterRef(path, ".".join(parts[count:]))

    def _bound_in(self, file: str) -> dict[str, tuple[str, str]]:
        """Return the imported names of a Python file; scripts refer to imports by specifier."""
        if file not in self._bound:
            facts = self._files.get(file)
            bound = facts.bound if facts is not None and language_of(file) is Language.PYTHON else ()
            self._bound[file] = {local: (module, original) for local, module, original in bound}
        return self._bound[file]


MAX_ROUTES = 20_000
_MAX_VISITS = 20_000
_MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class ServedRoute:
    method: str
    path: str
    """Normalized (see `normal_paths`), with UNKNOWN for parts that are only known at run time."""
    file: str
    line: int
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class OpenMount:
    """A mount of code outside the project, which may serve any route below the prefix."""

    prefix: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Unmounted:
    name: str
    file: str
    line: int
    routes: tuple[ServedRoute, ...]
    """Its routes, with UNKNOWN as prefix."""


@dataclass(frozen=True, slots=True)
class Routing:
    routes: tuple[ServedRoute, ...]
    openings: tuple[OpenMount, ...]
    unmounted: tuple[Unmounted, ...]
    is_cut: bool
    """Whether the limit of routes was exceeded."""


def join_routes(files: Mapping[str, FileFacts], modules: Modules) -> Routing:
    return _Joiner(files, modules).join()


class _Joiner:
    def __init__(self, files: Mapping[str, FileFacts], modules: Modules) -> None:
        self._files = files
        self._names = RouterNames(files, modules)
        self._children: dict[RouterRef, list[tuple[Mount, RouterRef]]] = {}
        self._openings: dict[RouterRef, list[tuple[Mount, str]]] = {}
        self._own: dict[RouterRef, list[tuple[str, str, int, str, bool]]] = {}
        self._mounted: set[RouterRef] = set()
        self._has_dynamic = False
        self._routes: dict[ServedRoute, None] = {}
        self._opened: dict[OpenMount, None] = {}
        self._visits = 0

    def join(self) -> Routing:
        for path, facts in self._files.items():
            if facts.routes or facts.mounts:
                self._place_routes(path, facts)
                self._place_mounts(path, facts)
        routers = self._names.routers
        loose = [place for place in routers if place not in self._mounted]
        roots = [place for place in loose if routers[place].is_app]
        others = [place for place in loose if not routers[place].is_app and place in self._own]
        for root in roots:
            self._walk(root, "")
        if not roots or self._has_dynamic:
            for place in others:
                self._walk(place, UNKNOWN)
            others = []
        unmounted = tuple(self._unmounted(place) for place in others)
        is_cut = len(self._routes) > MAX_ROUTES or self._visits > _MAX_VISITS
        return Routing(tuple(self._routes), tuple(self._opened), unmounted, is_cut)

    def _place_routes(self, path: str, facts: FileFacts) -> None:
        for route in facts.routes:
            for place in self._names.resolve(path, route.target):
                fact = (route.method, route.path, route.line, path, route.is_hidden)
                self._own.setdefault(place, []).append(fact)

    def _place_mounts(self, path: str, facts: FileFacts) -> None:
        served = {(m.line, m.prefix) for m in facts.mounts if self._names.resolve(path, m.child)}
        for mount in facts.mounts:
            parents = self._names.resolve(path, mount.parent)
            children = self._names.resolve(path, mount.child)
            if self._names.is_alias(path, mount):
                continue
            for parent in parents:
                pairs = [(mount, child) for child in children if child != parent]
                self._children.setdefault(parent, []).extend(pairs)
                self._mounted.update(child for _, child in pairs)
                if not children and (mount.line, mount.prefix) not in served:
                    self._place_opening(parent, mount, path)

    def _place_opening(self, parent: RouterRef, mount: Mount, path: str) -> None:
        """Record a mount of unknown code, except functions called with the application and Express middleware."""
        is_parameter = mount.child.endswith(")") and not mount.child.endswith("()")
        is_found_while_running = "[]" in mount.child or "import_module" in mount.child
        is_script = not path.endswith((".py", ".pyi"))
        if is_found_while_running or (is_parameter and mount.prefix):
            self._has_dynamic = True
        elif not is_parameter and not is_script:
            self._has_dynamic |= not self._names.is_imported(path, mount.child)
        if mount.prefix.removeprefix(INSTEAD).strip("/") or not (is_script or is_parameter or mount.prefix):
            self._openings.setdefault(parent, []).append((mount, path))

    def _walk(self, root: RouterRef, prefix: str) -> None:
        waiting = [(root, joined_path(prefix, self._prefix_of(root)), frozenset[RouterRef]())]
        while waiting and self._visits <= _MAX_VISITS and len(self._routes) <= MAX_ROUTES:
            self._visits += 1
            place, base, above = waiting.pop()
            for served in self._served(place, base):
                self._routes[served] = None
            for mount, path in self._openings.get(place, ()):
                whole = joined_path(base, mount.prefix.removeprefix(INSTEAD))
                self._opened[OpenMount(normal_paths(whole)[0], path, mount.line)] = None
            inside = above | {place}
            for mount, child in self._children.get(place, ()):
                if child not in inside and len(inside) < _MAX_DEPTH:
                    waiting.append((child, self._below(base, mount, child), inside))

    def _below(self, base: str, mount: Mount, child: RouterRef) -> str:
        if mount.prefix.startswith(INSTEAD):
            return joined_path(base, mount.prefix.removeprefix(INSTEAD))
        return joined_path(base, mount.prefix, self._prefix_of(child))

    def _prefix_of(self, place: RouterRef) -> str:
        router: Router | None = self._names.routers.get(place)
        return router.prefix if router is not None else ""

    def _served(self, place: RouterRef, base: str) -> list[ServedRoute]:
        return [
            ServedRoute(method, normal, path, line, hidden)
            for method, written, line, path, hidden in self._own.get(place, ())
            for normal in normal_paths(joined_path(base, written))
        ]

    def _unmounted(self, place: RouterRef) -> Unmounted:
        router = self._names.routers[place]
        routes = self._served(place, joined_path(UNKNOWN, router.prefix))
        return Unmounted(router.name, place.file, router.line, tuple(routes))
