"""Which names of a script come from an import: what a mount or a route of it refers to."""

from collections.abc import Iterator

from tree_sitter import Node

from forge.audits.facts.parsing import cut

Bound = tuple[str, str, str]
"""Local name, specifier, original name or nothing for the module itself."""


def bound_by_import(statement: Node, specifier: str, source: bytes) -> Iterator[Bound]:
    for child in statement.named_children:
        if child.type == "import_require_clause":
            yield from (
                (cut(source, n), specifier, "") for n in child.named_children if n.type == "identifier"
            )
        elif child.type == "import_clause":
            for part in child.named_children:
                yield from _bound_by_clause(part, specifier, source)


def _bound_by_clause(part: Node, specifier: str, source: bytes) -> Iterator[Bound]:
    match part.type:
        case "identifier":
            yield cut(source, part), specifier, "default"
        case "namespace_import":
            yield from (
                (cut(source, n), specifier, "") for n in part.named_children if n.type == "identifier"
            )
        case "named_imports":
            for one in part.named_children:
                name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                if name is not None:
                    yield cut(source, alias or name), specifier, cut(source, name)
        case _:
            pass


def bound_by_value(path: list[tuple[str | None, Node]], specifier: str, source: bytes) -> Iterator[Bound]:
    """`const x = require("y")`, `const { a: b } = require("y")`, `const z = require("y").z`; the path ends at the call."""
    original, end = "", len(path)
    if end > 1 and path[-2][1].type == "member_expression":
        name = path[-2][1].child_by_field_name("property")
        original, end = (cut(source, name) if name is not None else ""), end - 1
    declarator = path[end - 2][1] if end > 1 else None
    if declarator is None or declarator.type != "variable_declarator" or path[end - 1][0] != "value":
        return
    target = declarator.child_by_field_name("name")
    if target is None:
        return
    if target.type == "identifier":
        yield cut(source, target), specifier, original
    elif target.type == "object_pattern" and not original:
        yield from _unpacked(target, specifier, source)


def _unpacked(pattern: Node, specifier: str, source: bytes) -> Iterator[Bound]:
    for part in pattern.named_children:
        if part.type == "shorthand_property_identifier_pattern":
            yield cut(source, part), specifier, cut(source, part)
        elif part.type == "pair_pattern":
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                yield cut(source, value), specifier, cut(source, key).strip("\"'")
