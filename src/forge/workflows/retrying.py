"""What a run that goes on from where another one failed takes over from it."""

from collections.abc import Mapping

from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import Definition
from forge.workflows.engine.rows import StepRow, fails_run
from forge.workflows.keys import parts_of


def kept_rows(definition: Definition, rows: Mapping[str, StepRow]) -> list[StepRow]:
    """What was settled and did not fail the run. What is done finally is done again."""
    steps = {step.id: step for step in definition.steps}
    final = Graph.of(definition.steps, definition.finally_steps).final
    again = set(final.nodes) if final else set[str]()
    return [
        row.moved(is_kept=True)
        for row in rows.values()
        if row.status.is_settled
        and parts_of(row.key)[0][0] not in again
        and not fails_run(steps[row.summary.step], row)
    ]
