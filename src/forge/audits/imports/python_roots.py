"""Where absolute Python imports of a project begin: its source roots, as its layout and its settings show them."""

import configparser
import re
from collections.abc import Iterable
from dataclasses import dataclass

from forge.audits.imports.folders import normal
from forge.audits.imports.loose import Table, items, read_ini, read_text, read_toml, table, texts, within
from forge.audits.snapshot import Snapshot

ASIDE = frozenset(
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
"""Folders whose projects are props: what is importable in them is nobody else's."""

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", "manage.py", "Pipfile")
_IMPLICIT = ("src", "lib", "python")
_SETUP_PY_ROOT = re.compile(r"""(?:package_dir\s*=\s*\{\s*['"]['"]\s*:|where\s*=)\s*['"]([^'"\n]+)['"]""")


@dataclass(frozen=True, slots=True, order=True)
class Root:
    folder: str
    """Where the names begin; empty for the project itself."""
    scope: str
    """Whose files see it: everything below this folder."""
    is_meant: bool
    """The project says so, or it is an `src`: folders below it without `__init__.py` are namespace packages."""

    def is_seen_from(self, folder: str) -> bool:
        return not self.scope or folder == self.scope or folder.startswith(f"{self.scope}/")


def find_roots(snapshot: Snapshot, folders: frozenset[str], packages: frozenset[str]) -> list[Root]:
    """`folders` hold Python somewhere below them, `packages` are those with an `__init__.py`."""
    roots: set[Root] = {Root("", "", is_meant=False)}
    for project in _projects(snapshot):
        scope = project if ASIDE & set(project.split("/")) else ""
        roots.add(Root(project, scope, is_meant=False))
        meant = {normal(f"{project}/{hint}") for hint in _hints(snapshot, project)}
        meant |= {f for name in _IMPLICIT if (f := normal(f"{project}/{name}")) not in packages}
        roots |= {
            Root(folder, scope, is_meant=True) for folder in meant if folder in folders and folder != project
        }
    entry = (snapshot.project.config.backend.entry_module or "").partition(":")[0]
    roots |= {Root(folder, "", is_meant=True) for folder in _roots_of_entry(snapshot, entry)}
    return sorted(roots, key=lambda root: (not root.is_meant, root.folder, root.scope))


def _projects(snapshot: Snapshot) -> set[str]:
    splits = (path.rpartition("/") for path in snapshot.tree.entries)
    return {folder for folder, _, name in splits if name in _MARKERS} | {""}


def _roots_of_entry(snapshot: Snapshot, module: str) -> Iterable[str]:
    """`app.main` of forge.json: wherever `app/main.py` lies is a root."""
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
    """`{"": "src"}` is a root; `{"pkg": "lib/pkg"}` shows one."""
    hints: list[str] = []
    for name, folder in table(value).items():
        for path in texts(folder):
            if not name:
                hints.append(path)
            elif path.rpartition("/")[2] == name:
                hints.append(_parent(path))
    return hints


def _parent(path: str) -> str:
    return normal(path).rpartition("/")[0] or "."


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
