"""docs/reference/api.md and docs/guides/forge.md document exactly the existing routes."""

import re
from collections.abc import Iterator
from pathlib import Path

from fastapi.routing import APIRoute

from forge.api.server import ROUTERS

PAGE = (Path(__file__).parents[2] / "docs/reference/api.md").read_text()
BUILDER = (Path(__file__).parents[2] / "docs/guides/forge.md").read_text()
PREFIX = "/api/v1"


def routes() -> set[tuple[str, str]]:
    return {
        (method, re.sub(r"\{[^}]*\}", "{}", route.path))
        for router in ROUTERS
        for route in router.routes
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


def expand_alternatives(path: str) -> Iterator[str]:
    """Yield the paths that `/{soul|user}` stands for: one per alternative, or one with a parameter."""
    if match := re.search(r"\{([\w-]+(?:\|[\w-]+)+)\}", path):
        for choice in (*match[1].split("|"), "{}"):
            yield from expand_alternatives(path.replace(match[0], choice))
    else:
        yield re.sub(r"\{[^}]*\}", "{}", path)


def documented_routes(text: str, prefix: str) -> Iterator[set[tuple[str, str]]]:
    """Yield the possible routes of each documented one; `…` stands for the start of an earlier path in the line."""
    for line in text.replace(r"\|", "|").splitlines():
        earlier_paths: list[str] = []
        last_methods = ""
        for methods, path in re.findall(r"`(?:([A-Z|]+) )?((?:/|…/)[^`\s?]*)", line):
            last_methods = methods or last_methods
            paths = (
                [f"{prefix_path}{path[1:]}" for prefix_path in earlier_paths]
                if path.startswith("…")
                else [path]
            )
            earlier_paths += paths if not path.startswith("…") else []
            for method in filter(None, last_methods.split("|")):
                expanded = {path_variant for path in paths for path_variant in expand_alternatives(path)}
                yield {(method, f"{prefix_path}{path}") for path in expanded for prefix_path in (prefix, "")}


DOCUMENTED = [*documented_routes(PAGE, PREFIX), *documented_routes(BUILDER, f"{PREFIX}/builder")]


def test_every_route_is_documented():
    assert sorted(routes() - set().union(*DOCUMENTED)) == []


def test_every_documented_route_exists():
    existing = routes()
    assert [sorted(variants) for variants in DOCUMENTED if not variants & existing] == []
