"""Every way an import could have been written, so that a rule about text cannot be escaped by style.

`from ..repos import users as u` in `app/api/x.py` is also `from app.repos import users` and `import app.repos.users`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forge.audits.facts.models import Import, Language
from forge.audits.graph import ImportGraph
from forge.audits.modules import language_of


@dataclass(frozen=True, slots=True)
class Wording:
    text: str
    is_written: bool
    """So, or all but so, it stands in the file; else it only means the same."""


def wordings(graph: ImportGraph, path: str, imp: Import) -> Iterator[Wording]:
    if language_of(path) is Language.SCRIPT:
        yield from _script(graph, path, imp)
    else:
        yield from _python(graph, path, imp)


def _python(graph: ImportGraph, path: str, imp: Import) -> Iterator[Wording]:
    written = "." * imp.level + imp.module
    if imp.is_from:
        yield from (Wording(f"from {written} import {names}", is_written=True) for names in _lists(imp.names))
    else:
        yield Wording(f"import {written}", is_written=True)
    modules = {module} if (module := graph.absolute(path, imp)) else set[str]()
    modules |= {name for name in graph.names(path, imp) if imp.level == 0 and not name.startswith(imp.module)}
    for name in sorted(modules):
        yield from (
            Wording(text, is_written=False) for text in _equal(name, imp.names if imp.is_from else ())
        )


def _equal(module: str, names: tuple[str, ...]) -> Iterator[str]:
    parent, dot, last = module.rpartition(".")
    yield f"import {module}"
    yield f"from {module} import "
    if dot:
        yield f"from {parent} import {last}"
    for text in _lists(names):
        yield f"from {module} import {text}"
    for name in names:
        if name != "*":
            yield f"import {module}.{name}"
            yield f"from {module}.{name} import "


def _lists(names: tuple[str, ...]) -> list[str]:
    return [*names, ", ".join(names)] if len(names) > 1 else list(names)


def _script(graph: ImportGraph, path: str, imp: Import) -> Iterator[Wording]:
    facts = graph.facts.get(path)
    bound = facts.bound if facts else ()
    names = [original or local for local, module, original in bound if module == imp.module]
    yield from (Wording(text, is_written=True) for text in _statements(imp.module, names))
    for target in graph.reached(path, imp):
        stem = graph.modules.script.module_of(target) or target
        for place in {stem, f"./{stem}", target}:
            yield from (Wording(text, is_written=False) for text in _statements(place, names))


def _statements(specifier: str, names: list[str]) -> Iterator[str]:
    for quote in "\"'":
        quoted = f"{quote}{specifier}{quote}"
        yield f"import {{ {', '.join(names)} }} from {quoted}" if names else f"import _ from {quoted}"
        yield from (f"import {name} from {quoted}" for name in names[:1])
        yield f"require({quoted})"
        yield f"import({quoted})"
