"""Who breaks which rule of boundaries.json: text, imports, layers and their order, each with the line it happens on."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import re2  # pyright: ignore[reportMissingTypeStubs]

from forge.audits.boundaries.config import Boundaries, Layer, Rule
from forge.audits.boundaries.forbidden import Alternative, Meaning, read_pattern
from forge.audits.boundaries.import_text import Spelling, spelling
from forge.audits.boundaries.layering import (
    Breach,
    Cover,
    Layers,
    breaches_of,
    containers_of,
    forbidden_pairs,
    order_breaches,
    plain,
)
from forge.audits.boundaries.pattern_search import Hits, is_whole
from forge.audits.facts.models import Language
from forge.audits.imports.folders import folders_of
from forge.audits.imports.graph import Edge, ImportGraph, Reach, reachable, ways_to
from forge.audits.imports.modules import language_of

_engine: Any = re2


@dataclass(frozen=True, slots=True)
class Violation:
    kind: str
    """The rule of the finding: forbidden-pattern, forbidden-import, forbidden-layer, layer-order."""
    layer: str
    path: str
    line: int
    text: str
    """Of the rule that is broken; of an order, the layer that is imported."""
    what: str
    """What is imported, as a person would call it; of a pattern, its text."""
    reason: str
    way: tuple[str, ...] = ()
    """The files of a chain, the first and the last included, when there is anything between them."""


@dataclass(frozen=True)
class ImportPattern:
    """`app.repos`, `app.*.models`, `express`, `./src/db/**`: what an import rule names."""

    text: str
    is_folder: Callable[[str], bool]

    @cached_property
    def _cover(self) -> Cover:
        return Cover.of(self.text, self.is_folder)

    @cached_property
    def _dotted(self) -> Any:
        return _engine.compile(_translated(self.text, r"\.").encode())

    @cached_property
    def _slashed(self) -> Any:
        return _engine.compile(_translated(self.text.removeprefix("node:"), "/").encode())

    def matches(self, graph: ImportGraph, path: str, reach: Reach) -> str | None:
        """What is imported, if it is meant here."""
        imp, targets = reach
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
    """`*` is one part of a name, `**` are some; what lies below is meant too."""
    one = "[^.]+" if separator == r"\." else "[^/]+"
    pieces = re.split(r"(\*\*|\*)", text)
    body = "".join({"**": ".+", "*": one}.get(piece, re.escape(piece)) for piece in pieces)
    return f"(?:{body})(?:{separator}.*)?"


@dataclass(frozen=True)
class RuleBook:
    boundaries: Boundaries
    layers: Layers
    graph: ImportGraph
    is_folder: Callable[[str], bool]
    _texts: dict[str, "ImportTexts"] = field(default_factory=dict[str, "ImportTexts"], repr=False)

    def counts(self, layer: Layer | None, is_type_only: bool) -> bool:
        """Whether an import counts: those for types alone do, unless the boundaries say otherwise."""
        own = layer.allow_type_checking if layer is not None else None
        return not (is_type_only and (self.boundaries.allow_type_checking if own is None else own))

    def by_pattern(self, layer: Layer, rule: Rule, hits: Iterable[tuple[str, int]]) -> Iterator[Violation]:
        """`hits` are the lines where the code itself has it; here come those where an import means it."""
        texts = self._import_texts(layer)
        lines = {*hits}
        for alternative in read_pattern(rule.text):
            lines |= texts.find(alternative)
        for path, line in sorted(lines - texts.left_out):
            yield Violation("forbidden-pattern", layer.name, path, line, rule.text, rule.text, rule.reason)

    def _import_texts(self, layer: Layer) -> "ImportTexts":
        if layer.name not in self._texts:
            self._texts[layer.name] = ImportTexts.of(self, layer)
        return self._texts[layer.name]

    def by_import(self, layer: Layer, rule: Rule) -> Iterator[Violation]:
        pattern = ImportPattern(rule.text, self.is_folder)
        files = self.layers.files[layer.name]
        direct: set[str] = set()
        for path in sorted(files):
            for imp, targets in self.graph.imports(path):
                counts = self.counts(layer, imp.is_type_only)
                what = pattern.matches(self.graph, path, (imp, targets)) if counts else None
                if what is not None:
                    direct.add(path)
                    yield Violation(
                        "forbidden-import", layer.name, path, imp.line, rule.text, what, rule.reason
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
            real = (reach for reach in self.graph.imports(path) if self.counts(None, reach[0].is_type_only))
            found = (pattern.matches(self.graph, path, reach) for reach in real)
            what = next((name for name in found if name is not None), None)
            if what is not None:
                carriers[path] = what
        ways = ways_to(frozenset(carriers), reached, lambda path: path not in own)
        for path in sorted(files):
            edges = [edge for edge in self.graph.edges(path) if self.counts(layer, edge.is_type_only)]
            best = min(
                breaches_of("", "", path, edges, ways.way), key=lambda b: (len(b.way), b.line), default=None
            )
            if best is not None:
                what = carriers[best.way[-1]]
                yield Violation(
                    "forbidden-import",
                    layer.name,
                    path,
                    best.line,
                    rule.text,
                    what,
                    rule.reason,
                    (*best.way, what),
                )

    def _reached_from(self, starts: Iterable[str]) -> dict[str, list[str]]:
        def follow(path: str) -> list[str]:
            return [e.target for e in self.graph.edges(path) if self.counts(None, e.is_type_only)]

        return reachable(sorted(starts), follow)

    def by_layer(self, layer: Layer, rule: Rule) -> Iterator[Violation]:
        own, other = self.layers.files[layer.name], self.layers.files[rule.text]
        reached = self._reached_from(own) if rule.indirect else {}
        ways = ways_to(other, reached, lambda path: path not in own)
        for path in sorted(own - other):
            edges = [edge for edge in self.graph.edges(path) if self.counts(layer, edge.is_type_only)]
            for breach in breaches_of(layer.name, rule.text, path, edges, ways.way):
                yield self._told(breach, "forbidden-layer", rule.reason)

    def by_order(self) -> Iterator[Violation]:
        pairs = forbidden_pairs(self.boundaries.ranks)
        layer_named = {layer.name: layer for layer in self.boundaries.layers}

        def counts(path: str, edge: Edge) -> bool:
            if not edge.is_type_only:
                return True
            mine = self.layers.names.get(path, ())
            return any(self.counts(layer_named[name], edge.is_type_only) for name in mine) or (
                not mine and self.counts(None, edge.is_type_only)
            )

        for files in self._containers():
            for breach in order_breaches(pairs, files, self.graph, counts):
                yield self._told(breach, "layer-order", "")

    def _containers(self) -> Iterator[dict[str, frozenset[str]]]:
        """The layers of each container; the whole project, when there are none."""
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
        return sorted(f for f in folders if any(glob.matches(plain(f)) for glob in globs))

    def _told(self, breach: Breach, kind: str, reason: str) -> Violation:
        target = breach.way[-1]
        what = (self.graph.modules.module_of(target) if target.endswith((".py", ".pyi")) else None) or target
        path, whom = breach.way[0], breach.imported_layer
        chain = breach.way if len(breach.way) > 2 else ()
        return Violation(kind, breach.importer_layer, path, breach.line, whom, what, reason, chain)


Place = tuple[str, int]
"""A path and a line."""


@dataclass(frozen=True)
class ImportTexts:
    """All imports of a layer, in all their wordings, as text with one of them on each line. Equal ones are there once."""

    written: "TextIndex"
    equal: "TextIndex"
    left_out: frozenset[Place]
    """Lines of imports that do not count."""
    own: dict[Place, frozenset[str]]
    """The names of the layer's own files that all imports of a line are about."""

    @classmethod
    def of(cls, book: RuleBook, layer: Layer) -> "ImportTexts":
        places: dict[Spelling, list[Place]] = {}
        left_out: set[Place] = set()
        own: dict[Place, frozenset[str]] = {}
        for path in sorted(book.layers.files[layer.name]):
            for imp, targets in book.graph.imports(path):
                stems = _stems(target for target in targets if target in book.layers.files[layer.name])
                own[path, imp.line] = own.get((path, imp.line), stems) & stems
                if book.counts(layer, imp.is_type_only):
                    places.setdefault(spelling(book.graph, path, imp, targets), []).append((path, imp.line))
                else:
                    left_out.add((path, imp.line))
        written: dict[str, list[Place]] = {}
        equal: dict[str, list[Place]] = {}
        for one, where in places.items():
            wording = one.wording
            for texts, index in ((wording.written, written), (wording.equal, equal)):
                for text in texts:
                    index.setdefault(text, []).extend(where)
        return cls(TextIndex(written), TextIndex(equal), frozenset(left_out), own)

    def find(self, alternative: Alternative) -> set[Place]:
        """A word is looked for only as it was written: every import below `repos` means `repos` somehow."""
        places = self.written.find(alternative)
        if alternative.meaning is Meaning.WORD:
            return {place for place in places if alternative.word not in self.own[place]}
        return places if alternative.is_word else places | self.equal.find(alternative)


def _stems(paths: Iterable[str]) -> frozenset[str]:
    """`app/routers/asyncpg.py` is called asyncpg, and so is `app/routers/asyncpg/__init__.py`."""
    stems: set[str] = set()
    for path in paths:
        folder, _, name = path.rpartition("/")
        stem = name.partition(".")[0]
        stems.add(folder.rpartition("/")[2] if stem in ("__init__", "index") else stem)
    return frozenset(stems)


@dataclass(frozen=True)
class TextIndex:
    places: dict[str, list[Place]]

    @cached_property
    def _joined(self) -> bytes:
        return "\n".join(text.replace("\n", " ") for text in self.places).encode("utf-8", "surrogatepass")

    @cached_property
    def _in_order(self) -> tuple[list[int], list[list[Place]]]:
        starts = [0, *(newline.end() for newline in re.finditer(rb"\n", self._joined))]
        return starts, list(self.places.values())

    def find(self, alternative: Alternative) -> set[Place]:
        text = self._joined
        found: set[Place] = set()
        for start, end in alternative.find(text):
            if alternative.meaning is Meaning.EXPRESSION or is_whole(text, start, end, also=b"-"):
                starts, places = self._in_order
                found.update(places[bisect_right(starts, start) - 1])
        return found


def pattern_hits(hits: dict[str, Hits], index: int) -> Iterator[tuple[str, int]]:
    return ((path, line) for path, one in hits.items() for rule, line in one.found if rule == index)
