"""The shape of a workflow: which step waits for which, and which loop owns which steps.

Two kinds of edges lead to a step. Those of `depends_on` say what has to be settled first. Gates (a branch of a
conditional, a rejected approval, an error that goes to a handler) say in addition that somebody has to choose it.
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
"""Scopes that are no loop; a step cannot be called like this one by accident: ids of loops are prefixed."""


class GraphError(Exception):
    """Steps that do not fit together. Raised and caught where a definition is checked."""

    def __init__(self, step: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.step = step
        self.message = message
        self.hint = hint


@dataclass(frozen=True)
class Node:
    step: Step
    after: tuple[str, ...]
    """What it depends on."""
    gates: tuple[str, ...]
    """The steps that may choose it."""

    @property
    def sources(self) -> tuple[str, ...]:
        return *self.after, *self.gates


@dataclass(frozen=True)
class Graph:
    """The steps of one scope: the workflow itself, the body of a loop, or what is done finally."""

    nodes: Mapping[str, Node]
    """In the order they were written."""
    bodies: Mapping[str, "Graph"] = field(default_factory=dict[str, "Graph"])
    """Of the loops in this scope."""
    final: "Graph | None" = None

    @classmethod
    def of(cls, steps: Sequence[Step], finally_ids: Sequence[str] = ()) -> "Graph":
        """Raises GraphError. The ids are known to be there, and to be different from each other."""
        scopes = _scopes(steps, finally_ids)
        gates = _gates(steps)
        for step in steps:
            _check_borders(step, gates.get(step.id, ()), scopes)
        nodes = {step.id: Node(step, tuple(step.depends_on), tuple(gates.get(step.id, ()))) for step in steps}
        _check_cycles(nodes)
        return _scope(TOP, nodes, scopes)

    @cached_property
    def targets(self) -> Mapping[str, Sequence[str]]:
        """What waits for a step, in this scope."""
        found: dict[str, list[str]] = {step_id: [] for step_id in self.nodes}
        for node in self.nodes.values():
            for source in dict.fromkeys(node.sources):
                found[source].append(node.step.id)
        return found


def chosen_by(step: Step) -> Sequence[str]:
    """The steps this one may choose."""
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
    """Whose each step is: of a loop, of `finally`, of the workflow."""
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
                    step.id, f"The step {inner} is in the body of {step.id} and also in {other}."
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


def _check_borders(step: Step, gates: Iterable[str], scopes: Mapping[str, str]) -> None:
    for source in (*step.depends_on, *gates):
        if source == step.id:
            raise GraphError(step.id, f"The step {step.id} waits for itself.")
        if scopes[source] == scopes[step.id]:
            continue
        raise GraphError(
            step.id,
            f"{step.id} is {_where(scopes[step.id])} and waits for {source}, which is {_where(scopes[source])}.",
            hint="A step waits for steps of its own place. What is around a loop is done before its body begins; "
            "what comes after a loop depends on the loop.",
        )


def _where(scope: str) -> str:
    if scope == FINALLY:
        return "in finally"
    return f"in the body of {scope.removeprefix('/')}" if scope else "outside of loops"


def _check_cycles(nodes: Mapping[str, Node]) -> None:
    """Without recursion: a chain may be as long as there may be steps."""
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
                    f"These steps wait for each other: {' ← '.join(cycle)}.",
                    hint="To repeat steps, put them into the body of a loop.",
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
