"""Find the manifests of a project, and which of them apply to a source file: those of its folder and parents."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from forge.audits.dependencies.manifests.conda import read_conda
from forge.audits.dependencies.manifests.inline_script import read_inline
from forge.audits.dependencies.manifests.models import (
    DEV_WORDS,
    Declared,
    Group,
    Include,
    Manifest,
    broken,
    is_dev_name,
)
from forge.audits.dependencies.manifests.package_json import read_deno_json, read_package_json
from forge.audits.dependencies.manifests.pipfile import read_pipfile
from forge.audits.dependencies.manifests.pyproject import read_pyproject
from forge.audits.dependencies.manifests.requirements import read_requirements
from forge.audits.dependencies.manifests.setup_cfg import read_setup_cfg
from forge.audits.dependencies.manifests.setup_py import read_setup_py
from forge.audits.dependencies.manifests.tox_ini import read_tox_ini
from forge.audits.facts.analyzer import version
from forge.audits.files.file_roles import Role, role_of_folder
from forge.audits.files.folders import normalize_path as normal_path
from forge.audits.snapshot import MAX_BYTES, Entry, Snapshot


class Format(StrEnum):
    """Manifest formats, in order of preference for adding a package."""

    PYPROJECT = "pyproject"
    REQUIREMENTS = "requirements"
    SETUP_CFG = "setup-cfg"
    SETUP_PY = "setup-py"
    PIPFILE = "pipfile"
    CONDA = "conda"
    TOX = "tox"
    PACKAGE_JSON = "package-json"
    DENO = "deno"
    INLINE = "inline-script"

    @property
    def is_python(self) -> bool:
        return self not in (Format.PACKAGE_JSON, Format.DENO)


_READERS: dict[Format, Callable[[bytes], Manifest]] = {
    Format.PYPROJECT: read_pyproject,
    Format.REQUIREMENTS: read_requirements,
    Format.SETUP_CFG: read_setup_cfg,
    Format.SETUP_PY: read_setup_py,
    Format.PIPFILE: read_pipfile,
    Format.CONDA: read_conda,
    Format.TOX: read_tox_ini,
    Format.PACKAGE_JSON: read_package_json,
    Format.DENO: read_deno_json,
    Format.INLINE: read_inline,
}
_NAMES = {
    "pyproject.toml": Format.PYPROJECT,
    "setup.cfg": Format.SETUP_CFG,
    "setup.py": Format.SETUP_PY,
    "Pipfile": Format.PIPFILE,
    "environment.yml": Format.CONDA,
    "environment.yaml": Format.CONDA,
    "tox.ini": Format.TOX,
    "package.json": Format.PACKAGE_JSON,
    "deno.json": Format.DENO,
    "deno.jsonc": Format.DENO,
}
_ENDINGS = (".txt", ".in", *_NAMES)
_REQUIREMENTS = re.compile(r"(?:^|[._-])(?:requirements?|reqs|deps)(?:[._-]|$)", re.IGNORECASE)
_FOLDER = re.compile(r"(?:requirements?|reqs|deps)(?:[._-][\w.-]*)?$", re.IGNORECASE)
_CONSTRAINTS = re.compile(r"constraints?|overrides?", re.IGNORECASE)
_INSTALLED = frozenset({"node_modules", "site-packages", ".venv", "venv", ".tox", ".nox", "bower_components"})
_RANK = {Group.RUNTIME: 0, Group.OPTIONAL: 1, Group.DEV: 2, Group.BUILD: 3}
MAX_INCLUDES = 200


def format_of(path: str) -> Format | None:
    folder, _, name = path.rpartition("/")
    if (cached := _NAMES.get(name)) is not None:
        return cached
    if not name.endswith((".txt", ".in")) or _CONSTRAINTS.search(name):
        return None
    stem = name.rpartition(".")[0]
    is_requirements = _REQUIREMENTS.search(stem) or _above_requirements(folder) is not None
    return Format.REQUIREMENTS if is_requirements else None


@dataclass(frozen=True)
class ManifestAnalyzer:
    format: Format

    @property
    def key(self) -> str:
        return f"manifest-{self.format}:3:{version()}"

    @property
    def result(self) -> type[Manifest]:
        return Manifest

    def __call__(self, suffix: str, data: bytes) -> Manifest:
        return _READERS[self.format](data)

    def unreadable(self) -> Manifest:
        return broken("it takes too long to read")


@dataclass(frozen=True)
class Source:
    """A manifest and its location."""

    path: str
    format: Format
    manifest: Manifest
    scope: str
    """The folder it applies to, with its subfolders."""

    @property
    def is_read(self) -> bool:
        return not any(problem.is_fatal for problem in self.manifest.problems)

    @property
    def is_shared(self) -> bool:
        """False if it is for tests or vendored code and only applies to its folder."""
        return role_of_folder(self.scope) not in (Role.TEST, Role.FOREIGN)


@dataclass(frozen=True)
class View:
    """The packages a source file may import, from the manifests that apply to it."""

    sources: tuple[Source, ...]
    """Nearest first."""
    declared: Mapping[str, tuple[Declared, Source]]
    """By name; of several declarations, the one with the widest group."""
    settings_sources: tuple[Source, ...] = ()
    """Applicable manifests without dependencies; their other settings still apply."""

    @cached_property
    def compact_names(self) -> Mapping[str, str]:
        """Names by name without separators, such as `googlecloudstorage`."""
        return {name.replace("-", ""): name for name in self.declared}


@dataclass(frozen=True)
class Manifests:
    sources: tuple[Source, ...]
    _views: dict[tuple[str, bool], View] = field(default_factory=dict[tuple[str, bool], View], repr=False)

    @classmethod
    def of(cls, snapshot: Snapshot, also: str | None = None) -> "Manifests":
        """Read all manifests. `also` is the configured manifest, which applies to all files."""
        found = dict(_find(snapshot))
        if also is not None and also in snapshot.tree.entries and also not in found:
            found[also] = Format.REQUIREMENTS
        manifests = _read(snapshot, found)
        _include(snapshot, found, manifests)
        groups, scopes = _included_groups(found, manifests), _included_scopes(found, manifests)
        sources = [
            Source(p, f, _with_group(manifests[p], groups.get(p)), "" if p == also else scopes[p])
            for p, f in found.items()
            if p in manifests
        ]
        order = list(Format)
        return cls(
            tuple(sorted(sources, key=lambda s: (-len(s.scope), order.index(s.format), len(s.path), s.path)))
        )

    @cached_property
    def _by_language(self) -> dict[bool, list[Source]]:
        """Sources by language: Python or scripts."""
        return {python: [s for s in self.sources if s.format.is_python is python] for python in (True, False)}

    def view(self, folder: str, *, python: bool) -> View:
        key = (folder, python)
        cached = self._views.get(key)
        if cached is None:
            cached = self._views[key] = self._build_view(folder, python=python)
        return cached

    def _build_view(self, folder: str, *, python: bool) -> View:
        """Build the view of a folder. Without an applicable manifest, all shared ones apply."""
        sources = self._by_language[python]
        if folder and all(source.scope != folder for source in sources):
            return self.view(folder.rpartition("/")[0], python=python)
        visited = [s for s in sources if not s.scope or s.scope == folder or folder.startswith(f"{s.scope}/")]
        settings_sources = tuple(s for s in visited if not s.manifest.is_declaring)
        declaring = [s for s in visited if s.manifest.is_declaring]
        return view_of(
            declaring or [s for s in sources if s.manifest.is_declaring and s.is_shared],
            settings_sources=settings_sources,
        )


def _find(snapshot: Snapshot) -> Iterator[tuple[str, Format]]:
    for path, entry in snapshot.tree.entries.items():
        if not path.endswith(_ENDINGS) or not entry.kind.is_file or snapshot.project.ignores(path):
            continue
        if (found := format_of(path)) is not None and not _is_installed(path):
            yield path, found


def view_of(sources: Sequence[Source], *, settings_sources: tuple[Source, ...] = ()) -> View:
    declared: dict[str, tuple[Declared, Source]] = {}
    for source in sources:
        for one in source.manifest.declared:
            cached = declared.get(one.name)
            if cached is None or _RANK[one.group] < _RANK[cached[0].group]:
                declared[one.name] = (one, source)
    return View(tuple(sources), declared, settings_sources)


def _is_installed(path: str) -> bool:
    return not _INSTALLED.isdisjoint(path.split("/")[:-1])


def _scope(path: str) -> str:
    """Return the folder a manifest applies to: the parent of a `requirements` folder, else its own."""
    folder = path.rpartition("/")[0]
    parent = _above_requirements(folder) if format_of(path) is Format.REQUIREMENTS else None
    return folder if parent is None else parent


def _above_requirements(folder: str) -> str | None:
    """Return the parent of the `requirements` folder that contains a folder, or None."""
    parts = folder.split("/")
    start = next((depth for depth, part in enumerate(parts) if _FOLDER.fullmatch(part)), None)
    return None if start is None else "/".join(parts[:start])


def _read(snapshot: Snapshot, formats: Mapping[str, Format]) -> dict[str, Manifest]:
    manifests: dict[str, Manifest] = {}
    for manifest_format in Format:
        entries: list[Entry] = [
            snapshot.tree.entries[path] for path, f in formats.items() if f is manifest_format
        ]
        if entries:
            manifests.update(snapshot.analyze(ManifestAnalyzer(manifest_format), entries))
            manifests.update({e.path: broken("it is too large") for e in entries if e.size > MAX_BYTES})
    return manifests


def _include(snapshot: Snapshot, formats: dict[str, Format], manifests: dict[str, Manifest]) -> None:
    """Read included files that were not found by name, inside the project. Cycles end, as known files are skipped."""
    for _ in range(MAX_INCLUDES):
        included = {
            target: Format.REQUIREMENTS
            for path in manifests
            for _, target in _targets(path, manifests[path])
            if target not in formats and _is_file(snapshot, target)
        }
        if not included:
            return
        formats.update(included)
        manifests.update(_read(snapshot, included))


def _is_file(snapshot: Snapshot, path: str) -> bool:
    entry = snapshot.tree.entries.get(path)
    return entry is not None and entry.kind.is_file


def _targets(path: str, manifest: Manifest) -> Iterator[tuple[Include, str]]:
    folder = path.rpartition("/")[0]
    for include in manifest.includes:
        if "://" not in include.path and not include.path.startswith("/"):
            yield include, normal_path(f"{folder}/{include.path}".replace("\\", "/"))


def _included_groups(formats: Mapping[str, Format], manifests: Mapping[str, Manifest]) -> dict[str, Group]:
    """Return the groups of requirements files, from the files that include them or their names."""
    groups = {path: _named_group(path) for path, f in formats.items() if f is Format.REQUIREMENTS}
    included: dict[str, list[tuple[str, Group | None]]] = {}
    for path, manifest in manifests.items():
        for include, target in _targets(path, manifest):
            included.setdefault(path, []).append((target, include.group))
    queue = [path for path in included if groups.get(path) is not Group.DEV]
    visited: set[str] = set()
    while queue:
        path = queue.pop()
        for target, include_group in included.get(path, ()):
            group = include_group or groups.get(path, Group.RUNTIME)
            if target in groups and (_RANK[group] < _RANK[groups[target]] or target not in visited):
                groups[target] = group
                visited.add(target)
                queue.append(target)
    return groups


def _included_scopes(formats: Mapping[str, Format], manifests: Mapping[str, Manifest]) -> dict[str, str]:
    """Return scopes; an included file applies wherever the including file does."""
    scopes = {path: _scope(path) for path in formats}
    queue = [path for path, manifest in manifests.items() if manifest.includes]
    while queue:
        path = queue.pop()
        for _, target in _targets(path, manifests[path]):
            if target in scopes and target in manifests and len(scopes[path]) < len(scopes[target]):
                scopes[target] = scopes[path]
                queue.append(target)
    return scopes


def _named_group(path: str) -> Group:
    folder, _, name = path.rpartition("/")
    is_dev = is_dev_name(name.rpartition(".")[0]) or not DEV_WORDS.isdisjoint(folder.split("/"))
    return Group.DEV if is_dev else Group.RUNTIME


def _with_group(manifest: Manifest, group: Group | None) -> Manifest:
    if group is None or group is Group.RUNTIME:
        return manifest
    changed: Iterable[Declared] = (Declared(d.name, group, d.section, d.line) for d in manifest.declared)
    return Manifest(
        tuple(changed),
        manifest.includes,
        manifest.problems,
        manifest.names,
        manifest.is_declaring,
        manifest.deptry,
    )
