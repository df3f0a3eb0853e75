"""Show workflows, their runs and dry runs in a terminal."""

import json
import shlex
from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.text import Text

from forge.kernel.clock import now
from forge.kernel.text import truncate, truncate_line
from forge.llm.models import dollars
from forge.runs.models import Gate, GateStatus
from forge.runs.run_view import created, deadline, gate_page, gate_title, problem_text
from forge.terminal.output import FAINT, Columns, Fields, dot, heading, indented, marked, section, words
from forge.terminal.text import clean, duration
from forge.workflows.definition.models import Definition, Input, Place, Step
from forge.workflows.models import (
    Attempt,
    DryRun,
    LogLine,
    StepDetail,
    StepStatus,
    StepSummary,
    StripRun,
    TriggerType,
    TriggerView,
    WorkflowCard,
    WorkflowDetail,
    WorkflowRun,
    WorkflowRunDetail,
    WorkflowVersion,
    split_key,
)
from forge.workflows.starter_templates import WorkflowTemplate

STRIP = 10
MAX_DETAIL = 60
MAX_SHORT = 400
_MARKS = {
    "completed": ("✓", "green"),
    "failed": ("✗", "red"),
    "cancelled": ("-", FAINT),
    "waiting": ("?", "yellow"),
    "running": (">", "blue"),
    "pending": ("·", FAINT),
}


def _state(card: WorkflowCard) -> Text:
    text = dot("active") if card.is_enabled else Text("● off", FAINT)
    if card.open_gates:
        text.append(f" {card.open_gates} waiting for approval", "yellow")
    return text


def _strip(runs: list[StripRun]) -> Text:
    """Return a mark for each of the last runs, newest last."""
    return Text.assemble(*(_MARKS[run.status.value] for run in runs[-STRIP:]))


def _detail(step: Step) -> str:
    """Return the values of a step's configuration."""
    config = step.config.model_dump(mode="json", exclude={"type"}, exclude_defaults=True)
    return truncate_line(
        ", ".join(f"{name}: {short_text(value)}" for name, value in config.items()), MAX_DETAIL
    )


def _started_by(run: WorkflowRun) -> str:
    return run.source if run.trigger is TriggerType.MANUAL else f"{run.trigger.value}: {run.source}"


def _took(run: WorkflowRun) -> timedelta | None:
    return (run.finished_at or now()) - run.started_at if run.started_at else None


def _cost(run: WorkflowRun) -> str:
    return dollars(run.cost_micros) if run.cost_micros else ""


workflows_table = Columns[WorkflowCard](
    "name",
    {"state": _state},
    "steps",
    {
        "runs": lambda card: _strip(card.last_runs),
        "next": lambda card: min((one.next_at for one in card.triggers if one.next_at), default=None),
        "triggers": lambda card: [trigger.title for trigger in card.triggers],
    },
)
versions_table = Columns[WorkflowVersion](
    "number version", {"saved": lambda version: f"{version.at.astimezone():%Y-%m-%d %H:%M:%S}"}, "by"
)
templates_table = Columns[WorkflowTemplate]("id title description")
_triggers_table = Columns[TriggerView](
    {"trigger": lambda trigger: dot("bad" if trigger.error else "ok")},
    "type title next_at last_fired_at url error",
)
_inputs_table = Columns[tuple[str, Input]](
    {
        "input": lambda item: item[0],
        "type": lambda item: f"{item[1].type.value}{', required' if item[1].required else ''}",
        "default": lambda item: None if item[1].default is None else short_text(item[1].default),
        "description": lambda item: item[1].description,
    }
)
_definition_table = Columns[Step]("id type", {"after": "depends_on", "detail": _detail})
_workflow_fields = Fields[WorkflowDetail](
    {
        "workflow": "name",
        "id": "id",
        "description": lambda workflow: " ".join(workflow.description.split()),
        "owner": "owner",
        "version": lambda workflow: f"{workflow.version}, saved as number {workflow.number}",
        "state": _state,
        "runs": lambda workflow: _strip(workflow.last_runs) if workflow.last_runs else None,
        "concurrency": lambda workflow: workflow.definition.get("concurrency"),
        "changed": lambda workflow: created(workflow.updated_at),
    }
)
runs_table = Columns[WorkflowRun](
    "id",
    {"workflow": lambda run: f"{run.workflow_name} #{run.number}"},
    "status",
    {"started by": _started_by, "took": _took, "cost": _cost},
    "created_at",
)
_run_fields = Fields[WorkflowRunDetail](
    {
        "run": "id",
        "workflow": lambda run: f"{run.workflow_name} #{run.number}",
        "status": "status",
        "started by": _started_by,
        "retry of": "retry_of",
        "parent": "parent_id",
        "created": lambda run: created(run.created_at),
        "took": _took,
        "cost": _cost,
        "inputs": lambda run: short_text(run.inputs) if run.inputs else None,
        "output": lambda run: short_text(run.output) if run.output is not None else None,
        "error": lambda run: problem_text(run.error) if run.error else None,
    }
)
_steps_table = Columns[StepSummary](
    {
        "step": lambda step: "  " * step.key.count("/") + step.key,
        "type": "type",
        "status": lambda step: step_words(step),
    }
)
_step_fields = Fields[StepDetail](
    {
        "step": "key",
        "type": "type",
        "name": lambda step: step.name if step.name != step.step else None,
        "status": lambda step: step_words(step),
        "run": "linked_run_id",
    }
)
_attempts_table = Columns[Attempt](
    {
        "attempt": "number",
        "took": "duration_ms",
        "result": lambda attempt: problem_text(attempt.error) if attempt.error else dot("completed"),
    },
    "note",
)


def workflow_page(workflow: WorkflowDetail) -> RenderableType:
    definition = Definition.model_validate(workflow.definition)
    return Group(
        _workflow_fields(workflow),
        *_triggers_table.section("TRIGGERS", workflow.triggers),
        *_inputs_table.section("INPUTS", definition.inputs.items()),
        *_definition_table.section("STEPS", definition.steps),
        *section("WARNINGS", map(place_line, workflow.warnings)),
    )


def place_line(place: Place, file: str = "") -> Text:
    """Format a problem with its position as compilers do, so that editors find it."""
    where = f"{clean(file)}:" if file else ""
    text = Text.assemble((f"{where}{place.line}:{place.column}", "bold"), f" {clean(place.message)}")
    return marked("warn" if place.is_warning else "bad", text, place.hint)


def run_page(run: WorkflowRunDetail) -> RenderableType:
    """Show a run with its steps in the order of the definition, and the iterations of a loop below it."""
    positions = {step["id"]: index for index, step in enumerate(run.definition["steps"])}
    steps = sorted(run.steps, key=lambda step: _sort_key(step.key, positions))
    open_gates = [gate for gate in run.gates if gate.status is GateStatus.OPEN]
    return Group(
        _run_fields(run),
        *_steps_table.section("STEPS", steps),
        *(part for gate in open_gates for part in (Text(), question_page(run.id, gate))),
    )


def _sort_key(key: str, positions: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return the sort key of a step: for `each[2]/fetch` the position of `each` and the index 2, then that of `fetch`."""
    return [(positions[step], -1 if index is None else index) for step, index in split_key(key)]


def step_words(step: StepSummary) -> Text:
    text = dot(step.status)
    if step.attempt > 1:
        text.append(f" (attempt {step.attempt})", FAINT)
    if step.is_kept:
        text.append(" (kept)", FAINT)
    took = duration(step.finished_at - step.started_at) if step.started_at and step.finished_at else ""
    facts = [took, dollars(step.cost_micros) if step.cost_micros else "", clean(step.note)]
    text.append("".join(f"  {fact}" for fact in facts if fact), FAINT)
    return text.append("  ").append_text(problem_text(step.error)) if step.error else text


def step_page(step: StepDetail) -> RenderableType:
    return Group(
        _step_fields(step),
        *_value("INPUT", step.input),
        *_value("OUTPUT", step.output),
        *_attempts_table.section("ATTEMPTS", step.attempts if len(step.attempts) > 1 else []),
        *section("LOG", map(log_text, step.logs)),
    )


def dry_run_page(found: DryRun) -> RenderableType:
    parts: list[RenderableType] = []
    for step in found.steps:
        line = Text.assemble((clean(step.key), "bold"), f" {step.type.value}")
        if step.status is not StepStatus.COMPLETED:
            line.append("  ").append_text(step_words(step.model_copy(update={"started_at": None})))
        parts.append(line)
        if step.input is not None and step.status is not StepStatus.SKIPPED:
            parts.append(indented(words(short_text(step.input), FAINT)))
    return Group(*parts, *_value("OUTPUT", found.output))


def question_page(run_id: str, gate: Gate) -> RenderableType:
    """Show a question, and how to answer it while it is open."""
    if gate.kind != "approval":
        return gate_page(gate)
    parts: list[RenderableType] = [gate_title(gate)]
    if gate.body:
        parts.append(indented(words(gate.body.strip())))
    if gate.status is GateStatus.OPEN:
        command = f"forge workflow approve {run_id} --step {shlex.quote(str(gate.payload['step']))}"
        parts.append(indented(words(f"answer: {command}, or reject{deadline(gate)}")))
    return Group(*parts)


def log_text(line: LogLine) -> Text:
    return words(line.text if line.level == "info" else f"{line.level}: {line.text}")


def value_text(value: JsonValue) -> str:
    """Return text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def short_text(value: JsonValue) -> str:
    """Return the beginning of the value as text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return truncate(text, MAX_SHORT)


def _value(title: str, value: JsonValue) -> list[RenderableType]:
    return [] if value is None else [heading(title), words(value_text(value))]
