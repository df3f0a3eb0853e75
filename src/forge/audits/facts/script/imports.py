"""Find the imports of a JavaScript or TypeScript file: `import`, `export … from`, `require`, and literal `import()`.

As in Python, the words are searched in the text and then looked up in the tree.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from forge.audits.facts.models import Import
from forge.audits.facts.parsing import find_words, line_of, node_text, path_to

Bound = tuple[str, str, str]
"""Local name, specifier, original name or "" for the module."""


def bound_by_import(statement: Node, specifier: str, source: bytes) -> Iterator[Bound]:
    for child in statement.named_children:
        if child.type == "import_require_clause":
            yield from (
                (node_text(source, n), specifier, "") for n in child.named_children if n.type == "identifier"
            )
        elif child.type == "import_clause":
            for part in child.named_children:
                yield from _bound_by_clause(part, specifier, source)


def _bound_by_clause(part: Node, specifier: str, source: bytes) -> Iterator[Bound]:
    match part.type:
        case "identifier":
            yield node_text(source, part), specifier, "default"
        case "namespace_import":
            yield from (
                (node_text(source, n), specifier, "") for n in part.named_children if n.type == "identifier"
            )
        case "named_imports":
            for one in part.named_children:
                name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                if name is not None:
                    yield node_text(source, alias or name), specifier, node_text(source, name)
        case _:
            pass


def bound_by_value(path: list[tuple[str | None, Node]], specifier: str, source: bytes) -> Iterator[Bound]:
    """`const x = require("y")`, `const { a: b } = require("y")`, `const z = require("y").z`; the path ends at the call."""
    original, end = "", len(path)
    if end > 1 and path[-2][1].type == "member_expression":
        name = path[-2][1].child_by_field_name("property")
        original, end = (node_text(source, name) if name is not None else ""), end - 1
    declarator = path[end - 2][1] if end > 1 else None
    if declarator is None or declarator.type != "variable_declarator" or path[end - 1][0] != "value":
        return
    target = declarator.child_by_field_name("name")
    if target is None:
        return
    if target.type == "identifier":
        yield node_text(source, target), specifier, original
    elif target.type == "object_pattern" and not original:
        yield from _unpacked(target, specifier, source)


def _unpacked(pattern: Node, specifier: str, source: bytes) -> Iterator[Bound]:
    for part in pattern.named_children:
        if part.type == "shorthand_property_identifier_pattern":
            yield node_text(source, part), specifier, node_text(source, part)
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                yield node_text(source, value), specifier, node_text(source, key).strip("\"'")


_FUNCTIONS = {
    "function_declaration",
    "function_expression",
    "function",
    "generator_function",
    "generator_function_declaration",
    "arrow_function",
    "method_definition",
}
_TYPES = {
    "type_annotation",
    "type_query",
    "type_alias_declaration",
    "interface_declaration",
    "type_arguments",
    "type_parameters",
    "ambient_declaration",
}
_IMPORT_EQUALS = re.compile(rb"import\s+(?:type\s+)?([\w$]+)\s*=\s*require\s*\(\s*([\"'])([^\"'\n]{1,500})\2")
_BROKEN_IMPORT = re.compile(rb"import\b(?:[^;\"'`()=]{0,2000}?\bfrom)?\s*([\"'])([^\"'\n]{1,500})\1")
_BROKEN_CALL = re.compile(rb"(?:import|require)\s*\(\s*([\"'])([^\"'\n]{1,500})\1\s*\)")
_BROKEN_FROM = re.compile(rb"from\s*([\"'])([^\"'\n]{1,500})\1")
_EXPORT_TYPE = re.compile(rb"export\s+type\s*\*")
_EXPORTS = re.compile(rb"\bexport\b[^;\"'`()=]{0,2000}\Z")

Path = list[tuple[str | None, Node]]
Found = tuple[Import, tuple[Bound, ...]]


def imports_of(root: Node, source: bytes) -> tuple[tuple[Import, ...], tuple[Bound, ...]]:
    found: list[Import] = []
    bound: dict[Bound, None] = {}
    for offset in find_words(source, "import", "require", "from"):
        one = _at(path_to(root, offset), source, offset)
        if one is not None:
            found.append(one[0])
            bound.update(dict.fromkeys(one[1]))
    return tuple(found), tuple(bound)


def _at(path: Path, source: bytes, offset: int) -> Found | None:
    if len(path) > 1 and path[-1][1].type == path[-2][1].type == "import":
        path = path[:-1]  # in a call, the keyword is wrapped in a node of its own
    node, parent = path[-1][1], path[-2][1] if len(path) > 1 else path[-1][1]
    if parent.is_error or node.is_error:
        return _in_error(path, source, offset)
    match node.type:
        case "import" if parent.type == "import_statement":
            return _statement(parent, path, source)
        case "import" if parent.type == "import_alias":
            return _import_equals(path, source, offset)
        case "from" if parent.type == "export_statement":
            return _export(parent, path, source)
        case "import" | "identifier":
            return _call(path, source)
        case _:
            return None


def _make(specifier: str, path: Path, *, is_type: bool = False, is_dynamic: bool = False) -> Import:
    is_lazy = is_optional = False
    for (_, outer), (field, part) in pairwise(path):
        if outer.type in _FUNCTIONS and field == "body":
            is_lazy, is_optional = True, False
        elif outer.type == "try_statement" and outer.child_by_field_name("handler") is not None:
            is_optional = is_optional or field == "body" or part.type == "catch_clause"
        elif outer.type in _TYPES:
            is_type = True
    return Import(
        module=specifier,
        line=line_of(path[-1][1]),
        is_type_only=is_type,
        is_optional=is_optional,
        is_dynamic=is_dynamic,
        is_lazy=is_lazy,
    )


def _statement(statement: Node, path: Path, source: bytes) -> Found | None:
    sources = (statement, *(c for c in statement.named_children if c.type == "import_require_clause"))
    for holder in sources:
        specifier = literal(holder.child_by_field_name("source"), source)
        if specifier:
            item = _make(specifier, path[:-1], is_type=_is_type_only(statement))
            return item, tuple(bound_by_import(statement, specifier, source))
    return None


def _is_type_only(statement: Node) -> bool:
    """`import type X`, `import typeof X`, `import { type X, type Y }`, `export type { X }`."""
    if any(child.type in ("type", "typeof") for child in statement.children):
        return True
    named = [
        n for c in statement.named_children if c.type in ("import_clause", "export_clause") for n in _named(c)
    ]
    specifiers = [n for n in named if n.type in ("import_specifier", "export_specifier")]
    if not specifiers or any(n.type in ("identifier", "namespace_import") for n in named):
        return False
    return all(
        any(part.type in ("type", "typeof") for part in specifier.children) for specifier in specifiers
    )


def _named(clause: Node) -> Iterator[Node]:
    for child in clause.named_children:
        if child.type == "named_imports":
            yield from child.named_children
        else:
            yield child


def _export(statement: Node, path: Path, source: bytes) -> Found | None:
    specifier = literal(statement.child_by_field_name("source"), source)
    is_type = _is_type_only(statement) or _EXPORT_TYPE.match(source, statement.start_byte) is not None
    return (_make(specifier, path[:-1], is_type=is_type), ()) if specifier else None


def _import_equals(path: Path, source: bytes, offset: int) -> Found | None:
    """Read `export import x = require("y")`, which the grammar does not support."""
    match = _IMPORT_EQUALS.match(source, offset)
    if match is None:
        return None
    name, specifier = match[1].decode("utf-8", "replace"), match[3].decode("utf-8", "replace")
    return _make(specifier, path[:-1]), ((name, specifier, ""),)


def _call(path: Path, source: bytes) -> Found | None:
    """`require("x")`, `require.resolve("x")`, `import("x")`."""
    if len(path) < 3:
        return None
    (field, node), (parent_field, parent) = path[-1], path[-2]
    if parent.type == "call_expression" and field == "function":
        is_dynamic = node.type == "import"
        depth = len(path) - 1
    elif parent.type == "member_expression" and field == "object" and parent_field == "function":
        name = parent.child_by_field_name("property")
        if node.type == "import" or name is None or node_text(source, name) != "resolve":
            return None
        is_dynamic, depth = True, len(path) - 2
    else:
        return None
    call = path[depth - 1][1]
    arguments = call.child_by_field_name("arguments")
    given = [a for a in arguments.named_children if a.type != "comment"] if arguments is not None else []
    specifier = literal(given[0], source) if given else None
    if not specifier:
        return None
    bound = () if is_dynamic else tuple(bound_by_value(path[:depth], specifier, source))
    return _make(specifier, path[:depth], is_dynamic=is_dynamic), bound


def _in_error(path: Path, source: bytes, offset: int) -> Found | None:
    """Read an import from text that cannot be parsed."""
    for pattern, is_dynamic in (
        (_BROKEN_IMPORT, False),
        (_BROKEN_CALL, source.startswith(b"import", offset)),
    ):
        match = pattern.match(source, offset)
        if match is not None:
            return _make(match[2].decode("utf-8", "replace"), path, is_dynamic=is_dynamic), ()
    match = _BROKEN_FROM.match(source, offset)
    if match is not None and _EXPORTS.search(source[max(0, offset - 2000) : offset]):
        return _make(match[2].decode("utf-8", "replace"), path), ()
    return None


def literal(node: Node | None, source: bytes) -> str | None:
    """Return the value of a string or of a template without substitutions."""
    if node is None or node.type not in ("string", "template_string"):
        return None
    if any(child.type not in ("string_fragment", "escape_sequence") for child in node.named_children):
        return None
    return source[node.start_byte + 1 : node.end_byte - 1].decode("utf-8", "replace")
