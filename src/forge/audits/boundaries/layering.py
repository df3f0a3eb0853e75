"""Which files are in which layer, and who breaks their order: the rules of import-linter's layers, on files."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from forge.audits.boundaries.config import Boundaries, Rank
from forge.audits.imports.folders import folders_of
from forge.audits.imports.graph import Edge, ImportGraph, reachable, ways_to
from forge.workspace.pattern import Glob

_WILD = re.compile(r"[*?\[{]")
_UNMATCHABLE = re.compile("[\x00-\x1f\ud800-\udfff]")


@dataclass(frozen=True)
class Cover:
    """A glob of a layer. `app/api/*.py` also covers what lies deeper, unless another layer claims that."""

    text: str
    start: str
    """What every path it matches begins with."""
    exact: Glob
    deep: Glob | None

    @classmethod
    def of(cls, text: str, is_folder: Callable[[str], bool]) -> "Cover":
        """ValueError when it cannot be read."""
        glob = text.replace("\\", "/").removeprefix("./").rstrip("/")
        if not _WILD.search(glob) and is_folder(glob):
            glob += "/**"
        wild = _WILD.search(glob)
        folder, slash, name = glob.rpartition("/")
        has_depths = slash and _WILD.search(name) and "**" not in glob and name.count("{") == name.count("}")
        start = glob[: wild.start()] if wild and slash else ("" if not slash else glob)
        return cls(text, start, Glob(glob), Glob(f"{folder}/**/{name}") if has_depths else None)

    def has(self, path: str) -> bool:
        return path.startswith(self.start) and self.exact.matches(plain(path))

    def has_below(self, path: str) -> bool:
        return self.deep is not None and path.startswith(self.start) and self.deep.matches(plain(path))


def plain(path: str) -> str:
    """Line breaks and bytes that are no UTF-8 are characters like others: no name is a way out of a layer."""
    return _UNMATCHABLE.sub("_", path) if not path.isprintable() else path


@dataclass(frozen=True)
class Layers:
    """The files of each layer."""

    files: Mapping[str, frozenset[str]]
    names: Mapping[str, tuple[str, ...]]
    """The layers of each file that is in any."""
    left_out: frozenset[str]
    """What somebody said not to look at: `exclude`, of all or of a layer, and what the project ignores."""

    @classmethod
    def of(cls, boundaries: Boundaries, paths: Iterable[str], ignored: Iterable[str] = ()) -> "Layers":
        """ValueError when a glob cannot be read."""
        known = sorted(paths)
        folders = folders_of(known)
        everywhere = [Cover.of(glob, folders.__contains__) for glob in (*boundaries.exclude, *ignored)]
        covers = {
            layer.name: (
                [Cover.of(glob, folders.__contains__) for glob in layer.glob],
                [Cover.of(glob, folders.__contains__) for glob in layer.exclude],
            )
            for layer in boundaries.layers
        }
        out = _all_matched(everywhere, known, Cover.has)
        excluded = {name: _all_matched(globs, known, Cover.has) for name, (_, globs) in covers.items()}
        exact = {name: _all_matched(globs, known, Cover.has) for name, (globs, _) in covers.items()}
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


def _below(covers: list[tuple[str, Cover]], known: list[str]) -> dict[str, tuple[int, set[str]]]:
    """Who covers a file in a folder below: the layer whose glob names the most of the way to it."""
    owners: dict[str, tuple[int, set[str]]] = {}
    for name, cover in covers:
        length = cover.text.count("/")
        for path in _matched(cover, known, Cover.has_below):
            best, names = owners.get(path, (-1, set[str]()))
            if length > best:
                owners[path] = (length, {name})
            elif length == best:
                names.add(name)
    return owners


def _all_matched(covers: list[Cover], known: list[str], has: Callable[[Cover, str], bool]) -> set[str]:
    return {path for cover in covers for path in _matched(cover, known, has)}


def _matched(cover: Cover, known: list[str], has: Callable[[Cover, str], bool]) -> Iterator[str]:
    """Of paths in order only those that begin as the glob does are looked at."""
    for index in range(bisect_left(known, cover.start), len(known)):
        path = known[index]
        if not path.startswith(cover.start):
            break
        if has(cover, path):
            yield path


def containers_of(boundaries: Boundaries) -> list[Glob]:
    """ValueError when one cannot be read."""
    return [Cover.of(text, lambda _: False).exact for text in boundaries.containers]


@dataclass(frozen=True, slots=True)
class Breach:
    """A file of one layer that gets at another, directly or by the files in between."""

    importer_layer: str
    imported_layer: str
    way: tuple[str, ...]
    """From the importing file to the imported one."""
    line: int
    """Of the first import on the way."""


def forbidden_pairs(ranks: list[Rank]) -> list[tuple[str, str]]:
    """(who, whom): lower layers never know higher ones; independent ones of one rank not each other."""
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
) -> list[Breach]:
    """Chains through files of no layer count; a chain through another layer is that layer's own."""
    layered = frozenset(path for _, whom in pairs for path in files.get(whom, ())) | frozenset(
        path for who, _ in pairs for path in files.get(who, ())
    )

    def follow(path: str) -> list[str]:
        return [edge.target for edge in graph.edges(path) if counts(path, edge)]

    outside = [edge_target for path in layered for edge_target in follow(path) if edge_target not in layered]
    reached = reachable(outside, lambda path: [] if path in layered else follow(path))
    breaches: list[Breach] = []
    for whom in dict.fromkeys(whom for _, whom in pairs):
        ways = ways_to(files.get(whom, frozenset()), reached, lambda path: path not in layered)
        for who in [who for who, other in pairs if other == whom]:
            for path in sorted(files.get(who, frozenset()) - files.get(whom, frozenset())):
                edges = [edge for edge in graph.edges(path) if counts(path, edge)]
                breaches += breaches_of(who, whom, path, edges, ways.way)
    return breaches


def breaches_of(
    who: str, whom: str, path: str, edges: Iterable[Edge], way: Callable[[str], list[str] | None]
) -> list[Breach]:
    """Every direct import; else the shortest way there is, if any."""
    ways = [(edge, found) for edge in edges if (found := way(edge.target)) is not None]
    direct = {edge.line: found for edge, found in reversed(ways) if len(found) == 1}
    if direct:
        return [Breach(who, whom, (path, *direct[line]), line) for line in sorted(direct)]
    best = min(ways, key=lambda pair: (len(pair[1]), pair[0].line), default=None)
    return [] if best is None else [Breach(who, whom, (path, *best[1]), best[0].line)]
