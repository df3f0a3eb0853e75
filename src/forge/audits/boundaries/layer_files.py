"""Assign files to layers and find violations of their order, with the semantics of import-linter's layers."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from forge.audits.boundaries.config import Boundaries, Rank
from forge.audits.files.folders import folders_of
from forge.audits.imports.graph import Edge, ImportGraph, reachable, ways_to
from forge.workspace.filesystem.pattern import Glob

_WILD = re.compile(r"[*?\[{]")
_UNMATCHABLE = re.compile("[\x00-\x1f\ud800-\udfff]")


@dataclass(frozen=True)
class LayerGlob:
    """A glob of a layer. `app/api/*.py` also matches deeper files, unless another layer matches them."""

    text: str
    start: str
    """The literal prefix of all matching paths."""
    exact: Glob
    deep: Glob | None

    @classmethod
    def of(cls, text: str, is_folder: Callable[[str], bool]) -> "LayerGlob":
        """Parse a glob. Raises ValueError if it is invalid."""
        glob = text.replace("\\", "/").removeprefix("./").rstrip("/")
        if not _WILD.search(glob) and is_folder(glob):
            glob += "/**"
        wild = _WILD.search(glob)
        folder, slash, name = glob.rpartition("/")
        has_depths = slash and _WILD.search(name) and "**" not in glob and name.count("{") == name.count("}")
        start = glob[: wild.start()] if wild and slash else ("" if not slash else glob)
        return cls(text, start, Glob(glob), Glob(f"{folder}/**/{name}") if has_depths else None)

    def has(self, path: str) -> bool:
        return path.startswith(self.start) and self.exact.matches(normalize_name(path))

    def has_below(self, path: str) -> bool:
        return (
            self.deep is not None and path.startswith(self.start) and self.deep.matches(normalize_name(path))
        )


def normalize_name(path: str) -> str:
    """Replace characters that globs cannot match, so that no file name escapes its layer."""
    return _UNMATCHABLE.sub("_", path) if not path.isprintable() else path


@dataclass(frozen=True)
class LayerFiles:
    """The files of each layer."""

    files: Mapping[str, frozenset[str]]
    names: Mapping[str, tuple[str, ...]]
    """The layers of each file."""
    left_out: frozenset[str]
    """Files that `exclude` or `audit.ignore` removes from all layers or from one."""

    @classmethod
    def of(cls, boundaries: Boundaries, paths: Iterable[str], ignored: Iterable[str] = ()) -> "LayerFiles":
        """Assign files to layers. Raises ValueError for an invalid glob."""
        known = sorted(paths)
        folders = folders_of(known)
        everywhere = [LayerGlob.of(glob, folders.__contains__) for glob in (*boundaries.exclude, *ignored)]
        covers = {
            layer.name: (
                [LayerGlob.of(glob, folders.__contains__) for glob in layer.glob],
                [LayerGlob.of(glob, folders.__contains__) for glob in layer.exclude],
            )
            for layer in boundaries.layers
        }
        out = _all_matched(everywhere, known, LayerGlob.has)
        excluded = {name: _all_matched(globs, known, LayerGlob.has) for name, (_, globs) in covers.items()}
        exact = {name: _all_matched(globs, known, LayerGlob.has) for name, (globs, _) in covers.items()}
        below = _below([(n, cover) for n, (globs, _) in covers.items() for cover in globs], known)
        for paths_of_layer in exact.values():
            for path in paths_of_layer:
                below.pop(path, None)
        files: dict[str, frozenset[str]] = {}
        for name in covers:
            deeper = {path for path, (_, owners) in below.items() if name in owners}
            files[name] = frozenset((exact[name] | deeper) - excluded[name] - out)
        names: dict[str, tuple[str, ...]] = {}
        for name, paths_of_layer in files.items():
            for path in paths_of_layer:
                names[path] = (*names.get(path, ()), name)
        return cls(files, names, frozenset(out.union(*excluded.values())))


def _below(covers: list[tuple[str, LayerGlob]], known: list[str]) -> dict[str, tuple[int, set[str]]]:
    """Assign deeper files to the layer with the longest matching glob."""
    owners: dict[str, tuple[int, set[str]]] = {}
    for name, cover in covers:
        length = cover.text.count("/")
        for path in _matched(cover, known, LayerGlob.has_below):
            best, names = owners.get(path, (-1, set[str]()))
            if length > best:
                owners[path] = (length, {name})
            elif length == best:
                names.add(name)
    return owners


def _all_matched(
    covers: list[LayerGlob], known: list[str], has: Callable[[LayerGlob, str], bool]
) -> set[str]:
    return {path for cover in covers for path in _matched(cover, known, has)}


def _matched(cover: LayerGlob, known: list[str], has: Callable[[LayerGlob, str], bool]) -> Iterator[str]:
    """Yield matching paths. Only the sorted paths with the glob's literal prefix are tested."""
    for index in range(bisect_left(known, cover.start), len(known)):
        path = known[index]
        if not path.startswith(cover.start):
            break
        if has(cover, path):
            yield path


def containers_of(boundaries: Boundaries) -> list[Glob]:
    """Parse the container globs. Raises ValueError for an invalid one."""
    return [LayerGlob.of(text, lambda _: False).exact for text in boundaries.containers]


@dataclass(frozen=True, slots=True)
class OrderViolation:
    """A direct or indirect import of a forbidden layer."""

    importer_layer: str
    imported_layer: str
    way: tuple[str, ...]
    """The files from the importing to the imported one."""
    line: int
    """The line of the first import on the way."""


def forbidden_pairs(ranks: list[Rank]) -> list[tuple[str, str]]:
    """Return forbidden (importer, imported) pairs: lower layers must not import higher or independent ones."""
    pairs: list[tuple[str, str]] = []
    for height, rank in enumerate(ranks):
        above = [name for higher in ranks[:height] for name in higher.names]
        for name in rank.names:
            pairs += [(name, other) for other in above]
            if rank.is_independent:
                pairs += [(name, other) for other in rank.names if other != name]
    return pairs


def order_breaches(
    pairs: list[tuple[str, str]],
    files: Mapping[str, frozenset[str]],
    graph: ImportGraph,
    counts: Callable[[str, Edge], bool],
) -> list[OrderViolation]:
    """Find violations of the order. Chains through files without a layer count; a third layer ends a chain."""
    layered = frozenset(path for _, whom in pairs for path in files.get(whom, ())) | frozenset(
        path for who, _ in pairs for path in files.get(who, ())
    )

    def follow(path: str) -> list[str]:
        return [edge.target for edge in graph.edges(path) if counts(path, edge)]

    outside = [edge_target for path in layered for edge_target in follow(path) if edge_target not in layered]
    reached = reachable(outside, lambda path: [] if path in layered else follow(path))
    breaches: list[OrderViolation] = []
    for whom in dict.fromkeys(whom for _, whom in pairs):
        ways = ways_to(files.get(whom, frozenset()), reached, lambda path: path not in layered)
        for who in [who for who, other in pairs if other == whom]:
            for path in sorted(files.get(who, frozenset()) - files.get(whom, frozenset())):
                edges = [edge for edge in graph.edges(path) if counts(path, edge)]
                breaches += breaches_of(who, whom, path, edges, ways.way)
    return breaches


def breaches_of(
    who: str, whom: str, path: str, edges: Iterable[Edge], way: Callable[[str], list[str] | None]
) -> list[OrderViolation]:
    """Return every direct import, else the shortest indirect one, if any."""
    ways = [(edge, found) for edge in edges if (found := way(edge.target)) is not None]
    direct = {edge.line: found for edge, found in reversed(ways) if len(found) == 1}
    if direct:
        return [OrderViolation(who, whom, (path, *direct[line]), line) for line in sorted(direct)]
    best = min(ways, key=lambda pair: (len(pair[1]), pair[0].line), default=None)
    return [] if best is None else [OrderViolation(who, whom, (path, *best[1]), best[0].line)]
