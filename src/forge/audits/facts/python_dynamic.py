"""Imports of Python that are calls: `importlib.import_module("a.b")` and `__import__("x")`, with literal names only."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tree_sitter import Node

from forge.audits.facts.models import Import
from forge.audits.facts.parsing import cut, line_of
from forge.audits.facts.python_context import Context

_LOADER = "import_module"
_BUILTIN = "__import__"
_OWN = ("__package__", "__name__")
_LONGEST = 1_000


@dataclass(frozen=True, slots=True)
class Loaders:
    functions: frozenset[str]
    """What `importlib.import_module` is called here, if it was imported by name."""
    modules: frozenset[str]
    """What `importlib` is called here."""

    @property
    def words(self) -> frozenset[str]:
        """Where to look."""
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
    if level and package is not None and cut(source, package) not in _OWN:
        base = _literal(package, source)
        if not base or level > base.count(".") + 1:
            return None
        parts = base.split(".")
        written, level = ".".join([*parts[: len(parts) - level + 1], *([written] if written else [])]), 0
    return context().make(written, line_of(call), level=level, is_dynamic=True)


def _call(path: list[tuple[str | None, Node]], source: bytes, loaders: Loaders) -> Node | None:
    """The call that the name at the end of the path is the function of."""
    if len(path) < 3 or path[-1][1].type != "identifier":
        return None
    field, node = path[-1]
    name = cut(source, node)
    field_of_parent, parent = path[-2]
    if parent.type == "call" and field == "function":
        return parent if name == _BUILTIN or name in loaders.functions else None
    if parent.type == "attribute" and field == "attribute" and field_of_parent == "function":
        owner = parent.child_by_field_name("object")
        modules = loaders.modules | {"builtins"} if name == _BUILTIN else loaders.modules
        return path[-3][1] if owner is not None and cut(source, owner) in modules else None
    return None


def _argument(arguments: Node, place: int, name: str, source: bytes) -> Node | None:
    given = [child for child in arguments.named_children if child.type != "comment"]
    for child in given:
        key = child.child_by_field_name("name") if child.type == "keyword_argument" else None
        if key is not None and cut(source, key) == name:
            return child.child_by_field_name("value")
    if place < len(given) and all(child.type != "keyword_argument" for child in given[: place + 1]):
        return given[place]
    return None


def _literal(node: Node | None, source: bytes) -> str | None:
    """The value of a string without interpolations."""
    if node is None or node.type != "string" or node.end_byte - node.start_byte > _LONGEST:
        return None
    if any(child.type == "interpolation" for child in node.named_children):
        return None
    content = "".join(cut(source, child) for child in node.named_children if child.type == "string_content")
    dotted = content.replace(".", "")
    return content if not dotted or dotted.isidentifier() else None
