"""A9: every imported package must be declared in a manifest."""

import re
from collections.abc import Iterable, Iterator, Mapping

from forge.audits.check import Check, Examination, Fixture, Found, config_error, examined
from forge.audits.dependencies.dependency_issues import DependencyIssue, IssueKind, fix_for, message_for
from forge.audits.dependencies.manifests.discovery import Format, ManifestAnalyzer, Manifests, Source, view_of
from forge.audits.dependencies.python_imports_check import PythonImportsCheck, is_declared_in
from forge.audits.dependencies.script_imports_check import ScriptImportsCheck
from forge.audits.display_text import join_names
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import LANGUAGES, FileFacts
from forge.audits.files.file_roles import Role, role_of
from forge.audits.files.folders import normalize_path as normal_path
from forge.audits.files.lenient_readers import read_text
from forge.audits.imports.python_modules import PythonModules
from forge.audits.imports.script_modules import ScriptModules
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.project import CONFIG
from forge.audits.snapshot import MAX_BYTES, Snapshot

DOCS = """
**What it checks.** Every import of every Python, JavaScript and TypeScript file of the tree, at any depth, also
`importlib.import_module("name")` and `import("name")`; and every manifest: `pyproject.toml` (PEP 621, dependency groups,
Poetry, PDM, Hatch, uv, Flit, Rye, Pixi), requirement files with what they include, `setup.cfg`, `setup.py` (read, never
run), `Pipfile`, `environment.yml`, scripts with inline requirements (`# /// script`), `package.json`, `deno.json`. A file
uses the manifests of its own folder and all parent folders; if there are none, all manifests of the project except those of
tests and vendored code.

**Rules.**

| rule | | |
|---|---|---|
| `undeclared` | FAIL | An imported package is declared in no manifest that applies. A transitive dependency does not count: it may be dropped at any time. |
| `no-manifest` | FAIL | Packages are imported, but there is no manifest. |
| `missing-manifest` | FAIL | `backend.dependency_file` of `forge.json` does not exist. |
| `broken-manifest` | ERROR | A manifest cannot be read, so its packages are unknown. A NOTE in tests and vendored code. |
| `unparsable` | ERROR | A changed file cannot be parsed from this line on; only the imports that were found were compared. A NOTE if the file is unchanged. |
| `unexamined` | ERROR | A changed file is larger than 2 MiB. A NOTE if it is unchanged. |
| `bad-config` | ERROR | `forge.json` cannot be read. |
| `unsure` | WARN | An unknown module is imported, and an otherwise unused declared package begins with its name (`delta`, with `delta-spark` declared). |
| `dev-dependency` | WARN | Python code that users run imports a package declared for development only. |
| `unreadable-line` | WARN | A line of a requirements file is not a requirement. |
| `types-only` | NOTE | Imported under `if TYPE_CHECKING` or by `import type`, but not declared. Stubs are enough. |
| `allowed` | NOTE | Undeclared, but allowed by a comment on the line. |

There is one finding per file and package, at its first line. Optional imports are allowed: in a `try` whose handler catches
`ImportError` and continues, or under `if find_spec("x")`; a handler that only re-raises does not make an import optional.
The standard library includes all versions of Python; names are compared after PEP 503 normalization, so `requests-mock`
does not declare `requests`. Import names that differ from the package's (`yaml`, `cv2`, `google.cloud.storage`) are known for
about 1,700 packages. Vendored, minified and generated files are skipped.

**Exceptions.** In `forge.json`, `audit.import_names` maps an import to its package, `audit.first_party` lists names that
are the project's own although no file defines them, and `audit.ignore` lists files to skip. `# forge: allow-import` (or
`# deptry: ignore`) on the line turns the finding into a NOTE; `[tool.deptry]` settings are respected. `forge audit baseline`
accepts current findings.

Whether a declared package exists on the index, and in which version, is not checked, as that needs a network. See
docs/reference/dependencies.md for details.
"""


_ALLOWED = re.compile(r"forge:\s?allow-import|deptry:\s*ignore(?!\[)|deptry:\s*ignore\[([A-Z0-9, ]*)\]")
_CODES = {
    IssueKind.UNDECLARED: ("DEP001", "DEP003"),
    IssueKind.UNSURE: ("DEP001", "DEP003"),
    IssueKind.DEV_ONLY: ("DEP004",),
    IssueKind.TYPES_ONLY: ("DEP001",),
}


_RULES = {
    IssueKind.UNDECLARED: ("undeclared", Severity.FAIL),
    IssueKind.UNSURE: ("unsure", Severity.WARN),
    IssueKind.DEV_ONLY: ("dev-dependency", Severity.WARN),
    IssueKind.TYPES_ONLY: ("types-only", Severity.NOTE),
}


_NOTHING = "there is no Python, JavaScript or TypeScript code"
_ALL_IGNORED = "audit.ignore excludes all Python, JavaScript and TypeScript code"
_PYTHON = (".py", ".pyi")
MAX_NAMED = 8


def examine(snapshot: Snapshot) -> Examination:
    return config_error(snapshot) or _Audit(snapshot).run()


class _Audit:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._is_ignored = snapshot.project.ignores
        self._named = _named_manifest(snapshot)
        self._manifests = Manifests.of(snapshot, self._named)
        self._changed = frozenset(change.path for change in snapshot.changes)
        self._cached_lines: tuple[str, list[str]] = ("", [])

    def run(self) -> Examination:
        all_facts = facts_of(self._snapshot)
        facts = {path: file_facts for path, file_facts in all_facts.items() if not self._is_ignored(path)}
        found = [*self._missing_manifest(), *self._broken_manifests()]
        found += self._unexamined(facts)
        found += self._findings(self._issues(facts))
        nothing = _ALL_IGNORED if all_facts else _NOTHING
        return examined(sorted(found, key=_order), len(facts), "files", nothing=nothing)

    def _missing_manifest(self) -> Iterator[Found]:
        if self._named is not None and self._named not in self._snapshot.tree.entries:
            yield Found(
                "missing-manifest",
                Severity.FAIL,
                f"{CONFIG} names {self._named} as its dependency file, but it does not exist",
                f"Create {self._named}, or fix backend.dependency_file in {CONFIG}.",
                CONFIG,
                1,
                subject=self._named,
            )

    def _broken_manifests(self) -> Iterator[Found]:
        for source in self._manifests.sources:
            if self._is_ignored(source.path):
                continue
            for problem in source.manifest.problems:
                severity = Severity.ERROR if problem.is_fatal else Severity.WARN
                yield Found(
                    "broken-manifest" if problem.is_fatal else "unreadable-line",
                    severity if source.is_shared else Severity.NOTE,
                    f"{source.path} cannot be read: {problem.message}",
                    "Fix it: the packages it declares are unknown.",
                    source.path,
                    problem.line or 1,
                    subject=problem.message if not problem.is_fatal else source.path,
                )

    def _unexamined(self, facts: Mapping[str, FileFacts]) -> Iterator[Found]:
        for path, file_facts in facts.items():
            if file_facts.broken_line is None or role_of(path) is Role.FOREIGN:
                continue
            yield Found(
                "unparsable",
                Severity.ERROR if path in self._changed else Severity.NOTE,
                f"{path} cannot be parsed from line {file_facts.broken_line} on; imports may be missing",
                "Fix the file, or exclude it with audit.ignore in forge.json.",
                path,
                file_facts.broken_line,
                subject="unparsable",
            )
        for path, entry in self._snapshot.tree.entries.items():
            is_code = entry.size > MAX_BYTES and entry.kind.is_file and entry.suffix in LANGUAGES
            if is_code and not self._is_ignored(path) and role_of(path) is not Role.FOREIGN:
                yield Found(
                    "unexamined",
                    Severity.ERROR if path in self._changed else Severity.NOTE,
                    f"{path} is larger than {MAX_BYTES >> 20} MiB and was not examined",
                    "Split it, or exclude it with audit.ignore in forge.json.",
                    path,
                    subject="unexamined",
                )

    def _issues(self, facts: Mapping[str, FileFacts]) -> Iterator[DependencyIssue]:
        """Yield issues, except where an unreadable manifest might declare the package."""
        by_language: dict[bool, list[str]] = {True: [], False: []}
        for path in facts:
            by_language[path.endswith(_PYTHON)].append(path)
        import_checks: list[tuple[list[str], PythonImportsCheck | ScriptImportsCheck]] = []
        if by_language[True]:
            python = PythonModules.of(self._snapshot)
            import_checks.append(
                (by_language[True], PythonImportsCheck(self._snapshot, self._manifests, python))
            )
        if by_language[False]:
            script = ScriptModules.of(self._snapshot)
            import_checks.append(
                (by_language[False], ScriptImportsCheck(self._snapshot, self._manifests, script))
            )
        for paths, import_check in import_checks:
            issues = [
                issue
                for path in paths
                for issue in import_check.of(path, facts[path])
                if not any(map(self._is_unknown, issue.view.sources))
            ]
            yield from (
                import_check.mark_uncertain(issues)
                if isinstance(import_check, PythonImportsCheck)
                else issues
            )

    def _is_unknown(self, source: Source) -> bool:
        """Return whether the manifest is unreadable, which is reported as a separate error."""
        return not source.is_read and source.is_shared and not self._is_ignored(source.path)

    def _findings(self, issues: Iterable[DependencyIssue]) -> list[Found]:
        found: list[Found] = []
        without_manifest: dict[bool, list[DependencyIssue]] = {}
        for issue in self._not_inline(list(issues)):
            lacks_manifest = issue.kind is IssueKind.UNDECLARED and not issue.view.sources
            if lacks_manifest and not self._is_allowed(issue):
                without_manifest.setdefault(issue.is_python, []).append(issue)
            else:
                found.append(self._finding(issue))
        return found + [_no_manifest(group) for group in without_manifest.values()]

    def _not_inline(self, issues: list[DependencyIssue]) -> list[DependencyIssue]:
        """Drop issues that a script's inline requirements (PEP 723) declare. Only files with issues are read."""
        entries = self._snapshot.tree.entries
        paths = sorted({issue.path for issue in issues if issue.is_python})
        inline = self._snapshot.analyze(ManifestAnalyzer(Format.INLINE), [entries[path] for path in paths])
        inline_views = {
            path: view_of([Source(path, Format.INLINE, manifest, "")]) for path, manifest in inline.items()
        }
        return [
            issue
            for issue in issues
            if issue.path not in inline_views or not is_declared_in(issue, inline_views[issue.path])
        ]

    def _finding(self, issue: DependencyIssue) -> Found:
        rule, severity = _RULES[issue.kind]
        if severity is not Severity.NOTE and self._is_allowed(issue):
            rule, severity = "allowed", Severity.NOTE
        return Found(
            rule, severity, message_for(issue), fix_for(issue), issue.path, issue.line, subject=issue.label
        )

    def _is_allowed(self, issue: DependencyIssue) -> bool:
        """Return whether a comment on the line of the import allows it."""
        lines = self._lines(issue.path)
        found = _ALLOWED.search(lines[issue.line - 1]) if len(lines) >= issue.line else None
        return found is not None and (
            found[1] is None or any(code in found[1] for code in _CODES[issue.kind])
        )

    def _lines(self, path: str) -> list[str]:
        """Return the lines of a file; the last file is cached, as findings come file by file."""
        if self._cached_lines[0] != path:
            self._cached_lines = (path, (read_text(self._snapshot, path) or "").split("\n"))
        return self._cached_lines[1]


def _named_manifest(snapshot: Snapshot) -> str | None:
    named = snapshot.project.config.backend.dependency_file
    return normal_path(named.replace("\\", "/")) if named else None


def _no_manifest(issues: list[DependencyIssue]) -> Found:
    """Report all undeclared packages in one finding, as they have one cause."""
    first = min(issues, key=lambda issue: (issue.path, issue.line))
    packages = sorted({issue.package for issue in issues})
    named = join_names(packages, MAX_NAMED)
    manifest = "requirements.txt or pyproject.toml" if first.is_python else "package.json"
    return Found(
        "no-manifest",
        Severity.FAIL,
        f"imports {first.label}, but there is no manifest to declare it; needed: {named}",
        f"Create {manifest} and declare {named}.",
        first.path,
        first.line,
        subject="python" if first.is_python else "script",
    )


def _order(found: Found) -> tuple[str, int, str]:
    return (found.path or "", found.line or 0, found.subject)


_BOTH = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["requests>=2", "PyYAML"]\n\n'
    '[dependency-groups]\ndev = ["pytest"]\n',
    "src/shop/__init__.py": "from __future__ import annotations\nimport os, sys\nimport requests, yaml\n",
    "src/shop/prices.py": '"""Prices come\nfrom the database.\n"""\nfrom shop import __doc__\n',
    "tests/test_shop.py": "import pytest\nimport shop\n",
    "web/package.json": '{"name": "web", "dependencies": {"react": "19"}}',
    "web/src/main.ts": 'import React from "react";\nimport fs from "node:fs";\nimport "./style.css";\n',
}


def _bad(name: str, rule: str, expect: str, files: Mapping[str, str | bytes]) -> Fixture:
    def snapshot() -> Snapshot:
        return snapshot_of(files)

    return Fixture(name, snapshot, expect, (rule,))


FIXTURES = (
    Fixture("what is imported is declared", lambda: snapshot_of(_BOTH), "PASS"),
    Fixture("nothing to look at", lambda: snapshot_of({"README.md": "Hello"}), "SKIP"),
    _bad(
        "a look-alike is declared",
        "undeclared",
        "FAIL",
        {"requirements.txt": "requests-mock\n", "app.py": "def go():\n    import requests\n"},
    ),
    _bad(
        "an undeclared import in TypeScript",
        "undeclared",
        "FAIL",
        {"package.json": '{"dependencies": {}}', "src/pad.ts": 'import pad from "left-pad";\n'},
    ),
    _bad("no manifest at all", "no-manifest", "FAIL", {"app.py": "import requests\n"}),
    _bad(
        "a configured manifest that does not exist",
        "missing-manifest",
        "FAIL",
        {"forge.json": '{"backend": {"dependency_file": "requirements.txt"}}', "app.py": "import os\n"},
    ),
    _bad(
        "an invalid TOML manifest",
        "broken-manifest",
        "ERROR",
        {"pyproject.toml": "[project\n", "app.py": "import requests\n"},
    ),
    _bad(
        "a new unparsable file",
        "unparsable",
        "ERROR",
        {"requirements.txt": "", "app.py": "def go(:\n    return (\n"},
    ),
    _bad("settings that cannot be read", "bad-config", "ERROR", {"forge.json": "{", "app.py": "import os\n"}),
    _bad(
        "a development tool in runtime code",
        "dev-dependency",
        "WARN",
        {"requirements.txt": "", "requirements-dev.txt": "pytest\n", "shop/cart.py": "import pytest\n"},
    ),
    _bad(
        "a package that may provide it",
        "unsure",
        "WARN",
        {"requirements.txt": "frobnicate-rest-client\n", "app.py": "import frobnicate\n"},
    ),
    _bad(
        "an invalid requirement line",
        "unreadable-line",
        "WARN",
        {"requirements.txt": "requests\n<<<<<<< HEAD\n", "app.py": "import requests\n"},
    ),
)


CHECK = Check(
    code="A9",
    name="Dependency gate",
    why="An import without a declaration works on one machine and breaks on the next, and it is also how a mistyped or "
    "invented package gets in.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
