"""Propose a first boundaries.json from the layout and imports of a project.

The proposal has an order that most imports respect, rules that hold today, and current violations as known violations.
So it passes at first, and fails on new violations.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

from forge.audits.boundaries.config import Boundaries
from forge.audits.boundaries.layer_files import LayerFiles
from forge.audits.boundaries.rules import BoundaryRules, Violation
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import Language, language_of
from forge.audits.files.folders import folders_of
from forge.audits.imports.graph import ImportGraph
from forge.audits.imports.modules import Modules
from forge.audits.proposals.forge_json_proposal import frontend_folder
from forge.audits.snapshot import Snapshot

_DATA = {
    "clients": "clients client integrations gateways adapters",
    "repos": "repos repo repositories repository dal dao crud persistence storage store stores db database",
    "models": "models model schemas schema entities",
}


@dataclass(frozen=True)
class Vocabulary:
    prefix: str
    """The prefix of layer names in a project with several programs."""
    words: Mapping[str, str]
    spine: tuple[str, ...]
    """Layers with a fixed order: imports against it are violations, not a reason for a different order."""
    frameworks: tuple[str, ...]
    surface: str
    """What the frameworks do, for the reasons of rules."""


PYTHON = Vocabulary(
    "",
    {
        "api": "api routers router routes endpoints controllers controller views handlers",
        "services": "services service usecases use_cases domain logic",
        **_DATA,
    },
    ("api", "services", "repos"),
    ("fastapi", "flask", "starlette", "django.http", "aiohttp.web"),
    "HTTP",
)
NODE = Vocabulary(
    "node-",
    {
        "routes": "routes route routers router api endpoints",
        "middleware": "middleware middlewares",
        "controllers": "controllers controller handlers",
        "services": "services service usecases use-cases domain",
        **_DATA,
        "lib": "lib libs utils helpers shared common kernel",
    },
    ("routes", "controllers", "services", "repos"),
    ("express", "koa", "fastify", "hono", "@nestjs/common"),
    "HTTP",
)
WEB = Vocabulary(
    "web-",
    {
        "pages": "pages screens views app routes",
        "features": "features modules",
        "components": "components widgets ui",
        "hooks": "hooks composables",
        "services": "services service",
        "api": "api client clients",
        "repos": "repos repositories repository db database dal",
        "lib": "lib libs utils helpers shared common kernel",
    },
    ("pages", "components"),
    ("next", "react", "vue", "svelte"),
    "screens",
)
PLAIN = Vocabulary("", {}, (), (), "")
"""For projects whose folders have no typical names."""

ENTRANCES = ("api", "routes", "controllers", "pages", "components")
"""Layers that should not use databases, except the `api` layer of a frontend."""
DRIVERS = (
    *("sqlalchemy", "sqlmodel", "asyncpg", "psycopg", "psycopg2", "sqlite3", "aiosqlite", "pymongo", "motor"),
    *(
        "peewee",
        "tortoise",
        "pg",
        "mongoose",
        "typeorm",
        "knex",
        "sequelize",
        "drizzle-orm",
        "@prisma/client",
    ),
    "better-sqlite3",
)


REASON = "present when the boundaries were first written"

_ASIDE = re.compile(
    r"(^|/)(tests?|__tests__|specs?|e2e|fixtures|examples?|docs?|scripts|benchmarks?|migrations|alembic|node_modules|"
    r"dist|build|vendor|Forge|Contracts|\.[^/]*)/|(^|/)(test_[^/]*|conftest|[^/]*_test)\.pyi?$|"
    r"\.(test|spec|stories|config|d)\.[cm]?[jt]sx?$"
)
_SCREEN_FILES = (".tsx", ".jsx", ".vue", ".svelte")
_MAX_LAYERS = 7
"""The maximum of layers whose orders are all tried."""
_TOLERATED = 0.2
"""The share of a layer's files that may violate a proposed rule."""


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
    """The layers of one program. A backend and a frontend are separate groups with separate orders."""

    prefix: str
    vocabulary: Vocabulary
    globs: Mapping[str, list[str]]

    def plain(self, name: str) -> str:
        return name.removeprefix(self.prefix)


def _groups(code: Iterable[str], screens: str | None) -> list[_Group]:
    """Group layers by program, backends first. Node layers are prefixed if there is a Python backend."""
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
    """Return globs by layer; the first typical name in a path determines the layer."""
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
    """Combine similar globs: `app/users/routes.py` and `app/orders/routes.py` give `app/*/routes.py`."""
    shapes = Counter(map(_shape, globs))
    short = {shape if shapes[shape] > 2 else glob for glob in globs for shape in [_shape(glob)]}
    return sorted(short)


def _shape(glob: str) -> str:
    return re.sub(r"/[^/]+(/[^/]+(?:/\*\*)?)$", r"/*\1", glob)


def _folders_as_layers(code: Iterable[str]) -> dict[str, list[str]]:
    """Use the folders of the largest package as layers, if no folder has a typical name."""
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
        "description": "No layers were recognized. Define the layers of the project and what they must not use.",
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
        files = LayerFiles.of(bare, self.graph.facts).files
        edges = self._edges(files)
        order, *others = [_ranked(group, edges) for group in self.groups]
        rules = {name: self._rules(group, name, files) for group in self.groups for name in group.globs}
        for names in others:
            for place, name in enumerate(names):
                rules[name].extend(_not_above(name, names[:place]))
        book = self._book(self._boundaries(rules, order))
        return {
            "description": "Proposed from the layout and the imports of this project. Review and adjust it.",
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

    def _book(self, boundaries: Boundaries) -> BoundaryRules:
        layers = LayerFiles.of(boundaries, self.graph.facts)
        return BoundaryRules(boundaries, layers, self.graph, self.folders.__contains__)

    def _edges(self, files: Mapping[str, frozenset[str]]) -> Counter[tuple[str, str]]:
        """Count the files of one layer that import another layer."""
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
        """Return the names that any layer of the same program imports."""
        paths = sorted(path for name in group.globs for path in files[name])
        used = {imp.module for path in paths for imp, _ in self.graph.imports(path)}
        return [
            n for n in names if any(module == n or module.startswith((f"{n}.", f"{n}/")) for module in used)
        ]

    def _is_kept(self, name: str, rule: dict[str, object], files: Mapping[str, frozenset[str]]) -> bool:
        book = self._book(self._boundaries({n: [rule] if n == name else [] for n in self.globs}, []))
        breaking = {violation.path for violation in self._violations(book)}
        return len(breaking) <= _TOLERATED * len(files[name])

    def _violations(self, book: BoundaryRules) -> list[Violation]:
        found: list[Violation] = []
        for layer in book.boundaries.layers:
            for rule in layer.forbidden:
                found += book.by_layer(layer, rule) if rule.layer is not None else book.by_import(layer, rule)
        return [*found, *book.by_order()]


def _not_above(name: str, above: Iterable[str]) -> Iterator[dict[str, object]]:
    """Express the order of another program as layer rules, as a file has only one `order`."""
    for high in above:
        yield {"layer": high, "reason": f"{high} may import {name}, not the other way round"}


def _imports(names: Iterable[str], reason: str) -> list[dict[str, object]]:
    return [{"import": name, "reason": reason} for name in names]


def _ranked(group: _Group, edges: Counter[tuple[str, str]]) -> list[str]:
    """Return the order that the fewest imports violate and that is closest to the usual one, with a fixed spine."""
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
