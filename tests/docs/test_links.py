"""Links in the documentation have targets, every page is reachable, and the files it names exist."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.support.pages import PAGES, ROOT, Page

BY_PATH = {page.path: page for page in PAGES}
START_PAGES = {ROOT / name for name in ("README.md", "AGENTS.md", "CHANGELOG.md")}
PAGES_ABOUT_CODE = [
    page
    for page in PAGES
    if page.path.parent in (ROOT, ROOT / "docs", ROOT / "docs/decisions")
    and page.path.name not in ("CHANGELOG.md", "tutorial.md")
]


def inner_links(page: Page) -> Iterator[tuple[Path, str]]:
    """Yield the target of each internal link: a file or folder, and the anchor in it."""
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
    visited = set[Path]()
    queue = [*START_PAGES]
    while queue:
        path = queue.pop()
        if path not in visited:
            visited.add(path)
            targets = [*path.glob("*.md")] if path.is_dir() else [path]
            queue += [
                link for target in targets if target in BY_PATH for link, _ in inner_links(BY_PATH[target])
            ]
            queue += targets
    assert [str(page) for page in PAGES if page.path not in visited] == []


@cache
def path_suffixes() -> frozenset[str]:
    """Return every suffix of every path in the repository, so that `runs/engine.py` finds its file."""
    suffixes = set[str]()
    for folder in ("src", "tests", "web/src", "scripts", "benchmarks", "runtimes", "docs"):
        for path in (ROOT / folder).rglob("*"):
            parts = path.relative_to(ROOT).parts
            if not {"node_modules", ".cache", "__pycache__"} & {*parts}:
                suffixes.update("/".join(parts[start:]) for start in range(len(parts)))
    return frozenset(suffixes)


@pytest.mark.parametrize("page", PAGES_ABOUT_CODE, ids=str)
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
    generated = {"src/forge/web", "src/forge/skills/wasm/built", "benchmarks/.cache"}
    examples = {
        "skill.py",
        "run.py",
        "scripts/run.py",
        "calc.py",
        "src/forge/store/migrations/versions/NNNN_what.py",
    }
    assert named - path_suffixes() - generated - examples == set()
