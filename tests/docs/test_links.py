"""Links of the documentation lead somewhere, every page can be found, and the files it names are there."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.support.pages import PAGES, ROOT, Page

BY_PATH = {page.path: page for page in PAGES}
ENTRANCES = {ROOT / name for name in ("README.md", "AGENTS.md", "CHANGELOG.md")}
ABOUT_THE_CODE = [
    page
    for page in PAGES
    if page.path.parent in (ROOT, ROOT / "docs", ROOT / "docs/decisions")
    and page.path.name not in ("CHANGELOG.md", "tutorial.md")
]


def inner_links(page: Page) -> Iterator[tuple[Path, str]]:
    """Where each link within the house leads: a file or folder, and the heading in it."""
    for link in page.links:
        if not re.match(r"\w+:", link):
            path, _, anchor = link.partition("#")
            yield (page.path.parent / path).resolve() if path else page.path, anchor


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_has_a_target(page: Page):
    for path, anchor in inner_links(page):
        assert path.exists(), path
        assert not anchor or anchor in BY_PATH[path].anchors, f"{path}#{anchor}"


def test_every_page_is_reachable_from_the_readme():
    found = set[Path]()
    waiting = [*ENTRANCES]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            inside = [*path.glob("*.md")] if path.is_dir() else [path]
            waiting += [link for one in inside if one in BY_PATH for link, _ in inner_links(BY_PATH[one])]
            waiting += inside
    assert [str(page) for page in PAGES if page.path not in found] == []


@cache
def files_of_the_house() -> frozenset[str]:
    """Their paths, and every ending of these: `runs/engine.py` is enough to be found by."""
    endings = set[str]()
    for folder in ("src", "tests", "web/src", "scripts", "benchmarks", "runtimes", "docs"):
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if not {"node_modules", ".cache", "__pycache__"} & {*parts}:
                endings.update("/".join(parts[start:]) for start in range(len(parts)))
    return frozenset(endings)


@pytest.mark.parametrize("page", ABOUT_THE_CODE, ids=str)
def test_documented_code_exists(page: Page):
    spans = re.findall(r"`([^`\n]+)`", page.prose)
    named = {
        span.rstrip("/")
        for span in spans
        if re.fullmatch(
            r"(?:tests|src|scripts|benchmarks|web|docs|runtimes)/[\w./-]+|[\w-]+(?:/[\w-]+)*\.(?:py|tsx?)",
            span,
        )
    }
    made_later = {"src/forge/web", "src/forge/skills/wasm/built", "benchmarks/.cache"}
    examples = {
        "skill.py",
        "run.py",
        "scripts/run.py",
        "calc.py",
        "src/forge/store/migrations/versions/NNNN_what.py",
    }
    assert named - files_of_the_house() - made_later - examples == set()
