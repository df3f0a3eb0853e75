"""Find JavaScript and TypeScript imports of undeclared packages."""

import re
from collections.abc import Iterator
from functools import cached_property

from forge.audits.dependencies.dependency_issues import DependencyIssue, IssueKind, worst_per_package
from forge.audits.dependencies.manifests.discovery import Manifests, View
from forge.audits.dependencies.node_packages import FAMILIES, PROVIDED_BY, TYPES_ONLY, package_of, types_of
from forge.audits.facts.models import FileFacts, Import
from forge.audits.files.file_roles import Role, role_of
from forge.audits.files.lenient_readers import read_text
from forge.audits.imports.script_modules import ScriptModules
from forge.audits.snapshot import Snapshot

_BUNDLER = re.compile(
    r"(?:(?:vite|vitest|webpack|rollup|rspack|rsbuild|babel|metro|jest|next|nuxt|craco|vue|astro|svelte|quasar|farm|"
    r"snowpack|esbuild|tsup|electron\.vite)[\w.-]*\.(?:config|common|dev|prod|base)[\w.-]*\.[cm]?[jt]s|vue\.config\.js|"
    r"webpack[\w.-]*\.[cm]?[jt]s|\.babelrc(?:\.js(?:on)?)?|babel\.config\.json|jest\.config\.json|importmap\.json)$"
)
_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_UMD = re.compile(r"\bdefine\.amd\b|typeof\s+exports\s*[!=]==?\s*['\"]")


class ScriptImportsCheck:
    def __init__(self, snapshot: Snapshot, manifests: Manifests, modules: ScriptModules) -> None:
        self._snapshot = snapshot
        self._manifests = manifests
        self._modules = modules
        self._custom = snapshot.project.config.audit.import_names
        self._own: dict[tuple[str, str], bool] = {}
        self._aliases: dict[str, bool] = {}

    @cached_property
    def _bundlers(self) -> list[str]:
        names = ((path, path.rpartition("/")[2]) for path in sorted(self._modules.files))
        return [path for path, name in names if _BUNDLER.match(name) and "node_modules/" not in path]

    def of(self, path: str, facts: FileFacts) -> list[DependencyIssue]:
        if not facts.imports or role_of(path) is Role.FOREIGN:
            return []
        folder = path.rpartition("/")[0]
        view = self._manifests.view(folder, python=False)
        issues = [issue for imp in facts.imports if (issue := self._issue(path, folder, imp, view))]
        if issues and _UMD.search(read_text(self._snapshot, path) or ""):
            return []
        return worst_per_package(issues)

    def _issue(self, path: str, folder: str, imp: Import, view: View) -> DependencyIssue | None:
        package = package_of(imp.module)
        if package is None or imp.is_optional or package in view.declared:
            return None
        key = (folder, imp.module)
        if key not in self._own:
            self._own[key] = self._modules.is_own(path, imp.module)
        if self._own[key] or self._is_provided(package, imp.module, view) or self._is_alias(package):
            return None
        kind = self._issue_kind(path, imp, package, view)
        if kind is None:
            return None
        distribution = self._custom.get(package, package)
        return DependencyIssue(path, imp.line, package, distribution, kind, view, is_python=False)

    def _issue_kind(self, path: str, imp: Import, package: str, view: View) -> IssueKind | None:
        is_typed = path.endswith((".ts", ".tsx", ".mts", ".cts", *_DECLARATIONS))
        has_types = types_of(package) in view.declared
        if imp.is_type_only or path.endswith(_DECLARATIONS):
            return None if has_types else IssueKind.TYPES_ONLY
        return None if is_typed and has_types and package in TYPES_ONLY else IssueKind.UNDECLARED

    def _is_provided(self, package: str, specifier: str, view: View) -> bool:
        """Return whether another package or a setting provides the module."""
        distribution = self._custom.get(package)
        if distribution is not None and distribution in view.declared:
            return True
        if PROVIDED_BY.get(package) in view.declared or any(
            package in s.manifest.names for s in view.sources
        ):
            return True
        families = (names for name, names in FAMILIES.items() if name in view.declared)
        return any(specifier.startswith(prefix) for names in families for prefix in names)

    def _is_alias(self, package: str) -> bool:
        """Return whether a bundler configuration has a key of that name. It is a program and cannot be evaluated."""
        cached = self._aliases.get(package)
        if cached is None:
            cached = self._aliases[package] = any(self._bundler_matches(package))
        return cached

    def _bundler_matches(self, package: str) -> Iterator[bool]:
        names = {package, package.partition("/")[0]}
        pieces = "|".join(re.escape(name) for name in names)
        quoted = rf"""["'`]\^?(?:{pieces})[/()*.$]*["'`]\s*\]?\s*:"""
        bare = (
            rf"""(?<![\w"'`@/.-])(?:{pieces})\s*:\s*(?:path|resolve|fileURLToPath|["'`](?:\.|/|<rootDir>))"""
        )
        found = rf"""\bfind\s*:\s*["'`/]\^?(?:{pieces})["'`/$]"""
        pattern = re.compile(f"{quoted}|{bare}|{found}")
        for path in self._bundlers:
            yield pattern.search(read_text(self._snapshot, path) or "") is not None
