"""The facts extracted from a source file: its imports, and its routes with the names they refer to.

A name is written as in the file (`router`, `users.router`), with additions for values without a name: `create_app()` is
the return value of a function, `ROUTERS[]` each item of a list, and `register(0)` the first parameter of a function, so
that `register(app)` mounts what the function declares on it. `require(./users)` is an unnamed module of a script.
"""

from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct


class Language(StrEnum):
    PYTHON = "python"
    SCRIPT = "script"
    """JavaScript and TypeScript."""


LANGUAGES = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".js": Language.SCRIPT,
    ".jsx": Language.SCRIPT,
    ".mjs": Language.SCRIPT,
    ".cjs": Language.SCRIPT,
    ".ts": Language.SCRIPT,
    ".tsx": Language.SCRIPT,
    ".mts": Language.SCRIPT,
    ".cts": Language.SCRIPT,
}


class Import(Struct, frozen=True, array_like=True):
    """One import of one module, as written.

    `import a.b as c, d` is two of them. `from .x import (a, b as c)` is one: module "x", level 1, names ("a", "b").
    In scripts the module is the specifier ("./x", "@scope/pkg/sub"), with level 0 and without names.
    """

    module: str
    line: int
    level: int = 0
    """The number of leading dots in Python."""
    names: tuple[str, ...] = ()
    """The imported names without aliases; ("*",) for all; empty for `import module`."""
    is_from: bool = False
    is_type_only: bool = False
    """Under `if TYPE_CHECKING`, or `import type`."""
    is_optional: bool = False
    """The import may fail: in a `try` whose handler catches ImportError and continues (also in that handler, and in `else` if
    the body imports a package), in `contextlib.suppress(ImportError)`, or under `if find_spec("it")`."""
    is_dynamic: bool = False
    """`importlib.import_module("literal")`, `__import__("literal")`, `import("literal")`, `require.resolve("literal")`."""
    is_lazy: bool = False
    """Inside a function, so not executed on import."""


class Route(Struct, frozen=True, array_like=True):
    """A route as declared in one file, without the prefixes of its mounts."""

    method: str
    """Upper case; "ANY" for all methods, or "WEBSOCKET"."""
    path: str
    """As written: `/users/{id}`, `/users/<int:id>`, `/users/:id`."""
    line: int
    target: str
    """The name of the router it is declared on: `router`, `app`, `bp`."""
    is_hidden: bool = False
    """Excluded from documentation with `include_in_schema=False`."""


class Mount(Struct, frozen=True, array_like=True):
    """`parent.include_router(child, prefix="/x")`, `app.register_blueprint(bp, url_prefix="/x")`, `app.use("/x", child)`."""

    parent: str
    child: str
    """As written: a name of this file or a dotted name (`users.router`)."""
    prefix: str
    line: int


class Router(Struct, frozen=True, array_like=True):
    """`router = APIRouter(prefix="/x")`, `bp = Blueprint("n", __name__, url_prefix="/x")`, `app = FastAPI()`, `express()`."""

    name: str
    prefix: str
    is_app: bool
    line: int


class FileFacts(Struct, frozen=True, array_like=True):
    imports: tuple[Import, ...] = ()
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    routers: tuple[Router, ...] = ()
    bound: tuple[tuple[str, str, str], ...] = ()
    """Imported names: (local name, module as written with its dots, original name or "" for the module)."""
    broken_line: int | None = None
    """The line of the first syntax error; None if the file can be parsed."""


def language_of(path: str) -> Language | None:
    return LANGUAGES.get("." + path.rpartition(".")[2].lower())


UNKNOWN = "\0"
"""Placeholder in a path or prefix for text that is only known at run time."""
INSTEAD = "="
"""Marks a mount prefix that replaces the child's own prefix, as in Flask, instead of preceding it."""


@dataclass(frozen=True, slots=True)
class RouteFacts:
    routes: tuple[Route, ...] = ()
    mounts: tuple[Mount, ...] = ()
    """Mounts and aliases. For an alias the parent is not a router and the prefix is empty."""
    routers: tuple[Router, ...] = ()
