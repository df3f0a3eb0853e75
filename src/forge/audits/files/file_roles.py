"""Determine the role of a source file from its path: runtime, test, tool, build or foreign."""

import re
from enum import StrEnum
from functools import lru_cache


class Role(StrEnum):
    RUNTIME = "runtime"
    """Code that users run."""
    TEST = "test"
    TOOL = "tool"
    """Documentation, examples, scripts, tool settings."""
    BUILD = "build"
    FOREIGN = "foreign"
    """Vendored or generated code and templates, which are not examined."""


_FOREIGN = frozenset(
    [
        "node_modules",
        "bower_components",
        "site-packages",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".git",
        "vendor",
        "vendors",
        "vendored",
        "_vendor",
        "_vendored",
        "third_party",
        "third-party",
        "thirdparty",
        "__pypackages__",
        ".yarn",
        ".pnp",
        "extern",
        "externals",
    ]
)
_COPIES = frozenset(
    [
        "vendor",
        "vendors",
        "vendored",
        "_vendor",
        "_vendored",
        "third_party",
        "thirdparty",
        "extern",
        "externals",
    ]
)
_TEST = frozenset(
    [
        "test",
        "tests",
        "testing",
        "testsuite",
        "unittests",
        "__tests__",
        "__mocks__",
        "e2e",
        "spec",
        "specs",
        "cypress",
        "playwright",
        "integration_tests",
        "functional_tests",
        "unit_tests",
        "test_utils",
        "testutils",
        "t",
    ]
)
_TOOL = frozenset(
    [
        "doc",
        "docs",
        "docs_src",
        "documentation",
        "example",
        "examples",
        "sample",
        "samples",
        "benchmark",
        "benchmarks",
        "notebooks",
        ".github",
        ".circleci",
        ".ci",
        ".storybook",
        "tutorial",
        "tutorials",
    ]
)
_TOOL_ABOVE = frozenset(
    [
        "script",
        "scripts",
        "tool",
        "tools",
        "tooling",
        "bench",
        "perf",
        "ci",
        "dev",
        "devtools",
        "hack",
        "demo",
        "demos",
        "release",
        "maintenance",
        "playground",
        "bin",
        "misc",
    ]
)
"""Tool folders near the top of a project; deeper they are ordinary names."""
_DEPTH = 2
_PROPS = frozenset(
    [
        "data",
        "testdata",
        "test_data",
        "test-data",
        "cases",
        "snapshots",
        "roots",
        "resources",
        "assets",
        "__fixtures__",
        "__snapshots__",
    ]
)
"""Folders of test data inside test folders."""
_TEST_FILE = re.compile(
    r"(?:test_.*|.*_tests?|tests?|conftest|testing|pytest_plugin)\.pyi?$|"
    r"(?:test_.*|.*_test|.*[.-](?:test|spec|e2e|cy|stories))\.[cm]?[jt]sx?$"
)
_TOOL_FILE = re.compile(r"(?:noxfile|tasks|fabfile|dodo|toxfile|conanfile|locustfile|duties)\.py$")
_CONFIG_FILE = re.compile(
    r".*\.config\.[cm]?[jt]s$|\..*rc\.[cm]?js$|(?:gulpfile|gruntfile)\.[cm]?[jt]s$", re.IGNORECASE
)
_BUILD_FILE = re.compile(
    r"(?:setup|hatch_build|build|_build|build_hook|_build_backend|pdm_build|_custom_build)\.py$"
)
_MACHINE_MADE = re.compile(r".*(?:\.min\.[cm]?js|[.-]bundle\.js|\.umd\.js|_pb2(?:_grpc)?\.pyi?)$")


def role_of(path: str) -> Role:
    folder, _, name = path.rpartition("/")
    place = role_of_folder(folder)
    if place is Role.FOREIGN or _MACHINE_MADE.match(name):
        return Role.FOREIGN
    if place is Role.TEST or _TEST_FILE.match(name):
        return Role.TEST
    if _BUILD_FILE.match(name):
        return Role.BUILD
    if _TOOL_FILE.match(name) or _CONFIG_FILE.match(name):
        return Role.TOOL
    return place


def is_served(path: str) -> bool:
    """Return whether a file may be part of the running application, unlike tests and examples."""
    if role_of(path) in (Role.TEST, Role.FOREIGN):
        return False
    return _TOOL.isdisjoint(path.lower().split("/")[:-1])


@lru_cache(maxsize=65536)
def role_of_folder(folder: str) -> Role:
    path = folder.lower().split("/") if folder else []
    parts = set(path)
    if not _FOREIGN.isdisjoint(parts) or "{{" in folder:
        return Role.FOREIGN
    if not _TEST.isdisjoint(parts):
        return Role.FOREIGN if _are_props(path) else Role.TEST
    above = path[:_DEPTH] if not path or path[0] not in ("src", "lib") else []
    return Role.TOOL if not _TOOL.isdisjoint(parts) or not _TOOL_ABOVE.isdisjoint(above) else Role.RUNTIME


def _are_props(path: list[str]) -> bool:
    """Return whether a test folder contains data, such as `tests/data/x` or `tests/fixtures/project`."""
    start = next(depth for depth, part in enumerate(path) if part in _TEST)
    inside = path[start + 1 :]
    return not _PROPS.isdisjoint(inside) or "fixtures" in inside[:-1]


def vendored_name(path: str) -> str | None:
    """Return the vendored package of a path: `packaging` for `pkg/_vendor/packaging/tags.py`."""
    parts = path.split("/")
    start = next((depth for depth, part in enumerate(parts[:-1]) if part in _COPIES), None)
    return None if start is None else parts[start + 1].partition(".")[0]
