"""Events as triggers name them: what happened, and what it is about. Pure."""

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
"""A run comes into each of these once, so each is one happening."""
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
"""All there are on an account's stream."""


def names_of(event: Event) -> set[str]:
    """Its type, and the same more precisely: a run that has changed may be one that failed."""
    data = event.data
    if event.type == "run.changed":
        return {event.type, _RUN_ENDS.get(RunStatus(data["run"]["status"]), event.type)}
    if event.type == "gate.changed":
        return {event.type, _GATE_ENDS[GateStatus(data["gate"]["status"])]}
    return {event.type}


def run_in(event: Event) -> str | None:
    """The run that it is about, or that did it."""
    data = event.data
    if event.type == "run.changed":
        return data["run"]["id"]
    if event.type == "gate.changed":
        return data["gate"]["run_id"]
    if event.type == "message.sent":
        return data["sender"].get("run_id")
    return None


def subjects_of(event: Event) -> Iterator[str]:
    """What is known from itself: `bot:atlas`, `skill:weather`, `workflow:digest`, `kind:chat`."""
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
    """`*` is anything, `bot:*` any bot."""
    return source == "*" or any(fnmatchcase(subject, source) for subject in subjects)
