"""Which step is next: pure, and quick however many steps there are.

A step is decided as soon as everything that leads to it is settled. It is skipped when nobody chose it although
somebody could, or when nothing it depends on came through.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forge.workflows.definition.graph import Graph, Node


@dataclass(frozen=True)
class Settled:
    """How a step ended, as far as those after it are concerned."""

    passes: bool
    """What depends on it may go on."""
    chooses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    step_id: str
    skipped_because: str | None = None
    """Without it, the step starts."""


class Walk:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._left = {step_id: len(set(node.sources)) for step_id, node in graph.nodes.items()}
        self._settled: dict[str, Settled] = {}

    def begin(self) -> list[Decision]:
        """Those that wait for nothing."""
        return [self._decide(node) for node in self._graph.nodes.values() if not node.sources]

    def settle(self, step_id: str, settled: Settled) -> Iterator[Decision]:
        """Those that waited for this step alone."""
        self._settled[step_id] = settled
        for target in self._graph.targets[step_id]:
            self._left[target] -= 1
            if self._left[target] == 0:
                yield self._decide(self._graph.nodes[target])

    def _decide(self, node: Node) -> Decision:
        step_id = node.step.id
        if node.gates and not any(step_id in self._settled[gate].chooses for gate in node.gates):
            return Decision(step_id, f"Not chosen by {', '.join(node.gates)}.")
        if node.after and not any(self._settled[source].passes for source in node.after):
            return Decision(step_id, f"Nothing came of {', '.join(node.after)}.")
        return Decision(step_id)
