"""Assign files to layers and find violations of their order, with the semantics of import-linter's layers."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from forge.audits.boundaries.config import Boundaries, Rank
from forge.audits.files.folders import folders_of
from forge.audits.imports.graph import Edge, ImportGraph, chains_to, reachable
from forge.workspace.filesystem.pattern import Glob

_WILDCARD = re.compile(r"[*?\[{]")
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
        if not _WILDCARD.search(glob) and is_folder(glob):
            glob += "/**"
        wildcard = _WILDCARD.search(glob)
        folder, slash, name = glob.rpartition("/")
        has_depths = (
            slash and _WILDCARD.search(name) and "**" not in glob and name.count("{") == name.count("}")
        )
        start = glob[: wildcard.start()] if wildcard and slash else ("" if not slash else glob)
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
    excluded: frozenset[str]
    """Files that `exclude` or `audit.ignore` removes from all layers or from one."""

    @classmethod
    def of(cls, boundaries: Boundaries, paths: Iterable[str], ignored: Iterable[str] = ()) -> "LayerFiles":
        """Assign files to layers. Raises ValueError for an invalid glob."""
        paths = sorted(paths)
        folders = folders_of(paths)
        everywhere = [LayerGlob.of(glob, folders.__contains__) for glob in (*boundaries.exclude, *ignored)]
        globs_by_layer = {
            layer.name: (
                [LayerGlob.of(glob, folders.__contains__) for glob in layer.glob],
                [LayerGlob.of(glob, folders.__contains__) for glob in layer.exclude],
            )
            for layer in boundaries.layers
        }
        excluded_everywhere = _all_matched(everywhere, paths, LayerGlob.has)
        excluded = {
            name: _all_matched(globs, paths, LayerGlob.has) for name, (_, globs) in globs_by_layer.items()
        }
        exact = {
            name: _all_matched(globs, paths, LayerGlob.has) for name, (globs, _) in globs_by_layer.items()
        }
        deeper_owners = _assign_deeper(
            [(n, glob) for n, (globs, _) in globs_by_layer.items() for glob in globs], paths
        )
        for paths_of_layer in exact.values():
            for path in paths_of_layer:
                deeper_owners.pop(path, None)
        files: dict[str, frozenset[str]] = {}
        for name in globs_by_layer:
            deeper = {path for path, (_, owners) in deeper_owners.items() if name in owners}
            files[name] = frozenset((exact[name] | deeper) - excluded[name] - excluded_everywhere)
        names: dict[str, tuple[str, ...]] = {}
        for name, paths_of_layer in files.items():
            for path in paths_of_layer:
                names[path] = (*names.get(path, ()), name)
        return cls(files, names, frozenset(excluded_everywhere.union(*excluded.values())))


def _assign_deeper(
    globs_by_layer: list[tuple[str, LayerGlob]], paths: list[str]
) -> dict[str, tuple[int, set[str]]]:
    """Assign deeper files to the layer with the longest matching glob."""
    owners: dict[str, tuple[int, set[str]]] = {}
    for name, glob in globs_by_layer:
        length = glob.text.count("/")
        for path in _matched(glob, paths, LayerGlob.has_below):
            best, names = owners.get(path, (-1, set[str]()))
            if length > best:
                owners[path] = (length, {name})
            elif length == best:
                names.add(name)
    return owners


def _all_matched(globs: list[LayerGlob], paths: list[str], has: Callable[[LayerGlob, str], bool]) -> set[str]:
    return {path for glob in globs for path in _matched(glob, paths, has)}


def _matched(glob: LayerGlob, paths: list[str], has: Callable[[LayerGlob, str], bool]) -> Iterator[str]:
    """Yield matching paths. Only the sorted paths with the glob's literal prefix are tested."""
    for index in range(bisect_left(paths, glob.start), len(paths)):
        path = paths[index]
        if not path.startswith(glob.start):
            break
        if has(glob, path):
            yield path


def containers_of(boundaries: Boundaries) -> list[Glob]:
    """Parse the container globs. Raises ValueError for an invalid one."""
    return [LayerGlob.of(text, lambda _: False).exact for text in boundaries.containers]


@dataclass(frozen=True, slots=True)
class LayerImport:
    """A direct or indirect import of a forbidden layer."""

    importer_layer: str
    imported_layer: str
    chain: tuple[str, ...]
    """The files from the importing to the imported one."""
    line: int
    """The line of the first import of the chain."""


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


def find_order_violations(
    pairs: list[tuple[str, str]],
    files: Mapping[str, frozenset[str]],
    graph: ImportGraph,
    counts: Callable[[str, Edge], bool],
) -> list[LayerImport]:
    """Find violations of the order. Chains through files without a layer count; a third layer ends a chain."""
    layered = frozenset(
        path for _, imported_layer in pairs for path in files.get(imported_layer, ())
    ) | frozenset(path for importer_layer, _ in pairs for path in files.get(importer_layer, ()))

    def follow(path: str) -> list[str]:
        return [edge.target for edge in graph.edges(path) if counts(path, edge)]

    unassigned = [
        edge_target for path in layered for edge_target in follow(path) if edge_target not in layered
    ]
    reached = reachable(unassigned, lambda path: [] if path in layered else follow(path))
    found: list[LayerImport] = []
    for imported_layer in dict.fromkeys(imported_layer for _, imported_layer in pairs):
        chains = chains_to(files.get(imported_layer, frozenset()), reached, lambda path: path not in layered)
        for importer_layer in [importer_layer for importer_layer, other in pairs if other == imported_layer]:
            for path in sorted(
                files.get(importer_layer, frozenset()) - files.get(imported_layer, frozenset())
            ):
                edges = [edge for edge in graph.edges(path) if counts(path, edge)]
                found += find_layer_imports(importer_layer, imported_layer, path, edges, chains.chain_from)
    return found


def find_layer_imports(
    importer_layer: str,
    imported_layer: str,
    path: str,
    edges: Iterable[Edge],
    chain_from: Callable[[str], list[str] | None],
) -> list[LayerImport]:
    """Return every direct import, else the shortest indirect one, if any."""
    chains = [(edge, found) for edge in edges if (found := chain_from(edge.target)) is not None]
    direct = {edge.line: found for edge, found in reversed(chains) if len(found) == 1}
    if direct:
        return [
            LayerImport(importer_layer, imported_layer, (path, *direct[line]), line)
            for line in sorted(direct)
        ]
    best = min(chains, key=lambda pair: (len(pair[1]), pair[0].line), default=None)
    return (
        [] if best is None else [LayerImport(importer_layer, imported_layer, (path, *best[1]), best[0].line)]
    )
