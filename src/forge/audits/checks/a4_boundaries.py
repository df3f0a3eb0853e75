"""A4: enforce the layers, rules and order of boundaries.json."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from forge.audits.boundaries.config import (
    Boundaries,
    InvalidBoundaries,
    Layer,
    LineIndex,
    Rule,
    read_boundaries,
)
from forge.audits.boundaries.layer_files import LayerFiles, LayerGlob, containers_of
from forge.audits.boundaries.pattern_search import COMMENT_STYLES, Hits, PatternSearch, searchable_files
from forge.audits.boundaries.rule_pattern import read_pattern
from forge.audits.boundaries.rules import BoundaryRules, KnownViolations, Violation, pattern_hits
from forge.audits.check import Check, Examination, Fixture, Found, config_error, skip
from forge.audits.display_text import escape_path
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import LANGUAGES
from forge.audits.files.folders import folders_of
from forge.audits.imports.graph import ImportGraph
from forge.audits.imports.modules import Modules
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import MAX_BYTES, Entry, Snapshot

DOCS = """\
A4 reads `Forge/Contracts/boundaries.json` and reports every place where a file uses something that its layer may not use.

```json
{
  "layers": [
    {"name": "routers", "glob": "app/routers/**/*.py",
     "forbidden": [
       {"layer": "repos", "reason": "routers talk to services"},
       {"import": "asyncpg", "reason": "no database driver here"},
       {"pattern": "SELECT |INSERT ", "reason": "no SQL here"}]},
    {"name": "services", "glob": "app/services/**/*.py"},
    {"name": "repos", "glob": "app/repos/**/*.py"}
  ],
  "order": ["routers", "services", "repos"],
  "known_violations": [
    {"layer": "routers", "file": "old.py", "pattern": "asyncpg", "expires": "2027-01-31", "reason": "moving"}]
}
```

**Layers.** A `glob` (or a list) is relative to the project: `*` stays in a folder, `**` crosses folders, `{a,b}` is
either. `app/api/*.py` covers deeper files too, unless another layer's glob names them. `exclude` takes files out again.
`__init__.py` and tests inside a layer's folder count. A layer without files is a WARN; if no layer has files, it is an ERROR.

**Rules** of a layer, each with a `reason`:
- `layer`: no file of this layer imports a file of that layer.
- `import`: a module or package with everything below it: `app.repos`, `app.*.models`, `express`, `@scope/pkg`, or files:
  `./src/db/**`.
- `pattern`: an RE2 expression, case-sensitive (`(?i)` in front turns that off), searched in code without comments and
  strings, in SQL strings (in any case), and in every import in all equivalent forms. A single word matches what comes from
  outside the file under that name, not a local variable or parameter (except `req`, `res`, `request`, `response` and `ctx`,
  which frameworks pass in); `\\bword\\b` and `a|b` match those identifiers anywhere. SQL keywords in capitals are searched
  in SQL only. A plain string in `forbidden` is a pattern.
- `"indirect": true` makes chains of imports count, for `layer` and `import`.

**Order**, from high to low: a layer may import layers below it, never one above. `a | b` may not import each other, `a : b`
may, `(a)` may be empty. Chains through files of no layer count. `containers` are folders in each of which the order
holds on its own; with `"exhaustive": true` every file in them must be in a layer or excluded.

**Type-only imports** (`if TYPE_CHECKING`, `import type`) count unless `"allow_type_checking": true` is set, for all layers or
for one.

**Known violations** are listed but do not block: give the layer, the file (a name, path or glob) and the text of the rule or
the imported module. After `expires` they block again; an entry that matches nothing is reported as a note.

A file of a layer that cannot be parsed, is too large or contains NUL bytes is an ERROR, as it cannot be examined. Patterns are
searched in every text file of a layer, except prose (`.md`, `.txt`, …) and lock files whose suffix no glob names. An unreadable
boundaries.json, a pattern that RE2 rejects and an unknown key are ERRORs as well.
"""


_CONFIG_FIX = "Fix boundaries.json; `forge audit --explain A4` describes its format."
_USUAL_FILES = ("__init__.py", "index.ts", "index.tsx", "index.js", "main.go")
_WORST_FIRST = (Severity.FAIL, Severity.ERROR, Severity.WARN, Severity.NOTE)


def examine(snapshot: Snapshot) -> Examination:
    where = snapshot.governance.boundaries
    entry = snapshot.tree.entries.get(where)
    if entry is None:
        return skip("there is no boundaries.json; `forge audit init` proposes one")
    if not entry.kind.is_file or entry.size > MAX_BYTES:
        return _config_error_examination(where, "is not a readable file", None)
    if (broken := config_error(snapshot)) is not None:
        return broken
    data = snapshot.tree.read(where)
    try:
        boundaries = read_boundaries(data)
        ignored = snapshot.project.config.audit.ignore
        layers = LayerFiles.of(boundaries, snapshot.tree.entries, ignored)
        known = KnownViolations(boundaries.known_violations, snapshot.today)
        containers_of(boundaries)
    except InvalidBoundaries as bad:
        return _config_error_examination(where, bad.message, bad.line)
    except ValueError as error:
        return _config_error_examination(where, f"has an invalid glob: {error}", None)
    return Audit(snapshot, boundaries, layers, known, LineIndex(data.decode("utf-8-sig"))).run()


def _config_error_examination(path: str, message: str, line: int | None) -> Examination:
    found = Found(
        "bad-boundaries", Severity.ERROR, f"{path} {message}", _CONFIG_FIX, path, line or 1, subject=message
    )
    return Examination((found,), 0, "files")


@dataclass(frozen=True)
class Audit:
    """One examination of a project that has a boundaries.json."""

    snapshot: Snapshot
    boundaries: Boundaries
    layers: LayerFiles
    known: KnownViolations
    lines: LineIndex

    def run(self) -> Examination:
        found = [*self._bad_patterns()]
        if found:
            return Examination(tuple(found), 0, "files")
        if not self._has_code():
            return skip("there is no code yet")
        found += self._empty_layers()
        rules = BoundaryRules(
            self.boundaries, self.layers, self._graph(), folders_of(self.snapshot.tree.entries).__contains__
        )
        found += [self._finding(violation) for violation in _unique(self._violations(rules))]
        found += [
            *self._files_without_layer(rules),
            *self._unexamined(rules),
            *self._linked_folders(),
            *self._stale_entries(),
        ]
        found.sort(key=lambda finding: _WORST_FIRST.index(finding.severity))
        count = len(self.layers.names)
        counted = any(finding.severity is not Severity.NOTE for finding in found)
        parts = len(self.boundaries.layers)
        passed = f"{count:,} files in {parts} {'layer' if parts == 1 else 'layers'} respect their boundaries"
        detail = "" if counted else passed
        return Examination(tuple(found), count, "files", detail)

    def _has_code(self) -> bool:
        known = (
            entry.suffix in LANGUAGES or entry.suffix in COMMENT_STYLES for entry in self.snapshot.files()
        )
        return any(known) or any(self._searched.values())

    def _graph(self) -> ImportGraph:
        return ImportGraph(Modules.of(self.snapshot), facts_of(self.snapshot))

    def _at(self, *where: int | str) -> tuple[str, int | None]:
        return self.snapshot.governance.boundaries, self.lines.of(*where)

    def _bad_patterns(self) -> Iterator[Found]:
        for i, layer in enumerate(self.boundaries.layers):
            for j, rule in enumerate(layer.forbidden):
                if (problem := _bad_pattern(rule)) is not None:
                    text, fix = problem
                    where = self._at("layers", i, "forbidden", j)
                    message = f"{layer.name}: {text}"
                    yield Found("bad-pattern", Severity.ERROR, message, fix, *where, subject=rule.text)

    def _empty_layers(self) -> Iterator[Found]:
        empty = [
            (i, layer) for i, layer in enumerate(self.boundaries.layers) if not self.layers.files[layer.name]
        ]
        optional = {name for rank in self.boundaries.ranks for name in rank.optional}
        if len(empty) == len(self.boundaries.layers):
            yield Found(
                "no-files",
                Severity.ERROR,
                "no layer matches any file, so no rule applies",
                "Fix the globs; they are relative to the project, such as `app/api/**/*.py`.",
                *self._at("layers"),
            )
            return
        for i, layer in empty:
            if layer.name not in optional:
                yield Found(
                    "empty-layer",
                    Severity.WARN,
                    f"the layer {layer.name} has no files: nothing matches {', '.join(layer.glob)}",
                    f"Fix its glob, remove the layer, or write `({layer.name})` in `order` if it may be empty.",
                    *self._at("layers", i),
                    subject=layer.name,
                )

    def _unexamined(self, rules: BoundaryRules) -> Iterator[Found]:
        """Report files of a layer that could not be examined completely."""
        entries = self.snapshot.tree.entries
        searched = {e.path for layer in self._with_patterns for e in self._searched[layer.name]}
        unread = {
            path for hits in self._hits.values() for path, file_hits in hits.items() if not file_hits.is_read
        }
        for path in sorted(self.layers.names):
            entry, facts = entries[path], rules.graph.facts.get(path)
            if not entry.kind.is_file:
                yield _link_finding(entry, self.layers.names[path][0])
            elif entry.size > MAX_BYTES and (entry.suffix in LANGUAGES or path in searched):
                yield _too_large_finding(entry)
            elif facts is not None and facts.broken_line is not None:
                yield _unparsable_finding(path, facts.broken_line)
            elif path in unread:
                yield _unsearchable_finding(path)

    def _linked_folders(self) -> Iterator[Found]:
        """Report links to folders and submodules that may contain files of a layer."""
        tree = self.snapshot.tree.entries
        others = [e for e in tree.values() if not e.kind.is_file and e.path not in self.layers.names]
        candidates = {f"{entry.path}/{name}": entry for entry in others for name in _USUAL_FILES}
        if candidates:
            layers = LayerFiles.of(
                self.boundaries, [*tree, *candidates], self.snapshot.project.config.audit.ignore
            )
            layer_by_link = {
                candidates[path].path: names[0] for path, names in layers.names.items() if path in candidates
            }
            yield from (_link_finding(tree[path], layer_by_link[path]) for path in sorted(layer_by_link))

    def _violations(self, rules: BoundaryRules) -> Iterator[Violation]:
        for layer in self.boundaries.layers:
            patterns = _patterns(layer)
            hits = self._hits.get(layer.name, {})
            for rule in layer.forbidden:
                if rule.pattern is not None:
                    yield from rules.by_pattern(layer, rule, pattern_hits(hits, patterns.index(rule.text)))
                elif rule.imported is not None:
                    yield from rules.by_import(layer, rule)
                else:
                    yield from rules.by_layer(layer, rule)
        yield from rules.by_order()

    @cached_property
    def _hits(self) -> dict[str, dict[str, Hits]]:
        """Pattern matches by layer and path."""
        return {
            layer.name: dict(
                self.snapshot.analyze(PatternSearch(_patterns(layer)), self._searched[layer.name])
            )
            for layer in self._with_patterns
        }

    @property
    def _with_patterns(self) -> list[Layer]:
        return [layer for layer in self.boundaries.layers if _patterns(layer)]

    @cached_property
    def _searched(self) -> dict[str, list[Entry]]:
        """The files of each layer that patterns are searched in, without contracts and evidence."""
        tree, governance = self.snapshot.tree.entries, self.snapshot.governance
        others = (governance.path("Contracts", ""), governance.path("evidence", ""))
        return {
            layer.name: searchable_files(
                layer.glob,
                (tree[path] for path in sorted(self.layers.files[layer.name]) if not path.startswith(others)),
            )
            for layer in self.boundaries.layers
        }

    def _finding(self, violation: Violation) -> Found:
        entry = self.known.find(violation)
        severity, note = Severity.FAIL, ""
        if entry is not None and self.known.is_expired(entry):
            note = f"; it was accepted until {entry.expires}"
        elif entry is not None:
            severity = Severity.NOTE
            until = f" until {entry.expires}" if entry.expires else ""
            note = f"; known{until}{f': {entry.reason}' if entry.reason else ''}"
        return Found(
            violation.kind,
            severity,
            _message(violation) + note,
            _fix(violation),
            violation.path,
            violation.line,
            subject=f"{violation.layer}:{violation.text}:{violation.subject}",
        )

    def _files_without_layer(self, rules: BoundaryRules) -> Iterator[Found]:
        """Report code in a container that is in no layer, if the boundaries are exhaustive.

        The container's own `__init__.py` needs no layer."""
        if not self.boundaries.exhaustive:
            return
        assigned = self.layers.names.keys() | self.layers.excluded
        for folder in rules.container_folders:
            for path in sorted(rules.graph.facts.keys() - assigned):
                if path.startswith(f"{folder}/") and path != f"{folder}/__init__.py":
                    yield Found(
                        "no-layer",
                        Severity.FAIL,
                        f"{escape_path(path)} is in {escape_path(folder)} but in no layer, and the boundaries are exhaustive",
                        "Add it to the glob of a layer, or to `exclude`.",
                        path,
                        1,
                    )

    def _stale_entries(self) -> Iterator[Found]:
        for index in self.known.stale:
            entry = self.boundaries.known_violations[index]
            yield Found(
                "stale-known-violation",
                Severity.NOTE,
                f"{entry.file} no longer violates {entry.pattern!r} of {entry.layer}: the entry is obsolete",
                "Remove it from `known_violations`.",
                *self._at("known_violations", index),
                subject=f"{entry.layer}:{entry.file}:{entry.pattern}",
            )


def _patterns(layer: Layer) -> tuple[str, ...]:
    return tuple(rule.text for rule in layer.forbidden if rule.pattern is not None)


def _bad_pattern(rule: Rule) -> tuple[str, str] | None:
    """Return the problem with a rule's pattern or import and its fix, or None."""
    try:
        read_pattern(rule.pattern or "")
    except ValueError as error:
        fix = "Rewrite it without look-around and back-references, or use an `import` or `layer` rule."
        return f"the pattern {rule.text!r} is not a valid RE2 expression: {error}", fix
    try:
        if "/" in (rule.imported or ""):
            LayerGlob.of(rule.text, lambda _: False)
    except ValueError as error:
        return f"the import {rule.text!r} is not a valid glob: {error}", "Close its brackets and braces."
    return None


def _link_finding(entry: Entry, layer: str) -> Found:
    return Found(
        "not-a-file",
        Severity.WARN,
        f"{escape_path(entry.path)} is a {entry.kind}: its target was not examined as part of {layer}",
        "Replace it with a regular file, or `exclude` the path from its layer.",
        entry.path,
        subject=entry.kind,
    )


def _too_large_finding(entry: Entry) -> Found:
    return Found(
        "too-large",
        Severity.ERROR,
        f"{escape_path(entry.path)} has {entry.size:,} bytes, which is too large to parse",
        f"Split it into files below {MAX_BYTES:,} bytes, or `exclude` it from its layer.",
        entry.path,
        1,
    )


def _unparsable_finding(path: str, line: int) -> Found:
    return Found(
        "unparsable",
        Severity.ERROR,
        f"{escape_path(path)} cannot be parsed from line {line} on, so its imports are unknown",
        "Fix the syntax, or `exclude` the file from its layer.",
        path,
        line,
    )


def _unsearchable_finding(path: str) -> Found:
    return Found(
        "unparsable",
        Severity.ERROR,
        f"{escape_path(path)} could not be searched: it contains NUL bytes or takes too long",
        "Remove the NUL bytes, simplify the file, or `exclude` it from its layer.",
        path,
        1,
    )


def _unique(violations: Iterable[Violation]) -> Iterator[Violation]:
    """Drop repeated violations. A rule comes before the order, as the rule has the reason."""
    seen: set[tuple[str, str, int, str]] = set()
    for violation in violations:
        key = (violation.layer, violation.path, violation.line, violation.text)
        if key not in seen:
            seen.add(key)
            yield violation


def _message(violation: Violation) -> str:
    verb = "contain" if violation.kind == "forbidden-pattern" else "import"
    subject = f"`{violation.subject}`" if verb == "contain" else escape_path(violation.subject)
    reason = f" ({violation.reason})" if violation.reason else ""
    if violation.kind == "layer-order":
        reason = f" ({violation.text} is not below {violation.layer})"
    chain = f": {' → '.join(map(escape_path, violation.chain))}" if violation.chain else ""
    return f"{violation.layer} may not {verb} {subject}{reason}{chain}"


def _fix(violation: Violation) -> str:
    if violation.chain:
        return (
            f"Break the chain: remove the import from {escape_path(violation.chain[1])}, or do not import "
            f"{escape_path(violation.chain[1])} here."
        )
    if violation.kind == "forbidden-pattern":
        return f"Move this out of {violation.layer} to a layer that may contain it, and call that."
    return f"Do not import {escape_path(violation.subject)} in {violation.layer}: move the code that needs it to a layer that may."


WHERE = "Forge/Contracts/boundaries.json"
LAYERED: dict[str, object] = {
    "layers": [
        {
            "name": "routers",
            "glob": "app/routers/*.py",
            "forbidden": [
                {"layer": "repos", "reason": "routers talk to services"},
                {"import": "asyncpg", "reason": "no database driver here"},
                {"pattern": "SELECT |INSERT ", "reason": "no SQL here"},
                "requests",
            ],
        },
        {"name": "services", "glob": "app/services/**/*.py"},
        {"name": "repos", "glob": ["app/repos/**/*.py", "app/db.py"]},
    ],
    "order": ["routers", "services", "repos"],
}


FILES = {
    "app/__init__.py": "",
    "app/routers/__init__.py": "",
    "app/routers/users.py": '"""Never imports asyncpg, never does SELECT x."""\nfrom app.services import users\n',
    "app/services/__init__.py": "",
    "app/services/users.py": "from ..repos import users\n",
    "app/repos/__init__.py": "",
    "app/repos/users.py": 'import asyncpg\n\nQUERY = "SELECT id FROM users"\n',
    "app/db.py": "",
}


def _project(
    boundaries: Mapping[str, object] | str | None = None, files: Mapping[str, str | bytes] | None = None
) -> Callable[[], Snapshot]:
    text = boundaries if isinstance(boundaries, str) else json.dumps(boundaries or LAYERED)
    return lambda: snapshot_of({**FILES, **(files or {}), WHERE: text})


def _file(path: str, text: str) -> Callable[[], Snapshot]:
    return _project(files={path: text})


def _known(**more: str) -> dict[str, object]:
    entry = {"layer": "routers", "file": "users.py", "pattern": "asyncpg", **more}
    return {**LAYERED, "known_violations": [entry]}


_USERS = "app/routers/users.py"
_DRIVER = {_USERS: "import asyncpg\n"}
FIXTURES = (
    Fixture("layers without violations", _project(), "PASS"),
    Fixture("no boundaries", lambda: snapshot_of(FILES), "SKIP"),
    Fixture(
        "an import of a forbidden layer",
        _file(_USERS, "from app.repos import users\n"),
        "FAIL",
        ("forbidden-layer",),
    ),
    Fixture(
        "the same, relative", _file(_USERS, "from ..repos.users import x\n"), "FAIL", ("forbidden-layer",)
    ),
    Fixture(
        "in a folder below", _file("app/routers/v1/a.py", "import asyncpg\n"), "FAIL", ("forbidden-import",)
    ),
    Fixture("a forbidden package", _project(files=_DRIVER), "FAIL", ("forbidden-import",)),
    Fixture(
        "forbidden SQL",
        _file(_USERS, 'SQL = "select id from users"\n'),
        "FAIL",
        ("forbidden-pattern",),
    ),
    Fixture("a plain string as rule", _file(_USERS, "import requests\n"), "FAIL", ("forbidden-pattern",)),
    Fixture("a variable of that name", _file(_USERS, "requests = []\nrequests.append(1)\n"), "PASS"),
    Fixture(
        "a service that imports a router",
        _file("app/services/users.py", "import app.routers.users\n"),
        "FAIL",
        ("layer-order",),
    ),
    Fixture(
        "the same, by a file of no layer",
        _project(
            files={"app/tools.py": "from app import routers\n", "app/services/x.py": "import app.tools\n"}
        ),
        "FAIL",
        ("layer-order",),
    ),
    Fixture("a known violation", _project(_known(), _DRIVER), "PASS", ("forbidden-import",)),
    Fixture(
        "an expired known violation",
        _project(_known(expires="2025-12-31"), _DRIVER),
        "FAIL",
        ("forbidden-import",),
    ),
    Fixture("an obsolete known violation", _project(_known()), "PASS", ("stale-known-violation",)),
    Fixture("an unparsable file", _file(_USERS, "def (:\n"), "ERROR", ("unparsable",)),
    Fixture(
        "an invalid glob",
        _file("forge.json", '{"audit": {"ignore": ["[z-a]"]}}'),
        "ERROR",
        ("bad-config",),
    ),
    Fixture("invalid JSON", _project("{"), "ERROR", ("bad-boundaries",)),
    Fixture(
        "an expression with look-around",
        _project({"layers": [{"name": "a", "glob": "app/**", "forbidden": ["(?<!x)y"]}]}),
        "ERROR",
        ("bad-pattern",),
    ),
    Fixture(
        "globs that match nothing",
        _project({"layers": [{"name": "a", "glob": "nowhere/**"}]}),
        "ERROR",
        ("no-files",),
    ),
    Fixture(
        "a layer that matches nothing",
        _project({"layers": [{"name": "a", "glob": "nowhere/**"}, {"name": "b", "glob": "app/**"}]}),
        "WARN",
        ("empty-layer",),
    ),
    Fixture(
        "a file outside of exhaustive layers",
        _project({**LAYERED, "containers": "app", "exhaustive": True}, {"app/stray.py": ""}),
        "FAIL",
        ("no-layer",),
    ),
)


CHECK = Check(
    code="A4",
    name="Boundary compliance",
    why="Layers that bypass each other cannot be changed or tested separately; boundaries.json says which parts may "
    "import which, and an automated check keeps it that way.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
