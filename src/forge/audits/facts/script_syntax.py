"""Small readings of a script's syntax: what is imported, exported, spelt out, or only wrapped."""

from collections.abc import Callable, Iterator

from tree_sitter import Node

from forge.audits.facts.scopes import nth

_WRAPPERS = (
    "parenthesized_expression",
    "as_expression",
    "non_null_expression",
    "await_expression",
    "satisfies_expression",
)


def unwrapped(node: Node) -> Node:
    """Without parentheses and what TypeScript says about types."""
    while node.type in _WRAPPERS and node.named_children:
        node = node.named_children[0]
    return node


class ScriptSyntax:
    text: Callable[[Node], str]

    def required(self, node: Node) -> str | None:
        """The specifier of `require("./x")`."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if (
            node.type != "call_expression"
            or function is None
            or arguments is None
            or self.text(function) != "require"
        ):
            return None
        source = nth(arguments, 0)
        return self._specifier(source) if source is not None and source.type == "string" else None

    def members(self, node: Node) -> Iterator[tuple[str, Node]]:
        """Of an object that is spelt out."""
        for member in node.named_children if node.type == "object" else []:
            key, value = member.child_by_field_name("key"), member.child_by_field_name("value")
            if member.type == "pair" and key is not None and value is not None:
                yield self.text(key).strip("'\""), value
            elif member.type == "shorthand_property_identifier":
                yield self.text(member), member

    def exported_name(self, left: Node) -> str | None:
        """What `module.exports = …` and `exports.x = …` export it as."""
        written = self.text(left)
        if written == "module.exports":
            return "default"
        for prefix in ("module.exports.", "exports."):
            if written.startswith(prefix):
                return written.removeprefix(prefix)
        return None

    def _specifier(self, source: Node) -> str:
        return "".join(self.text(part) for part in source.named_children).replace("(", "").replace(")", "")

    def unpacked(self, pattern: Node) -> Iterator[tuple[str, str]]:
        """`{ a, b: c }` takes `a` as a and `b` as c."""
        for part in pattern.named_children if pattern.type == "object_pattern" else []:
            key, value = part.child_by_field_name("key"), part.child_by_field_name("value")
            if part.type == "shorthand_property_identifier_pattern":
                yield self.text(part), self.text(part)
            elif key is not None and value is not None and value.type == "identifier":
                yield self.text(value), self.text(key)

    def import_source(self, node: Node) -> str:
        """What an import or a re-export takes from, as `require` would; empty when it takes from nowhere."""
        source = node.child_by_field_name("source")
        return f"require({self._specifier(source)})" if source is not None else ""

    def imports(self, node: Node) -> Iterator[tuple[str, str]]:
        module = self.import_source(node)
        clauses = [child for child in node.named_children if child.type == "import_clause"]
        for part in [part for clause in clauses for part in clause.named_children]:
            if part.type == "identifier":
                yield self.text(part), module
            elif part.type == "namespace_import" and part.named_children:
                yield self.text(part.named_children[0]), module
            for specifier in part.named_children if part.type == "named_imports" else []:
                name, alias = specifier.child_by_field_name("name"), specifier.child_by_field_name("alias")
                if name is not None:
                    yield self.text(alias or name), f"{module}.{self.text(name)}".removesuffix(".default")
