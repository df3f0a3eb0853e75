"""The runs that steps have begun and wait for. They go on although nobody waits any more, unless they are stopped."""

from collections.abc import Iterable

from forge.workflows.engine.rows import StepRow


class Links:
    """`rows`: of an earlier attempt of the run."""

    def __init__(self, rows: Iterable[StepRow] = ()) -> None:
        self._runs: dict[str, set[str]] = {}
        for row in rows:
            if row.summary.linked_run_id is not None and not row.status.is_settled:
                self.add(row.key, row.summary.linked_run_id)

    def add(self, key: str, run_id: str) -> None:
        self._runs.setdefault(key, set()).add(run_id)

    def take(self, key: str) -> list[str]:
        """Those of a step and of what is inside it, which are of no concern from now on."""
        keys = [one for one in self._runs if one == key or one.startswith(f"{key}[")]
        return sorted(run_id for one in keys for run_id in self._runs.pop(one))
