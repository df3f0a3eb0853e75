"""Read the documented routes from `physics.yaml`, OpenAPI 3 or Swagger 2."""

import json
from dataclasses import dataclass
from urllib.parse import urlsplit

from msgspec import Struct

from forge.audits.files.document_tree import (
    DocumentNode,
    Shape,
    UnreadableDocument,
    read_json,
    read_text,
    read_yaml,
)

METHODS = ("get", "post", "put", "delete", "patch", "head", "options", "trace", "websocket")
ANY = "ANY"


class SpecRoute(Struct, frozen=True, array_like=True):
    method: str
    """Upper case; "ANY" for a path without methods."""
    path: str
    line: int | None


class Spec(Struct, frozen=True, array_like=True):
    routes: tuple[SpecRoute, ...] = ()
    bases: tuple[str, ...] = ()
    """Prefixes from `servers` and `basePath` that paths may have in the code."""
    is_openapi: bool = False
    """Whether it is OpenAPI, which cannot describe WebSockets."""
    problem: str | None = None
    """Why it cannot be read."""
    problem_line: int | None = None


@dataclass(frozen=True)
class SpecReader:
    """The analyzer of route documents."""

    key: str = "spec/2"  # increase when results or problem texts change
    result: type[Spec] = Spec

    def __call__(self, suffix: str, data: bytes) -> Spec:
        try:
            text = read_text(data)
            root = read_json(text) if suffix == ".json" else read_yaml(text)
            routes = _routes(root)
            placed = _with_lines(routes, text) if suffix == ".json" else routes
            is_openapi = any(root.get(name) is not None for name in ("openapi", "swagger"))
            return Spec(tuple(placed), _bases(root), is_openapi)
        except UnreadableDocument as error:
            return Spec(problem=error.problem, problem_line=error.line)

    def unreadable(self) -> Spec:
        """Return the result for a document that crashes or stalls the reader."""
        return Spec(problem="it takes too long to read")


SPECS = SpecReader()


def _routes(root: DocumentNode) -> list[SpecRoute]:
    if root.shape is not Shape.MAPPING:
        raise UnreadableDocument(
            f"it is {'empty' if root.is_empty else root.shape.value} instead of a mapping", root.line
        )
    paths = root.get("paths")
    if paths is None:
        raise UnreadableDocument("it has no `paths`", root.line)
    if paths.is_empty:
        return []
    if paths.shape is not Shape.MAPPING:
        raise UnreadableDocument(f"`paths` is {paths.shape.value} instead of a mapping", paths.line)
    return [
        route for path, item in paths.pairs() if not path.text.startswith("x-") for route in _of(path, item)
    ]


def _of(path: DocumentNode, item: DocumentNode) -> list[SpecRoute]:
    if path.shape is not Shape.SCALAR or not path.text.startswith("/"):
        raise UnreadableDocument(f"{path.text!r} is not a path: it does not start with /", path.line)
    pairs = item.pairs()
    if item.is_empty or any(key.text == "$ref" for key, _ in pairs):
        return [SpecRoute(ANY, path.text, path.line)]
    found = [SpecRoute(k.text.upper(), path.text, k.line) for k, _ in pairs if k.text.lower() in METHODS]
    if not found:
        raise UnreadableDocument(f"{path.text} has no method ({', '.join(METHODS)})", path.line)
    return found


def _with_lines(routes: list[SpecRoute], text: str) -> list[SpecRoute]:
    """Add lines to JSON routes by searching the keys of path and method in the text."""
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


def _bases(root: DocumentNode) -> tuple[str, ...]:
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
