"""The amount of JavaScript that Home needs is limited."""

import gzip
import re
from pathlib import Path

import pytest

import forge

pytestmark = pytest.mark.browser

WEB = Path(forge.__file__).parent / "web"
LIMIT_BYTES = 150_000


def test_home_loads_at_most_150_kb_of_script():
    page = (WEB / "index.html").read_text()
    entry_scripts = re.findall(r'(?:src|href)="/(assets/[^"]+\.js)"', page)
    home_scripts = [f"assets/{file.name}" for file in (WEB / "assets").glob("HomePage-*.js")]
    assert entry_scripts and home_scripts
    scripts = static_imports([*entry_scripts, *home_scripts])
    sizes = {name: len(gzip.compress((WEB / name).read_bytes())) for name in scripts}
    assert sum(sizes.values()) <= LIMIT_BYTES, sizes


def static_imports(names: list[str]) -> set[str]:
    """Return these scripts and their static imports; dynamic imports are not included."""
    visited: set[str] = set()
    while names:
        name = names.pop()
        if name not in visited:
            visited.add(name)
            script = (WEB / name).read_text()
            names += [
                f"assets/{file_name}" for file_name in re.findall(r'(?:from|import)"\./([^"]+\.js)"', script)
            ]
    return visited
