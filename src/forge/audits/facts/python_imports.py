"""The imports of a Python file, at any depth, with what is known about when they happen.

Found by looking where the word `import` stands and asking the tree what it is there: the rest of the tree, which is
nearly all of it, is never visited.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

from forge.audits.facts.models import Import
from forge.audits.facts.parsing import cut, line_of, path_to, words
from forge.audits.facts.python_context import Context, context_of
from forge.audits.facts.python_dynamic import dynamic_import, loader_names
from forge.audits.facts.python_guards import Guards

Bound = tuple[str, str, str]
"""Local name, module as written with its dots, original name or nothing for the module itself."""

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
    """In the order they are written."""
    found: list[tuple[int, Import]] = []
    bound: dict[Bound, None] = {}
    typing_names = _typing_names(source)
    guards = Guards(root, source)

    def context(path: list[tuple[str | None, Node]]) -> Context:
        return context_of(path, source, typing_names, guards)

    for offset in words(source, "import"):
        path = path_to(root, offset)
        for item, names in _at(path, source, offset, context):
            found.append((offset, item))
            bound.update(dict.fromkeys(names))
    loaders = loader_names(bound)
    for offset in words(source, *sorted(loaders.words)):
        path = path_to(root, offset)
        item = dynamic_import(path, source, loaders, lambda p=path: context(p))
        if item is not None:
            found.append((offset, item))
    found.sort(key=lambda pair: pair[0])
    return Imports(tuple(item for _, item in found), tuple(bound))


def _typing_names(source: bytes) -> frozenset[str]:
    """What `TYPE_CHECKING` is called here."""
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
    """`from {{ template }} import x` is read as garbage followed by `import x`; it imports no x."""
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
    """`import a.b` binds a; `import a.b as c` binds a.b."""
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
                yield _dotted(name, source), cut(source, alias)


def _dotted(node: Node, source: bytes) -> str:
    """Without the blanks, comments and line ends that may stand around the dots."""
    written = cut(source, node)
    if written.isidentifier():
        return written
    return re.sub(r"#[^\n]*|[\s\\]+", "", written)


def _from_line(source: bytes, offset: int, context: Context) -> list[tuple[Import, list[Bound]]]:
    """What a line says that stands in a piece nobody can parse, if it looks like an import and nothing else."""
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
