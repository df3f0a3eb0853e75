"""docs/guides/github-double.md lists every operation and every endpoint."""

import re
from pathlib import Path

from forge.demo.github.control import Control
from forge.demo.github.oauth import OAuth
from forge.demo.github.server import ENDPOINTS
from forge.demo.github.world import World

PAGE = (Path(__file__).parents[3] / "docs/guides/github-double.md").read_text()
REPOSITORY = "/repos/{owner}/{repo}"


def test_guide_lists_every_operation_with_its_values():
    documented = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE))
    operations = {name: method for name, method in vars(Control).items() if hasattr(method, "__wrapped__")}
    assert set(documented) == set(operations)
    for name, method in operations.items():
        code = method.__wrapped__.__code__
        values = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
        assert [value for value in values if f"`{value}`" not in documented[name]] == []


def test_guide_lists_every_endpoint():
    listed = re.findall(r"`(GET|POST|PUT|PATCH|DELETE) ([/…][^`]*)`", PAGE)
    documented = {(method, path.replace("…", REPOSITORY)) for method, path in listed}
    endpoints = [*OAuth(World(Path())).endpoints(), *ENDPOINTS]
    assert documented == {(each.method, re.sub(r":\w+}", "}", each.path)) for each in endpoints}
