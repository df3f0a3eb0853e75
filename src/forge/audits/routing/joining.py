"""Joins what all files say about routes into what a client can ask for: (method, path), prefixes of every mount in it.

A router is followed from the applications down, through imports; one that is mounted twice is there twice, one that
nothing mounts is not served and said so. What cannot be known (a prefix from the settings, a router from a package)
is kept as such: it must not become a claim in either direction.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from forge.audits.facts.models import FileFacts, Mount, Router
from forge.audits.facts.route_facts import INSTEAD, UNKNOWN
from forge.audits.imports.modules import Modules
from forge.audits.routing.paths import joined_path, normal_paths
from forge.audits.routing.router_names import Place, RouterNames

MAX_ROUTES = 20_000
_MAX_VISITS = 20_000
_MAX_DEPTH = 30


@dataclass(frozen=True, slots=True)
class Served:
    method: str
    path: str
    """Normal (see `normal_paths`); UNKNOWN in it where only running would tell."""
    file: str
    line: int
    is_hidden: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """Where something is mounted that is not in this project: it serves we do not know what below the prefix."""

    prefix: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Unmounted:
    name: str
    file: str
    line: int
    routes: tuple[Served, ...]
    """With UNKNOWN before their paths."""


@dataclass(frozen=True, slots=True)
class Routing:
    routes: tuple[Served, ...]
    openings: tuple[Opening, ...]
    unmounted: tuple[Unmounted, ...]
    is_cut: bool
    """There were too many: somebody's loop, or malice."""


def join_routes(files: Mapping[str, FileFacts], modules: Modules) -> Routing:
    return _Joiner(files, modules).join()


class _Joiner:
    def __init__(self, files: Mapping[str, FileFacts], modules: Modules) -> None:
        self._files = files
        self._names = RouterNames(files, modules)
        self._children: dict[Place, list[tuple[Mount, Place]]] = {}
        self._openings: dict[Place, list[tuple[Mount, str]]] = {}
        self._own: dict[Place, list[tuple[str, str, int, str, bool]]] = {}
        self._mounted: set[Place] = set()
        self._has_dynamic = False
        self._routes: dict[Served, None] = {}
        self._opened: dict[Opening, None] = {}
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

    def _place_opening(self, parent: Place, mount: Mount, path: str) -> None:
        """Not for functions that are called with the application, nor for what Express calls middleware."""
        is_parameter = mount.child.endswith(")") and not mount.child.endswith("()")
        is_found_while_running = "[]" in mount.child or "import_module" in mount.child
        is_script = not path.endswith((".py", ".pyi"))
        if is_found_while_running or (is_parameter and mount.prefix):
            self._has_dynamic = True
        elif not is_parameter and not is_script:
            self._has_dynamic |= not self._names.is_imported(path, mount.child)
        if mount.prefix.removeprefix(INSTEAD).strip("/") or not (is_script or is_parameter or mount.prefix):
            self._openings.setdefault(parent, []).append((mount, path))

    def _walk(self, root: Place, prefix: str) -> None:
        waiting = [(root, joined_path(prefix, self._prefix_of(root)), frozenset[Place]())]
        while waiting and self._visits <= _MAX_VISITS and len(self._routes) <= MAX_ROUTES:
            self._visits += 1
            place, base, above = waiting.pop()
            for served in self._served(place, base):
                self._routes[served] = None
            for mount, path in self._openings.get(place, ()):
                whole = joined_path(base, mount.prefix.removeprefix(INSTEAD))
                self._opened[Opening(normal_paths(whole)[0], path, mount.line)] = None
            inside = above | {place}
            for mount, child in self._children.get(place, ()):
                if child not in inside and len(inside) < _MAX_DEPTH:
                    waiting.append((child, self._below(base, mount, child), inside))

    def _below(self, base: str, mount: Mount, child: Place) -> str:
        if mount.prefix.startswith(INSTEAD):
            return joined_path(base, mount.prefix.removeprefix(INSTEAD))
        return joined_path(base, mount.prefix, self._prefix_of(child))

    def _prefix_of(self, place: Place) -> str:
        router: Router | None = self._names.routers.get(place)
        return router.prefix if router is not None else ""

    def _served(self, place: Place, base: str) -> list[Served]:
        return [
            Served(method, normal, path, line, hidden)
            for method, written, line, path, hidden in self._own.get(place, ())
            for normal in normal_paths(joined_path(base, written))
        ]

    def _unmounted(self, place: Place) -> Unmounted:
        router = self._names.routers[place]
        routes = self._served(place, joined_path(UNKNOWN, router.prefix))
        return Unmounted(router.name, place.file, router.line, tuple(routes))
