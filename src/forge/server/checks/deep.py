"""Has the running server prove itself: a run that uses every mechanism is started, followed live and answered."""

from collections.abc import Callable
from contextlib import closing, suppress

from forge.errors import ForgeError
from forge.events.models import Event
from forge.runs.models import FINAL, Gate, GateOpened, Run, RunDetail, RunProgressed
from forge.runs.watched import Watched, fact_of
from forge.server.checks.check import Check, bad
from forge.server.checks.story import Story, judge
from forge.terminal.client import Client

WITHIN_S = 120.0
ANSWER = "yes"
NEW_RUN = {"kind": "self_test", "input": {"ask": True, "child": True, "step_ms": 200}}
"""Its steps are long enough to be seen side by side on a busy machine as well."""
_LOOK = "Look into the server's log, in logs/ of its data directory."

Say = Callable[[str], None]


def check_deeply(client: Client | None, say: Say) -> list[Check]:
    if client is None:
        return [bad("self-test", "needs a running server", "Start it: forge serve")]
    try:
        return judge(_tell(client, say))
    except ForgeError as error:
        return [bad("self-test", error.message, error.hint or _LOOK)]


def _tell(client: Client, say: Say) -> Story:
    run = client.post("/runs", Run, NEW_RUN)
    try:
        live = _follow(client, run.id, say)
    except ForgeError:
        with suppress(ForgeError):  # it would wait for an answer for an hour
            client.post(f"/runs/{run.id}/cancel", Run)
        raise
    stored = client.get("/events", list[Event], {"stream": f"run:{run.id}"})
    return Story(live, stored, client.get(f"/runs/{run.id}", RunDetail))


def _follow(client: Client, run_id: str, say: Say) -> list[Event]:
    watched = Watched()
    with closing(client.follow(f"run:{run_id}", Event, within_s=WITHIN_S)) as events:
        for event in events:
            watched.add(event)
            fact = fact_of(event)
            if isinstance(fact, GateOpened):
                _answer(client, fact.gate)
            elif isinstance(fact, RunProgressed):
                say(f"Self-test {fact.done}/{fact.total} {fact.note}")
            if watched.status in FINAL:
                break
    return watched.events


def _answer(client: Client, gate: Gate) -> None:
    client.post(f"/gates/{gate.id}/answer", Gate, {"option": ANSWER, "shown_hash": gate.shown_hash})
