"""Convert n8n graphs to definitions. Only the shape of a graph is kept; see docs/reference/n8n.md.

A shape is `[kinds, edges, continuing]`: one letter per node for the step type; from, to, output, from, to, output …; the
nodes that continue after an error. Output -1 is the error output; a loop has the outputs 0 (`done`) and 1 (body).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TRIGGERS: dict[str, dict[str, Any]] = {
    "t": {"type": "manual"},
    "u": {"type": "manual"},
    "c": {"type": "cron", "schedule": "hourly"},
    "w": {"type": "webhook"},
    "e": {"type": "event", "event_type": "run.finished"},
    "v": {"type": "file_watch", "paths": ["/data"]},
}
BRANCHES = "isf"
LOOP = "l"
ERROR = -1
DONE = 0


@dataclass(frozen=True, order=True)
class Edge:
    source: int
    target: int
    output: int


@dataclass(frozen=True)
class Shape:
    kinds: str
    edges: tuple[Edge, ...]
    continuing: frozenset[int]


def shapes() -> list[Shape]:
    rows = json.loads((Path(__file__).parent / "n8n_shapes.json").read_text())
    return [
        Shape(kinds, tuple(Edge(*flat[at : at + 3]) for at in range(0, len(flat), 3)), frozenset(continuing))
        for kinds, flat, continuing in rows
    ]


@dataclass
class Mapping:
    """A converted definition, with notes about what had to be changed."""

    shape: Shape
    steps: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    triggers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    heads: set[int] = field(default_factory=set[int])
    """The nodes where cycles start over."""
    notes: set[str] = field(default_factory=set[str])
    _kinds: dict[int, str] = field(default_factory=dict[int, str])
    _conditions: dict[int, str] = field(default_factory=dict[int, str])
    _loops: dict[int, dict[str, Any]] = field(default_factory=dict[int, dict[str, Any]])

    def definition(self) -> dict[str, Any]:
        self._kinds = dict(enumerate(self.shape.kinds))
        sources = [node for node, kind in self._kinds.items() if kind in TRIGGERS]
        nodes = set(self._kinds) - set(sources)
        self._start(sources)
        self._scope(nodes, {edge for edge in self.shape.edges if {edge.source, edge.target} <= nodes})
        return {"name": "n8n", "triggers": self.triggers, "steps": self.steps}

    def _start(self, sources: list[int]) -> None:
        """Add the triggers. Steps that only some triggers lead to get a condition on the trigger type."""
        starts: dict[int, set[str]] = {}
        for node in sources:
            trigger = dict(TRIGGERS[self._kinds[node]])
            if trigger["type"] == "webhook":
                trigger["path"] = f"/hook-{node}"
            self.triggers.append(trigger)
            for edge in self.shape.edges:
                if edge.source == node:
                    starts.setdefault(edge.target, set()).add(f"workflow.trigger.type == '{trigger['type']}'")
        if len(self.triggers) > 1:
            self._conditions = {node: " || ".join(sorted(conditions)) for node, conditions in starts.items()}

    def _scope(self, nodes: set[int], edges: set[Edge]) -> list[str]:
        """Emit the steps of one scope, loops with their bodies first, and return their ids."""
        while (cycle := _cycle(nodes, edges)) is not None:
            nodes, edges = self._fold(cycle, nodes, edges)
        return self._emit(nodes, edges)

    def _fold(self, cycle: set[int], nodes: set[int], edges: set[Edge]) -> tuple[set[int], set[Edge]]:
        """Replace a cycle by one loop step, with its nodes as the body."""
        entered = {edge.target for edge in edges if edge.target in cycle and edge.source not in cycle}
        batches = [node for node in sorted(cycle) if self._kinds[node] == LOOP]
        head = min(batches or cycle, key=lambda node: (node not in entered, node))
        self.heads.add(head)
        is_batch = self._kinds[head] == LOOP
        if len(entered - {head}):
            self.notes.add("entered in the middle")
        inner = cycle - {head} if is_batch else set(cycle)
        inner |= self._tails(inner, nodes, edges, head)
        loop = head if is_batch else max(self._kinds) + 1
        if is_batch and any(
            edge.source == head and edge.output == DONE and edge.target in inner for edge in edges
        ):
            self.notes.add("started again when it is done")
        within = {edge for edge in edges if {edge.source, edge.target} <= inner and edge.target != head}
        self._kinds[loop] = "L"
        body = self._scope(inner, within)
        config = {"items": ["{{ trigger }}"]} if is_batch else {"condition": "loop.index < 10"}
        self._loops[loop] = {**config, "body_steps": body or [self._pass()]}
        kept = (nodes - inner) | {loop}
        return kept, self._around(loop, inner, edges, kept, is_while=not is_batch)

    def _tails(self, inner: set[int], nodes: set[int], edges: set[Edge], head: int) -> set[int]:
        """Return the nodes that follow only from the body; they run in each iteration.

        A branch that leads out of a cycle without a loop node is not followed, because it is the exit of the cycle.
        """
        is_batch = self._kinds[head] == LOOP
        found: set[int] = set()
        while True:
            body = inner | found
            more = {
                node
                for node in nodes - body - {head}
                if (into := [edge for edge in edges if edge.target == node])
                and all(
                    (edge.source in body and (is_batch or not self._is_branch(edge)))
                    or (is_batch and edge.source == head and edge.output != DONE)
                    for edge in into
                )
            }
            if not more:
                return found
            found |= more

    def _is_branch(self, edge: Edge) -> bool:
        return self._kinds[edge.source] in BRANCHES or edge.output != 0

    def _around(
        self, loop: int, inner: set[int], edges: set[Edge], kept: set[int], *, is_while: bool
    ) -> set[Edge]:
        """Return the edges of the remaining nodes. Several exits of a cycle get different outputs of the loop."""
        found: set[Edge] = set()
        exits = sorted(
            {edge.target for edge in edges if edge.source in inner and edge.target in kept - {loop}}
        )
        for edge in edges:
            source = loop if edge.source in inner else edge.source
            target = loop if edge.target in inner else edge.target
            if {source, target} <= kept and {source, target} != {loop}:
                exit_output = exits.index(target) + 2 if source == loop and is_while and len(exits) > 1 else 0
                output = exit_output if source == loop else edge.output
                found.add(Edge(source, target, output))
        if len(exits) > 1:
            self.notes.add("several exits")
        return found

    def _emit(self, nodes: set[int], edges: set[Edge]) -> list[str]:
        first = len(self.steps)
        made = {node: self._step(node) for node in sorted(nodes)}
        self.steps += made.values()
        incoming = {node: [edge for edge in sorted(edges) if edge.target == node] for node in nodes}
        for node, into in incoming.items():
            for edge in into:
                self._connect(edge, made, is_only=len(into) == 1)
            if depends := made[node]["depends_on"]:
                made[node]["name"] = f"after {depends[0]}"
                if made[node]["type"] == "http":
                    made[node]["config"]["body"] = f"{{{{ steps.{depends[0]}.output }}}}"
        return [step["id"] for step in self.steps[first:]]

    def _connect(self, edge: Edge, made: dict[int, dict[str, Any]], *, is_only: bool) -> None:
        """Connect two steps. Where several edges meet, a branch chooses an intermediate step, so that the other edges count too."""
        source, target = made[edge.source], made[edge.target]
        if edge.output == 0 and source["type"] != "conditional":
            target["depends_on"].append(source["id"])
            return
        chosen = target["id"]
        if not is_only:
            chosen = self._pass()
            target["depends_on"].append(chosen)
        if edge.output == ERROR:
            self._handle(source, chosen)
        elif source["type"] == "conditional" and edge.output < 2:
            source["config"]["then_steps" if edge.output == 0 else "else_steps"].append(chosen)
        else:
            case = self._pass(depends_on=[source["id"]], condition=f"trigger.case == {edge.output}")
            self._by_id(case)["config"]["then_steps"].append(chosen)

    def _handle(self, source: dict[str, Any], chosen: str) -> None:
        """Add an error handler. A step has one, so several are started by an intermediate step."""
        if isinstance(source.get("on_error"), dict):
            self._by_id(source["on_error"]["goto"])["config"]["then_steps"].append(chosen)
        else:
            handler = self._pass()
            self._by_id(handler)["config"]["then_steps"].append(chosen)
            source["on_error"] = {"goto": handler}

    def _pass(self, **config: Any) -> str:
        """Emit an intermediate conditional that only chooses steps, and return its id."""
        step_id = f"pass{len(self.steps)}"
        depends_on = config.pop("depends_on", [])
        inner = {"condition": config.get("condition", "true"), "then_steps": [], "else_steps": []}
        self.steps.append({"id": step_id, "type": "conditional", "depends_on": depends_on, "config": inner})
        return step_id

    def _by_id(self, step_id: str) -> dict[str, Any]:
        return next(step for step in self.steps if step["id"] == step_id)

    def _step(self, node: int) -> dict[str, Any]:
        kind, config = self._config(node)
        step: dict[str, Any] = {"id": f"n{node}", "type": kind, "depends_on": [], "config": config}
        if node in self._conditions:
            step["condition"] = self._conditions[node]
        if node in self.shape.continuing:
            step["on_error"] = "continue"
        return step

    def _config(self, node: int) -> tuple[str, dict[str, Any]]:
        match self._kinds[node]:
            case "L":
                return "loop", self._loops[node]
            case "i" | "f" | "s":
                return "conditional", {"condition": "trigger.n > 1", "then_steps": [], "else_steps": []}
            case "a":
                return "agent", {"bot": "ada", "prompt": "Continue."}
            case "d" | "m" | "o":
                return "code", {"language": "javascript", "source": "function run(input) { return input }"}
            case "p":
                return "wait", {"seconds": 5}
            case "q":
                return "sub_workflow", {"workflow_name": "other"}
            case "y":
                return "approval", {"prompt": "Continue?"}
            case _:
                return "http", {"url": "https://example.com"}


def _cycle(nodes: Iterable[int], edges: Iterable[Edge]) -> set[int] | None:
    """Return the first group of nodes that all lead to each other."""
    ahead: dict[int, set[int]] = {node: set() for node in nodes}
    for edge in edges:
        ahead[edge.source].add(edge.target)
    reach = {node: _reach(node, ahead) for node in ahead}
    for node in sorted(ahead):
        if node in reach[node]:
            return {other for other in reach[node] if node in reach[other]}
    return None


def _reach(start: int, ahead: dict[int, set[int]]) -> set[int]:
    found: set[int] = set()
    pending = list(ahead[start])
    while pending:
        node = pending.pop()
        if node not in found:
            found.add(node)
            pending += ahead[node]
    return found
