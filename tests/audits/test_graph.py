"""The import graph, and the shortest chains from one file to others."""

from forge.audits.facts.analyzer import facts_of
from forge.audits.facts.models import Import
from forge.audits.imports.graph import Edge, ImportGraph, chains_to, reachable
from forge.audits.imports.modules import Modules
from forge.audits.memory import snapshot_of


def graph_of(files: dict[str, str]) -> ImportGraph:
    snapshot = snapshot_of(files)
    return ImportGraph(Modules.of(snapshot), facts_of(snapshot))


def test_edges_are_imports_of_project_files() -> None:
    graph = graph_of(
        {
            "app/__init__.py": "",
            "app/a.py": "import os\nfrom . import b, a\nfrom .b import x\n",
            "app/b.py": "",
            "web/a.ts": "import type { X } from './b'\n",
            "web/b.ts": "",
        }
    )
    assert graph.edges("app/a.py") == (
        Edge("app/b.py", 2, is_type_only=False),
        Edge("app/b.py", 3, is_type_only=False),
    )
    assert graph.edges("web/a.ts") == (Edge("web/b.ts", 1, is_type_only=True),)
    assert graph.edges("nowhere.py") == ()


def test_import_has_all_possible_names() -> None:
    graph = graph_of(
        {"app/__init__.py": "", "app/a.py": "from .b import x\n", "app/b.py": "", "tool-x.py": ""}
    )
    [(imp, targets)] = graph.imports("app/a.py")
    assert graph.names("app/a.py", imp, targets) == {"app.b", "app.b.x"}
    assert graph.absolute("app/__init__.py", Import("b", 1, 1, ("x",), is_from=True)) == "app.b"
    assert graph.absolute("app/a.py", Import("b", 1, 9, ("x",), is_from=True)) is None
    assert graph.absolute("tool-x.py", Import("b", 1, 1, ("x",), is_from=True)) is None


def test_chains_are_shortest_and_terminate_in_cycles() -> None:
    follow = {"a": ["b", "c"], "b": ["a", "d"], "c": ["d"], "d": ["end", "a"], "end": ["a"]}
    reached = reachable(["a"], lambda path: follow[path])
    chains = chains_to(frozenset({"end"}), reached, lambda _: True)
    assert (chains.chain_from("a"), chains.chain_from("end"), chains.chain_from("x")) == (
        ["a", "b", "d", "end"],
        ["end"],
        None,
    )
    assert chains_to(frozenset({"end"}), reached, lambda path: path != "d").chain_from("a") is None
