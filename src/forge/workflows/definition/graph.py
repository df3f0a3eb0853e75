"""The graph of a workflow: which step waits for which, and which loop contains which steps.

Two kinds of edges lead to a step. `depends_on` lists the steps that must be settled first. Gates (the branch of a
conditional, a rejected approval, an error handler) must in addition choose the step for it to run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from forge.workflows.definition.models import (
    ApprovalConfig,
    ConditionalConfig,
    Goto,
    LoopConfig,
    Step,
)

TOP = ""
FINALLY = "finally"
"""Scopes other than loops. They cannot clash with loop ids, which are prefixed."""


class GraphError(Exception):
    """The steps do not form a valid graph. Raised only while a definition is checked."""

    def __init__(self, step: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Node:
    step: Step
    after: tuple[str, ...]
    """The steps it depends on."""
    gates: tuple[str, ...]
    """The steps that may choose it."""

    @property
    def sources(self) -> tuple[str, ...]:
        return *self.after, *self.gates


@dataclass(frozen=True)
class Graph:
    """The steps of one scope: the workflow, the body of a loop, or `finally`."""

    nodes: Mapping[str, Node]
    """In the order of the definition."""
    bodies: Mapping[str, "Graph"] = field(default_factory=dict[str, "Graph"])
    """The bodies of the loops in this scope."""
    final: "Graph | None" = None

    @classmethod
    def of(cls, steps: Sequence[Step], finally_ids: Sequence[str] = ()) -> "Graph":
        """Build the graph. Step ids must exist and be unique. Raises GraphError."""
        scopes = _scopes(steps, finally_ids)
        gates = _gates(steps)
        for step in steps:
            _check_same_scope(step, gates.get(step.id, ()), scopes)
        nodes = {step.id: Node(step, tuple(step.depends_on), tuple(gates.get(step.id, ()))) for step in steps}
        _check_cycles(nodes)
        return _scope(TOP, nodes, scopes)

    @cached_property
    def targets(self) -> Mapping[str, Sequence[str]]:
        """The steps that wait for each step, in this scope."""
        found: dict[str, list[str]] = {step_id: [] for step_id in self.nodes}
        for node in self.nodes.values():
            for source in dict.fromkeys(node.sources):
                found[source].append(node.step.id)
        return found


def chosen_by(step: Step) -> Sequence[str]:
    """Return the steps that this step may choose."""
    named: list[str] = []
    if isinstance(step.config, ConditionalConfig):
        named += [*step.config.then_steps, *step.config.else_steps]
    if isinstance(step.config, ApprovalConfig):
        named += step.config.rejected_steps
    if isinstance(step.on_error, Goto):
        named.append(step.on_error.goto)
    return list(dict.fromkeys(named))


def _gates(steps: Iterable[Step]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for step in steps:
        for target in chosen_by(step):
            found.setdefault(target, []).append(step.id)
    return found


def _scopes(steps: Sequence[Step], finally_ids: Sequence[str]) -> dict[str, str]:
    """Return the scope of each step: a loop, `finally` or the workflow."""
    owners = {step.id: TOP for step in steps}
    for step_id in finally_ids:
        owners[step_id] = FINALLY
    for step in steps:
        if not isinstance(step.config, LoopConfig):
            continue
        for inner in dict.fromkeys(step.config.body_steps):
            if inner == step.id:
                raise GraphError(step.id, f"The loop {step.id} cannot be in its own body.")
            if owners[inner] != TOP:
                other = "finally" if owners[inner] == FINALLY else owners[inner].removeprefix("/")
                raise GraphError(
                    step.id, f"The step {inner} is both in the body of {step.id} and in {other}."
                )
            owners[inner] = f"/{step.id}"
    for step in steps:
        _check_nesting(step.id, owners)
    return owners


def _check_nesting(step_id: str, owners: Mapping[str, str]) -> None:
    seen, owner = {step_id}, owners[step_id]
    while owner not in (TOP, FINALLY):
        loop = owner.removeprefix("/")
        if loop in seen:
            raise GraphError(step_id, f"The loops {', '.join(sorted(seen))} contain each other.")
        seen.add(loop)
        owner = owners[loop]


def _check_same_scope(step: Step, gates: Iterable[str], scopes: Mapping[str, str]) -> None:
    for source in (*step.depends_on, *gates):
        if source == step.id:
            raise GraphError(step.id, f"The step {step.id} depends on itself.")
        if scopes[source] == scopes[step.id]:
            continue
        raise GraphError(
            step.id,
            f"{step.id} is {_where(scopes[step.id])} and depends on {source}, which is {_where(scopes[source])}.",
            hint="A step can only depend on steps of its own loop body or level. Steps before a loop end before its body "
            "starts; steps after a loop depend on the loop.",
        )


def _where(scope: str) -> str:
    if scope == FINALLY:
        return "in finally"
    return f"in the body of {scope.removeprefix('/')}" if scope else "outside loops"


def _check_cycles(nodes: Mapping[str, Node]) -> None:
    """Raise if there is a cycle. Iterative, because a chain of 1,000 steps would exceed the recursion limit."""
    done: set[str] = set()
    for start in nodes:
        path: list[str] = []
        on_path: set[str] = set()
        stack = [(start, False)]
        while stack:
            step_id, is_left = stack.pop()
            if is_left:
                path.pop()
                on_path.discard(step_id)
                done.add(step_id)
            elif step_id in on_path:
                cycle = [*path[path.index(step_id) :], step_id]
                raise GraphError(
                    step_id,
                    f"These steps depend on each other: {' ← '.join(cycle)}.",
                    hint="To repeat steps, put them in the body of a loop.",
                )
            elif step_id not in done:
                path.append(step_id)
                on_path.add(step_id)
                stack.append((step_id, True))
                stack += [(source, False) for source in nodes[step_id].sources]


def _scope(scope: str, nodes: Mapping[str, Node], scopes: Mapping[str, str]) -> Graph:
    own = {step_id: node for step_id, node in nodes.items() if scopes[step_id] == scope}
    bodies = {
        step_id: _scope(f"/{step_id}", nodes, scopes)
        for step_id, node in own.items()
        if isinstance(node.step.config, LoopConfig)
    }
    is_top = scope == TOP
    has_final = is_top and FINALLY in scopes.values()
    return Graph(own, bodies, _scope(FINALLY, nodes, scopes) if has_final else None)
