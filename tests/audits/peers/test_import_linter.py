"""Compare A4's layer order with import-linter on the same packages: verdicts and layer pairs must be equal."""

import itertools
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest
from importlinter.configuration import configure
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract

from forge.audits.checks.a4_boundaries import CHECK
from forge.audits.memory import snapshot_of

Files = dict[str, str]
Pairs = set[tuple[str, str]]
_NUMBERS = itertools.count()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    configure()
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("shop")]:
        del sys.modules[name]


def build(folder: Path, files: Files) -> tuple[str, Files, grimp.ImportGraph]:
    """Write a package; each gets a unique name, because import systems cache them."""
    name = f"shop{next(_NUMBERS)}"
    renamed = {path.replace("PKG", name): text.replace("PKG", name) for path, text in files.items()}
    for path, text in renamed.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return name, renamed, grimp.build_graph(name, cache_dir=None)


def theirs(
    graph: grimp.ImportGraph, package: str, order: list[str], containers: list[str], **options: object
) -> Pairs:
    contract = LayersContract(
        name="layers",
        session_options={"root_packages": [package]},
        contract_options={"layers": order, "containers": containers, **options},
    )
    checked = contract.check(graph=graph, verbose=False)
    found = checked.metadata["invalid_dependencies"]
    pairs = {(one["importer"].rpartition(".")[2], one["imported"].rpartition(".")[2]) for one in found}
    pairs |= {("stray", module.rpartition(".")[2]) for module in checked.metadata["undeclared_modules"]}
    assert checked.kept == (not pairs)
    return pairs


def ours(files: Files, order: list[str], containers: list[str], *, exhaustive: bool = False) -> Pairs:
    names = [name.strip(" ()") for rank in order for name in rank.replace(":", "|").split("|")]
    layers = [
        {
            "name": name,
            "glob": [f"{c}/{name}.py" for c in containers] + [f"{c}/{name}/**" for c in containers],
        }
        for name in names
    ]
    boundaries = {"layers": layers, "order": order, "containers": containers, "exhaustive": exhaustive}
    snapshot = snapshot_of({**files, "Contracts/boundaries.json": json.dumps(boundaries)})
    found = CHECK.examine(snapshot).found
    assert {one.rule for one in found} <= {"layer-order", "no-layer", "empty-layer", "no-files"}, found
    pairs = {tuple(one.subject.split(":")[:2]) for one in found if one.rule == "layer-order"}
    strays = {one.path for one in found if one.rule == "no-layer" and one.path}
    for path in strays:
        container = next(c for c in containers if path.startswith(f"{c}/"))
        pairs.add(("stray", path[len(container) + 1 :].partition("/")[0].removesuffix(".py")))
    return pairs  # pyright: ignore[reportReturnType]


def both(
    folder: Path,
    files: Files,
    order: list[str],
    containers: tuple[str, ...] = ("PKG",),
    *,
    exhaustive: bool = False,
) -> tuple[Pairs, Pairs]:
    package, renamed, graph = build(folder, files)
    names = [container.replace("PKG", package) for container in containers]
    their = theirs(graph, package, order, names, exhaustive=str(exhaustive))
    return their, ours(renamed, order, [name.replace(".", "/") for name in names], exhaustive=exhaustive)


def package(**texts: str) -> Files:
    """Write a package: `high__green="…"` is `PKG/high/green.py`; every folder is a package."""
    files = {f"PKG/{name.replace('__', '/')}.py": text for name, text in texts.items()}
    folders = {"/".join(path.split("/")[:depth]) for path in files for depth in range(1, path.count("/") + 1)}
    return {**{f"{folder}/__init__.py": "" for folder in folders}, **files}


THREE = package(high__green="", high__blue__deep="", medium__orange="", low__white__gamma="", utils="")
ORDER = ["high", "medium", "low"]

SITUATIONS: dict[str, tuple[Files, list[str], Pairs]] = {
    "nothing": (THREE, ORDER, set()),
    "down is fine": ({**THREE, "PKG/high/green.py": "from PKG.low.white import gamma\n"}, ORDER, set()),
    "direct": (
        {**THREE, "PKG/medium/orange.py": "from PKG.high import green\n"},
        ORDER,
        {("medium", "high")},
    ),
    "grandchild": (
        {**THREE, "PKG/low/white/gamma.py": "import PKG.medium.orange\n"},
        ORDER,
        {("low", "medium")},
    ),
    "relative": (
        {**THREE, "PKG/low/white/gamma.py": "from ...high.blue import deep\n"},
        ORDER,
        {("low", "high")},
    ),
    "the package itself": (
        {**THREE, "PKG/low/__init__.py": "from .. import high\n"},
        ORDER,
        {("low", "high")},
    ),
    "chain": (
        {
            **THREE,
            "PKG/low/white/gamma.py": "import PKG.utils\n",
            "PKG/utils.py": "from PKG.high import green\n",
        },
        ORDER,
        {("low", "high")},
    ),
    "chain by another layer": (
        {
            **THREE,
            "PKG/low/white/gamma.py": "import PKG.medium.orange\n",
            "PKG/medium/orange.py": "import PKG.high\n",
        },
        ORDER,
        {("low", "medium"), ("medium", "high")},
    ),
    "chain by the root": (
        {
            **THREE,
            "PKG/low/white/gamma.py": "from PKG import thing\n",
            "PKG/__init__.py": "from PKG.high import green\n",
        },
        ORDER,
        {("low", "high")},
    ),
    "for types": (
        {
            **THREE,
            "PKG/low/white/gamma.py": "import typing\nif typing.TYPE_CHECKING:\n    from PKG.high import green\n",
        },
        ORDER,
        {("low", "high")},
    ),
    "in a function": (
        {**THREE, "PKG/low/white/gamma.py": "def f():\n    from PKG.high import green\n"},
        ORDER,
        {("low", "high")},
    ),
    "star": ({**THREE, "PKG/low/white/gamma.py": "from PKG.high import *\n"}, ORDER, {("low", "high")}),
    "independent siblings": (
        package(high="", a__x="import PKG.b\n", b__y="", low=""),
        ["high", "a | b", "low"],
        {("a", "b")},
    ),
    "siblings that may": (
        package(high="", a__x="import PKG.b\n", b__y="", low=""),
        ["high", "a : b", "low"],
        set(),
    ),
    "siblings by a chain": (
        package(a__x="import PKG.utils\n", b__y="", utils="import PKG.b.y\n"),
        ["a | b"],
        {("a", "b")},
    ),
    "optional, missing": (
        package(high="", low="import PKG.high\n"),
        ["high", "(medium)", "low"],
        {("low", "high")},
    ),
    "optional sibling": (package(high="", low="import PKG.high\n"), ["high", "(x) | low"], {("low", "high")}),
    "both ways": (package(a="import PKG.b\n", b="import PKG.a\n"), ["a | b"], {("a", "b"), ("b", "a")}),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_layer_order_verdict_equals_import_linter(situation: str, folder: Path) -> None:
    files, order, pairs = SITUATIONS[situation]
    assert both(folder, files, order) == (pairs, pairs)


@pytest.mark.parametrize(
    ("texts", "pairs"),
    [
        ({}, set()),
        ({"PKG/two/low/b.py": "import PKG.one.high.a\n"}, set()),
        ({"PKG/two/low/b.py": "import PKG.two.high.b\n"}, {("low", "high")}),
        (
            {
                "PKG/one/low/a.py": "import PKG.other\n",
                "PKG/other.py": "import PKG.two.high.b\n",
                "PKG/two/high/b.py": "import PKG.one.high.a\n",
            },
            {("low", "high")},
        ),
    ],
)
def test_containers_are_checked_separately(texts: Files, pairs: Pairs, folder: Path) -> None:
    files = {**package(one__high__a="", one__low__a="", two__high__b="", two__low__b="", other=""), **texts}
    assert both(folder, files, ["high", "low"], ("PKG.one", "PKG.two")) == (pairs, pairs)


def test_exhaustive_layers_report_unlisted_children(folder: Path) -> None:
    files = package(high="", low="", extra__x="", more="")
    pairs = {("stray", "extra"), ("stray", "more")}
    assert both(folder, files, ["high", "low"], exhaustive=True) == (pairs, pairs)


@pytest.mark.parametrize("order", [["a | b : c"], ["a", "a"], ["a | (a)"]])
def test_contradictory_order_is_rejected_by_both(order: list[str], folder: Path) -> None:
    files = package(a="", b="", c="")
    name, _, graph = build(folder, files)
    with pytest.raises(Exception, match=r"."):
        theirs(graph, name, order, [name])
    boundaries = {"layers": [{"name": n, "glob": f"PKG/{n}.py"} for n in "abc"], "order": order}
    snapshot = snapshot_of({**files, "Contracts/boundaries.json": json.dumps(boundaries)})
    assert [one.rule for one in CHECK.examine(snapshot).found] == ["bad-boundaries"]


def random_package(chance: random.Random) -> tuple[Files, list[str]]:
    """Generate a package with some layers and some files without one, which import each other in all forms."""
    tops = ["a", "b", "c", "d", "free", "loose"][: chance.randint(2, 6)]
    modules = [top for top in tops if chance.random() < 0.3]
    modules += [
        f"{top}.{name}" for top in tops if top not in modules for name in ("x", "y.z")[: chance.randint(1, 2)]
    ]
    files = package(**{module.replace(".", "__"): "" for module in modules})
    dotted = [path.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for path in files]
    for path in sorted(files):
        lines = [
            random_import(chance, path, chance.choice(dotted)) for _ in range(chance.choice((0, 0, 1, 1, 2)))
        ]
        files[path] = "".join(f"{line}\n" for line in lines)
    layers = [top for top in tops if top not in ("free", "loose")]
    chance.shuffle(layers)
    order: list[str] = []
    while layers:
        size = chance.choice((1, 1, 2))
        order.append(chance.choice((" | ", " : ")).join(layers[:size]))
        layers = layers[size:]
    return files, order


def random_import(chance: random.Random, path: str, module: str) -> str:
    parent, _, last = module.rpartition(".")
    depth = path.count("/")
    ways = [
        f"import {module}",
        f"from {module} import thing",
        f"import {module} as m",
        f"from {module} import *",
    ]
    if parent:
        ways.append(f"from {parent} import {last}, thing")
        ways.append(f"from {'.' * depth}{parent.partition('.')[2]} import {last}")
        ways.append(f"def f():\n    from {parent} import (\n        {last} as q,\n    )")
        ways.append(f"from {'.' * depth}{module.partition('.')[2]} import thing")
    return chance.choice(ways)


@pytest.mark.parametrize("seed", range(60))
def test_random_packages_give_same_verdict(seed: int, folder: Path) -> None:
    files, order = random_package(random.Random(seed))
    their, our = both(folder, files, order)
    assert our == their, (files, order)


@pytest.mark.parametrize("indirect", [False, True])
@pytest.mark.parametrize(
    "texts",
    [
        {},
        {"PKG/a/x.py": "import PKG.b.y\n"},
        {"PKG/a/x.py": "from PKG import b\n"},
        {"PKG/a/x.py": "import PKG.c\n", "PKG/c.py": "from .b import y\n"},
        {"PKG/a/x.py": "import PKG.c\n", "PKG/c.py": "import PKG.d\n", "PKG/d.py": "import PKG.b\n"},
        {"PKG/b/y.py": "import PKG.a.x\n"},
    ],
)
def test_forbidden_import_verdict_equals_import_linter(texts: Files, indirect: bool, folder: Path) -> None:
    name, files, graph = build(folder, {**package(a__x="", b__y="", c="", d=""), **texts})
    contract = ForbiddenContract(
        name="forbidden",
        session_options={"root_packages": [name]},
        contract_options={
            "source_modules": [f"{name}.a"],
            "forbidden_modules": [f"{name}.b"],
            "allow_indirect_imports": str(not indirect),
        },
    )
    rule = {"import": f"{name}.b", "indirect": indirect}
    boundaries = {"layers": [{"name": "a", "glob": f"{name}/a/**", "forbidden": [rule]}]}
    snapshot = snapshot_of({**files, "Contracts/boundaries.json": json.dumps(boundaries)})
    assert (not CHECK.examine(snapshot).found) == contract.check(graph=graph, verbose=False).kept
