from datetime import UTC, datetime
from typing import Any

from forge.events.models import Event
from forge.runs.models import RunStatus
from forge.runs.run_state import RunState

AT = datetime(2030, 1, 1, tzinfo=UTC)


def run_state(*events: tuple[str, dict[str, Any]]) -> RunState:
    state = RunState()
    for seq, (kind, data) in enumerate(events, 1):
        state.add(Event("run:1", seq, AT, kind, data))
    return state


CREATED = ("run.created", {"kind": "build", "title": "Build", "parent_id": None})
STARTED = ("run.started", {"worker": "local", "attempt": 1})
WAITING = ("run.waiting", {"reason": "gate", "until": None})
STARTED_AGAIN = ("run.started", {"worker": "local", "attempt": 2})


def test_waiting_run_still_waits_after_a_restart():
    state = run_state(CREATED, STARTED, WAITING, STARTED_AGAIN)
    assert (state.status, state.waiting_for) == (RunStatus.WAITING, "gate")


def test_resumed_run_waits_for_nothing():
    state = run_state(CREATED, STARTED, WAITING, ("run.resumed", {}))
    assert (state.status, state.waiting_for) == (RunStatus.RUNNING, "")


def test_unknown_event_is_ignored():
    state = run_state(CREATED, ("run.teleported", {"where": "Mars"}), STARTED)
    assert (state.title, state.status, len(state.events)) == ("Build", RunStatus.RUNNING, 3)


def test_failed_run_has_its_error():
    state = run_state(CREATED, STARTED, ("run.failed", {"error": {"code": "x", "message": "It broke."}}))
    assert state.error is not None
    assert (state.status, state.error.message) == (RunStatus.FAILED, "It broke.")
