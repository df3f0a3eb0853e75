"""Executor of wait steps. The time counts from the start of the step, so a restart does not prolong it."""

import math
from datetime import datetime, timedelta

from forge.kernel.clock import now, sleep_until
from forge.workflows.definition.models import LONGEST_S, WaitConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult


class WaitStepExecutor:
    async def execute(self, call: StepCall, config: WaitConfig) -> StepResult:
        began = call.started_at
        until = _until(config, began)
        if until > now():
            async with call.waits(f"Until {format_time(until, now())}.", until):
                await sleep_until(until, longest_s=_longest_s(config, until, began))
        return StepResult(
            {"type": "wait", "waited_secs": round(max(0.0, (now() - began).total_seconds()), 3)}
        )


def format_time(moment: datetime, at: datetime) -> str:
    """Format a time in the server's time zone, such as `09:00 UTC`, with the date unless it is today."""
    local, today = moment.astimezone(), at.astimezone().date()
    clock = f"{local:%H:%M %Z}" if local.second == 0 else f"{local:%H:%M:%S %Z}"
    return clock if local.date() == today else f"{local.day} {local:%B %Y}, {clock}"


def _longest_s(config: WaitConfig, until: datetime, began: datetime) -> float:
    """Return the upper limit of the wait: `seconds` are not prolonged when the clock is set back."""
    return math.inf if config.until is not None else (until - began).total_seconds()


def _until(config: WaitConfig, began: datetime) -> datetime:
    if config.until is not None:
        return _time(config.until)
    try:
        seconds = float(config.seconds or 0)
    except ValueError as error:
        raise StepError("bad_time", f"`seconds` is not a number: {config.seconds!r:.100}.") from error
    if not 0 <= seconds <= LONGEST_S:
        raise StepError("bad_time", f"`seconds` must be between 0 and {LONGEST_S:,}, got {seconds:g}.")
    return began + timedelta(seconds=seconds)


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise StepError(
            "bad_time",
            f"`until` is not a valid time: {text!r:.100}.",
            hint="Write it like 2026-12-01T09:00:00+01:00.",
        ) from error
    if moment.tzinfo is None:
        raise StepError(
            "bad_time",
            f"The time {text} has no time zone.",
            hint="Write it like 2026-12-01T09:00:00+01:00, or with Z for UTC.",
        )
    if moment > now() + timedelta(seconds=LONGEST_S):
        raise StepError("bad_time", f"{text} is more than a year in the future.")
    return moment
