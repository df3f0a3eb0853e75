"""Find source roots, name Python files by module, and resolve Python imports to files.

Like Python, the first package or module found wins, and a folder without `__init__.py` only counts if something is found
in it. Like grimp, an import resolves to the most specific module: `from pkg import sub` is `pkg.sub` if that file exists.
"""

import configparser
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from forge.audits.facts.models import Import
from forge.audits.files.folders import folder_and_parents, folders_of, normalize_path
from forge.audits.files.lenient_readers import (
    Table,
    items,
    read_ini,
    read_text,
    read_toml,
    table,
    texts,
    within,
)
from forge.audits.snapshot import Snapshot

SCOPED_FOLDERS = frozenset(
    [
        "tests",
        "test",
        "testing",
        "testdata",
        "fixtures",
        "examples",
        "example",
        "samples",
        "docs",
        "doc",
        "vendor",
        "vendored",
        "third_party",
        "node_modules",
        "templates",
        "template",
    ]
)
"""Folders of tests, examples and vendored code, whose source roots only apply inside them."""

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "manage.py", "Pipfile")
_IMPLICIT = ("src", "lib", "python")
_SETUP_PY_ROOT = re.compile(r"""(?:package_dir\s*=\s*\{\s*['"]['"]\s*:|where\s*=)\s*['"]([^'"\n]+)['"]""")


@dataclass(frozen=True, slots=True, order=True)
class Root:
    folder: str
    """The folder where module names start; empty for the project root."""
    scope: str
    """The folder whose files use this root."""
    is_explicit: bool
    """Configured or an `src` folder; folders without `__init__.py` in it are namespace packages."""

    def applies_to(self, folder: str) -> bool:
        return not self.scope or folder == self.scope or folder.startswith(f"{self.scope}/")


def find_roots(snapshot: Snapshot, folders: frozenset[str], packages: frozenset[str]) -> list[Root]:
    """Find the source roots. `folders` contain Python files, `packages` have an `__init__.py`."""
    roots: set[Root] = {Root("", "", is_explicit=False)}
    for project in _projects(snapshot):
        scope = project if SCOPED_FOLDERS & set(project.split("/")) else ""
        roots.add(Root(project, scope, is_explicit=False))
        explicit = {normalize_path(f"{project}/{hint}") for hint in _hints(snapshot, project)}
        explicit |= {f for name in _IMPLICIT if (f := normalize_path(f"{project}/{name}")) not in packages}
        roots |= {
            Root(folder, scope, is_explicit=True)
            for folder in explicit
            if folder in folders and folder != project
        }
    entry = (snapshot.project.config.backend.entry_module or "").partition(":")[0]
    roots |= {Root(folder, "", is_explicit=True) for folder in _roots_of_entry(snapshot, entry)}
    return sorted(roots, key=lambda root: (not root.is_explicit, root.folder, root.scope))


def _projects(snapshot: Snapshot) -> set[str]:
    splits = (path.rpartition("/") for path in snapshot.tree.entries)
    return {folder for folder, _, name in splits if name in _MARKERS} | {""}


def _roots_of_entry(snapshot: Snapshot, module: str) -> Iterable[str]:
    """Yield roots from the entry module: `app.main` shows that the folder of `app/main.py` is one."""
    if "." not in module:
        return
    tails = [module.replace(".", "/") + end for end in (".py", "/__init__.py", "/__main__.py")]
    for path in snapshot.tree.entries:
        for tail in tails:
            if path.endswith(f"/{tail}"):
                yield path[: -len(tail) - 1]


def _hints(snapshot: Snapshot, project: str) -> list[str]:
    def text(name: str) -> str | None:
        return read_text(snapshot, f"{project}/{name}" if project else name)

    hints = _pyproject_hints(read_toml(text("pyproject.toml")))
    for name in ("setup.cfg", "pytest.ini", "tox.ini"):
        hints += _ini_hints(text(name))
    return hints + _SETUP_PY_ROOT.findall(text("setup.py") or "")


def _pyproject_hints(pyproject: Table) -> list[str]:
    tool = table(pyproject.get("tool"))
    setuptools, hatch = table(tool.get("setuptools")), within(tool, "hatch", "build")
    wheel = within(hatch, "targets", "wheel")
    hints = [
        *_package_dirs(setuptools.get("package-dir")),
        *texts(within(setuptools, "packages", "find", "where")),
    ]
    for build in (hatch, wheel):
        hints += [_parent(package) for package in texts(within(build, "packages"))]
        sources = within(build, "sources")
        hints += texts(sources) + list(table(sources))
    poetry = items(within(tool, "poetry", "packages"))
    hints += [folder for item in poetry for folder in texts(table(item).get("from"))]
    hints += texts(within(tool, "pdm", "build", "package-dir")) + texts(
        within(tool, "maturin", "python-source")
    )
    hints += texts(within(tool, "uv", "build-backend", "module-root"))
    hints += [_parent(package) for package in texts(within(tool, "scikit-build", "wheel", "packages"))]
    for path in texts(within(tool, "pytest", "ini_options", "pythonpath")):
        hints += path.split()
    hints += texts(within(tool, "pyright", "extraPaths")) + texts(within(tool, "ruff", "src"))
    for path in texts(within(tool, "mypy", "mypy_path")):
        hints += re.split(r"[:,\s]+", path)
    return [hint for hint in hints if hint]


def _package_dirs(value: object) -> list[str]:
    """Return roots of setuptools' package-dir, such as `{"": "src"}` or `{"pkg": "lib/pkg"}`."""
    hints: list[str] = []
    for name, folder in table(value).items():
        for path in texts(folder):
            if not name:
                hints.append(path)
            elif path.rpartition("/")[2] == name:
                hints.append(_parent(path))
    return hints


def _parent(path: str) -> str:
    return normalize_path(path).rpartition("/")[0] or "."


def _ini_hints(text: str | None) -> list[str]:
    try:
        parser = read_ini(text or "")
    except configparser.Error:
        return []
    hints: list[str] = []
    for section in ("pytest", "tool:pytest"):
        hints += parser.get(section, "pythonpath", fallback="").split()
    hints += parser.get("options.packages.find", "where", fallback="").split()
    for line in parser.get("options", "package_dir", fallback="").splitlines():
        name, equals, folder = line.partition("=")
        if equals and not name.strip():
            hints.append(folder.strip())
    return hints


@dataclass(frozen=True, slots=True)
class _Resolution:
    """The result of resolving a dotted name."""

    folder: str | None
    """The folder of the package or namespace; None if it is a file or was not found completely."""
    path: str | None
    """The deepest file that was found."""
    is_complete: bool
    is_regular: bool
    """Whether the first part is a file or has an `__init__.py`."""


_NOT_FOUND = _Resolution(None, None, is_complete=False, is_regular=False)


@dataclass(frozen=True)
class PythonModules:
    files: frozenset[str]
    roots: tuple[Root, ...]
    first_party: frozenset[str] = frozenset()
    _stems: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Files by path without suffix; packages map to their `__init__.py`."""
    _folders: frozenset[str] = frozenset()
    _cache: dict[tuple[str, str], _Resolution] = field(
        default_factory=dict[tuple[str, str], _Resolution], repr=False
    )
    _names: dict[str, str | None] = field(default_factory=dict[str, str | None], repr=False)
    _visible_roots: dict[str, tuple[tuple[str, bool], ...]] = field(
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
        for path in sorted(files, reverse=True):  # .py comes after .pyi and wins
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
        """Return the module name of a file; None if it cannot be imported."""
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
        visible = [
            r for r in self.roots if (not r.folder or _is_below(top, r.folder)) and r.applies_to(folder)
        ]
        best = max(visible, key=lambda root: len(root.folder))
        if top != folder and not best.is_explicit:
            return top
        between = top[len(best.folder) :].strip("/")
        invalid = [part for part in between.split("/") if part and not part.isidentifier()]
        return top[: top.rindex(invalid[-1]) + len(invalid[-1])] if invalid else best.folder

    def resolve(self, importer: str, imp: Import) -> tuple[str, ...]:
        resolution = self._relative(importer, imp) if imp.level else self._absolute(importer, imp)
        if resolution.folder is None or not imp.is_from or imp.names == ("*",):
            return (resolution.path,) if resolution.path else ()
        paths = {
            self._stems.get(f"{resolution.folder}/{name}".lstrip("/"), resolution.path) for name in imp.names
        }
        return tuple(sorted(path for path in paths if path))

    def is_own(self, importer: str, module: str) -> bool:
        """Return whether a module belongs to the project, seen from a file.

        A folder without `__init__.py` only counts if the name resolves to a file in it: `alembic/env.py` does not make
        `import alembic` a project import.
        """
        if module.partition(".")[0] in self.first_party:
            return True
        return self._absolute(importer, Import(module, 0)).path is not None

    def _relative(self, importer: str, imp: Import) -> _Resolution:
        folder = importer.rpartition("/")[0]
        for _ in range(imp.level - 1):
            if not folder:
                return _NOT_FOUND
            folder = folder.rpartition("/")[0]
        resolution = self._locate(folder, imp.module) if imp.module else _NOT_FOUND
        return (
            resolution
            if imp.module
            else _Resolution(folder, self._stems.get(folder), is_complete=True, is_regular=True)
        )

    def _absolute(self, importer: str, imp: Import) -> _Resolution:
        folder = importer.rpartition("/")[0]
        names = imp.names if imp.is_from else ()
        key = (folder, imp.module)
        resolution = self._cache.get(key)
        if resolution is None:
            resolution = self._cache[key] = self._search(folder, imp.module, ())
        if resolution is _NOT_FOUND and names:
            return self._search(folder, imp.module, names)
        return resolution

    def _search(self, folder: str, module: str, names: tuple[str, ...]) -> _Resolution:
        """Search the roots in order. A namespace folder counts if the module or one of `names` is a file in it."""
        is_stdlib = module.partition(".")[0] in sys.stdlib_module_names
        for root, is_declared in self._find_visible_roots(folder):
            resolution = self._locate(root, module)
            if resolution.is_regular and (is_declared or not is_stdlib):
                return resolution
            if resolution.path and not is_stdlib:
                return resolution
            if resolution.folder is not None and any(
                f"{resolution.folder}/{name}" in self._stems for name in names
            ):
                return resolution
        return _NOT_FOUND

    def _find_visible_roots(self, folder: str) -> tuple[tuple[str, bool], ...]:
        """Return parent folders that are not packages, nearest first, then the source roots."""
        visible = self._visible_roots.get(folder)
        if visible is None:
            declared = {root.folder for root in self.roots if root.applies_to(folder)}
            own = [f for f in folder_and_parents(folder) if f not in self._packages]
            order = dict.fromkeys([*own, *(root.folder for root in self.roots if root.folder in declared)])
            visible = self._visible_roots[folder] = tuple((f, f in declared) for f in order)
        return visible

    def _locate(self, root: str, module: str) -> _Resolution:
        folder, deepest, is_regular = root, None, False
        parts = module.split(".")
        for depth, part in enumerate(parts):
            folder = f"{folder}/{part}" if folder else part
            path = self._stems.get(folder)
            if path is None and folder not in self._folders:
                return (
                    _Resolution(None, deepest, is_complete=False, is_regular=is_regular)
                    if deepest
                    else _NOT_FOUND
                )
            is_regular = is_regular or (depth == 0 and path is not None)
            if path is not None:
                deepest = path
                if path.rpartition("/")[2] not in _INITS:
                    return _Resolution(None, path, is_complete=depth == len(parts) - 1, is_regular=is_regular)
        return _Resolution(folder, self._stems.get(folder), is_complete=True, is_regular=is_regular)


_SUFFIXES = (".py", ".pyi")
_INITS = ("__init__.py", "__init__.pyi")


def _is_below(folder: str, root: str) -> bool:
    return folder == root or folder.startswith(f"{root}/")
