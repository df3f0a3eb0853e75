"""Show runs of workflows, their steps and dry runs in a terminal."""

import json
import shlex
from collections.abc import Mapping
from datetime import timedelta

from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.kernel.text import truncate
from forge.llm.models import dollars
from forge.runs.models import Gate, GateStatus
from forge.runs.run_view import created, deadline, gate_page, gate_title, problem_text
from forge.terminal.output import FAINT, Columns, Fields, dot, indented, key_values, section, table, words
from forge.terminal.text import clean, duration
from forge.workflows.models import (
    Attempt,
    DryRun,
    LogLine,
    StepDetail,
    StepStatus,
    StepSummary,
    TriggerType,
    WorkflowRun,
    WorkflowRunDetail,
    split_key,
)

MAX_SHORT = 400


runs_table = Columns[WorkflowRun](
    {
        "ID": "id",
        "WORKFLOW": lambda run: f"{run.workflow_name} #{run.number}",
        "STATUS": lambda run: dot(run.status),
        "STARTED BY": lambda run: _started_by(run),
        "TOOK": lambda run: _took(run),
        "COST": lambda run: _cost(run),
        "CREATED": "created_at",
    },
    wrap={"STARTED BY"},
)
_run_fields = Fields[WorkflowRunDetail](
    {
        "run": "id",
        "workflow": lambda run: f"{run.workflow_name} #{run.number}",
        "status": lambda run: dot(run.status),
        "started by": lambda run: _started_by(run),
        "retry of": "retry_of",
        "parent": "parent_id",
        "created": lambda run: created(run.created_at),
        "took": lambda run: _took(run),
        "cost": lambda run: _cost(run),
        "inputs": lambda run: short_text(run.inputs) if run.inputs else None,
        "output": lambda run: short_text(run.output) if run.output is not None else None,
        "error": lambda run: problem_text(run.error) if run.error else None,
    }
)


def run_page(run: WorkflowRunDetail) -> RenderableType:
    open_gates = [gate for gate in run.gates if gate.status is GateStatus.OPEN]
    return Group(
        _run_fields(run),
        *([Text(), _steps_table(run)] if run.steps else []),
        *(part for gate in open_gates for part in (Text(), question_page(run.id, gate))),
    )


def _steps_table(run: WorkflowRunDetail) -> Table:
    """Show the steps in the order of the definition, and below a loop its iterations."""
    written = {step["id"]: index for index, step in enumerate(run.definition["steps"])}
    rows = table("STEP", "TYPE", "STATUS", wrapped={"STATUS"})
    for step in sorted(run.steps, key=lambda step: _place(step.key, written)):
        key = words("  " * step.key.count("/") + step.key)
        rows.add_row(key, step.type.value, step_words(step))
    return rows


def _place(key: str, written: Mapping[str, int]) -> list[tuple[int, int]]:
    """Of `each[2]/fetch`: that of `each`, the third time, then that of `fetch`."""
    return [(written[step], -1 if index is None else index) for step, index in split_key(key)]


def step_words(step: StepSummary) -> Text:
    text = dot(step.status)
    if step.attempt > 1:
        text.append(f" (attempt {step.attempt})", FAINT)
    if step.is_kept:
        text.append(" (kept)", FAINT)
    facts = [_step_took(step), dollars(step.cost_micros) if step.cost_micros else "", clean(step.note)]
    text.append("".join(f"  {fact}" for fact in facts if fact), FAINT)
    return text.append("  ").append_text(problem_text(step.error)) if step.error else text


def step_page(step: StepDetail) -> RenderableType:
    pairs = [
        ("step", f"{step.key} ({step.type.value})"),
        ("name", step.name if step.name != step.step else None),
        ("status", step_words(step)),
        ("run", step.linked_run_id),
    ]
    return Group(
        key_values(pairs),
        *_value("INPUT", step.input),
        *_value("OUTPUT", step.output),
        *section("ATTEMPTS", map(_attempt_line, step.attempts if len(step.attempts) > 1 else [])),
        *section("LOG", map(log_text, step.logs)),
    )


def dry_run_page(found: DryRun) -> RenderableType:
    parts: list[RenderableType] = []
    for step in found.steps:
        parts.append(_tried(step))
        if step.input is not None and step.status is not StepStatus.SKIPPED:
            parts.append(indented(words(short_text(step.input), FAINT)))
    parts += _value("OUTPUT", found.output)
    return Group(*parts)


def value_text(value: JsonValue) -> str:
    """Return text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def short_text(value: JsonValue) -> str:
    """Return the beginning of the value as text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return truncate(text, MAX_SHORT)


def question_page(run_id: str, gate: Gate) -> RenderableType:
    """Show a question, and how to answer it while it is open."""
    if gate.kind != "approval":
        return gate_page(gate)
    parts: list[RenderableType] = [gate_title(gate)]
    if gate.body:
        parts.append(indented(words(gate.body.strip())))
    if gate.status is GateStatus.OPEN:
        step = f" --step {shlex.quote(str(gate.payload['step']))}"
        parts.append(
            indented(
                Text.assemble(
                    "answer: ",
                    (f"forge workflow approve {run_id}{clean(step)}", "bold"),
                    f", or reject{deadline(gate)}",
                )
            )
        )
    return Group(*parts)


def log_text(line: LogLine) -> Text:
    return words(line.text if line.level == "info" else f"{line.level}: {line.text}")


def _tried(step: StepDetail) -> Text:
    line = Text.assemble((clean(step.key), "bold"), f" {step.type.value}")
    if step.status is StepStatus.COMPLETED:
        return line
    return line.append("  ").append_text(step_words(step.model_copy(update={"started_at": None})))


def _started_by(run: WorkflowRun) -> str:
    return run.source if run.trigger is TriggerType.MANUAL else f"{run.trigger.value}: {run.source}"


def _took(run: WorkflowRun) -> timedelta | None:
    return (run.finished_at or now()) - run.started_at if run.started_at else None


def _cost(run: WorkflowRun) -> str:
    return dollars(run.cost_micros) if run.cost_micros else ""


def _step_took(step: StepSummary) -> str:
    if step.started_at is None or step.finished_at is None:
        return ""
    return duration(step.finished_at - step.started_at)


def _attempt_line(attempt: Attempt) -> Text:
    took = "" if attempt.duration_ms is None else duration(timedelta(milliseconds=attempt.duration_ms))
    line = Text.assemble((f"{attempt.number}  ", "bold"), (f"{took}  ", FAINT))
    line.append_text(problem_text(attempt.error) if attempt.error else dot("completed"))
    return line.append(f"\n   {clean(attempt.note)}", FAINT) if attempt.note else line


def _value(title: str, value: JsonValue) -> list[RenderableType]:
    return [] if value is None else [Text(f"\n{title}", FAINT), words(value_text(value))]
