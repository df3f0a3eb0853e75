"""What a source file is for, by where it lies: who may use what is declared for development, and what is not ours."""

import re
from enum import StrEnum
from functools import lru_cache


class Role(StrEnum):
    RUNTIME = "runtime"
    """What users run."""
    TEST = "test"
    TOOL = "tool"
    """Documentation, examples, scripts, settings of tools."""
    BUILD = "build"
    FOREIGN = "foreign"
    """Copied from elsewhere, made by a machine, or a template of code: not examined."""


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
    ]
)
_TOOL = frozenset(
    [
        "doc",
        "docs",
        "documentation",
        "example",
        "examples",
        "sample",
        "samples",
        "demo",
        "demos",
        "script",
        "scripts",
        "tool",
        "tools",
        "tooling",
        "bench",
        "benchmark",
        "benchmarks",
        "perf",
        "ci",
        ".github",
        ".circleci",
        ".ci",
        "dev",
        "devtools",
        "notebooks",
        "hack",
        "contrib",
        "tutorial",
        "tutorials",
        "maintenance",
        "release",
        ".storybook",
        "tasks_ci",
        "playground",
    ]
)
_TEST_FILE = re.compile(
    r"(?:test_.*|.*_tests?|tests?|conftest|testing|pytest_plugin)\.pyi?$|.*[.-](?:test|spec|e2e|cy|stories)\.[cm]?[jt]sx?$"
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
    place = _role_of_folder(folder)
    if place is Role.FOREIGN or _MACHINE_MADE.match(name):
        return Role.FOREIGN
    if place is Role.TEST or _TEST_FILE.match(name):
        return Role.TEST
    if _BUILD_FILE.match(name):
        return Role.BUILD
    if _TOOL_FILE.match(name) or _CONFIG_FILE.match(name):
        return Role.TOOL
    return place


@lru_cache(maxsize=65536)
def _role_of_folder(folder: str) -> Role:
    parts = set(folder.lower().split("/")) if folder else set[str]()
    if not _FOREIGN.isdisjoint(parts) or "{{" in folder:
        return Role.FOREIGN
    if not _TEST.isdisjoint(parts):
        return Role.TEST
    return Role.RUNTIME if _TOOL.isdisjoint(parts) else Role.TOOL


def tests_folder(path: str) -> str | None:
    """The outermost folder of tests that a file lies in."""
    parts = path.split("/")[:-1]
    for depth, part in enumerate(parts, 1):
        if part.lower() in _TEST:
            return "/".join(parts[:depth])
    return None
