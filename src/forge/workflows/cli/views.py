"""Show workflows in a terminal."""

import json
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.text import Text

from forge.kernel.clock import now
from forge.kernel.text import truncate
from forge.terminal.output import FAINT, Columns, Fields, dot, heading, section, words
from forge.terminal.text import ago, clean, duration
from forge.workflows.definition.models import (
    AgentConfig,
    Config,
    Definition,
    HttpConfig,
    Input,
    LoopConfig,
    MessageConfig,
    Place,
    Step,
    WaitConfig,
)
from forge.workflows.models import (
    StripRun,
    TriggerView,
    WorkflowCard,
    WorkflowDetail,
    WorkflowVersion,
)
from forge.workflows.starter_templates import WorkflowTemplate

STRIP = 10
MAX_WHAT = 60
_MARKS = {
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("-", FAINT),
    "waiting": ("?", "yellow"),
    "running": (">", "blue"),
    "pending": ("·", FAINT),
}
_ABOUT = {
    "skill": "skill",
    "code": "language",
    "conditional": "condition",
    "approval": "prompt",
    "sub_workflow": "workflow_name",
    "audit": "workspace",
}


def _triggers(card: WorkflowCard) -> str:
    return ", ".join(trigger.title for trigger in card.triggers) or "-"


def _changed(workflow: WorkflowDetail) -> str:
    return f"{workflow.updated_at.astimezone():%Y-%m-%d %H:%M} ({ago(workflow.updated_at, now())})"


workflows_table = Columns[WorkflowCard](
    {
        "NAME": "name",
        "STATE": lambda card: _state(card),
        "STEPS": "steps",
        "RUNS": lambda card: _strip(card.last_runs),
        "NEXT": lambda card: min((one.next_at for one in card.triggers if one.next_at), default=None),
        "STARTED BY": _triggers,
    },
    wrap={"STARTED BY"},
)
versions_table = Columns[WorkflowVersion](
    {
        "NUMBER": "number",
        "VERSION": "version",
        "SAVED": lambda version: f"{version.at.astimezone():%Y-%m-%d %H:%M:%S}",
        "BY": "by",
    }
)
templates_table = Columns[WorkflowTemplate](
    {"TEMPLATE": "id", "TITLE": "title", "DESCRIPTION": "description"}, wrap={"DESCRIPTION"}
)
_steps_table = Columns[Step](
    {"STEP": "id", "TYPE": "type", "AFTER": "depends_on", "WHAT": lambda step: _what(step.config)},
    wrap={"AFTER", "WHAT"},
)
_workflow_fields = Fields[WorkflowDetail](
    {
        "workflow": lambda workflow: words(workflow.name, "bold"),
        "id": "id",
        "description": lambda workflow: " ".join(workflow.description.split()),
        "owner": "owner",
        "version": lambda workflow: f"{workflow.version}, saved as number {workflow.number}",
        "state": lambda workflow: _state(workflow),
        "runs": lambda workflow: _strip(workflow.last_runs) if workflow.last_runs else None,
        "at a time": lambda workflow: _concurrency(Definition.model_validate(workflow.definition)),
        "changed": _changed,
    }
)


def workflow_page(workflow: WorkflowDetail) -> RenderableType:
    at, definition = now(), Definition.model_validate(workflow.definition)
    return Group(
        _workflow_fields(workflow),
        *section("STARTED BY", (_trigger_line(trigger, at) for trigger in workflow.triggers)),
        *section("INPUTS", (_input_line(name, one) for name, one in definition.inputs.items())),
        heading("STEPS"),
        _steps_table(definition.steps),
        *section("WARNINGS", (place_line(place) for place in workflow.warnings)),
    )


def place_line(place: Place, file: str = "") -> Text:
    """Format a problem with its position as compilers do, so that editors find it."""
    tone = "warn" if place.is_warning else "bad"
    where = f"{clean(file)}:" if file else ""
    line = Text.assemble(
        ("● ", dot(tone).style), (f"{where}{place.line}:{place.column}", "bold"), f" {clean(place.message)}"
    )
    return line.append(f"\n  {clean(place.hint)}", FAINT) if place.hint else line


def _state(card: WorkflowCard) -> Text:
    text = dot("active") if card.is_enabled else Text("● off", FAINT)
    if card.open_gates:
        text.append(f" {card.open_gates} {'waits' if card.open_gates == 1 else 'wait'} for you", "yellow")
    return text


def _strip(runs: list[StripRun]) -> Text:
    """Show a sign for each of the last runs, the newest last."""
    return Text.assemble(*(_MARKS[run.status.value] for run in runs[-STRIP:]))


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
    line.append("".join(f"  {clean(fact)}" for fact in facts if fact), FAINT)
    return line.append(f"\n  {clean(trigger.error)}", "red") if trigger.error else line


def _input_line(name: str, given: Input) -> Text:
    needed = ", required" if given.required else ""
    usual = "" if given.default is None else f", {json.dumps(given.default, ensure_ascii=False)} if not said"
    line = Text.assemble((clean(name), "bold"), f" {given.type.value}{needed}{clean(usual)}")
    return line.append(f"  {clean(given.description)}", FAINT) if given.description else line


def _seconds(told: float | str | None) -> str:
    return f"{told} s" if isinstance(told, str) else duration(timedelta(seconds=told or 0))


def _what(config: Config) -> str:
    """Summarize what a step does."""
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
    return truncate(" ".join(said.split()), MAX_WHAT)
