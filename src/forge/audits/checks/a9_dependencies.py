"""A9: nobody imports a package that the project does not declare."""

import re
from collections.abc import Iterable, Iterator, Mapping

from forge.audits.broken_config import broken_config
from forge.audits.check import Check, Examination, Found, examined
from forge.audits.checks.a9_docs import DOCS
from forge.audits.checks.a9_fixtures import FIXTURES
from forge.audits.counting import first_of
from forge.audits.dependencies.advice import fix_for, message_for
from forge.audits.dependencies.manifests.discovery import Format, ManifestAnalyzer, Manifests, Source, view_of
from forge.audits.dependencies.needs import Need, Standing
from forge.audits.dependencies.python_needs import PythonNeeds, is_met
from forge.audits.dependencies.roles import Role, role_of
from forge.audits.dependencies.script_needs import ScriptNeeds
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import LANGUAGES, FileFacts
from forge.audits.imports.folders import normal as normal_path
from forge.audits.imports.loose import read_text
from forge.audits.imports.modules import PythonModules, ScriptModules
from forge.audits.models import Severity
from forge.audits.project import CONFIG
from forge.audits.snapshot import MAX_BYTES, Snapshot

_ALLOWED = re.compile(r"forge:\s?allow-import|deptry:\s*ignore(?!\[)|deptry:\s*ignore\[([A-Z0-9, ]*)\]")
_CODES = {
    Standing.UNDECLARED: ("DEP001", "DEP003"),
    Standing.UNSURE: ("DEP001", "DEP003"),
    Standing.DEV_ONLY: ("DEP004",),
    Standing.TYPES_ONLY: ("DEP001",),
}
_RULES = {
    Standing.UNDECLARED: ("undeclared", Severity.FAIL),
    Standing.UNSURE: ("unsure", Severity.WARN),
    Standing.DEV_ONLY: ("dev-dependency", Severity.WARN),
    Standing.TYPES_ONLY: ("types-only", Severity.NOTE),
}
_NOTHING = "there is no Python, JavaScript or TypeScript"
_ALL_IGNORED = "audit.ignore leaves out all there is of Python, JavaScript and TypeScript"
_PYTHON = (".py", ".pyi")
MAX_NAMED = 8


def examine(snapshot: Snapshot) -> Examination:
    return broken_config(snapshot) or _Audit(snapshot).run()


class _Audit:
    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._is_ignored = snapshot.project.ignores
        self._named = _named_manifest(snapshot)
        self._manifests = Manifests.of(snapshot, self._named)
        self._changed = frozenset(change.path for change in snapshot.changes)
        self._open: tuple[str, list[str]] = ("", [])

    def run(self) -> Examination:
        every = facts_of(self._snapshot)
        facts = {path: one for path, one in every.items() if not self._is_ignored(path)}
        found = [*self._missing_manifest(), *self._broken_manifests()]
        found += self._unread(facts)
        found += self._told(self._needs(facts))
        nothing = _ALL_IGNORED if every else _NOTHING
        return examined(sorted(found, key=_order), len(facts), "files", nothing=nothing)

    def _missing_manifest(self) -> Iterator[Found]:
        if self._named is not None and self._named not in self._snapshot.tree.entries:
            yield Found(
                "missing-manifest",
                Severity.FAIL,
                f"{CONFIG} names {self._named} as its dependency file, and there is none",
                f"Create {self._named}, or correct backend.dependency_file in {CONFIG}.",
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
                    "Repair it: what it declares cannot be known.",
                    source.path,
                    problem.line or 1,
                    subject=problem.message if not problem.is_fatal else source.path,
                )

    def _unread(self, facts: Mapping[str, FileFacts]) -> Iterator[Found]:
        for path, one in facts.items():
            if one.broken_line is None or role_of(path) is Role.FOREIGN:
                continue
            yield Found(
                "unparsable",
                Severity.ERROR if path in self._changed else Severity.NOTE,
                f"{path} is not well-formed from line {one.broken_line} on; imports may be missing",
                "Repair the file, or leave it out with audit.ignore in forge.json.",
                path,
                one.broken_line,
                subject="unparsable",
            )
        for path, entry in self._snapshot.tree.entries.items():
            is_code = entry.size > MAX_BYTES and entry.kind.is_file and entry.suffix in LANGUAGES
            if is_code and not self._is_ignored(path) and role_of(path) is not Role.FOREIGN:
                yield Found(
                    "unexamined",
                    Severity.ERROR if path in self._changed else Severity.NOTE,
                    f"{path} is larger than {MAX_BYTES >> 20} MiB and was not examined",
                    "Split it, or leave it out with audit.ignore in forge.json.",
                    path,
                    subject="unexamined",
                )

    def _needs(self, facts: Mapping[str, FileFacts]) -> Iterator[Need]:
        """What a manifest that cannot be read would say is unknown: nobody is blamed for it."""
        by_language: dict[bool, list[str]] = {True: [], False: []}
        for path in facts:
            by_language[path.endswith(_PYTHON)].append(path)
        judges: list[tuple[list[str], PythonNeeds | ScriptNeeds]] = []
        if by_language[True]:
            python = PythonModules.of(self._snapshot)
            judges.append((by_language[True], PythonNeeds(self._snapshot, self._manifests, python)))
        if by_language[False]:
            script = ScriptModules.of(self._snapshot)
            judges.append((by_language[False], ScriptNeeds(self._snapshot, self._manifests, script)))
        for paths, judge in judges:
            needs = [
                need
                for path in paths
                for need in judge.of(path, facts[path])
                if not any(map(self._is_unknown, need.view.sources))
            ]
            yield from judge.with_doubts(needs) if isinstance(judge, PythonNeeds) else needs

    def _is_unknown(self, source: Source) -> bool:
        """It cannot be read, and that is an error of its own."""
        return not source.is_read and source.is_shared and not self._is_ignored(source.path)

    def _told(self, needs: Iterable[Need]) -> list[Found]:
        told: list[Found] = []
        homeless: dict[bool, list[Need]] = {}
        for need in self._not_inline(list(needs)):
            is_homeless = need.standing is Standing.UNDECLARED and not need.view.sources
            if is_homeless and not self._is_allowed(need):
                homeless.setdefault(need.is_python, []).append(need)
            else:
                told.append(self._tell(need))
        return told + [_no_manifest(those) for those in homeless.values()]

    def _not_inline(self, needs: list[Need]) -> list[Need]:
        """A script may carry its own requirements; only files that need something are asked."""
        entries = self._snapshot.tree.entries
        paths = sorted({need.path for need in needs if need.is_python})
        inline = self._snapshot.analyse(ManifestAnalyzer(Format.INLINE), [entries[path] for path in paths])
        carried = {path: view_of([Source(path, Format.INLINE, one, "")]) for path, one in inline.items()}
        return [need for need in needs if need.path not in carried or not is_met(need, carried[need.path])]

    def _tell(self, need: Need) -> Found:
        rule, severity = _RULES[need.standing]
        if severity is not Severity.NOTE and self._is_allowed(need):
            rule, severity = "allowed", Severity.NOTE
        return Found(
            rule, severity, message_for(need), fix_for(need), need.path, need.line, subject=need.label
        )

    def _is_allowed(self, need: Need) -> bool:
        """A comment in the line of the import."""
        lines = self._lines(need.path)
        found = _ALLOWED.search(lines[need.line - 1]) if len(lines) >= need.line else None
        return found is not None and (
            found[1] is None or any(code in found[1] for code in _CODES[need.standing])
        )

    def _lines(self, path: str) -> list[str]:
        """Of the file asked about last: findings come file by file."""
        if self._open[0] != path:
            self._open = (path, (read_text(self._snapshot, path) or "").split("\n"))
        return self._open[1]


def _named_manifest(snapshot: Snapshot) -> str | None:
    named = snapshot.project.config.backend.dependency_file
    return normal_path(named.replace("\\", "/")) if named else None


def _no_manifest(needs: list[Need]) -> Found:
    """One finding for all of them: they have one cause."""
    first = min(needs, key=lambda need: (need.path, need.line))
    packages = sorted({need.package for need in needs})
    named = first_of(packages, MAX_NAMED)
    manifest = "requirements.txt or pyproject.toml" if first.is_python else "package.json"
    return Found(
        "no-manifest",
        Severity.FAIL,
        f"imports {first.label}, and there is no manifest that could declare it; needed: {named}",
        f"Create {manifest} and declare {named}.",
        first.path,
        first.line,
        subject="python" if first.is_python else "script",
    )


def _order(found: Found) -> tuple[str, int, str]:
    return (found.path or "", found.line or 0, found.subject)


CHECK = Check(
    code="A9",
    name="Dependency gate",
    why="What is imported and not declared works on one machine and breaks on the next; a name nobody declared is also "
    "how a wrong or invented package slips in.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
