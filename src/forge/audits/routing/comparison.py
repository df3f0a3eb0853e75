"""Compare documented routes with those in the code, and report only certain differences."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from forge.audits.facts.models import UNKNOWN
from forge.audits.routing.route_paths import is_anything, is_below, joined_path, may_be, normal_paths
from forge.audits.routing.route_table import Routing, ServedRoute, Unmounted
from forge.audits.routing.specs import ANY, Spec, SpecRoute

_IMPLIED = ("HEAD", "OPTIONS")
"""Methods that frameworks answer for every GET route."""


class Cover(Enum):
    YES = "yes"
    PERHAPS = "perhaps"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Missing:
    route: SpecRoute
    is_certain: bool
    """False if unresolved code may serve it."""
    methods: tuple[str, ...]
    """The methods that the code handles at that path."""
    unmounted: Unmounted | None
    """The unmounted router that has the route."""


@dataclass(frozen=True, slots=True)
class Comparison:
    missing: tuple[Missing, ...]
    undocumented: tuple[ServedRoute, ...]
    unresolved: int
    """The number of routes with unknown parts."""


def compare(spec: Spec, routing: Routing) -> Comparison:
    return _Comparison(spec, routing).make()


class _Comparison:
    def __init__(self, spec: Spec, routing: Routing) -> None:
        self._spec, self._routing = spec, routing
        self._served: dict[str, set[str]] = {}
        for route in routing.routes:
            self._served.setdefault(route.path, set()).add(route.method)
        self._vague = {r.path: r for r in routing.routes if UNKNOWN in r.path}
        self._promised: dict[str, set[str]] = {}
        for promise in spec.routes:
            for path in self._paths(promise):
                self._promised.setdefault(path, set()).add(promise.method)

    def make(self) -> Comparison:
        missing = [self._missing(promise, cover) for promise, cover in self._uncovered()]
        undocumented: dict[tuple[str, str], ServedRoute] = {}
        for route in self._routing.routes:
            if not route.is_hidden and not self._is_documented(route):
                undocumented.setdefault((route.method, route.path), route)
        return Comparison(tuple(missing), tuple(undocumented.values()), len(self._vague))

    def _paths(self, promise: SpecRoute) -> list[str]:
        written = [promise.path, *(joined_path(base, promise.path) for base in self._spec.bases)]
        return [path for each in written for path in normal_paths(each)]

    def _uncovered(self) -> Iterable[tuple[SpecRoute, Cover]]:
        for promise in self._spec.routes:
            covers = {self._cover(promise.method, path) for path in self._paths(promise)}
            if Cover.YES not in covers and not is_static(promise.path):
                yield promise, Cover.PERHAPS if Cover.PERHAPS in covers else Cover.NO

    def _cover(self, method: str, path: str) -> Cover:
        if self._answers(self._served.get(path, set()), method):
            return Cover.YES
        vague = [p for p in self._vague if may_be(p, path) and self._answers(self._served[p], method)]
        if any(not is_anything(pattern) for pattern in vague):
            return Cover.YES
        is_open = any(is_below(path, opening.prefix) for opening in self._routing.openings)
        return Cover.PERHAPS if vague or is_open else Cover.NO

    def _answers(self, methods: set[str], method: str) -> bool:
        if method == ANY or ANY in methods:
            return bool(methods)
        if (method in _IMPLIED and "GET" in methods) or (method == "OPTIONS" and methods):
            return True
        # A WebSocket starts as a GET request, and OpenAPI cannot describe it otherwise.
        return method in methods or (method == "GET" and self._spec.is_openapi and "WEBSOCKET" in methods)

    def _missing(self, promise: SpecRoute, cover: Cover) -> Missing:
        paths = self._paths(promise)
        methods = {method for path in paths for method in self._served.get(path, ())}
        unmounted = next(
            (u for u in self._routing.unmounted if self._would_cover(u, promise.method, paths)), None
        )
        return Missing(promise, cover is Cover.NO, tuple(sorted(methods)), unmounted)

    def _would_cover(self, unmounted: Unmounted, method: str, paths: list[str]) -> bool:
        return any(
            may_be(route.path, path) and self._answers({route.method}, method)
            for route in unmounted.routes
            for path in paths
        )

    def _is_documented(self, route: ServedRoute) -> bool:
        if is_anything(route.path) or (route.method == "WEBSOCKET" and self._spec.is_openapi):
            return True
        if UNKNOWN not in route.path:
            return _is_promised(route.method, self._promised.get(route.path, set()))
        fitting = [methods for path, methods in self._promised.items() if may_be(route.path, path)]
        return any(_is_promised(route.method, methods) for methods in fitting)


def _is_promised(method: str, promised: set[str]) -> bool:
    return bool(promised) and (method in promised or ANY in promised or method in (ANY, *_IMPLIED))


def is_static(path: str) -> bool:
    """Return whether a path is for static files, which code does not declare."""
    return path == "/static" or path.startswith("/static/")
