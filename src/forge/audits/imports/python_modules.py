"""Python: the dotted names of the project's files, and which of them an import reaches.

As Python itself does it: a package or a module found first wins, a folder without `__init__.py` counts only if
something is found in it. An import reaches the most specific module it names, as in grimp: `from pkg import sub` is
`pkg.sub` if there is such a file, else `pkg`.
"""

import sys
from dataclasses import dataclass, field
from functools import cached_property

from forge.audits.facts.models import Import
from forge.audits.imports.folders import folders_of, way_up
from forge.audits.imports.python_roots import Root, find_roots
from forge.audits.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class _Place:
    """What a dotted name leads to, as far as it leads anywhere."""

    folder: str | None
    """Of the package or namespace that the whole name is; None when it is a file, or not all of it was found."""
    path: str | None
    """The deepest file on the way."""
    is_whole: bool
    is_regular: bool
    """Its first part is a file or has an `__init__.py`."""


_NOWHERE = _Place(None, None, is_whole=False, is_regular=False)


@dataclass(frozen=True)
class PythonModules:
    files: frozenset[str]
    roots: tuple[Root, ...]
    first_party: frozenset[str] = frozenset()
    _stems: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Paths without `.py` to files; packages to their `__init__.py`."""
    _folders: frozenset[str] = frozenset()
    _memory: dict[tuple[str, str], _Place] = field(default_factory=dict[tuple[str, str], _Place], repr=False)
    _names: dict[str, str | None] = field(default_factory=dict[str, str | None], repr=False)
    _sight: dict[str, tuple[tuple[str, bool], ...]] = field(
        default_factory=dict[str, tuple[tuple[str, bool], ...]], repr=False
    )

    @classmethod
    def of(cls, snapshot: Snapshot) -> "PythonModules":
        return snapshot.once(cls._read)

    @classmethod
    def _read(cls, snapshot: Snapshot) -> "PythonModules":
        tree = snapshot.tree.entries
        files = frozenset(
            path for path, entry in tree.items() if path.endswith(_SUFFIXES) and entry.kind.is_file
        )
        stems: dict[str, str] = {}
        for path in sorted(files, reverse=True):  # .py after .pyi, so that it wins
            stem = path.rpartition(".")[0]
            folder, _, name = stem.rpartition("/")
            if name == "__init__":
                stems[folder] = path
            elif not stems.get(stem, "").endswith("/__init__.py"):
                stems[stem] = path
        folders = frozenset(folders_of(files))
        packages = frozenset(folder for folder, path in stems.items() if path.rpartition("/")[2] in _INITS)
        roots = tuple(find_roots(snapshot, folders, packages))
        return cls(files, roots, frozenset(snapshot.project.config.audit.first_party), stems, folders)

    @cached_property
    def _packages(self) -> frozenset[str]:
        return frozenset(f for f, path in self._stems.items() if f and path.rpartition("/")[2] in _INITS)

    def module_of(self, path: str) -> str | None:
        """The name to import a file by; None for a file that no import could name."""
        if path not in self._names:
            self._names[path] = self._name_of(path)
        return self._names[path]

    def _name_of(self, path: str) -> str | None:
        folder, _, name = path.rpartition("/")
        stem = name.rpartition(".")[0]
        root = self._root_of(folder)
        tail = path[len(root) + 1 if root else 0 :].rpartition(".")[0]
        parts = tail.split("/")
        if stem == "__init__":
            parts = parts[:-1]
        return ".".join(parts) if parts and all(part.isidentifier() for part in parts) else None

    def _root_of(self, folder: str) -> str:
        top = folder
        while top in self._packages:
            top = top.rpartition("/")[0]
        seen = [
            r for r in self.roots if (not r.folder or _is_below(top, r.folder)) and r.is_seen_from(folder)
        ]
        best = max(seen, key=lambda root: len(root.folder))
        if top != folder and not best.is_meant:
            return top
        between = top[len(best.folder) :].strip("/")
        odd = [part for part in between.split("/") if part and not part.isidentifier()]
        return top[: top.rindex(odd[-1]) + len(odd[-1])] if odd else best.folder

    def resolve(self, importer: str, imp: Import) -> tuple[str, ...]:
        place = self._relative(importer, imp) if imp.level else self._absolute(importer, imp)
        if place.folder is None or not imp.is_from or imp.names == ("*",):
            return (place.path,) if place.path else ()
        reached = {self._stems.get(f"{place.folder}/{name}".lstrip("/"), place.path) for name in imp.names}
        return tuple(sorted(path for path in reached if path))

    def is_own(self, importer: str, module: str) -> bool:
        """Whether a file sees the first part of this name as the project's own.

        A folder without `__init__.py` is own only if the name leads to a file in it: `alembic/env.py` does not make
        `import alembic` ours. Where names are taken from such a folder, `resolve` knows more.
        """
        if module.partition(".")[0] in self.first_party:
            return True
        return self._absolute(importer, Import(module, 0)).path is not None

    def _relative(self, importer: str, imp: Import) -> _Place:
        folder = importer.rpartition("/")[0]
        for _ in range(imp.level - 1):
            if not folder:
                return _NOWHERE
            folder = folder.rpartition("/")[0]
        place = self._locate(folder, imp.module) if imp.module else _NOWHERE
        return (
            place if imp.module else _Place(folder, self._stems.get(folder), is_whole=True, is_regular=True)
        )

    def _absolute(self, importer: str, imp: Import) -> _Place:
        folder = importer.rpartition("/")[0]
        names = imp.names if imp.is_from else ()
        key = (folder, imp.module)
        place = self._memory.get(key)
        if place is None:
            place = self._memory[key] = self._search(folder, imp.module, ())
        if place is _NOWHERE and names:
            return self._search(folder, imp.module, names)
        return place

    def _search(self, folder: str, module: str, names: tuple[str, ...]) -> _Place:
        """In the first root that has it. A namespace folder counts if the name, or one of `names`, is a file in it."""
        is_stdlib = module.partition(".")[0] in sys.stdlib_module_names
        for root, is_declared in self._roots_seen_from(folder):
            place = self._locate(root, module)
            if place.is_regular and (is_declared or not is_stdlib):
                return place
            if place.path and not is_stdlib:
                return place
            if place.folder is not None and any(f"{place.folder}/{name}" in self._stems for name in names):
                return place
        return _NOWHERE

    def _roots_seen_from(self, folder: str) -> tuple[tuple[str, bool], ...]:
        """Folders of its own way up that are no packages, the nearest first; then the roots of the project."""
        seen = self._sight.get(folder)
        if seen is None:
            declared = {root.folder for root in self.roots if root.is_seen_from(folder)}
            own = [f for f in way_up(folder) if f not in self._packages]
            order = dict.fromkeys([*own, *(root.folder for root in self.roots if root.folder in declared)])
            seen = self._sight[folder] = tuple((f, f in declared) for f in order)
        return seen

    def _locate(self, root: str, module: str) -> _Place:
        place, deepest, is_regular = root, None, False
        parts = module.split(".")
        for depth, part in enumerate(parts):
            place = f"{place}/{part}" if place else part
            path = self._stems.get(place)
            if path is None and place not in self._folders:
                return _Place(None, deepest, is_whole=False, is_regular=is_regular) if deepest else _NOWHERE
            is_regular = is_regular or (depth == 0 and path is not None)
            if path is not None:
                deepest = path
                if path.rpartition("/")[2] not in _INITS:
                    return _Place(None, path, is_whole=depth == len(parts) - 1, is_regular=is_regular)
        return _Place(place, self._stems.get(place), is_whole=True, is_regular=is_regular)


_SUFFIXES = (".py", ".pyi")
_INITS = ("__init__.py", "__init__.pyi")


def _is_below(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(f"{root}/")
