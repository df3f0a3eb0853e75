"""Working time of stored steps."""

from datetime import UTC, datetime, timedelta

from forge.workflows.definition.models import StepType
from forge.workflows.engine.activity import working_time_s
from forge.workflows.engine.step_store import StepRow
from forge.workflows.models import Attempt, StepStatus, StepSummary

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
HOUR_MS = 3_600_000


def row(*attempts: Attempt, kind: StepType = StepType.AGENT, is_kept: bool = False) -> StepRow:
    summary = StepSummary(
        key="a", step="a", type=kind, name="A", status=StepStatus.COMPLETED, is_kept=is_kept
    )
    return StepRow(summary, attempts=attempts)


def attempt(after_s: float, lasted_ms: int | None, waited_ms: int = 0) -> Attempt:
    at = START + timedelta(seconds=after_s)
    return Attempt(number=1, started_at=at, duration_ms=lasted_ms, waited_ms=waited_ms)


def test_waiting_for_a_person_is_not_working_time():
    assert working_time_s([row(attempt(0, 48 * HOUR_MS, 48 * HOUR_MS - 2_000))]) == 2.0


def test_retry_delay_is_not_working_time():
    assert working_time_s([row(attempt(0, 1_000), attempt(3_600, 2_000), attempt(7_200, None))]) == 3.0


def test_parallel_steps_are_counted_once():
    assert working_time_s([row(attempt(0, 10_000)), row(attempt(2, 3_000)), row(attempt(8, 4_000))]) == 12.0


def test_passive_and_reused_steps_are_not_working_time():
    waiting = row(attempt(0, 5_000), kind=StepType.WAIT)
    assert working_time_s([waiting, row(attempt(0, 5_000), is_kept=True)]) == 0.0
