"""What is kept of a source file: enough for every check that asks about imports and routes, and a hundred times smaller."""

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
    In scripts the module is the specifier ("./x", "@scope/pkg/sub"), level 0, names are not kept.
    """

    module: str
    line: int
    level: int = 0
    """Leading dots, of Python."""
    names: tuple[str, ...] = ()
    """What is taken from the module, without aliases; ("*",) for all; empty for `import module`."""
    is_from: bool = False
    is_type_only: bool = False
    """Below `if TYPE_CHECKING`, or `import type`."""
    is_optional: bool = False
    """May fail without harm: in a `try` whose handler takes ImportError and goes on (in that handler; in its `else` if the
    body tries something that does not come with Python), in `contextlib.suppress(ImportError)`, below `if find_spec("it")`."""
    is_dynamic: bool = False
    """`importlib.import_module("literal")`, `__import__("literal")`, `import("literal")`, `require.resolve("literal")`."""
    is_lazy: bool = False
    """Inside a function: not executed by importing the file."""


class Route(Struct, frozen=True, array_like=True):
    """A route as one file declares it; `path` may still need the prefixes of what mounts it."""

    method: str
    """Upper case; "ANY" where every method is answered, "WEBSOCKET"."""
    path: str
    """As written: `/users/{id}`, `/users/<int:id>`, `/users/:id`."""
    line: int
    target: str
    """The name of what it is declared on in this file: `router`, `app`, `bp`."""
    is_hidden: bool = False
    """The code itself says that it belongs into no documentation: `include_in_schema=False`."""


class Mount(Struct, frozen=True, array_like=True):
    """`parent.include_router(child, prefix="/x")`, `app.register_blueprint(bp, url_prefix="/x")`, `app.use("/x", child)`."""

    parent: str
    child: str
    """As written: a name of this file, or dotted (`users.router`)."""
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
    """Names imported here: (local name, module as written with its dots, original name or "" for the module)."""
    broken_line: int | None = None
    """Where the first piece that is no code begins; None when all of it is well-formed."""
