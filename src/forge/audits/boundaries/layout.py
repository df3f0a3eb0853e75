"""A first boundaries.json, proposed from how a project is really laid out and what really imports what.

It describes what is there: an order that most imports keep, rules that hold today, and what breaks them as known
violations. Nothing fails on the day it is written; what is new from then on does.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from forge.audits.boundaries.config import Boundaries
from forge.audits.boundaries.layer_words import DRIVERS, ENTRANCES, NODE, PLAIN, PYTHON, WEB, Vocabulary
from forge.audits.boundaries.layering import Layers
from forge.audits.boundaries.rules import RuleBook, Violation
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import Language
from forge.audits.forge_json import frontend_folder
from forge.audits.imports.folders import folders_of
from forge.audits.imports.graph import ImportGraph
from forge.audits.imports.modules import Modules, language_of
from forge.audits.snapshot import Snapshot

REASON = "present when the boundaries were first written"

_ASIDE = re.compile(
    r"(^|/)(tests?|__tests__|specs?|e2e|fixtures|examples?|docs?|scripts|benchmarks?|migrations|alembic|node_modules|"
    r"dist|build|vendor|Forge|Contracts|\.[^/]*)/|(^|/)(test_[^/]*|conftest|[^/]*_test)\.pyi?$|"
    r"\.(test|spec|stories|config|d)\.[cm]?[jt]sx?$"
)
_SCREEN_FILES = (".tsx", ".jsx", ".vue", ".svelte")
_MAX_LAYERS = 7
"""More are not tried in every order."""
_TOLERATED = 0.2
"""A rule that more of a layer's files break than this is not how the project is made."""


def propose_boundaries(snapshot: Snapshot) -> dict[str, object]:
    graph = ImportGraph(Modules.of(snapshot), facts_of(snapshot))
    code = sorted(path for path in graph.facts if not _ASIDE.search(path))
    groups = _groups(code, frontend_folder(snapshot))
    if sum(len(group.globs) for group in groups) < 2:
        groups = [_Group("", PLAIN, _folders_as_layers(code))]
    if sum(len(group.globs) for group in groups) < 2:
        return _example(code)
    return _Proposal(graph, groups, folders_of(snapshot.tree.entries)).write()


@dataclass(frozen=True)
class _Group:
    """The layers of one program: a backend and a frontend are two, and have nothing to do with each other's order."""

    prefix: str
    vocabulary: Vocabulary
    globs: Mapping[str, list[str]]

    def plain(self, name: str) -> str:
        return name.removeprefix(self.prefix)


def _groups(code: Iterable[str], screens: str | None) -> list[_Group]:
    """Backends before frontends. Only what would have the name of another's layer is called `node-…`."""
    python = [path for path in code if language_of(path) is Language.PYTHON]
    script = [path for path in code if language_of(path) is Language.SCRIPT]
    if screens is None and any(path.endswith(_SCREEN_FILES) for path in script):
        screens = ""
    drawn = [] if screens is None else [path for path in script if f"/{path}".startswith(_below(screens))]
    served = sorted({*script} - {*drawn})
    first = _Group("", PYTHON, _layers_of(python, PYTHON, ""))
    prefix = NODE.prefix if first.globs else ""
    others = (_Group(prefix, NODE, _layers_of(served, NODE, prefix)), _group_of_screens(drawn))
    return [group for group in (first, *others) if group.globs]


def _group_of_screens(code: Iterable[str]) -> _Group:
    return _Group(WEB.prefix, WEB, _layers_of(code, WEB, WEB.prefix))


def _below(folder: str) -> str:
    return f"/{folder}/" if folder else "/"


def _layers_of(code: Iterable[str], vocabulary: Vocabulary, prefix: str) -> dict[str, list[str]]:
    """Globs by the name of a layer: the first word on the way to a file says what it is."""
    names = {word: name for name, words in vocabulary.words.items() for word in words.split()}
    places: dict[str, set[str]] = {}
    for path in code:
        parts = path.rpartition(".")[0].split("/")
        at = next((i for i, part in enumerate(parts) if i and part.lower() in names), None)
        if at is not None:
            is_file = at == len(parts) - 1
            glob = path if is_file else "/".join((*parts[: at + 1], "**"))
            places.setdefault(prefix + names[parts[at].lower()], set()).add(glob)
    order = [prefix + name for name in vocabulary.words]
    found = {name: _shortened(places[name]) for name in order if name in places}
    return found if len(found) > 1 else {}


def _shortened(globs: set[str]) -> list[str]:
    """`app/users/routes.py` and `app/orders/routes.py` are `app/*/routes.py`."""
    shapes = Counter(map(_shape, globs))
    short = {shape if shapes[shape] > 2 else glob for glob in globs for shape in [_shape(glob)]}
    return sorted(short)


def _shape(glob: str) -> str:
    return re.sub(r"/[^/]+(/[^/]+(?:/\*\*)?)$", r"/*\1", glob)


def _folders_as_layers(code: Iterable[str]) -> dict[str, list[str]]:
    """The folders of the largest package, where nothing has a name that says what it is."""
    below: dict[str, Counter[str]] = {}
    for path in code:
        parts = path.split("/")
        start = 2 if parts[0] in ("src", "lib", "packages") and len(parts) > 3 else 1
        if len(parts) > start + 1:
            below.setdefault("/".join(parts[:start]), Counter())[parts[start]] += 1
    home = max(sorted(below), key=lambda name: (len(below[name]), sum(below[name].values())), default=None)
    if home is None:
        return {}
    return {name: [f"{home}/{name}/**"] for name in sorted(below[home])}


def _example(code: list[str]) -> dict[str, object]:
    suffix = code[0].rpartition(".")[2] if code else "py"
    return {
        "description": "No layers were recognised. This is a beginning: name the parts, then say what they may not know.",
        "$comment": [
            "a layer:  {name: api, glob: app/api/**/*.py, forbidden: [...]}",
            "rules:    {layer: repos, reason: ...}, {import: asyncpg, reason: ...}, {pattern: SELECT, reason: ...}",
            "order:    [api, services | clients, repos] - each may import those after it, never those before",
            "more:     forge audit --explain A4",
        ],
        "layers": [
            {"name": "code", "description": "Everything there is", "glob": f"**/*.{suffix}", "forbidden": []}
        ],
        "order": [],
        "known_violations": [],
    }


@dataclass(frozen=True)
class _Proposal:
    graph: ImportGraph
    groups: Sequence[_Group]
    folders: set[str]

    @cached_property
    def globs(self) -> Mapping[str, list[str]]:
        return {name: globs for group in self.groups for name, globs in group.globs.items()}

    def write(self) -> dict[str, object]:
        bare = self._boundaries({name: [] for name in self.globs}, [])
        files = Layers.of(bare, self.graph.facts).files
        edges = self._edges(files)
        order, *others = [_ranked(group, edges) for group in self.groups]
        rules = {name: self._rules(group, name, files) for group in self.groups for name in group.globs}
        for names in others:
            for place, name in enumerate(names):
                rules[name].extend(_not_above(name, names[:place]))
        book = self._book(self._boundaries(rules, order))
        return {
            "description": "Proposed from the layout and the imports of this project. Read it, and make it yours.",
            "layers": [
                {"name": name, "glob": globs if len(globs) > 1 else globs[0], "forbidden": rules[name]}
                for name, globs in self.globs.items()
            ],
            "order": order,
            "known_violations": [*_known(self._violations(book))],
        }

    def _boundaries(self, rules: Mapping[str, list[dict[str, object]]], order: list[str]) -> Boundaries:
        layers = [{"name": n, "glob": globs, "forbidden": rules[n]} for n, globs in self.globs.items()]
        return Boundaries.model_validate({"layers": layers, "order": order})

    def _book(self, boundaries: Boundaries) -> RuleBook:
        layers = Layers.of(boundaries, self.graph.facts)
        return RuleBook(boundaries, layers, self.graph, self.folders.__contains__)

    def _edges(self, files: Mapping[str, frozenset[str]]) -> Counter[tuple[str, str]]:
        """How many files of one layer import another."""
        home = {path: name for name in files for path in files[name]}
        edges: Counter[tuple[str, str]] = Counter()
        for path, name in sorted(home.items()):
            reached = {home[edge.target] for edge in self.graph.edges(path) if edge.target in home}
            edges.update((name, other) for other in reached if other != name)
        return edges

    def _rules(
        self, group: _Group, name: str, files: Mapping[str, frozenset[str]]
    ) -> list[dict[str, object]]:
        rules: list[dict[str, object]] = []
        plain, words = group.plain(name), group.vocabulary
        services, repos = f"{group.prefix}services", f"{group.prefix}repos"
        is_entrance = plain in ENTRANCES and not (words is WEB and plain == "api")
        if is_entrance and plain != "components" and services in files and repos in files:
            rules.append({"layer": repos, "reason": f"{name} asks {services}, and {services} ask {repos}"})
        if is_entrance:
            rules += _imports(self._used(DRIVERS, group, files), f"no database driver in {name}")
        if plain in ("services", "repos", "models"):
            rules += _imports(
                self._used(words.frameworks, group, files), f"{name} knows nothing of {words.surface}"
            )
        return [rule for rule in rules if self._is_kept(name, rule, files)]

    def _used(self, names: Iterable[str], group: _Group, files: Mapping[str, frozenset[str]]) -> list[str]:
        """Those that any layer of the same program imports."""
        paths = sorted(path for name in group.globs for path in files[name])
        used = {imp.module for path in paths for imp, _ in self.graph.imports(path)}
        return [
            n for n in names if any(module == n or module.startswith((f"{n}.", f"{n}/")) for module in used)
        ]

    def _is_kept(self, name: str, rule: dict[str, object], files: Mapping[str, frozenset[str]]) -> bool:
        book = self._book(self._boundaries({n: [rule] if n == name else [] for n in self.globs}, []))
        breaking = {violation.path for violation in self._violations(book)}
        return len(breaking) <= _TOLERATED * len(files[name])

    def _violations(self, book: RuleBook) -> list[Violation]:
        found: list[Violation] = []
        for layer in book.boundaries.layers:
            for rule in layer.forbidden:
                found += book.by_layer(layer, rule) if rule.layer is not None else book.by_import(layer, rule)
        return [*found, *book.by_order()]


def _not_above(name: str, above: Iterable[str]) -> Iterator[dict[str, object]]:
    """There is one `order` in a file; a second one is told layer by layer."""
    for high in above:
        yield {"layer": high, "reason": f"{high} may import {name}, not the other way round"}


def _imports(names: Iterable[str], reason: str) -> list[dict[str, object]]:
    return [{"import": name, "reason": reason} for name in names]


def _ranked(group: _Group, edges: Counter[tuple[str, str]]) -> list[str]:
    """The order that the fewest imports break, nearest to the usual one; the spine of it stays as it is."""
    names = list(group.globs)
    if len(names) > _MAX_LAYERS:
        if group.vocabulary.words:
            return names
        return sorted(names, key=lambda n: (_weight(n, names, edges), names.index(n)))
    spine = [name for name in names if group.plain(name) in group.vocabulary.spine]
    orders = (order for order in permutations(names) if [n for n in order if n in spine] == spine)
    return list(min(orders, key=lambda order: (_broken(order, edges), _distance(order, names))))


def _weight(name: str, names: list[str], edges: Counter[tuple[str, str]]) -> float:
    out = sum(edges[name, other] for other in names)
    into = sum(edges[other, name] for other in names)
    return (into - out) / (into + out or 1)


def _broken(order: tuple[str, ...], edges: Counter[tuple[str, str]]) -> int:
    return sum(edges[low, high] for i, low in enumerate(order) for high in order[:i])


def _distance(order: tuple[str, ...], names: list[str]) -> int:
    return sum(abs(order.index(name) - i) for i, name in enumerate(names))


def _known(violations: Iterable[Violation]) -> list[dict[str, object]]:
    entries = {(one.layer, one.path, one.text) for one in violations}
    return [
        {"layer": layer, "file": path, "pattern": text, "reason": REASON}
        for layer, path, text in sorted(entries)
    ]
