"""The content of a manifest: declared packages with their group and line. Cached by content."""

from enum import StrEnum

from msgspec import Struct


class Group(StrEnum):
    """The purpose a package is declared for."""

    RUNTIME = "runtime"
    OPTIONAL = "optional"
    """An optional extra for users; code may import it."""
    DEV = "dev"
    """For tests, documentation and linters; code that users run must not import it."""
    BUILD = "build"
    """For building the package; only build scripts may import it."""


class Declared(Struct, frozen=True, array_like=True):
    name: str
    """Normalized (PEP 503) for Python; as in npm for scripts."""
    group: Group
    section: str = ""
    """The section for messages, such as `[project] dependencies`."""
    line: int | None = None


class Include(Struct, frozen=True, array_like=True):
    """An included file: `-r other.txt`, `dynamic = { file = … }`."""

    path: str
    """As written, relative to the folder of the including file (or of the project, for pyproject.toml)."""
    group: Group | None = None
    """None: derived from the name of the file."""
    line: int | None = None


class Problem(Struct, frozen=True, array_like=True):
    message: str
    line: int | None = None
    is_fatal: bool = True
    """False if only one line is invalid."""


class DeptrySettings(Struct, frozen=True, array_like=True):
    """Settings of `[tool.deptry]`, so that projects need not repeat them."""

    first_party: tuple[str, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    """(import name, distribution)."""
    ignored: tuple[str, ...] = ()
    """Modules that are not reported as undeclared; `*` for all."""
    ignored_dev: tuple[str, ...] = ()
    """Modules that are not reported as development only."""


class Manifest(Struct, frozen=True, array_like=True):
    declared: tuple[Declared, ...] = ()
    includes: tuple[Include, ...] = ()
    problems: tuple[Problem, ...] = ()
    names: tuple[str, ...] = ()
    """The names of the project itself, normalized for Python."""
    is_declaring: bool = True
    """False if the file declares no dependencies, such as a pyproject.toml with tool settings only."""
    deptry: DeptrySettings = DeptrySettings()


def broken(message: str, line: int | None = None) -> Manifest:
    return Manifest(problems=(Problem(message, line),))


DEV_WORDS = frozenset(
    [
        "bench",
        "benchmark",
        "benchmarks",
        "ci",
        "cov",
        "coverage",
        "dev",
        "devel",
        "develop",
        "developer",
        "development",
        "doc",
        "docs",
        "documentation",
        "e2e",
        "lint",
        "linter",
        "linters",
        "linting",
        "mypy",
        "nox",
        "precommit",
        "pytest",
        "qa",
        "rtd",
        "sphinx",
        "style",
        "stubs",
        "test",
        "testing",
        "tests",
        "tox",
        "typecheck",
        "typechecking",
        "typing",
        "unittest",
        "unittests",
    ]
)
"""Words in names of groups, extras and requirements files that are for development."""


def is_dev_name(name: str) -> bool:
    """Return whether a group or file name is for development: `dev`, `requirements-test`, `docs_extra`."""
    words = [word for word in name.lower().replace("_", "-").replace(".", "-").split("-") if word]
    return any(word in DEV_WORDS for word in words)
