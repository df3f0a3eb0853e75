"""Every way an import could have been written, so that a rule about text cannot be escaped by style.

`from ..repos import users as u` in `app/api/x.py` is also `from app.repos import users` and `import app.repos.users`.
"""

from dataclasses import dataclass

from forge.audits.facts.models import Import, Language
from forge.audits.imports.graph import ImportGraph
from forge.audits.imports.modules import language_of

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wording:
    written: Texts
    """So, or all but so, it stands in the file."""
    equal: Texts
    """What means the same."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """All that the wording of an import depends on."""

    written: str
    """The module, or the specifier."""
    names: Texts
    is_from: bool
    meant: Texts
    """What else the module is called; the places of a script."""
    is_script: bool = False

    @property
    def wording(self) -> Wording:
        if self.is_script:
            equal = tuple(text for place in self.meant for text in _statements(place, self.names))
            return Wording(_statements(self.written, self.names), equal)
        equal = tuple(text for module in self.meant for text in _equal(module, self.names))
        return Wording(_written(self.written, self.names, self.is_from), equal)


def spelling(graph: ImportGraph, path: str, imp: Import, targets: tuple[str, ...]) -> Spelling:
    if language_of(path) is Language.SCRIPT:
        return _script(graph, path, imp, targets)
    names = imp.names if imp.is_from else ()
    if imp.level == 0:
        own = graph.modules.python.module_of(targets[0]) if targets else None
        other = own is not None and own.partition(".")[0] != imp.module.partition(".")[0]
        return Spelling(imp.module, names, imp.is_from, (imp.module, own) if other and own else (imp.module,))
    absolute = graph.absolute(path, imp)
    return Spelling("." * imp.level + imp.module, names, imp.is_from, (absolute,) if absolute else ())


def _written(module: str, names: Texts, is_from: bool) -> Texts:
    return (
        tuple(f"from {module} import {text}" for text in _lists(names)) if is_from else (f"import {module}",)
    )


def _equal(module: str, names: Texts) -> Texts:
    parent, dot, last = module.rpartition(".")
    texts = [f"import {module}", f"from {module} import "]
    if dot:
        texts.append(f"from {parent} import {last}")
    texts += [f"from {module} import {text}" for text in _lists(names)]
    for name in names:
        if name != "*":
            texts += [f"import {module}.{name}", f"from {module}.{name} import "]
    return tuple(texts)


def _lists(names: Texts) -> list[str]:
    return [*names, ", ".join(names)] if len(names) > 1 else list(names)


def _script(graph: ImportGraph, path: str, imp: Import, targets: tuple[str, ...]) -> Spelling:
    facts = graph.facts.get(path)
    bound = facts.bound if facts else ()
    names = tuple(original or local for local, module, original in bound if module == imp.module)
    places: list[str] = []
    for target in targets:
        stem = graph.modules.script.module_of(target) or target
        places += [stem, f"./{stem}", target]
    return Spelling(imp.module, names, is_from=False, meant=tuple(dict.fromkeys(places)), is_script=True)


def _statements(specifier: str, names: Texts) -> Texts:
    texts: list[str] = []
    for quote in "\"'":
        quoted = f"{quote}{specifier}{quote}"
        texts.append(f"import {{ {', '.join(names)} }} from {quoted}" if names else f"import _ from {quoted}")
        texts += [f"import {name} from {quoted}" for name in names[:1]]
        texts += [f"require({quoted})", f"import({quoted})"]
    return tuple(texts)
