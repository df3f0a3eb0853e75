"""What triggers call an event, and what it is about."""

from typing import Any

import pytest

from forge.api.events import EVENT_TYPES as ALL_TYPES
from forge.events.models import Event
from forge.kernel.clock import now
from forge.messages.models import EVENTS as MESSAGES
from forge.workflows.triggers.happenings import EVENT_TYPES, is_about, names_of, subjects_of


def event(kind: str, **data: Any) -> Event:
    return Event("account:1", 1, now(), kind, data)


@pytest.mark.parametrize(
    ("status", "name"),
    [
        ("pending", "run.created"),
        ("running", "run.changed"),
        ("waiting", "run.changed"),
        ("completed", "run.completed"),
        ("failed", "run.failed"),
        ("cancelled", "run.cancelled"),
    ],
)
def test_a_run_that_changed_is_named_by_what_became_of_it(status: str, name: str):
    assert names_of(event("run.changed", run={"status": status})) == {"run.changed", name}


def test_a_gate_is_named_by_what_became_of_it():
    assert names_of(event("gate.changed", gate={"status": "open"})) == {"gate.changed", "gate.opened"}


@pytest.mark.parametrize(
    ("told", "subjects"),
    [
        (event("run.changed", run={"kind": "chat"}), {"kind:chat"}),
        (event("bot.changed", slug="atlas"), {"bot:atlas"}),
        (event("skill.changed", skill="weather"), {"skill:weather"}),
        (event("workflow.refused", name="digest"), {"workflow:digest"}),
        (event("message.answered", bot="atlas"), {"bot:atlas"}),
        (
            event(
                "message.sent", sender={"type": "bot", "slug": "a"}, recipient={"type": "direct", "bot": "b"}
            ),
            {"bot:a", "bot:b"},
        ),
        (
            event("message.sent", sender={"type": "workflow", "name": "w"}, recipient={"type": "channel"}),
            {"workflow:w"},
        ),
        (event("interviews.changed"), set[str]()),
    ],
)
def test_an_event_says_what_it_is_about(told: Event, subjects: set[str]):
    assert set(subjects_of(told)) == subjects


def test_a_source_is_a_name_a_kind_of_thing_or_anything():
    assert is_about("*", set()) and is_about("bot:atlas", {"bot:atlas"}) and is_about("bot:*", {"bot:atlas"})
    assert not is_about("bot:at", {"bot:atlas"}) and not is_about("skill:*", {"bot:atlas"})


def test_what_is_offered_is_told_on_some_stream():
    told = {kind.type for kind in (*ALL_TYPES, *MESSAGES)}
    assert set(EVENT_TYPES) <= told
