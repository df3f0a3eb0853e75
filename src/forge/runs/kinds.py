"""Run kinds: a name, an input model and a function that executes the run."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from forge.errors import Invalid
from forge.kernel.clock import now
from forge.kernel.validation import first_problem
from forge.runs.context import RunContext
from forge.runs.models import Run, RunStatus

I = TypeVar("I", bound=BaseModel)  # noqa: E741


@dataclass(frozen=True)
class RunKind(Generic[I]):
    name: str
    input: type[I]
    function: Callable[[RunContext, I], Awaitable[Any]]
    title: Callable[[I], str]
    outcome: Callable[[Any], str | None] = lambda _: None
    """Returns `Run.outcome` for the output of a completed run."""
    is_public: bool = False
    """May be started through `POST /runs`; other kinds are started by their feature."""


class RunKinds:
    def __init__(self, *kinds: RunKind[Any]) -> None:
        self._by_name = {kind.name: kind for kind in kinds}

    def get(self, name: str) -> RunKind[Any]:
        if name not in self._by_name:
            raise Invalid(f"There is no run kind {name!r}.", field="kind")
        return self._by_name[name]

    def new_run(self, name: str, inputs: dict[str, Any], *, run_id: str, parent_id: str | None = None) -> Run:
        """Create a run in memory; raises Invalid if the input does not fit its kind."""
        kind = self.get(name)
        try:
            checked = kind.input.model_validate(inputs)
        except ValidationError as error:
            problem = first_problem(error)
            where = ".".join(map(str, ("input", *problem.path)))
            raise Invalid(f"{where}: {problem.message}", field=where) from error
        return Run(
            id=run_id,
            kind=name,
            title=kind.title(checked),
            status=RunStatus.PENDING,
            parent_id=parent_id,
            attempt=0,
            progress=None,
            output=None,
            error=None,
            created_at=now(),
            started_at=None,
            finished_at=None,
        )

    def public(self, name: str) -> RunKind[Any]:
        kind = self._by_name.get(name)
        if kind is None or not kind.is_public:
            startable = ", ".join(sorted(k.name for k in self._by_name.values() if k.is_public))
            raise Invalid(
                f"Runs of kind {name!r} cannot be started through this endpoint.",
                hint=f"Choose one of: {startable}.",
                field="kind",
            )
        return kind
