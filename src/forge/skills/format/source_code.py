"""Check that the source of a skill parses and defines `run`. It is never executed."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath

import tree_sitter_javascript
import tree_sitter_python
from tree_sitter import Language, Node, Parser

from forge.skills.execution import SCRIPTS
from forge.skills.format.contents import MAX_FILE_BYTES, text_of
from forge.skills.models import SkillProblem

_JS = Language(tree_sitter_javascript.language())
_PY = Language(tree_sitter_python.language())
_MAGIC, _COMPONENT, _MODULE = b"\x00asm", b"\x0d\x00\x01\x00", b"\x01\x00\x00\x00"
_NAMES = frozenset({"identifier", "property_identifier", "shorthand_property_identifier"})
_RUN = re.compile(rb"\b(?:run|exports|default)\b")
"""A quick test before walking the syntax tree."""
_NO_RUN = "There is no function `run` in {path}."
_RUN_HINT: Mapping[str, str] = {
    "skill.js": "Write `function run(input) { … }`; it takes an object and returns a JSON value.",
    "skill.py": "Write `def run(input):`; it takes a dict and returns a JSON value.",
}


def source_problems(path: str, data: bytes) -> Iterator[SkillProblem]:
    """Yield the problems of the file that runs, by its suffix; other suffixes are not checked."""
    look = _READERS.get(PurePosixPath(path).suffix)
    if look is None:
        return
    if path.endswith(".wasm"):
        yield from look(path, data)
    elif len(data) > MAX_FILE_BYTES:
        yield SkillProblem(message=f"{path} has more than {MAX_FILE_BYTES // 1000:,} kB.")
    elif text_of(data) is None:
        yield SkillProblem(message=f"{path} is not UTF-8 text.")
    elif not data.strip():
        yield SkillProblem(message=f"{path} is empty.")
    else:
        yield from look(path, data)


def _python(path: str, data: bytes) -> Iterator[SkillProblem]:
    """Check Python source. The Python that runs scripts may be newer than Forge's own: source that only `ast` rejects
    gets a warning, not an error."""
    try:
        tree = ast.parse(data, path)
    except SyntaxError as error:
        is_newer = not Parser(_PY).parse(data).root_node.has_error
        yield _wrong(path, error.lineno, error.msg, is_warning=is_newer)
    except (ValueError, RecursionError, MemoryError) as error:
        yield _wrong(path, None, str(error) or "it is nested too deeply")
    else:
        if path in SCRIPTS and not any(map(_binds_run, ast.walk(tree))):
            yield SkillProblem(message=_NO_RUN.format(path=path), hint=_RUN_HINT[path])


def _binds_run(node: ast.AST) -> bool:
    match node:
        case ast.FunctionDef(name="run") | ast.Name(id="run", ctx=ast.Store()):
            return True
        case ast.alias(name=name, asname=asname):
            return (asname or name) == "run"
        case _:
            return False


def _javascript(path: str, data: bytes) -> Iterator[SkillProblem]:
    root = Parser(_JS).parse(data).root_node
    if root.has_error:
        at = _first_error(root)
        message = f"`{at.type}` is missing here" if at.is_missing else "syntax error"
        yield _wrong(path, at.start_point.row + 1, message)
    elif path in SCRIPTS and not (_RUN.search(data) and any(_names_run(node) for node in _walk(root))):
        yield SkillProblem(message=_NO_RUN.format(path=path), hint=_RUN_HINT[path])


def _names_run(node: Node) -> bool:
    """Return whether the node names `run`: declared, assigned or exported. The run finds out the rest."""
    if node.type == "export_statement":
        return any(child.type == "default" for child in node.children)
    return node.type in _NAMES and node.text in (b"run", b"exports")


def _first_error(root: Node) -> Node:
    found = (node for node in _walk(root) if node.is_missing or node.is_error)
    return min(found, key=lambda node: node.start_byte, default=root)


def _walk(root: Node) -> Iterator[Node]:
    """Walk the tree without recursion, since sources may be nested deeply."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.children))


def _component(path: str, data: bytes) -> Iterator[SkillProblem]:
    """Check the first bytes of a component; the engine validates the rest."""
    if not data.startswith(_MAGIC):
        yield SkillProblem(message=f"{path} is not a WebAssembly file.")
    elif data[4:8] == _MODULE:
        hint = "Build a component that exports `run: func(input: string) -> result<string, string>`."
        yield SkillProblem(message=f"{path} is a core module; it must be a component.", hint=hint)
    elif data[4:8] != _COMPONENT:
        yield SkillProblem(message=f"{path} uses an unsupported version of WebAssembly.")


def _wrong(path: str, line: int | None, said: str, *, is_warning: bool = False) -> SkillProblem:
    where = f"{path}, line {line}" if line else path
    return SkillProblem(message=f"{where}: {said}.", is_warning=is_warning)


_READERS: Mapping[str, Callable[[str, bytes], Iterator[SkillProblem]]] = {
    ".py": _python,
    ".js": _javascript,
    ".wasm": _component,
}
