"""The event names and subjects that event triggers match."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from forge.events.models import Event
from forge.runs.models import GateStatus, RunStatus

REFUSED = "workflow.refused"
_RUN_ENDS = {
    RunStatus.PENDING: "run.created",
    RunStatus.COMPLETED: "run.completed",
    RunStatus.FAILED: "run.failed",
    RunStatus.CANCELLED: "run.cancelled",
}
"""Event names by run status; a run reaches each of these once."""
_GATE_ENDS = {
    GateStatus.OPEN: "gate.opened",
    GateStatus.ANSWERED: "gate.answered",
    GateStatus.EXPIRED: "gate.expired",
    GateStatus.CLOSED: "gate.closed",
}
EVENT_TYPES = (
    "run.changed",
    *_RUN_ENDS.values(),
    "gate.changed",
    *_GATE_ENDS.values(),
    "bot.changed",
    "skill.changed",
    "interviews.changed",
    "message.sent",
    "message.answered",
    "workflow.changed",
    REFUSED,
)
"""All event names an event trigger may use."""


def names_of(event: Event) -> set[str]:
    """Return the type of an event and its specific name: `run.changed` may also be `run.failed`."""
    data = event.data
    if event.type == "run.changed":
        return {event.type, _RUN_ENDS.get(RunStatus(data["run"]["status"]), event.type)}
    if event.type == "gate.changed":
        return {event.type, _GATE_ENDS[GateStatus(data["gate"]["status"])]}
    return {event.type}


def run_in(event: Event) -> str | None:
    """Return the id of the run that the event is about or that caused it."""
    data = event.data
    if event.type == "run.changed":
        return data["run"]["id"]
    if event.type == "gate.changed":
        return data["gate"]["run_id"]
    if event.type == "message.sent":
        return data["sender"].get("run_id")
    return None


def subjects_of(event: Event) -> Iterator[str]:
    """Yield the subjects named in the event itself: `bot:atlas`, `skill:weather`, `workflow:digest`, `kind:chat`."""
    data: Mapping[str, Any] = event.data
    match event.type:
        case "run.changed":
            yield f"kind:{data['run']['kind']}"
        case "bot.changed":
            yield f"bot:{data['slug']}"
        case "skill.changed":
            yield f"skill:{data['skill']}"
        case "workflow.changed" | "workflow.refused":
            yield f"workflow:{data['name']}"
        case "message.answered":
            yield f"bot:{data['bot']}"
        case "message.sent":
            yield from _correspondents(data["sender"], data["recipient"])
        case _:
            pass


def _correspondents(sender: Mapping[str, Any], recipient: Mapping[str, Any]) -> Iterator[str]:
    if sender["type"] == "bot":
        yield f"bot:{sender['slug']}"
    if sender["type"] == "workflow":
        yield f"workflow:{sender['name']}"
    if recipient["type"] == "direct":
        yield f"bot:{recipient['bot']}"


def is_about(source: str, subjects: set[str]) -> bool:
    """Return whether a source pattern matches: `*` is anything, `bot:*` any bot."""
    return source == "*" or any(fnmatchcase(subject, source) for subject in subjects)
