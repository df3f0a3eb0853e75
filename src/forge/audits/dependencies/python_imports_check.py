"""Find Python imports of undeclared packages."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from forge.audits.dependencies.dependency_issues import DependencyIssue, IssueKind, worst_per_package
from forge.audits.dependencies.manifests.discovery import Manifests, View
from forge.audits.dependencies.manifests.models import Group
from forge.audits.dependencies.manifests.requirement_name import normal
from forge.audits.dependencies.python_packages import Package, declared_name, modules_of, package_of
from forge.audits.facts.models import FileFacts, Import
from forge.audits.facts.python.stdlib import STDLIB
from forge.audits.files.file_roles import Role, role_of, vendored_name
from forge.audits.files.lenient_readers import read_text
from forge.audits.imports.python_modules import PythonModules
from forge.audits.snapshot import Snapshot

_RUNNERS = {
    "setup.py": frozenset({"setuptools", "pkg_resources", "wheel", "pip"}),
    "noxfile.py": frozenset({"nox"}),
    "tasks.py": frozenset({"invoke"}),
    "fabfile.py": frozenset({"fabric", "invoke"}),
    "dodo.py": frozenset({"doit"}),
    "toxfile.py": frozenset({"tox"}),
    "conanfile.py": frozenset({"conan", "conans"}),
    "locustfile.py": frozenset({"locust"}),
}
"""Files that are run by the package they import, which is therefore installed."""

_CHECKER_MODULES = frozenset({"typing_extensions", "mypy_extensions", "_typeshed"})
"""Modules that type checkers provide."""
_FILE_ENDINGS = (".py", ".pyi", "/__init__.py")
_EXPECTED_MISSING = re.compile(r"(?i)no[nt]?_?exist|doesn?_?o?t_?exist|no_?such|missing|bogus|invalid")
"""Names of modules that tests expect to be missing."""
_COMPANIONS = frozenset(
    {"stubs", "types", "typing", "mock", "mocks", "plugin", "plugins", "test", "testing", "tests"}
)
"""Suffixes of companion packages, which do not provide the main package."""


@dataclass(frozen=True, slots=True)
class _Declaration:
    """The declaration of an imported module, if any."""

    package: Package
    module: str
    declared: str | None
    group: Group | None


@dataclass(frozen=True, slots=True)
class _ImportSettings:
    """Import settings from manifests and forge.json."""

    packages: Mapping[str, str]
    """By import name."""
    first_party: frozenset[str]
    ignored: frozenset[str]
    ignored_dev: frozenset[str]
    own_names: frozenset[str]

    def is_own(self, module: str) -> bool:
        top = module.partition(".")[0]
        if not top.isidentifier() or top in self.first_party or normal(top) in self.own_names:
            return True
        return any(
            module == name or module.startswith(f"{name}.") for name in self.first_party if "." in name
        )


class PythonImportsCheck:
    def __init__(self, snapshot: Snapshot, manifests: Manifests, modules: PythonModules) -> None:
        self._snapshot = snapshot
        self._manifests = manifests
        self._modules = modules
        self._test_framework = snapshot.project.config.backend.test_framework
        self._settings: dict[int, _ImportSettings] = {}
        """By view."""
        self._own: dict[str, set[str]] = {}
        """By folder, modules that need no package, including the standard library."""
        self._declarations: dict[tuple[int, str], _Declaration] = {}
        self._used: set[str] = set()
        """Declared distributions that some import uses."""

    def of(self, path: str, facts: FileFacts) -> list[DependencyIssue]:
        role = role_of(path)
        if role is Role.FOREIGN:
            return []
        folder = path.rpartition("/")[0]
        view = self._manifests.view(folder, python=True)
        own = self._own.setdefault(folder, set())
        issues: list[DependencyIssue] = []
        optional: set[str] = set()
        for imp in facts.imports:
            module = imp.module
            if imp.level or module in own:
                continue
            top = module.partition(".")[0]
            if top in STDLIB or self._is_own(path, module, view):
                own.add(module)
            elif imp.is_optional:
                optional.add(top)
                self._declaration(view, module)
            else:
                issues.extend(self._issues(path, imp, role, view))
        return (
            worst_per_package(issue for issue in issues if issue.label.partition(".")[0] not in optional)
            if issues
            else []
        )

    def mark_uncertain(self, issues: Iterable[DependencyIssue]) -> list[DependencyIssue]:
        """Mark uncertain issues. Call after all files: `delta` may come from `delta-spark` if nothing else does."""
        return [
            replace(issue, kind=IssueKind.UNSURE, declared=name)
            if (name := self._likely_source(issue))
            else issue
            for issue in issues
        ]

    def _likely_source(self, issue: DependencyIssue) -> str | None:
        """Return an unused declared package whose name begins with that of an unknown module."""
        if issue.kind is not IssueKind.UNDECLARED or issue.declared or issue.is_known or "." in issue.label:
            return None
        start = f"{normal(issue.label)}-"
        names = (name for name in issue.view.declared if name.startswith(start) and name not in self._used)
        likely = [name for name in names if name.rpartition("-")[2] not in _COMPANIONS]
        return min(likely, key=lambda name: (len(name), name), default=None)

    def _is_own(self, path: str, module: str, view: View) -> bool:
        if self._settings_of(view).is_own(module) or module.partition(".")[0] in self._vendored:
            return True
        return self._modules.is_own(path, module)

    def _settings_of(self, view: View) -> _ImportSettings:
        cached = self._settings.get(id(view))
        if cached is None:
            settings = self._snapshot.project.config.audit
            sources = (*view.sources, *view.settings_sources)
            deptry_settings = [source.manifest.deptry for source in sources]
            cached = self._settings[id(view)] = _ImportSettings(
                {m: name for settings in deptry_settings for m, name in settings.modules}
                | settings.import_names,
                frozenset(
                    [
                        *settings.first_party,
                        *(name for settings in deptry_settings for name in settings.first_party),
                    ]
                ),
                frozenset(name for settings in deptry_settings for name in settings.ignored),
                frozenset(name for settings in deptry_settings for name in settings.ignored_dev),
                frozenset(name for source in sources for name in source.manifest.names),
            )
        return cached

    def _issues(self, path: str, imp: Import, role: Role, view: View) -> Iterator[DependencyIssue]:
        for module in modules_of(imp):
            declaration = self._declaration(view, module)
            kind = self._issue_kind(path, imp, role, view, declaration)
            if kind is None or (imp.is_from and self._modules.resolve(path, imp)):
                continue
            if not declaration.package.is_known and self._is_local(path, imp, role):
                continue
            yield DependencyIssue(
                path=path,
                line=imp.line,
                label=declaration.package.label,
                package=declaration.package.distributions[0],
                kind=kind,
                view=view,
                is_python=True,
                is_known=declaration.package.is_known,
                declared=declaration.declared,
            )

    def _is_local(self, path: str, imp: Import, role: Role) -> bool:
        """Return whether the module is a local script, or created by a test or tool."""
        top = imp.module.partition(".")[0]
        local_path = f"{path.rpartition('/')[0]}/{top}".lstrip("/")
        if any(f"{local_path}{end}" in self._modules.files for end in _FILE_ENDINGS):
            return True
        if role is not Role.RUNTIME and top in self._stems:
            return True
        if role is not Role.TEST:
            return False
        return (
            imp.is_dynamic or _EXPECTED_MISSING.search(top) is not None or self._is_created_by_test(path, top)
        )

    def _is_created_by_test(self, path: str, top: str) -> bool:
        """Return whether a test creates the module, as in `(folder / "site_app.py").write_text(…)`."""
        written = re.compile(
            rf"""["'/]{re.escape(top)}(?:\.py\b|["'/])|sys\.modules\[["']{re.escape(top)}["']\]"""
        )
        return written.search(read_text(self._snapshot, path) or "") is not None

    @cached_property
    def _vendored(self) -> frozenset[str]:
        return frozenset(name for path in self._modules.files if (name := vendored_name(path)))

    @cached_property
    def _stems(self) -> frozenset[str]:
        """The names of all Python files and their folders."""
        parts = (path.rpartition(".")[0].split("/") for path in self._modules.files)
        return frozenset(part for names in parts for part in names)

    def _declaration(self, view: View, module: str) -> _Declaration:
        key = (id(view), module)
        cached = self._declarations.get(key)
        if cached is None:
            package = package_of(module, self._settings_of(view).packages)
            name = declared_name(view, package, module)
            group = view.declared[name][0].group if name is not None else None
            if name is not None:
                self._used.add(name)
            cached = self._declarations[key] = _Declaration(package, module, name, group)
        return cached

    def _issue_kind(
        self, path: str, imp: Import, role: Role, view: View, declaration: _Declaration
    ) -> IssueKind | None:
        """Return the kind of issue, or None."""
        group, label = declaration.group, declaration.package.label
        if group is Group.RUNTIME or group is Group.OPTIONAL or (group and role is not Role.RUNTIME):
            return None
        if group is Group.DEV:
            is_allowed = imp.is_type_only or _is_in(label, self._settings_of(view).ignored_dev)
            return None if is_allowed else IssueKind.DEV_ONLY
        if _is_in(label, self._settings_of(view).ignored) or label in _RUNNERS.get(
            path.rpartition("/")[2], ()
        ):
            return None
        if imp.is_type_only or path.endswith(".pyi"):
            if label in _CHECKER_MODULES:
                return None
            stubs = declared_name(view, declaration.package, declaration.module, type_only=True)
            return None if stubs else IssueKind.TYPES_ONLY
        if label in ("pytest", "_pytest") and role is not Role.RUNTIME and self._has_pytest(view):
            return None
        return IssueKind.UNDECLARED

    def _has_pytest(self, view: View) -> bool:
        """Return whether pytest is available; its plugins depend on it."""
        return self._test_framework == "pytest" or any(name.startswith("pytest-") for name in view.declared)


def is_declared_in(issue: DependencyIssue, view: View) -> bool:
    """Return whether another view declares the package."""
    package = Package(issue.label, (issue.package,), is_known=issue.is_known)
    return declared_name(view, package, issue.label, type_only=issue.kind is IssueKind.TYPES_ONLY) is not None


def _is_in(label: str, names: frozenset[str]) -> bool:
    return "*" in names or label in names or label.partition(".")[0] in names
