"""docs/reference/api.md names every route there is, and none that is not."""

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


def spellings(path: str) -> Iterator[str]:
    """`/{soul|user}` stands for a route each, or for one that takes both."""
    if found := re.search(r"\{([\w-]+(?:\|[\w-]+)+)\}", path):
        for choice in (*found[1].split("|"), "{}"):
            yield from spellings(path.replace(found[0], choice))
    else:
        yield re.sub(r"\{[^}]*\}", "{}", path)


def told(text: str, prefix: str) -> Iterator[set[tuple[str, str]]]:
    """Of each route that a line names, all that may be meant: a `…` is the beginning of one named before it."""
    for line in text.replace(r"\|", "|").splitlines():
        before: list[str] = []
        verbs = ""
        for methods, path in re.findall(r"`(?:([A-Z|]+) )?((?:/|…/)[^`\s?]*)", line):
            verbs = methods or verbs
            meant = [f"{start}{path[1:]}" for start in before] if path.startswith("…") else [path]
            before += meant if not path.startswith("…") else []
            for verb in filter(None, verbs.split("|")):
                full = {each for one in meant for each in spellings(one)}
                yield {(verb, f"{start}{one}") for one in full for start in (prefix, "")}


NAMED = [*told(PAGE, PREFIX), *told(BUILDER, f"{PREFIX}/builder")]


def test_every_route_is_documented():
    assert sorted(routes() - set().union(*NAMED)) == []


def test_every_documented_route_exists():
    there = routes()
    assert [sorted(maybe) for maybe in NAMED if not maybe & there] == []
