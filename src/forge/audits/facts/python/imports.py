"""Find the imports of a Python file at any depth, and whether they are lazy, optional or type-only.

The word `import` is searched in the text and then looked up in the tree, so that most of the tree is never visited.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from tree_sitter import Node

from forge.audits.facts.models import Import
from forge.audits.facts.parsing import find_words, line_of, node_text, path_to
from forge.audits.facts.python.guards import Guard, Guards

_NEVER = {"False", "0"}


@dataclass(frozen=True, slots=True)
class Context:
    is_type_only: bool = False
    is_lazy: bool = False
    guards: tuple[Guard, ...] = ()

    def make(
        self,
        module: str,
        line: int,
        *,
        level: int = 0,
        names: tuple[str, ...] = (),
        is_from: bool = False,
        is_dynamic: bool = False,
    ) -> Import:
        top = module.partition(".")[0]
        return Import(
            module=module,
            line=line,
            level=level,
            names=names,
            is_from=is_from,
            is_type_only=self.is_type_only,
            is_optional=any(guard.covers(top) for guard in self.guards),
            is_dynamic=is_dynamic,
            is_lazy=self.is_lazy,
        )


AT_ONCE = Context()


def context_of(
    path: list[tuple[str | None, Node]], source: bytes, typing_names: frozenset[str], guards: Guards
) -> Context:
    """Return the context of the last node of a path from the root."""
    if len(path) <= 3:
        return AT_ONCE
    is_type_only = is_lazy = False
    found: list[Guard] = []
    for (_, outer), (field, node) in pairwise(path):
        if outer.type in ("function_definition", "lambda") and field == "body":
            is_lazy = True
            found.clear()
            continue
        if outer.type in ("if_statement", "elif_clause"):
            is_type_only = is_type_only or _is_typing_branch(outer, field, node, source, typing_names)
        guard = guards.at(outer, field, node, is_lazy=is_lazy)
        if guard is not None:
            found.append(guard)
    return Context(is_type_only, is_lazy, tuple(found))


def _is_typing_branch(
    statement: Node, field: str | None, branch: Node, source: bytes, typing_names: frozenset[str]
) -> bool:
    condition = statement.child_by_field_name("condition")
    if condition is None:
        return False
    if field == "consequence":
        return _is_typing(condition, source, typing_names)
    negated = condition.type == "not_operator" and condition.child_by_field_name("argument")
    if field == "alternative" and branch.type == "else_clause" and negated:
        return _is_typing(negated, source, typing_names)
    return False


def _is_typing(condition: Node, source: bytes, typing_names: frozenset[str]) -> bool:
    """Return whether a condition is only true for type checkers."""
    for _ in range(8):
        match condition.type:
            case "identifier" | "false" | "integer":
                return node_text(source, condition) in typing_names | _NEVER
            case "attribute":
                name = condition.child_by_field_name("attribute")
                return name is not None and node_text(source, name) == "TYPE_CHECKING"
            case "parenthesized_expression" if condition.named_child_count == 1:
                condition = condition.named_children[0]
            case "boolean_operator":
                return _is_typing_and(condition, source, typing_names)
            case _:
                return False
    return False


def _is_typing_and(condition: Node, source: bytes, typing_names: frozenset[str]) -> bool:
    operator = condition.child_by_field_name("operator")
    if operator is None or operator.type != "and":
        return False
    sides = (condition.child_by_field_name("left"), condition.child_by_field_name("right"))
    plain = (side for side in sides if side is not None and side.type in ("identifier", "attribute", "false"))
    return any(_is_typing(side, source, typing_names) for side in plain)


Bound = tuple[str, str, str]
"""Local name, module as written with its dots, original name or "" for the module."""

_STATEMENTS = ("import_statement", "import_from_statement", "future_import_statement")
_ALIAS = re.compile(rb"TYPE_CHECKING[ \t]+as[ \t]+(\w+)")
_BEFORE = re.compile(rb"(?:^|[;:])[ \t\f]*\Z")
_LINE = re.compile(
    r"^[ \t\f]*(?:from[ \t]+(?P<dots>\.*)(?P<module>[^\W\d]\w*(?:\.[^\W\d]\w*)*|)[ \t]+)?"
    r"import[ \t]+\(?[ \t]*(?P<names>\*|[\w., \t]+)\)?[ \t]*\\?(?:#.*)?$"
)
_LONGEST_LINE = 1_000
_NAME = re.compile(r"([^\W\d][\w.]*)(?:\s+as\s+([^\W\d]\w*))?$")


@dataclass(frozen=True)
class Imports:
    found: tuple[Import, ...]
    bound: tuple[Bound, ...]


def imports_of(root: Node, source: bytes) -> Imports:
    """Return the imports in source order."""
    found: list[tuple[int, Import]] = []
    bound: dict[Bound, None] = {}
    typing_names = _typing_names(source)
    guards = Guards(root, source)

    def context(path: list[tuple[str | None, Node]]) -> Context:
        return context_of(path, source, typing_names, guards)

    for offset in find_words(source, "import"):
        path = path_to(root, offset)
        for item, names in _at(path, source, offset, context):
            found.append((offset, item))
            bound.update(dict.fromkeys(names))
    loaders = loader_names(bound)
    for offset in find_words(source, *sorted(loaders.words)):
        path = path_to(root, offset)
        item = dynamic_import(path, source, loaders, lambda p=path: context(p))
        if item is not None:
            found.append((offset, item))
    found.sort(key=lambda pair: pair[0])
    return Imports(tuple(item for _, item in found), tuple(bound))


def _typing_names(source: bytes) -> frozenset[str]:
    """Return the names of `TYPE_CHECKING` in this file."""
    aliases = _ALIAS.findall(source)
    return frozenset({"TYPE_CHECKING", "MYPY", *(alias.decode("ascii", "replace") for alias in aliases)})


def _at(
    path: list[tuple[str | None, Node]],
    source: bytes,
    offset: int,
    context: Callable[[list[tuple[str | None, Node]]], Context],
) -> Iterable[tuple[Import, list[Bound]]]:
    statement = path[-2][1] if len(path) > 1 else path[0][1]
    if statement.type in _STATEMENTS and path[-1][1].type == "import":
        if not _begins_a_statement(statement, source):
            return ()
        return _statement(statement, source, context(path))
    if any(node.is_error for _, node in path[-3:]):
        return _from_line(source, offset, context(path))
    return ()


def _begins_a_statement(statement: Node, source: bytes) -> bool:
    """Return whether the statement starts a line. The parser reads `from {{ template }} import x` as `import x`."""
    start = statement.start_byte
    line = source.rfind(b"\n", 0, start) + 1
    return start - line > _LONGEST_LINE or bool(_BEFORE.search(source[line:start]))


def _statement(statement: Node, source: bytes, context: Context) -> list[tuple[Import, list[Bound]]]:
    line = line_of(statement)
    names = list(_names(statement, source))
    if statement.type == "import_statement":
        return [(context.make(name, line), [_bind_module(name, alias)]) for name, alias in names]
    level, module = _module(statement, source)
    written = "." * level + module
    item = context.make(module, line, level=level, names=tuple(name for name, _ in names), is_from=True)
    return [(item, [(alias or name, written, name) for name, alias in names if name != "*"])]


def _bind_module(name: str, alias: str | None) -> Bound:
    """Return the bound name: `import a.b` binds a, `import a.b as c` binds a.b."""
    if alias is not None:
        return (alias, name, "")
    top = name.partition(".")[0]
    return (top, top, "")


def _module(statement: Node, source: bytes) -> tuple[int, str]:
    if statement.type == "future_import_statement":
        return 0, "__future__"
    node = statement.child_by_field_name("module_name")
    if node is None:
        return 0, ""
    written = _dotted(node, source)
    module = written.lstrip(".")
    return len(written) - len(module), module


def _names(statement: Node, source: bytes) -> Iterator[tuple[str, str | None]]:
    module = statement.child_by_field_name("module_name")
    for child in statement.named_children:
        if child == module:
            continue
        if child.type == "wildcard_import":
            yield "*", None
        elif child.type == "dotted_name" and child.end_byte > child.start_byte:
            yield _dotted(child, source), None
        elif child.type == "aliased_import":
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None and alias is not None:
                yield _dotted(name, source), node_text(source, alias)


def _dotted(node: Node, source: bytes) -> str:
    """Return a dotted name without whitespace and comments around the dots."""
    written = node_text(source, node)
    if written.isidentifier():
        return written
    return re.sub(r"#[^\n]*|[\s\\]+", "", written)


def _from_line(source: bytes, offset: int, context: Context) -> list[tuple[Import, list[Bound]]]:
    """Read an import from a line that cannot be parsed, if the line looks like nothing else."""
    start = source.rfind(b"\n", 0, offset) + 1
    end = source.find(b"\n", offset)
    end = len(source) if end < 0 else end
    if end - start > _LONGEST_LINE:
        return []
    match = _LINE.match(source[start:end].decode("utf-8", "replace").rstrip())
    if match is None:
        return []
    pairs = [_NAME.match(part.strip()) for part in match["names"].split(",") if part.strip()]
    names = [(pair[1], pair[2]) for pair in pairs if pair is not None]
    if len(names) < len(pairs) and match["names"] != "*":
        return []
    line = source.count(b"\n", 0, start) + 1
    if match["module"] is None:
        return [(context.make(name, line), [_bind_module(name, alias)]) for name, alias in names]
    level, module = len(match["dots"]), match["module"]
    if not level and not module:
        return []
    taken = tuple(name for name, _ in names) or ("*",)
    item = context.make(module, line, level=level, names=taken, is_from=True)
    return [(item, [(alias or name, "." * level + module, name) for name, alias in names])]


_LOADER = "import_module"
_BUILTIN = "__import__"
_OWN = ("__package__", "__name__")
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Loaders:
    functions: frozenset[str]
    """Names of `importlib.import_module` in this file."""
    modules: frozenset[str]
    """Names of `importlib` in this file."""

    @property
    def words(self) -> frozenset[str]:
        """The words to search for."""
        return self.functions | {_LOADER, _BUILTIN}


def loader_names(bound: Iterable[tuple[str, str, str]]) -> Loaders:
    names = list(bound)
    return Loaders(
        frozenset(local for local, module, name in names if (module, name) == ("importlib", _LOADER)),
        frozenset(local for local, module, name in names if (module, name) == ("importlib", "")),
    )


def dynamic_import(
    path: list[tuple[str | None, Node]], source: bytes, loaders: Loaders, context: Callable[[], Context]
) -> Import | None:
    call = _call(path, source, loaders)
    arguments = call.child_by_field_name("arguments") if call is not None else None
    if call is None or arguments is None or arguments.type != "argument_list":
        return None
    module = _literal(_argument(arguments, 0, "name", source), source)
    if not module:
        return None
    written = module.lstrip(".")
    level = len(module) - len(written)
    package = _argument(arguments, 1, "package", source)
    if level and package is not None and node_text(source, package) not in _OWN:
        base = _literal(package, source)
        if not base or level > base.count(".") + 1:
            return None
        parts = base.split(".")
        written, level = ".".join([*parts[: len(parts) - level + 1], *([written] if written else [])]), 0
    return context().make(written, line_of(call), level=level, is_dynamic=True)


def _call(path: list[tuple[str | None, Node]], source: bytes, loaders: Loaders) -> Node | None:
    """Return the call of the name at the end of the path."""
    if len(path) < 3 or path[-1][1].type != "identifier":
        return None
    field, node = path[-1]
    name = node_text(source, node)
    field_of_parent, parent = path[-2]
    if parent.type == "call" and field == "function":
        return parent if name == _BUILTIN or name in loaders.functions else None
    if parent.type == "attribute" and field == "attribute" and field_of_parent == "function":
        owner = parent.child_by_field_name("object")
        modules = loaders.modules | {"builtins"} if name == _BUILTIN else loaders.modules
        return path[-3][1] if owner is not None and node_text(source, owner) in modules else None
    return None


def _argument(arguments: Node, place: int, name: str, source: bytes) -> Node | None:
    given = [child for child in arguments.named_children if child.type != "comment"]
    for child in given:
        key = child.child_by_field_name("name") if child.type == "keyword_argument" else None
        if key is not None and node_text(source, key) == name:
            return child.child_by_field_name("value")
    if place < len(given) and all(child.type != "keyword_argument" for child in given[: place + 1]):
        return given[place]
    return None


def _literal(node: Node | None, source: bytes) -> str | None:
    """Return the value of a string literal without interpolations."""
    if node is None or node.type != "string" or node.end_byte - node.start_byte > _LONGEST:
        return None
    if any(child.type == "interpolation" for child in node.named_children):
        return None
    content = "".join(
        node_text(source, child) for child in node.named_children if child.type == "string_content"
    )
    dotted = content.replace(".", "")
    return content if not dotted or dotted.isidentifier() else None
