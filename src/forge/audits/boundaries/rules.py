"""Find the violations of boundaries.json: patterns, imports, layers and their order, and match known violations."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

from forge.audits.boundaries.config import Boundaries, KnownViolation, Layer, Rule
from forge.audits.boundaries.layer_files import (
    LayerFiles,
    LayerGlob,
    LayerImport,
    containers_of,
    find_layer_imports,
    find_order_violations,
    forbidden_pairs,
    normalize_name,
)
from forge.audits.boundaries.pattern_search import Hits, is_whole
from forge.audits.boundaries.rule_pattern import Alternative, Meaning, read_pattern
from forge.audits.facts.models import Import, Language, language_of
from forge.audits.files.folders import folders_of
from forge.audits.imports.graph import Edge, ImportGraph, ResolvedImport, chains_to, reachable
from forge.workspace.filesystem.pattern import Glob

Texts = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ImportTexts:
    written: Texts
    """The form in the file, up to whitespace and aliases."""
    equal: Texts
    """Equivalent forms."""


@dataclass(frozen=True, slots=True)
class ImportParts:
    """The parts of an import that determine its forms."""

    written: str
    """The module, or the specifier."""
    names: Texts
    is_from: bool
    aliases: Texts
    """Other names of the module; for scripts, the paths of its files."""
    is_script: bool = False

    @property
    def texts(self) -> ImportTexts:
        if self.is_script:
            equal = tuple(text for location in self.aliases for text in _statements(location, self.names))
            return ImportTexts(_statements(self.written, self.names), equal)
        equal = tuple(text for module in self.aliases for text in _equivalent_texts(module, self.names))
        return ImportTexts(_written_texts(self.written, self.names, self.is_from), equal)


def import_parts(graph: ImportGraph, path: str, imp: Import, targets: tuple[str, ...]) -> ImportParts:
    if language_of(path) is Language.SCRIPT:
        return _script_import_parts(graph, path, imp, targets)
    names = imp.names if imp.is_from else ()
    if imp.level == 0:
        own = graph.modules.python.module_of(targets[0]) if targets else None
        other = own is not None and own.partition(".")[0] != imp.module.partition(".")[0]
        return ImportParts(
            imp.module, names, imp.is_from, (imp.module, own) if other and own else (imp.module,)
        )
    absolute = graph.absolute(path, imp)
    return ImportParts("." * imp.level + imp.module, names, imp.is_from, (absolute,) if absolute else ())


def _written_texts(module: str, names: Texts, is_from: bool) -> Texts:
    return (
        tuple(f"from {module} import {text}" for text in _name_lists(names))
        if is_from
        else (f"import {module}",)
    )


def _equivalent_texts(module: str, names: Texts) -> Texts:
    parent, dot, last = module.rpartition(".")
    texts = [f"import {module}", f"from {module} import "]
    if dot:
        texts.append(f"from {parent} import {last}")
    texts += [f"from {module} import {text}" for text in _name_lists(names)]
    for name in names:
        if name != "*":
            texts += [f"import {module}.{name}", f"from {module}.{name} import "]
    return tuple(texts)


def _name_lists(names: Texts) -> list[str]:
    return [*names, ", ".join(names)] if len(names) > 1 else list(names)


def _script_import_parts(graph: ImportGraph, path: str, imp: Import, targets: tuple[str, ...]) -> ImportParts:
    facts = graph.facts.get(path)
    bound = facts.bound if facts else ()
    names = tuple(original or local for local, module, original in bound if module == imp.module)
    locations: list[str] = []
    for target in targets:
        stem = graph.modules.script.module_of(target) or target
        locations += [stem, f"./{stem}", target]
    return ImportParts(
        imp.module, names, is_from=False, aliases=tuple(dict.fromkeys(locations)), is_script=True
    )


def _statements(specifier: str, names: Texts) -> Texts:
    texts: list[str] = []
    for quote in "\"'":
        quoted = f"{quote}{specifier}{quote}"
        texts.append(f"import {{ {', '.join(names)} }} from {quoted}" if names else f"import _ from {quoted}")
        texts += [f"import {name} from {quoted}" for name in names[:1]]
        texts += [f"require({quoted})", f"import({quoted})"]
    return tuple(texts)


_engine: Any = re2


@dataclass(frozen=True, slots=True)
class Violation:
    kind: str
    """The rule id: forbidden-pattern, forbidden-import, forbidden-layer or layer-order."""
    layer: str
    path: str
    line: int
    text: str
    """The text of the violated rule; for an order, the imported layer."""
    subject: str
    """The name of the imported module; for a pattern, its text."""
    reason: str
    chain: tuple[str, ...] = ()
    """The files of an indirect import, including both ends; empty for a direct one."""


@dataclass(frozen=True)
class ImportPattern:
    """The target of an import rule: `app.repos`, `app.*.models`, `express`, `./src/db/**`."""

    text: str
    is_folder: Callable[[str], bool]

    @cached_property
    def _cover(self) -> LayerGlob:
        return LayerGlob.of(self.text, self.is_folder)

    @cached_property
    def _dotted(self) -> Any:
        return _engine.compile(_translated(self.text, r"\.").encode())

    @cached_property
    def _slashed(self) -> Any:
        return _engine.compile(_translated(self.text.removeprefix("node:"), "/").encode())

    def matches(self, graph: ImportGraph, path: str, resolved: ResolvedImport) -> str | None:
        """Return the imported name if the pattern matches, else None."""
        imp, targets = resolved
        if language_of(path) is Language.SCRIPT:
            if self._slashed.fullmatch(imp.module.removeprefix("node:").encode("utf-8", "surrogatepass")):
                return imp.module
        else:
            names = sorted(graph.names(path, imp, targets), key=lambda name: (len(name), name))
            found = next(
                (n for n in names if self._dotted.fullmatch(n.encode("utf-8", "surrogatepass"))), None
            )
            if found is not None:
                return found
        return next((target for target in targets if self._has(target)), None)

    def _has(self, target: str) -> bool:
        return "/" in self.text and (self._cover.has(target) or self._cover.has_below(target))


def _translated(text: str, separator: str) -> str:
    """Translate to a regular expression: `*` is one part of a name, `**` several; submodules match as well."""
    part = "[^.]+" if separator == r"\." else "[^/]+"
    pieces = re.split(r"(\*\*|\*)", text)
    body = "".join({"**": ".+", "*": part}.get(piece, re.escape(piece)) for piece in pieces)
    return f"(?:{body})(?:{separator}.*)?"


@dataclass(frozen=True)
class BoundaryRules:
    boundaries: Boundaries
    layers: LayerFiles
    graph: ImportGraph
    is_folder: Callable[[str], bool]
    _texts: dict[str, "ImportStatements"] = field(default_factory=dict[str, "ImportStatements"], repr=False)

    def counts(self, layer: Layer | None, is_type_only: bool) -> bool:
        """Return whether an import counts; type-only imports do unless the settings allow them."""
        own = layer.allow_type_checking if layer is not None else None
        return not (is_type_only and (self.boundaries.allow_type_checking if own is None else own))

    def by_pattern(self, layer: Layer, rule: Rule, hits: Iterable[tuple[str, int]]) -> Iterator[Violation]:
        """Yield violations of a pattern rule: the given matches in code, and matching imports."""
        texts = self._import_texts(layer)
        lines = {*hits}
        for alternative in read_pattern(rule.text):
            lines |= texts.find(alternative)
        for path, line in sorted(lines - texts.ignored):
            yield Violation("forbidden-pattern", layer.name, path, line, rule.text, rule.text, rule.reason)

    def _import_texts(self, layer: Layer) -> "ImportStatements":
        if layer.name not in self._texts:
            self._texts[layer.name] = ImportStatements.of(self, layer)
        return self._texts[layer.name]

    def by_import(self, layer: Layer, rule: Rule) -> Iterator[Violation]:
        pattern = ImportPattern(rule.text, self.is_folder)
        files = self.layers.files[layer.name]
        direct: set[str] = set()
        for path in sorted(files):
            for imp, targets in self.graph.imports(path):
                counts = self.counts(layer, imp.is_type_only)
                subject = pattern.matches(self.graph, path, (imp, targets)) if counts else None
                if subject is not None:
                    direct.add(path)
                    yield Violation(
                        "forbidden-import", layer.name, path, imp.line, rule.text, subject, rule.reason
                    )
        if rule.indirect:
            yield from self._by_chain(layer, rule, files - direct, pattern)

    def _by_chain(
        self, layer: Layer, rule: Rule, files: frozenset[str], pattern: ImportPattern
    ) -> Iterator[Violation]:
        own = self.layers.files[layer.name]
        reached = self._reached_from(own)
        carriers: dict[str, str] = {}
        for path in sorted(set(reached) - own):
            counted = (
                resolved
                for resolved in self.graph.imports(path)
                if self.counts(None, resolved[0].is_type_only)
            )
            found = (pattern.matches(self.graph, path, resolved) for resolved in counted)
            subject = next((name for name in found if name is not None), None)
            if subject is not None:
                carriers[path] = subject
        chains = chains_to(frozenset(carriers), reached, lambda path: path not in own)
        for path in sorted(files):
            edges = [edge for edge in self.graph.edges(path) if self.counts(layer, edge.is_type_only)]
            best = min(
                find_layer_imports("", "", path, edges, chains.chain_from),
                key=lambda b: (len(b.chain), b.line),
                default=None,
            )
            if best is not None:
                subject = carriers[best.chain[-1]]
                yield Violation(
                    "forbidden-import",
                    layer.name,
                    path,
                    best.line,
                    rule.text,
                    subject,
                    rule.reason,
                    (*best.chain, subject),
                )

    def _reached_from(self, starts: Iterable[str]) -> dict[str, list[str]]:
        def follow(path: str) -> list[str]:
            return [e.target for e in self.graph.edges(path) if self.counts(None, e.is_type_only)]

        return reachable(sorted(starts), follow)

    def by_layer(self, layer: Layer, rule: Rule) -> Iterator[Violation]:
        own, other = self.layers.files[layer.name], self.layers.files[rule.text]
        reached = self._reached_from(own) if rule.indirect else {}
        chains = chains_to(other, reached, lambda path: path not in own)
        for path in sorted(own - other):
            edges = [edge for edge in self.graph.edges(path) if self.counts(layer, edge.is_type_only)]
            for layer_import in find_layer_imports(layer.name, rule.text, path, edges, chains.chain_from):
                yield self._violation(layer_import, "forbidden-layer", rule.reason)

    def by_order(self) -> Iterator[Violation]:
        pairs = forbidden_pairs(self.boundaries.ranks)
        layer_named = {layer.name: layer for layer in self.boundaries.layers}

        def counts(path: str, edge: Edge) -> bool:
            if not edge.is_type_only:
                return True
            names = self.layers.names.get(path, ())
            return any(self.counts(layer_named[name], edge.is_type_only) for name in names) or (
                not names and self.counts(None, edge.is_type_only)
            )

        for files in self._containers():
            for layer_import in find_order_violations(pairs, files, self.graph, counts):
                yield self._violation(layer_import, "layer-order", "")

    def _containers(self) -> Iterator[dict[str, frozenset[str]]]:
        """Yield the layers of each container, or of the whole project if there are none."""
        if not self.boundaries.containers:
            yield dict(self.layers.files)
        for folder in self.container_folders:
            inside = {
                n: frozenset(p for p in f if p.startswith(f"{folder}/")) for n, f in self.layers.files.items()
            }
            yield inside

    @cached_property
    def container_folders(self) -> list[str]:
        globs = containers_of(self.boundaries)
        folders = folders_of({*self.graph.facts, *self.layers.names})
        return sorted(f for f in folders if any(glob.matches(normalize_name(f)) for glob in globs))

    def _violation(self, layer_import: LayerImport, kind: str, reason: str) -> Violation:
        target = layer_import.chain[-1]
        subject = (
            self.graph.modules.module_of(target) if target.endswith((".py", ".pyi")) else None
        ) or target
        path, imported_layer = layer_import.chain[0], layer_import.imported_layer
        chain = layer_import.chain if len(layer_import.chain) > 2 else ()
        return Violation(
            kind, layer_import.importer_layer, path, layer_import.line, imported_layer, subject, reason, chain
        )


Location = tuple[str, int]
"""A path and a line."""


@dataclass(frozen=True)
class ImportStatements:
    """All imports of a layer in all equivalent forms, as text with one form per line."""

    written: "TextIndex"
    equal: "TextIndex"
    ignored: frozenset[Location]
    """The lines of imports that do not count."""
    own: dict[Location, frozenset[str]]
    """By line, the names of the layer's own files that are imported there."""

    @classmethod
    def of(cls, rules: BoundaryRules, layer: Layer) -> "ImportStatements":
        locations: dict[ImportParts, list[Location]] = {}
        ignored: set[Location] = set()
        own: dict[Location, frozenset[str]] = {}
        for path in sorted(rules.layers.files[layer.name]):
            for imp, targets in rules.graph.imports(path):
                stems = _stems(target for target in targets if target in rules.layers.files[layer.name])
                own[path, imp.line] = own.get((path, imp.line), stems) & stems
                if rules.counts(layer, imp.is_type_only):
                    locations.setdefault(import_parts(rules.graph, path, imp, targets), []).append(
                        (path, imp.line)
                    )
                else:
                    ignored.add((path, imp.line))
        written: dict[str, list[Location]] = {}
        equal: dict[str, list[Location]] = {}
        for parts, where in locations.items():
            forms = parts.texts
            for texts, index in ((forms.written, written), (forms.equal, equal)):
                for text in texts:
                    index.setdefault(text, []).extend(where)
        return cls(TextIndex(written), TextIndex(equal), frozenset(ignored), own)

    def find(self, alternative: Alternative) -> set[Location]:
        """Find matching imports. A single word only matches the written form, as equivalent forms contain too many names."""
        locations = self.written.find(alternative)
        if alternative.meaning is Meaning.WORD:
            return {location for location in locations if alternative.word not in self.own[location]}
        return locations if alternative.is_word else locations | self.equal.find(alternative)


def _stems(paths: Iterable[str]) -> frozenset[str]:
    """Return module names: `app/routers/asyncpg.py` and `app/routers/asyncpg/__init__.py` give asyncpg."""
    stems: set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem = name.partition(".")[0]
        stems.add(folder.rpartition("/")[2] if stem in ("__init__", "index") else stem)
    return frozenset(stems)


@dataclass(frozen=True)
class TextIndex:
    locations: dict[str, list[Location]]

    @cached_property
    def _joined(self) -> bytes:
        return "\n".join(text.replace("\n", " ") for text in self.locations).encode("utf-8", "surrogatepass")

    @cached_property
    def _in_order(self) -> tuple[list[int], list[list[Location]]]:
        starts = [0, *(newline.end() for newline in re.finditer(rb"\n", self._joined))]
        return starts, list(self.locations.values())

    def find(self, alternative: Alternative) -> set[Location]:
        text = self._joined
        found: set[Location] = set()
        for start, end in alternative.find(text):
            if alternative.meaning is Meaning.EXPRESSION or is_whole(text, start, end, also=b"-"):
                starts, locations = self._in_order
                found.update(locations[bisect_right(starts, start) - 1])
        return found


def pattern_hits(hits: dict[str, Hits], index: int) -> Iterator[tuple[str, int]]:
    return (
        (path, line) for path, file_hits in hits.items() for rule, line in file_hits.found if rule == index
    )


@dataclass
class KnownViolations:
    """Matches violations with `known_violations`. Raises ValueError for an invalid glob."""

    entries: Sequence[KnownViolation]
    today: date

    def __post_init__(self) -> None:
        self._globs = [Glob(entry.file.removeprefix("./")) for entry in self.entries]
        self._matched: set[int] = set()

    def find(self, violation: Violation) -> KnownViolation | None:
        """Return the entry that accepts a violation, preferably one that has not expired."""
        found = [i for i, entry in enumerate(self.entries) if self._is_about(i, entry, violation)]
        self._matched.update(found)
        entries = [self.entries[i] for i in found]
        return next((e for e in entries if not self.is_expired(e)), entries[0] if entries else None)

    def _is_about(self, index: int, entry: KnownViolation, violation: Violation) -> bool:
        if entry.layer != violation.layer or entry.pattern not in (violation.text, violation.subject):
            return False
        return entry.file == violation.path or self._globs[index].matches(normalize_name(violation.path))

    def is_expired(self, entry: KnownViolation) -> bool:
        return entry.expires is not None and entry.expires < self.today

    @property
    def stale(self) -> list[int]:
        """The indices of entries that matched no violation."""
        return [index for index in range(len(self.entries)) if index not in self._matched]
