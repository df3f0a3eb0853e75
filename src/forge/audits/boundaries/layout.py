"""A first boundaries.json, proposed from how a project is really laid out and what really imports what.

It describes what is there: an order that most imports keep, rules that hold today, and what breaks them as known
violations. Nothing fails on the day it is written; what is new from then on does.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations

from forge.audits.boundaries.config import Boundaries
from forge.audits.boundaries.layering import Layers, folders_of
from forge.audits.boundaries.rules import RuleBook, Violation
from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import Language
from forge.audits.forge_json import propose_forge_json
from forge.audits.imports.graph import ImportGraph
from forge.audits.imports.modules import Modules, language_of
from forge.audits.snapshot import Snapshot

__all__ = ["propose_boundaries", "propose_forge_json"]

REASON = "present when the boundaries were first written"

_WORDS = {
    Language.PYTHON: {
        "api": "api routers router routes endpoints controllers controller views handlers",
        "services": "services service usecases use_cases domain logic",
        "clients": "clients client integrations gateways adapters",
        "repos": "repos repo repositories repository dal dao crud persistence storage store stores db database",
        "models": "models model schemas schema entities",
    },
    Language.SCRIPT: {
        "pages": "pages screens views app routes routers controllers handlers",
        "features": "features modules",
        "components": "components widgets ui",
        "hooks": "hooks composables",
        "services": "services service api client clients",
        "repos": "repos repositories repository db database dal models",
        "lib": "lib libs utils helpers shared common kernel",
    },
}
"""Layers from high to low, and what their folders and files are usually called."""
_ASIDE = re.compile(
    r"(^|/)(tests?|__tests__|specs?|e2e|fixtures|examples?|docs?|scripts|benchmarks?|migrations|alembic|node_modules|"
    r"dist|build|vendor|Forge|Contracts|\.[^/]*)/|(^|/)(test_[^/]*|conftest|[^/]*_test)\.pyi?$|"
    r"\.(test|spec|stories|config|d)\.[cm]?[jt]sx?$"
)
_DRIVERS = [
    "sqlalchemy",
    "sqlmodel",
    "asyncpg",
    "psycopg",
    "psycopg2",
    "sqlite3",
    "aiosqlite",
    "pymongo",
    "motor",
    "peewee",
    "tortoise",
    "pg",
    "mongoose",
    "typeorm",
    "knex",
    "sequelize",
    "drizzle-orm",
    "@prisma/client",
    "better-sqlite3",
]
_FRAMEWORKS = [
    "fastapi",
    "flask",
    "starlette",
    "django.http",
    "aiohttp.web",
    "express",
    "koa",
    "fastify",
    "next",
    "react",
    "vue",
    "svelte",
]
_MOST_LAYERS = 7
"""More are not tried in every order."""
_TOLERATED = 0.2
"""A rule that more of a layer's files break than this is not how the project is made."""


def propose_boundaries(snapshot: Snapshot) -> dict[str, object]:
    graph = ImportGraph(Modules.of(snapshot), facts_of(snapshot))
    code = sorted(path for path in graph.facts if not _ASIDE.search(path))
    layers = {**_layers_of(code, Language.PYTHON, ""), **_layers_of(code, Language.SCRIPT, "web-")}
    if len(layers) < 2:
        layers = _folders_as_layers(code)
    if len(layers) < 2:
        return _example(code)
    return _Proposal(graph, layers, folders_of(snapshot.tree.entries)).write()


def _layers_of(code: Iterable[str], language: Language, prefix: str) -> dict[str, list[str]]:
    """Globs by the name of a layer: the first word on the way to a file says what it is."""
    names = {word: name for name, words in _WORDS[language].items() for word in words.split()}
    places: dict[str, set[str]] = {}
    for path in code:
        if language_of(path) is language:
            parts = path.rpartition(".")[0].split("/")
            at = next((i for i, part in enumerate(parts) if i and part.lower() in names), None)
            if at is not None:
                is_file = at == len(parts) - 1
                glob = path if is_file else "/".join((*parts[: at + 1], "**"))
                places.setdefault(prefix + names[parts[at].lower()], set()).add(glob)
    order = [prefix + name for name in _WORDS[language]]
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
    globs: Mapping[str, list[str]]
    folders: set[str]

    def write(self) -> dict[str, object]:
        bare = self._boundaries({name: [] for name in self.globs}, [])
        files = Layers.of(bare, self.graph.facts).files
        edges = self._edges(files)
        order = self._order(edges)
        rules = {name: self._rules(name, files) for name in self.globs}
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

    def _order(self, edges: Counter[tuple[str, str]]) -> list[str]:
        """Of each language on its own, the order that the fewest imports break; nearest to the usual one."""
        web = [name for name in self.globs if name.startswith("web-")]
        other = [name for name in self.globs if name not in web]
        return [*_ranked(web, edges), *_ranked(other, edges)]

    def _rules(self, name: str, files: Mapping[str, frozenset[str]]) -> list[dict[str, object]]:
        rules: list[dict[str, object]] = []
        plain = name.removeprefix("web-")
        prefix = name[: len(name) - len(plain)]
        repos = f"{prefix}repos"
        if plain in ("api", "pages") and f"{prefix}services" in files and repos in files:
            rules.append({"layer": repos, "reason": f"{name} asks services, and services ask {repos}"})
        if plain in ("api", "pages", "components"):
            rules += _imports(self._used(_DRIVERS, prefix, files), f"no database driver in {name}")
        if plain in ("services", "repos", "models"):
            rules += _imports(
                self._used(_FRAMEWORKS, prefix, files), f"{name} knows nothing of HTTP and screens"
            )
        return [rule for rule in rules if self._is_kept(name, rule, files)]

    def _used(self, names: Iterable[str], prefix: str, files: Mapping[str, frozenset[str]]) -> list[str]:
        """Those that any layer of the same language imports."""
        paths = sorted(p for n, layer in files.items() if n.startswith("web-") == bool(prefix) for p in layer)
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


def _imports(names: Iterable[str], reason: str) -> list[dict[str, object]]:
    return [{"import": name, "reason": reason} for name in names]


def _ranked(names: list[str], edges: Counter[tuple[str, str]]) -> list[str]:
    if len(names) > _MOST_LAYERS:
        best = sorted(names, key=lambda n: (_weight(n, names, edges), names.index(n)))
    else:
        best = list(
            min(permutations(names), key=lambda order: (_broken(order, edges), _distance(order, names)))
        )
    return best


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
