"""What Python files import without anybody having declared it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from forge.audits.dependencies.manifests.discovery import Manifests, View
from forge.audits.dependencies.manifests.models import Group
from forge.audits.dependencies.manifests.requirement import normal
from forge.audits.dependencies.needs import Need, Standing, worst_of
from forge.audits.dependencies.packages import Package, declared_name, modules_of, package_of
from forge.audits.dependencies.roles import Role, role_of, vendored_name
from forge.audits.facts.models import FileFacts, Import
from forge.audits.facts.stdlib import STDLIB
from forge.audits.imports.loose import read_text
from forge.audits.imports.modules import PythonModules
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
"""Files that are run by what they import: it is there, or they are not run."""

_OF_CHECKERS = frozenset({"typing_extensions", "mypy_extensions", "_typeshed"})
"""Every type checker knows these without their being installed."""
_ENDS = (".py", ".pyi", "/__init__.py")
_MEANT = re.compile(r"(?i)no[nt]?_?exist|doesn?_?o?t_?exist|no_?such|missing|bogus|invalid")
"""Names of modules that are not there on purpose."""
_COMPANIONS = frozenset(
    {"stubs", "types", "typing", "mock", "mocks", "plugin", "plugins", "test", "testing", "tests"}
)
"""How packages end that belong to another one and do not bring it."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What the manifests say to one import."""

    package: Package
    module: str
    declared: str | None
    group: Group | None


@dataclass(frozen=True, slots=True)
class _Sayings:
    """What the manifests in sight say of imports besides what they declare, and the project's own settings."""

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


class PythonNeeds:
    def __init__(self, snapshot: Snapshot, manifests: Manifests, modules: PythonModules) -> None:
        self._snapshot = snapshot
        self._manifests = manifests
        self._modules = modules
        self._test_framework = snapshot.project.config.backend.test_framework
        self._sayings: dict[int, _Sayings] = {}
        """By view."""
        self._own: dict[str, set[str]] = {}
        """By folder: modules that need no package, those of the standard library included."""
        self._answers: dict[tuple[int, str], _Answer] = {}
        self._used: set[str] = set()
        """Declared distributions that some import comes from."""

    def of(self, path: str, facts: FileFacts) -> list[Need]:
        role = role_of(path)
        if role is Role.FOREIGN:
            return []
        folder = path.rpartition("/")[0]
        view = self._manifests.view(folder, python=True)
        own = self._own.setdefault(folder, set())
        needs: list[Need] = []
        soft: set[str] = set()
        for imp in facts.imports:
            module = imp.module
            if imp.level or module in own:
                continue
            top = module.partition(".")[0]
            if top in STDLIB or self._is_own(path, module, view):
                own.add(module)
            elif imp.is_optional:
                soft.add(top)
                self._answer(view, module)
            else:
                needs.extend(self._judge(path, imp, role, view))
        return worst_of(need for need in needs if need.label.partition(".")[0] not in soft) if needs else []

    def with_doubts(self, needs: Iterable[Need]) -> list[Need]:
        """To be asked when all files are known: `delta` may come from `delta-spark`, if nothing else does."""
        return [
            replace(need, standing=Standing.UNSURE, declared=name)
            if (name := self._likely_source(need))
            else need
            for need in needs
        ]

    def _likely_source(self, need: Need) -> str | None:
        """What is declared, begins with the name of a module nobody knows, and is of no use otherwise."""
        if need.standing is not Standing.UNDECLARED or need.declared or need.is_known or "." in need.label:
            return None
        start = f"{normal(need.label)}-"
        names = (name for name in need.view.declared if name.startswith(start) and name not in self._used)
        likely = [name for name in names if name.rpartition("-")[2] not in _COMPANIONS]
        return min(likely, key=lambda name: (len(name), name), default=None)

    def _is_own(self, path: str, module: str, view: View) -> bool:
        if self._said(view).is_own(module) or module.partition(".")[0] in self._vendored:
            return True
        return self._modules.is_own(path, module)

    def _said(self, view: View) -> _Sayings:
        known = self._sayings.get(id(view))
        if known is None:
            settings = self._snapshot.project.config.audit
            sources = (*view.sources, *view.beside)
            peers = [source.manifest.peer for source in sources]
            known = self._sayings[id(view)] = _Sayings(
                {m: name for peer in peers for m, name in peer.modules} | settings.import_names,
                frozenset([*settings.first_party, *(name for peer in peers for name in peer.first_party)]),
                frozenset(name for peer in peers for name in peer.ignored),
                frozenset(name for peer in peers for name in peer.ignored_dev),
                frozenset(name for source in sources for name in source.manifest.names),
            )
        return known

    def _judge(self, path: str, imp: Import, role: Role, view: View) -> Iterator[Need]:
        for module in modules_of(imp):
            answer = self._answer(view, module)
            standing = self._standing(path, imp, role, view, answer)
            if standing is None or (imp.is_from and self._modules.resolve(path, imp)):
                continue
            if not answer.package.is_known and self._is_prop(path, imp, role):
                continue
            yield Need(
                path=path,
                line=imp.line,
                label=answer.package.label,
                package=answer.package.distributions[0],
                standing=standing,
                view=view,
                is_python=True,
                is_known=answer.package.is_known,
                declared=answer.declared,
            )

    def _is_prop(self, path: str, imp: Import, role: Role) -> bool:
        """Beside a file that is run as a script, or made up or made importable by a test or a tool."""
        top = imp.module.partition(".")[0]
        beside = f"{path.rpartition('/')[0]}/{top}".lstrip("/")
        if any(f"{beside}{end}" in self._modules.files for end in _ENDS):
            return True
        if role is not Role.RUNTIME and top in self._stems:
            return True
        if role is not Role.TEST:
            return False
        return imp.is_dynamic or _MEANT.search(top) is not None or self._is_written(path, top)

    def _is_written(self, path: str, top: str) -> bool:
        """The test has the name in a text: it makes the module itself, as `(folder / "site_app.py").write_text(…)`."""
        written = re.compile(
            rf"""["'/]{re.escape(top)}(?:\.py\b|["'/])|sys\.modules\[["']{re.escape(top)}["']\]"""
        )
        return written.search(read_text(self._snapshot, path) or "") is not None

    @cached_property
    def _vendored(self) -> frozenset[str]:
        return frozenset(name for path in self._modules.files if (name := vendored_name(path)))

    @cached_property
    def _stems(self) -> frozenset[str]:
        """Of all Python files and their folders."""
        parts = (path.rpartition(".")[0].split("/") for path in self._modules.files)
        return frozenset(part for names in parts for part in names)

    def _answer(self, view: View, module: str) -> _Answer:
        key = (id(view), module)
        known = self._answers.get(key)
        if known is None:
            package = package_of(module, self._said(view).packages)
            name = declared_name(view, package, module)
            group = view.declared[name][0].group if name is not None else None
            if name is not None:
                self._used.add(name)
            known = self._answers[key] = _Answer(package, module, name, group)
        return known

    def _standing(self, path: str, imp: Import, role: Role, view: View, answer: _Answer) -> Standing | None:
        """None when all is well."""
        group, label = answer.group, answer.package.label
        if group is Group.RUNTIME or group is Group.OPTIONAL or (group and role is not Role.RUNTIME):
            return None
        if group is Group.DEV:
            is_fine = imp.is_type_only or _is_in(label, self._said(view).ignored_dev)
            return None if is_fine else Standing.DEV_ONLY
        if _is_in(label, self._said(view).ignored) or label in _RUNNERS.get(path.rpartition("/")[2], ()):
            return None
        if imp.is_type_only or path.endswith(".pyi"):
            if label in _OF_CHECKERS:
                return None
            stubs = declared_name(view, answer.package, answer.module, type_only=True)
            return None if stubs else Standing.TYPES_ONLY
        if label in ("pytest", "_pytest") and role is not Role.RUNTIME and self._has_pytest(view):
            return None
        return Standing.UNDECLARED

    def _has_pytest(self, view: View) -> bool:
        """Its plugins are of no use without it, and need it themselves."""
        return self._test_framework == "pytest" or any(name.startswith("pytest-") for name in view.declared)


def is_met(need: Need, view: View) -> bool:
    """Whether another view would do."""
    package = Package(need.label, (need.package,), is_known=need.is_known)
    return (
        declared_name(view, package, need.label, type_only=need.standing is Standing.TYPES_ONLY) is not None
    )


def _is_in(label: str, names: frozenset[str]) -> bool:
    return "*" in names or label in names or label.partition(".")[0] in names
