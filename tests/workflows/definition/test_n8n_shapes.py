"""The graphs of 340 public n8n templates, including cycles, can be expressed as definitions with the same order."""

from collections import Counter

from tests.workflows.definition.n8n_shapes import TRIGGERS, Edge, Mapping, shapes

from forge.workflows.definition.expression_checks import Order
from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import Definition, LoopConfig
from forge.workflows.definition.reader import read_data


def loops_around(step_id: str, definition: Definition) -> list[str]:
    for step in definition.steps:
        if isinstance(step.config, LoopConfig) and step_id in step.config.body_steps:
            return [step.id, *loops_around(step.id, definition)]
    return []


def lost_edges(mapping: Mapping, definition: Definition) -> list[Edge]:
    """Return the lost edges, except those that lead into a loop or back to its start."""
    order = Order.of(Graph.of(definition.steps, definition.finally_steps))
    lost: list[Edge] = []
    for edge in mapping.shape.edges:
        if mapping.shape.kinds[edge.source] in TRIGGERS:
            continue
        source, target = f"n{edge.source}", f"n{edge.target}"
        inside = {source, *loops_around(source, definition)} & {target, *loops_around(target, definition)}
        leads_back = edge.target in mapping.heads and bool(inside)
        leads_in = source in loops_around(target, definition)
        if order.find_problem(source, target, is_repeated=False) and not (leads_back or leads_in):
            lost.append(edge)
    return lost


def test_every_n8n_graph_can_be_expressed():
    counts: Counter[str] = Counter()
    for number, shape in enumerate(shapes()):
        mapping = Mapping(shape)
        read = read_data(mapping.definition())
        assert read.is_usable, (number, read.problems[:3])
        assert read.definition
        step_ids = {step.id for step in read.definition.steps}
        steps = [node for node, kind in enumerate(shape.kinds) if kind not in TRIGGERS]
        assert {f"n{node}" for node in steps} <= step_ids, number
        assert lost_edges(mapping, read.definition) == [], number
        counts.update(["graphs", *mapping.notes])
        counts["with cycles"] += bool(mapping.heads)
        counts["with several cycles"] += len(mapping.heads) > 1
        counts["with several triggers"] += len(mapping.triggers) > 1
        counts["nodes"] += len(shape.kinds)
        counts["edges"] += len(shape.edges)
    assert counts == FINDINGS


FINDINGS = {
    "graphs": 340,
    "nodes": 4786,
    "edges": 4766,
    "with cycles": 99,
    "with several cycles": 17,
    "with several triggers": 100,
    "several exits": 13,
    "entered in the middle": 1,
}
"""Documented in docs/reference/n8n.md."""
