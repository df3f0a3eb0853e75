"""How much a browser loads before Home can be seen. Grows with every careless import, so it has a limit."""

import gzip
import re
from pathlib import Path

import pytest

import forge

pytestmark = pytest.mark.browser

WEB = Path(forge.__file__).parent / "web"
LIMIT_BYTES = 150_000


def test_home_needs_at_most_150_kb_of_script():
    page = (WEB / "index.html").read_text()
    first = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', page)
    home = [f"assets/{file.name}" for file in (WEB / "assets").glob("HomePage-*.js")]
    assert first and home
    needed = closure([*first, *home])
    weight = {name: len(gzip.compress((WEB / name).read_bytes())) for name in needed}
    assert sum(weight.values()) <= LIMIT_BYTES, weight


def closure(names: list[str]) -> set[str]:
    """These scripts and all they import at once (what is imported later, on demand, does not count)."""
    found: set[str] = set()
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            script = (WEB / name).read_text()
            names += [f"assets/{one}" for one in re.findall(r'(?:from|import)"\./([^"]+\.js)"', script)]
    return found
