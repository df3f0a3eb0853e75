"""The routes a project promises: `physics.yaml`, OpenAPI 3 or Swagger 2, read into (method, path, line)."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from msgspec import Struct

from forge.audits.imports.documents import Piece, Shape, Unreadable, read_json, read_text, read_yaml

METHODS = ("get", "post", "put", "delete", "patch", "head", "options", "trace", "websocket")
ANY = "ANY"


class SpecRoute(Struct, frozen=True, array_like=True):
    method: str
    """Upper case; "ANY" where the document names a path and not its methods."""
    path: str
    line: int | None


class Spec(Struct, frozen=True, array_like=True):
    routes: tuple[SpecRoute, ...] = ()
    bases: tuple[str, ...] = ()
    """Prefixes that paths may have in the code besides none: of `servers` and `basePath`."""
    is_openapi: bool = False
    """Which has no word for WebSockets."""
    problem: str | None = None
    """Why it cannot be read; there are no routes then."""
    problem_line: int | None = None


@dataclass(frozen=True)
class SpecReader:
    """An analyzer: what a document says depends on nothing but its bytes."""

    key: str = "spec/1"
    result: type[Spec] = Spec

    def __call__(self, suffix: str, data: bytes) -> Spec:
        try:
            text = read_text(data)
            root = read_json(text) if suffix == ".json" else read_yaml(text)
            routes = _routes(root)
            placed = _with_lines(routes, text) if suffix == ".json" else routes
            is_openapi = any(root.get(name) is not None for name in ("openapi", "swagger"))
            return Spec(tuple(placed), _bases(root), is_openapi)
        except Unreadable as error:
            return Spec(problem=error.problem, problem_line=error.line)

    def unreadable(self) -> Spec:
        """Of a document that takes more than any may."""
        return Spec(problem="reading it takes too much")


SPECS = SpecReader()


def _routes(root: Piece) -> list[SpecRoute]:
    if root.shape is not Shape.MAPPING:
        raise Unreadable(
            f"it is {'empty' if root.is_empty else root.shape.value}, and should be a mapping", root.line
        )
    paths = root.get("paths")
    if paths is None:
        raise Unreadable("it has no `paths`", root.line)
    if paths.is_empty:
        return []
    if paths.shape is not Shape.MAPPING:
        raise Unreadable(f"`paths` is {paths.shape.value}, and should be a mapping", paths.line)
    return [
        route for path, item in paths.pairs() if not path.text.startswith("x-") for route in _of(path, item)
    ]


def _of(path: Piece, item: Piece) -> list[SpecRoute]:
    if path.shape is not Shape.SCALAR or not path.text.startswith("/"):
        raise Unreadable(f"{path.text!r} is no path: it does not begin with /", path.line)
    pairs = item.pairs()
    if item.is_empty or any(key.text == "$ref" for key, _ in pairs):
        return [SpecRoute(ANY, path.text, path.line)]
    found = [SpecRoute(k.text.upper(), path.text, k.line) for k, _ in pairs if k.text.lower() in METHODS]
    if not found:
        raise Unreadable(f"{path.text} has no method below it ({', '.join(METHODS)})", path.line)
    return found


def _with_lines(routes: list[SpecRoute], text: str) -> list[SpecRoute]:
    """JSON has no marks: the key of the path after `paths`, then the key of the method after that."""
    placed: list[SpecRoute] = []
    start = max(text.find('"paths"'), 0)
    line, counted = 1, 0
    for route in routes:
        of_path = max(
            text.find(json.dumps(route.path), start),
            text.find(json.dumps(route.path, ensure_ascii=False), start),
        )
        at = text.find(f'"{route.method.lower()}"', of_path) if of_path >= 0 else -1
        where = at if at >= 0 else of_path
        if where < counted:
            line, counted = 1, 0
        line, counted = line + text.count("\n", counted, max(where, 0)), max(where, 0)
        placed.append(SpecRoute(route.method, route.path, line if where >= 0 else None))
    return placed


def _bases(root: Piece) -> tuple[str, ...]:
    base = root.get("basePath")
    servers = root.get("servers")
    urls = [base] if base is not None else []
    for server in servers.items if servers is not None and servers.shape is Shape.LIST else []:
        url = server.get("url")
        urls += [url] if url is not None else []
    paths = {_path_of(url.text) for url in urls if url.shape is Shape.SCALAR}
    return tuple(sorted(path for path in paths if path))


def _path_of(url: str) -> str:
    try:
        return urlsplit(url).path.rstrip("/")
    except ValueError:
        return ""
