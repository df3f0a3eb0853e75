"""A4: no part of the project reaches for what its boundaries keep from it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from forge.audits.boundaries.config import BadBoundaries, Boundaries, Layer, Lines, Rule, read_boundaries
from forge.audits.boundaries.forbidden import read_pattern
from forge.audits.boundaries.known import KnownOnes
from forge.audits.boundaries.layering import Cover, Layers, containers_of
from forge.audits.boundaries.pattern_search import Hits, PatternSearch
from forge.audits.boundaries.plain_code import STYLES
from forge.audits.boundaries.rules import RuleBook, Violation, pattern_hits
from forge.audits.boundaries.searching import searched
from forge.audits.broken_config import broken_config
from forge.audits.check import Check, Examination, Found, skip
from forge.audits.checks.a4_docs import DOCS
from forge.audits.checks.a4_fixtures import FIXTURES
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import LANGUAGES
from forge.audits.imports.folders import folders_of
from forge.audits.imports.graph import ImportGraph
from forge.audits.imports.modules import Modules
from forge.audits.models import Severity
from forge.audits.paths import shown
from forge.audits.snapshot import MAX_BYTES, Entry, Snapshot

_REPAIR = "Repair boundaries.json; `forge audit --explain A4` shows its format."

_USUAL_FILES = ("__init__.py", "index.ts", "index.tsx", "index.js", "main.go")
_WORST_FIRST = (Severity.FAIL, Severity.ERROR, Severity.WARN, Severity.NOTE)


def examine(snapshot: Snapshot) -> Examination:
    where = snapshot.governance.boundaries
    entry = snapshot.tree.entries.get(where)
    if entry is None:
        return skip("there is no boundaries.json; `forge audit init` proposes one")
    if not entry.kind.is_file or entry.size > MAX_BYTES:
        return _refused(where, "is no file that can be read", None)
    if (broken := broken_config(snapshot)) is not None:
        return broken
    data = snapshot.tree.read(where)
    try:
        boundaries = read_boundaries(data)
        ignored = snapshot.project.config.audit.ignore
        layers = Layers.of(boundaries, snapshot.tree.entries, ignored)
        known = KnownOnes(boundaries.known_violations, snapshot.today)
        containers_of(boundaries)
    except BadBoundaries as bad:
        return _refused(where, bad.message, bad.line)
    except ValueError as error:
        return _refused(where, f"has a glob that cannot be read: {error}", None)
    return Audit(snapshot, boundaries, layers, known, Lines(data.decode("utf-8-sig"))).run()


def _refused(path: str, message: str, line: int | None) -> Examination:
    found = Found(
        "bad-boundaries", Severity.ERROR, f"{path} {message}", _REPAIR, path, line or 1, subject=message
    )
    return Examination((found,), 0, "files")


@dataclass(frozen=True)
class Audit:
    """One look at one project that has boundaries."""

    snapshot: Snapshot
    boundaries: Boundaries
    layers: Layers
    known: KnownOnes
    lines: Lines

    def run(self) -> Examination:
        found = [*self._bad_patterns()]
        if found:
            return Examination(tuple(found), 0, "files")
        if not self._has_code():
            return skip("there is no code yet that could keep to boundaries")
        found += self._empty_layers()
        book = RuleBook(
            self.boundaries, self.layers, self._graph(), folders_of(self.snapshot.tree.entries).__contains__
        )
        found += [self._told(violation) for violation in _once(self._violations(book))]
        found += [*self._stray(book), *self._unread(book), *self._folders_elsewhere(), *self._stale()]
        found.sort(key=lambda one: _WORST_FIRST.index(one.severity))
        count = len(self.layers.names)
        counted = any(one.severity is not Severity.NOTE for one in found)
        parts = len(self.boundaries.layers)
        kept = f"{count:,} files in {parts} {'layer' if parts == 1 else 'layers'} keep their boundaries"
        detail = "" if counted else kept
        return Examination(tuple(found), count, "files", detail)

    def _has_code(self) -> bool:
        known = (entry.suffix in LANGUAGES or entry.suffix in STYLES for entry in self.snapshot.files())
        return any(known) or any(self._searched.values())

    def _graph(self) -> ImportGraph:
        return ImportGraph(Modules.of(self.snapshot), facts_of(self.snapshot))

    def _at(self, *where: int | str) -> tuple[str, int | None]:
        return self.snapshot.governance.boundaries, self.lines.of(*where)

    def _bad_patterns(self) -> Iterator[Found]:
        for i, layer in enumerate(self.boundaries.layers):
            for j, rule in enumerate(layer.forbidden):
                if (problem := _bad_pattern(rule)) is not None:
                    what, fix = problem
                    where = self._at("layers", i, "forbidden", j)
                    message = f"{layer.name}: {what}"
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
                "no layer has any file: the boundaries guard nothing",
                "Correct the globs; they are relative to the project: `app/api/**/*.py`.",
                *self._at("layers"),
            )
            return
        for i, layer in empty:
            if layer.name not in optional:
                yield Found(
                    "empty-layer",
                    Severity.WARN,
                    f"the layer {layer.name} has no files: nothing matches {', '.join(layer.glob)}",
                    f"Correct its glob, remove the layer, or write `({layer.name})` in `order` if it may be missing.",
                    *self._at("layers", i),
                    subject=layer.name,
                )

    def _unread(self, book: RuleBook) -> Iterator[Found]:
        """Files of a layer that cannot be judged, or not wholly."""
        entries = self.snapshot.tree.entries
        wanted = {e.path for layer in self._with_patterns for e in self._searched[layer.name]}
        unread = {path for hits in self._hits.values() for path, one in hits.items() if not one.is_read}
        for path in sorted(self.layers.names):
            entry, facts = entries[path], book.graph.facts.get(path)
            if not entry.kind.is_file:
                yield _link(entry, self.layers.names[path][0])
            elif entry.size > MAX_BYTES and (entry.suffix in LANGUAGES or path in wanted):
                yield _too_large(entry)
            elif facts is not None and facts.broken_line is not None:
                yield _unparsable(path, facts.broken_line)
            elif path in unread:
                yield _unsearchable(path)

    def _folders_elsewhere(self) -> Iterator[Found]:
        """Links to folders and submodules where files of a layer would be: code may be in them."""
        tree = self.snapshot.tree.entries
        aside = [e for e in tree.values() if not e.kind.is_file and e.path not in self.layers.names]
        probes = {f"{entry.path}/{name}": entry for entry in aside for name in _USUAL_FILES}
        if probes:
            layers = Layers.of(self.boundaries, [*tree, *probes], self.snapshot.project.config.audit.ignore)
            inside = {probes[path].path: mine[0] for path, mine in layers.names.items() if path in probes}
            yield from (_link(tree[path], inside[path]) for path in sorted(inside))

    def _violations(self, book: RuleBook) -> Iterator[Violation]:
        for layer in self.boundaries.layers:
            patterns = _patterns(layer)
            hits = self._hits.get(layer.name, {})
            for rule in layer.forbidden:
                if rule.pattern is not None:
                    yield from book.by_pattern(layer, rule, pattern_hits(hits, patterns.index(rule.text)))
                elif rule.imported is not None:
                    yield from book.by_import(layer, rule)
                else:
                    yield from book.by_layer(layer, rule)
        yield from book.by_order()

    @cached_property
    def _hits(self) -> dict[str, dict[str, Hits]]:
        """By layer and path, of the layers that have patterns."""
        return {
            layer.name: dict(
                self.snapshot.analyse(PatternSearch(_patterns(layer)), self._searched[layer.name])
            )
            for layer in self._with_patterns
        }

    @property
    def _with_patterns(self) -> list[Layer]:
        return [layer for layer in self.boundaries.layers if _patterns(layer)]

    @cached_property
    def _searched(self) -> dict[str, list[Entry]]:
        """The files of each layer that patterns are about. Contracts and evidence may name what is forbidden."""
        tree, governance = self.snapshot.tree.entries, self.snapshot.governance
        aside = (governance.path("Contracts", ""), governance.path("evidence", ""))
        return {
            layer.name: searched(
                layer.glob,
                (tree[path] for path in sorted(self.layers.files[layer.name]) if not path.startswith(aside)),
            )
            for layer in self.boundaries.layers
        }

    def _told(self, violation: Violation) -> Found:
        entry = self.known.find(violation)
        severity, note = Severity.FAIL, ""
        if entry is not None and self.known.is_over(entry):
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
            subject=f"{violation.layer}:{violation.text}:{violation.what}",
        )

    def _stray(self, book: RuleBook) -> Iterator[Found]:
        """Of `exhaustive`: code in a container that is in no layer. The container's own `__init__` is none of them."""
        if not self.boundaries.exhaustive:
            return
        settled = self.layers.names.keys() | self.layers.left_out
        for folder in book.container_folders:
            for path in sorted(book.graph.facts.keys() - settled):
                if path.startswith(f"{folder}/") and path != f"{folder}/__init__.py":
                    yield Found(
                        "no-layer",
                        Severity.FAIL,
                        f"{shown(path)} is in {shown(folder)} and in no layer, and the boundaries are exhaustive",
                        "Add it to the glob of a layer, or to `exclude`.",
                        path,
                        1,
                    )

    def _stale(self) -> Iterator[Found]:
        for index in self.known.stale:
            entry = self.boundaries.known_violations[index]
            yield Found(
                "stale-known-violation",
                Severity.NOTE,
                f"{entry.file} no longer breaks {entry.pattern!r} of {entry.layer}: the entry can go",
                "Remove it from `known_violations`.",
                *self._at("known_violations", index),
                subject=f"{entry.layer}:{entry.file}:{entry.pattern}",
            )


def _patterns(layer: Layer) -> tuple[str, ...]:
    return tuple(rule.text for rule in layer.forbidden if rule.pattern is not None)


def _bad_pattern(rule: Rule) -> tuple[str, str] | None:
    """What is wrong with what a rule looks for, and what to do about it."""
    try:
        read_pattern(rule.pattern or "")
    except ValueError as error:
        fix = "Write it without look-around and back references, or as an `import` or `layer` rule."
        return f"the pattern {rule.text!r} is no RE2 expression: {error}", fix
    try:
        if "/" in (rule.imported or ""):
            Cover.of(rule.text, lambda _: False)
    except ValueError as error:
        return f"the import {rule.text!r} is no glob: {error}", "Close its brackets and braces."
    return None


def _link(entry: Entry, layer: str) -> Found:
    return Found(
        "not-a-file",
        Severity.WARN,
        f"{shown(entry.path)} is a {entry.kind}: what it leads to was not examined as part of {layer}",
        "Put the file itself there, or `exclude` the path from its layer.",
        entry.path,
        subject=entry.kind,
    )


def _too_large(entry: Entry) -> Found:
    return Found(
        "too-large",
        Severity.ERROR,
        f"{shown(entry.path)} has {entry.size:,} bytes: too large to be read as code",
        f"Split it to below {MAX_BYTES:,} bytes, or `exclude` it from its layer.",
        entry.path,
        1,
    )


def _unparsable(path: str, line: int) -> Found:
    return Found(
        "unparsable",
        Severity.ERROR,
        f"{shown(path)} is no well-formed code from line {line} on: it cannot be judged",
        "Repair the syntax, or `exclude` the file from its layer.",
        path,
        line,
    )


def _unsearchable(path: str) -> Found:
    return Found(
        "unparsable",
        Severity.ERROR,
        f"{shown(path)} has NUL bytes in its text, or searching it takes too much: it cannot be judged",
        "Take them out, make it simpler, or `exclude` the file from its layer.",
        path,
        1,
    )


def _once(violations: Iterable[Violation]) -> Iterator[Violation]:
    """One for each line and rule; where a rule and the order say the same of an import, the rule has the reason."""
    seen: set[tuple[str, str, int, str]] = set()
    for one in violations:
        key = (one.layer, one.path, one.line, one.text)
        if key not in seen:
            seen.add(key)
            yield one


def _message(violation: Violation) -> str:
    verb = "contain" if violation.kind == "forbidden-pattern" else "import"
    what = f"`{violation.what}`" if verb == "contain" else shown(violation.what)
    reason = f" ({violation.reason})" if violation.reason else ""
    if violation.kind == "layer-order":
        reason = f" ({violation.text} is not below {violation.layer})"
    chain = f": {' → '.join(map(shown, violation.way))}" if violation.way else ""
    return f"{violation.layer} may not {verb} {what}{reason}{chain}"


def _fix(violation: Violation) -> str:
    if violation.way:
        return (
            f"Break the chain: let {shown(violation.way[1])} do without it, or do not import "
            f"{shown(violation.way[1])} here."
        )
    if violation.kind == "forbidden-pattern":
        return f"Move this out of {violation.layer}, to a layer that may do it, and call that."
    return (
        f"Do not import {shown(violation.what)} in {violation.layer}: move what needs it to a layer that may."
    )


CHECK = Check(
    code="A4",
    name="Boundary compliance",
    why="Layers that reach through each other cannot be changed or tested one at a time; boundaries.json says which "
    "parts may know which, and only a machine keeps that true.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
