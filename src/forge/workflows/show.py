"""How workflows look in a terminal."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.kernel.text import cut
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago, clean, duration
from forge.workflows.definition.models import (
    AgentConfig,
    Config,
    Definition,
    HttpConfig,
    Input,
    LoopConfig,
    MessageConfig,
    Step,
    WaitConfig,
)
from forge.workflows.definition.place import Place
from forge.workflows.models import (
    StripRun,
    TriggerView,
    WorkflowCard,
    WorkflowDetail,
    WorkflowVersion,
)
from forge.workflows.templates import WorkflowTemplate

STRIP = 10
MAX_WHAT = 60
_MARKS = {
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("-", "bright_black"),
    "waiting": ("?", "yellow"),
    "running": (">", "blue"),
    "pending": ("·", "bright_black"),
}
_ABOUT = {
    "skill": "skill",
    "code": "language",
    "conditional": "condition",
    "approval": "prompt",
    "sub_workflow": "workflow_name",
    "audit": "workspace",
}


def workflows_table(cards: Iterable[WorkflowCard]) -> Table:
    rows, at = table("NAME", "STATE", "STEPS", "RUNS", "NEXT", "STARTED BY", wrapped={"STARTED BY"}), now()
    for card in cards:
        rows.add_row(
            words(card.name),
            _state(card),
            str(card.steps),
            _strip(card.last_runs),
            _next(card.triggers, at),
            words(", ".join(trigger.title for trigger in card.triggers) or "-"),
        )
    return rows


def workflow_page(workflow: WorkflowDetail) -> RenderableType:
    at, definition = now(), Definition.model_validate(workflow.definition)
    changed = f"{workflow.updated_at.astimezone():%Y-%m-%d %H:%M} ({ago(workflow.updated_at, at)})"
    pairs = [
        ("workflow", words(workflow.name, "bold")),
        ("id", workflow.id),
        ("description", " ".join(workflow.description.split()) or None),
        ("owner", workflow.owner),
        ("version", f"{workflow.version}, saved as number {workflow.number}"),
        ("state", _state(workflow)),
        ("runs", _strip(workflow.last_runs) if workflow.last_runs else None),
        ("at a time", _concurrency(definition)),
        ("changed", changed),
    ]
    return Group(
        key_values(pairs),
        *section("STARTED BY", (_trigger_line(trigger, at) for trigger in workflow.triggers)),
        *section("INPUTS", (_input_line(name, one) for name, one in definition.inputs.items())),
        *_heading("STEPS"),
        _steps_table(definition.steps),
        *section("WARNINGS", (place_line(place) for place in workflow.warnings)),
    )


def place_line(place: Place, file: str = "") -> Text:
    """Where, what, and what to do; as compilers write it, so that editors find the place."""
    tone = "warn" if place.is_warning else "bad"
    where = f"{clean(file)}:" if file else ""
    line = Text.assemble(
        ("● ", dot(tone).style), (f"{where}{place.line}:{place.column}", "bold"), f" {clean(place.message)}"
    )
    return line.append(f"\n  {clean(place.hint)}", "bright_black") if place.hint else line


def versions_table(versions: Iterable[WorkflowVersion]) -> Table:
    rows = table("NUMBER", "VERSION", "SAVED", "BY")
    for version in versions:
        saved = f"{version.at.astimezone():%Y-%m-%d %H:%M:%S}"
        rows.add_row(str(version.number), words(version.version), saved, words(version.by))
    return rows


def templates_table(templates: Iterable[WorkflowTemplate]) -> Table:
    rows = table("TEMPLATE", "TITLE", "DESCRIPTION", wrapped={"DESCRIPTION"})
    for one in templates:
        rows.add_row(words(one.id), words(one.title), words(one.description))
    return rows


def _state(card: WorkflowCard) -> Text:
    text = dot("active") if card.is_enabled else Text("● off", "bright_black")
    if card.open_gates:
        text.append(f" {card.open_gates} {'waits' if card.open_gates == 1 else 'wait'} for you", "yellow")
    return text


def _strip(runs: list[StripRun]) -> Text:
    """The newest last. A sign each, never colour alone."""
    return Text.assemble(*(_MARKS[run.status.value] for run in runs[-STRIP:]))


def _next(triggers: list[TriggerView], at: datetime) -> str:
    soon = min((trigger.next_at for trigger in triggers if trigger.next_at), default=None)
    return ago(soon, at) if soon else ""


def _concurrency(definition: Definition) -> str | None:
    if definition.concurrency is None:
        return None
    return f"{definition.concurrency}, then {definition.concurrency_policy.value}"


def _trigger_line(trigger: TriggerView, at: datetime) -> Text:
    facts = [
        f"next {ago(trigger.next_at, at)}" if trigger.next_at else "",
        f"last {ago(trigger.last_fired_at, at)}" if trigger.last_fired_at else "",
        trigger.url or "",
    ]
    tone = dot("bad" if trigger.error else "ok").style
    line = Text.assemble(("● ", tone), (trigger.type.value, "bold"), f" {clean(trigger.title)}")
    line.append("".join(f"  {clean(fact)}" for fact in facts if fact), "bright_black")
    return line.append(f"\n  {clean(trigger.error)}", "red") if trigger.error else line


def _input_line(name: str, given: Input) -> Text:
    needed = ", required" if given.required else ""
    usual = "" if given.default is None else f", {json.dumps(given.default, ensure_ascii=False)} if not said"
    line = Text.assemble((clean(name), "bold"), f" {given.type.value}{needed}{clean(usual)}")
    return line.append(f"  {clean(given.description)}", "bright_black") if given.description else line


def _steps_table(steps: Iterable[Step]) -> Table:
    rows = table("STEP", "TYPE", "AFTER", "WHAT", wrapped={"AFTER", "WHAT"})
    for step in steps:
        after = ", ".join(step.depends_on)
        rows.add_row(words(step.id), step.type.value, words(after), words(_what(step.config)))
    return rows


def _seconds(told: float | str | None) -> str:
    return f"{told} s" if isinstance(told, str) else duration(timedelta(seconds=told or 0))


def _what(config: Config) -> str:
    """What a step is about, in a few words."""
    match config:
        case AgentConfig():
            said = f"{config.bot}: {config.prompt}"
        case HttpConfig():
            said = f"{config.method} {config.url}"
        case LoopConfig():
            said = f"while {config.condition}" if config.condition else f"for each of {config.items}"
        case WaitConfig():
            said = f"until {config.until}" if config.until else _seconds(config.seconds)
        case MessageConfig():
            said = f"to {config.to or f'#{config.channel}'}"
        case _:
            said = str(getattr(config, _ABOUT[config.type]))
    return cut(" ".join(said.split()), MAX_WHAT)


def section(title: str, lines: Iterable[Text]) -> Iterator[Text]:
    found = list(lines)
    if found:
        yield from _heading(title)
        yield from found


def _heading(title: str) -> Iterator[Text]:
    yield Text(f"\n{title}", "bright_black")
