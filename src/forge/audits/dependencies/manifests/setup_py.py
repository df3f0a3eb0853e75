"""Read setup.py without executing it.

Strings are followed from `install_requires=…` through names, lists and calls. If the requirements are computed, every
requirement-like string in a list counts, to avoid false alarms.
"""

from collections.abc import Iterator

from tree_sitter import Node

from forge.audits.dependencies.manifests.models import Declared, Group, Include, Manifest, broken, is_dev_name
from forge.audits.dependencies.manifests.requirement_name import normal, requirement_name
from forge.audits.facts.parsing import Grammar, node_text, parse

_KEYS = {
    "install_requires": Group.RUNTIME,
    "requires": Group.RUNTIME,
    "extras_require": Group.OPTIONAL,
    "tests_require": Group.DEV,
    "setup_requires": Group.BUILD,
}
_FILES = (".txt", ".in", ".pip")
_MUTATORS = ("append", "extend", "insert", "update", "setdefault")
_LISTS = ("list", "tuple", "set")
MAX_NODES = 200_000
MAX_STEPS = 400


def read_setup_py(data: bytes) -> Manifest:
    root = parse(Grammar.PYTHON, data)
    return broken("it is nested too deeply") if root is None else _Program(root, data).read()


class _Program:
    def __init__(self, root: Node, source: bytes) -> None:
        self._source = source
        self._nodes = list(_walk(root, MAX_NODES))
        self._values: dict[str, list[Node]] = {}
        self._requirements: list[tuple[str, Node]] = []
        self._name: str | None = None
        self._is_broken = root.has_error and not any(node.type == "call" for node in self._nodes)
        for node in self._nodes:
            self._learn(node)

    def read(self) -> Manifest:
        if self._is_broken:
            return broken("it is not valid Python")
        found = [item for key, node in self._requirements for item in self._follow(node, _KEYS[key])]
        is_computed = any(
            key == "install_requires" and node.type not in _LISTS for key, node in self._requirements
        )
        if is_computed and not any(item.group is Group.RUNTIME for item in found):
            found += self._all_strings()
        return Manifest(
            declared=tuple(item for item in found if isinstance(item, Declared)),
            includes=tuple(dict.fromkeys(item for item in found if isinstance(item, Include))),
            names=(normal(self._name),) if self._name else (),
        )

    def _learn(self, node: Node) -> None:
        if node.type in ("assignment", "augmented_assignment"):
            self._learn_assignment(node)
        elif node.type == "function_definition":
            name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
            if name is not None and body is not None:
                self._values.setdefault(self._text(name), []).append(body)
        elif node.type == "keyword_argument":
            self._record(node.child_by_field_name("name"), node.child_by_field_name("value"))
        elif node.type == "pair":
            self._record(node.child_by_field_name("key"), node.child_by_field_name("value"))
        elif node.type == "call":
            self._learn_call(node)

    def _learn_assignment(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        if left.type == "identifier":
            self._values.setdefault(self._text(left), []).append(right)
            if self._text(left) in _KEYS and self._text(left) != "requires":
                self._requirements.append((self._text(left), right))
        elif left.type == "subscript":
            value, key = left.child_by_field_name("value"), left.child_by_field_name("subscript")
            self._record(key, right)
            if value is not None and value.type == "identifier":
                self._values.setdefault(self._text(value), []).append(right)

    def _learn_call(self, node: Node) -> None:
        """Record calls such as `requires.append("x")`."""
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or function.type != "attribute":
            return
        target, verb = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        if (
            target is not None
            and verb is not None
            and target.type == "identifier"
            and self._text(verb) in _MUTATORS
        ):
            self._values.setdefault(self._text(target), []).append(arguments)

    def _record(self, key: Node | None, value: Node | None) -> None:
        if key is None or value is None:
            return
        name = self._literal(key) if key.type == "string" else self._text(key)
        if name in _KEYS:
            self._requirements.append((name, value))
        elif name == "name" and value.type == "string" and self._name is None:
            self._name = self._literal(value)

    def _follow(self, start: Node, group: Group) -> Iterator[Declared | Include]:
        """Yield the requirements in all strings the expression can reach, without dictionary keys."""
        queue, seen, steps = [(start, group)], set[str](), 0
        while queue and steps < MAX_STEPS:
            steps += 1
            node, kind = queue.pop()
            if node.type == "string":
                yield from self._read_text(node, kind)
            elif node.type == "identifier":
                name = self._text(node)
                if name not in seen:
                    seen.add(name)
                    queue += [(value, kind) for value in reversed(self._values.get(name, []))]
            elif node.type == "pair":
                queue += self._pair_value(node, kind)
            else:
                queue += [(child, kind) for child in reversed(node.named_children)]

    def _pair_value(self, node: Node, group: Group) -> list[tuple[Node, Group]]:
        key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
        if value is None:
            return []
        is_dev = (
            key is not None and key.type == "string" and is_dev_name(self._literal(key).partition(":")[0])
        )
        return [(value, Group.DEV if is_dev and group is Group.OPTIONAL else group)]

    def _all_strings(self) -> Iterator[Declared | Include]:
        for node in self._nodes:
            if node.type != "string" or node.parent is None:
                continue
            if self._literal(node).endswith(_FILES) or node.parent.type in _LISTS:
                yield from self._read_text(node, Group.RUNTIME)

    def _read_text(self, node: Node, group: Group) -> Iterator[Declared | Include]:
        text, line = self._literal(node), node.start_point[0] + 1
        if text.endswith(_FILES):
            yield Include(text, group if group is not Group.RUNTIME else None, line)
            return
        for requirement in text.splitlines():
            if (
                requirement.strip()
                and not requirement.strip().startswith(("#", "-"))
                and (name := requirement_name(requirement))
            ):
                yield Declared(name, group, "setup()", line)

    def _text(self, node: Node) -> str:
        return node_text(self._source, node)

    def _literal(self, node: Node) -> str:
        """Return the content of a string; empty if it has interpolations."""
        pieces = [child for child in node.named_children if child.type == "string_content"]
        if any(child.type == "interpolation" for child in node.named_children):
            return ""
        return "".join(self._text(piece) for piece in pieces)


def _walk(root: Node, limit: int) -> Iterator[Node]:
    queue = [root]
    while queue and limit:
        limit -= 1
        node = queue.pop()
        yield node
        queue.extend(reversed(node.named_children))
