"""The import graph of a project's files, built lazily from facts."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from forge.audits.facts.models import FileFacts, Import, Language, language_of
from forge.audits.imports.modules import Modules


@dataclass(frozen=True, slots=True)
class Edge:
    """An import that resolves to a project file."""

    target: str
    line: int
    is_type_only: bool


ResolvedImport = tuple[Import, tuple[str, ...]]
"""An import and the project files it resolves to."""


@dataclass
class ImportGraph:
    modules: Modules
    facts: Mapping[str, FileFacts]
    _imports: dict[str, tuple[ResolvedImport, ...]] = field(
        default_factory=dict[str, tuple[ResolvedImport, ...]], repr=False
    )
    _edges: dict[str, tuple[Edge, ...]] = field(default_factory=dict[str, tuple[Edge, ...]], repr=False)

    def imports(self, path: str) -> tuple[ResolvedImport, ...]:
        """Return the imports of a file with their targets, without itself."""
        cached = self._imports.get(path)
        if cached is None:
            facts = self.facts.get(path)
            resolve = self.modules.resolver(path)
            cached = self._imports[path] = tuple(
                (imp, tuple(target for target in resolve(path, imp) if target != path))
                for imp in (facts.imports if facts else ())
            )
        return cached

    def edges(self, path: str) -> tuple[Edge, ...]:
        cached = self._edges.get(path)
        if cached is None:
            cached = self._edges[path] = tuple(
                Edge(target, imp.line, imp.is_type_only)
                for imp, targets in self.imports(path)
                for target in targets
            )
        return cached

    def names(self, path: str, imp: Import, targets: tuple[str, ...]) -> set[str]:
        """Return all names of an imported module: as written, absolute, and by its files."""
        if language_of(path) is Language.SCRIPT:
            return {imp.module}
        module = self.absolute(path, imp)
        names = {name for target in targets if (name := self.modules.python.module_of(target))}
        if module:
            names.add(module)
            names.update(f"{module}.{name}" for name in imp.names if name != "*")
        return names

    def absolute(self, path: str, imp: Import) -> str | None:
        """Return the absolute module of an import; None if it leaves the package."""
        if not imp.level:
            return imp.module
        own = self.modules.module_of(path)
        if own is None:
            return None
        parts = own.split(".")
        is_package = path.rpartition("/")[2] in ("__init__.py", "__init__.pyi")
        levels = imp.level - 1 if is_package else imp.level
        if levels > len(parts):
            return None
        base = parts[: len(parts) - levels]
        return ".".join([*base, imp.module] if imp.module else base) or None


@dataclass(frozen=True)
class Chains:
    """The shortest import chains to some files, built backwards from them."""

    ends: frozenset[str]
    steps: Mapping[str, str]
    """The next file of the chain, by file."""

    def chain_from(self, start: str) -> list[str] | None:
        """Return the chain from `start` to an end, including both; None if there is none."""
        if start in self.ends:
            return [start]
        if start not in self.steps:
            return None
        chain = [start]
        while chain[-1] not in self.ends:
            chain.append(self.steps[chain[-1]])
        return chain


def reachable(starts: Iterable[str], follow: Callable[[str], Iterable[str]]) -> dict[str, list[str]]:
    """Return all reachable files with their direct targets."""
    found: dict[str, list[str]] = {}
    queue = deque(starts)
    while queue:
        path = queue.popleft()
        if path not in found:
            found[path] = sorted(set(follow(path)))
            queue.extend(target for target in found[path] if target not in found)
    return found


def chains_to(
    ends: frozenset[str], reached: Mapping[str, list[str]], may_pass: Callable[[str], bool]
) -> Chains:
    """Find the shortest chains to `ends` that only pass files allowed by `may_pass`."""
    importers: dict[str, list[str]] = {}
    for path, targets in reached.items():
        if may_pass(path):
            for target in targets:
                importers.setdefault(target, []).append(path)
    steps: dict[str, str] = {}
    queue = deque(sorted(ends))
    while queue:
        path = queue.popleft()
        for importer in importers.get(path, ()):
            if importer not in steps and importer not in ends:
                steps[importer] = path
                queue.append(importer)
    return Chains(ends, steps)
