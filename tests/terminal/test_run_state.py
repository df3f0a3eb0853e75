from datetime import UTC, datetime
from typing import Any

from forge.events.models import Event
from forge.runs.models import RunStatus
from forge.runs.run_state import RunState

AT = datetime(2030, 1, 1, tzinfo=UTC)


def watched(*facts: tuple[str, dict[str, Any]]) -> RunState:
    seen = RunState()
    for seq, (kind, data) in enumerate(facts, 1):
        seen.add(Event("run:1", seq, AT, kind, data))
    return seen


CREATED = ("run.created", {"kind": "build", "title": "Build", "parent_id": None})
STARTED = ("run.started", {"worker": "local", "attempt": 1})
WAITING = ("run.waiting", {"reason": "gate", "until": None})
STARTED_AGAIN = ("run.started", {"worker": "local", "attempt": 2})


def test_a_run_that_waits_still_waits_after_another_worker_took_it_up():
    seen = watched(CREATED, STARTED, WAITING, STARTED_AGAIN)
    assert (seen.status, seen.waiting_for) == (RunStatus.WAITING, "gate")


def test_a_run_that_goes_on_waits_for_nothing():
    seen = watched(CREATED, STARTED, WAITING, ("run.resumed", {}))
    assert (seen.status, seen.waiting_for) == (RunStatus.RUNNING, "")


def test_an_event_of_a_newer_server_does_no_harm():
    seen = watched(CREATED, ("run.teleported", {"where": "Mars"}), STARTED)
    assert (seen.title, seen.status, len(seen.events)) == ("Build", RunStatus.RUNNING, 3)


def test_a_failure_is_kept_with_its_reason():
    seen = watched(CREATED, STARTED, ("run.failed", {"error": {"code": "x", "message": "It broke."}}))
    assert seen.error is not None
    assert (seen.status, seen.error.message) == (RunStatus.FAILED, "It broke.")
