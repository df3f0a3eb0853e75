"""The arguments of a Python call, by place and by name."""

from tree_sitter import Node

from forge.audits.facts.scopes import Source


class Arguments:
    def __init__(self, call: Node, source: Source) -> None:
        self.positional: list[Node] = []
        self.keywords: dict[str, Node] = {}
        given = call.child_by_field_name("arguments")
        for node in given.named_children if given is not None else []:
            name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
            if node.type == "keyword_argument" and name is not None and value is not None:
                self.keywords[source.text(name)] = value
            elif node.type not in ("comment", "keyword_argument", "dictionary_splat"):
                self.positional.append(node)

    def at(self, place: int) -> Node | None:
        return self.positional[place] if place < len(self.positional) else None

    def named(self, name: str) -> Node | None:
        return self.keywords.get(name)

    def get(self, name: str, place: int) -> Node | None:
        return self.keywords.get(name) or self.at(place)


def lists_in(node: Node) -> list[Node]:
    """`[a] + [b]` is both."""
    waiting, found = [node], list[Node]()
    while waiting:
        place = waiting.pop()
        if place.type in ("list", "tuple"):
            found.append(place)
        elif place.type in ("binary_operator", "parenthesized_expression"):
            waiting += place.named_children
    return found


def is_false(node: Node | None) -> bool:
    return node is not None and node.type == "false"
