"""Waiting for a time. It is counted from when the step began, whatever restarts happen meanwhile."""

import math
from datetime import datetime, timedelta

from forge.kernel.clock import now, sleep_until
from forge.workflows.definition.models import LONGEST_S, WaitConfig
from forge.workflows.engine.hands import Done, StepCall, StepError


class WaitHand:
    async def do(self, call: StepCall, config: WaitConfig) -> Done:
        began = call.started_at
        until = _until(config, began)
        if until > now():
            async with call.waits(f"Until {spoken(until, now())}.", until):
                await sleep_until(until, longest_s=_longest_s(config, until, began))
        return Done({"type": "wait", "waited_secs": round(max(0.0, (now() - began).total_seconds()), 3)})


def spoken(moment: datetime, at: datetime) -> str:
    """`09:00 UTC`, on the clock of the server; with its day when that is another one."""
    there, here = moment.astimezone(), at.astimezone()
    clock = f"{there:%H:%M %Z}" if there.second == 0 else f"{there:%H:%M:%S %Z}"
    return clock if there.date() == here.date() else f"{there.day} {there:%B %Y}, {clock}"


def _longest_s(config: WaitConfig, until: datetime, began: datetime) -> float:
    """So many seconds are never more, also when the clock is set back."""
    return math.inf if config.until is not None else (until - began).total_seconds()


def _until(config: WaitConfig, began: datetime) -> datetime:
    if config.until is not None:
        return _time(config.until)
    try:
        seconds = float(config.seconds or 0)
    except ValueError as error:
        raise StepError("bad_time", f"seconds is no number: {config.seconds!r:.100}.") from error
    if not 0 <= seconds <= LONGEST_S:
        raise StepError("bad_time", f"A step waits for {LONGEST_S:,} seconds at most; this says {seconds:g}.")
    return began + timedelta(seconds=seconds)


def _time(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise StepError(
            "bad_time", f"This is no time: {text!r:.100}.", hint="Such as 2026-12-01T09:00:00+01:00."
        ) from error
    if moment.tzinfo is None:
        raise StepError(
            "bad_time",
            f"{text} does not say its time zone.",
            hint="Such as 2026-12-01T09:00:00+01:00, or …Z.",
        )
    if moment > now() + timedelta(seconds=LONGEST_S):
        raise StepError("bad_time", f"{text} is more than a year away.")
    return moment
