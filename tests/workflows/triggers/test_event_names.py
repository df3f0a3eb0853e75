"""Names and subjects of events."""

from typing import Any

import pytest

from forge.api.events import EVENT_TYPES as ALL_TYPES
from forge.events.models import Event
from forge.kernel.clock import now
from forge.messages.models import EVENTS as MESSAGES
from forge.workflows.triggers.event_names import EVENT_TYPES, is_about, names_of, subjects_of


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
def test_run_event_has_name_of_its_status(status: str, name: str):
    assert names_of(event("run.changed", run={"status": status})) == {"run.changed", name}


def test_gate_event_has_name_of_its_status():
    assert names_of(event("gate.changed", gate={"status": "open"})) == {"gate.changed", "gate.opened"}


@pytest.mark.parametrize(
    ("published", "subjects"),
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
def test_event_subjects(published: Event, subjects: set[str]):
    assert set(subjects_of(published)) == subjects


def test_source_patterns():
    assert is_about("*", set()) and is_about("bot:atlas", {"bot:atlas"}) and is_about("bot:*", {"bot:atlas"})
    assert not is_about("bot:at", {"bot:atlas"}) and not is_about("skill:*", {"bot:atlas"})


def test_offered_event_types_are_published():
    published = {kind.type for kind in (*ALL_TYPES, *MESSAGES)}
    assert set(EVENT_TYPES) <= published
