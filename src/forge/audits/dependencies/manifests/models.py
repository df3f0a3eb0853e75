"""What a manifest says: the packages a project declares, for what, and where. Small enough to be kept by content."""

from enum import StrEnum

from msgspec import Struct


class Group(StrEnum):
    """What a package is declared for."""

    RUNTIME = "runtime"
    OPTIONAL = "optional"
    """An extra that users may choose: the code may import it."""
    DEV = "dev"
    """Tests, documentation, linters: the code that users run must not need it."""
    BUILD = "build"
    """What builds the package; counts for `setup.py` and other build scripts only."""


class Declared(Struct, frozen=True, array_like=True):
    name: str
    """Normalised (PEP 503) for Python; as npm has it for scripts."""
    group: Group
    section: str = ""
    """Where in the file, for people: `[project] dependencies`."""
    line: int | None = None


class Include(Struct, frozen=True, array_like=True):
    """Another file that this one takes in: `-r other.txt`, `dynamic = { file = … }`."""

    path: str
    """As written, relative to the folder of the including file (or of the project, for pyproject.toml)."""
    group: Group | None = None
    """None: whatever the name of that file says."""
    line: int | None = None


class Problem(Struct, frozen=True, array_like=True):
    message: str
    line: int | None = None
    is_fatal: bool = True
    """False: one line of it is no good, the rest could be read."""


class Peer(Struct, frozen=True, array_like=True):
    """What `[tool.deptry]` already says about imports; nobody should have to write it twice."""

    first_party: tuple[str, ...] = ()
    modules: tuple[tuple[str, str], ...] = ()
    """(import name, distribution)."""
    ignored: tuple[str, ...] = ()
    """Modules not to be reported as undeclared; `*` for all."""
    ignored_dev: tuple[str, ...] = ()
    """Modules not to be reported as declared for development only."""


class Manifest(Struct, frozen=True, array_like=True):
    declared: tuple[Declared, ...] = ()
    includes: tuple[Include, ...] = ()
    problems: tuple[Problem, ...] = ()
    names: tuple[str, ...] = ()
    """What this project itself is called, normalised for Python."""
    is_declaring: bool = True
    """False: the file has nothing to do with dependencies, such as a pyproject.toml with settings of tools only."""
    peer: Peer = Peer()


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
"""Names of groups, extras and requirement files that are not for users."""


def is_dev_name(name: str) -> bool:
    """Whether the name of a group or file says that it is not for users: `dev`, `requirements-test`, `docs_extra`."""
    words = [word for word in name.lower().replace("_", "-").replace(".", "-").split("-") if word]
    return any(word in DEV_WORDS for word in words)
