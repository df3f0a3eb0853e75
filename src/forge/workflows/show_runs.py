"""How runs of workflows, their steps and dry runs look in a terminal."""

import json
import shlex
from collections.abc import Iterable, Mapping
from datetime import timedelta

from pydantic import JsonValue
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.kernel.text import cut
from forge.llm.dollars import dollars
from forge.runs.models import Gate, GateStatus
from forge.runs.show import gate_page, problem_text
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago, clean, duration
from forge.workflows.keys import parts_of
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
)
from forge.workflows.show import section

MAX_SHORT = 400


def runs_table(runs: Iterable[WorkflowRun]) -> Table:
    rows = table("ID", "WORKFLOW", "STATUS", "STARTED BY", "TOOK", "COST", "CREATED", wrapped={"STARTED BY"})
    at = now()
    for run in runs:
        rows.add_row(
            words(run.id),
            words(f"{run.workflow_name} #{run.number}"),
            dot(run.status),
            words(_started_by(run)),
            _took(run) or "",
            dollars(run.cost_micros) if run.cost_micros else "",
            ago(run.created_at, at),
        )
    return rows


def run_page(run: WorkflowRunDetail) -> RenderableType:
    pairs = [
        ("run", run.id),
        ("workflow", f"{run.workflow_name} #{run.number}"),
        ("status", dot(run.status)),
        ("started by", _started_by(run)),
        ("retry of", run.retry_of),
        ("parent", run.parent_id),
        ("created", f"{run.created_at.astimezone():%Y-%m-%d %H:%M:%S} ({ago(run.created_at, now())})"),
        ("took", _took(run)),
        ("cost", dollars(run.cost_micros) if run.cost_micros else None),
        ("inputs", short_text(run.inputs) if run.inputs else None),
        ("output", short_text(run.output) if run.output is not None else None),
        ("error", problem_text(run.error) if run.error else None),
    ]
    open_gates = [gate for gate in run.gates if gate.status is GateStatus.OPEN]
    return Group(
        key_values(pairs),
        *([Text(), _steps_table(run)] if run.steps else []),
        *(part for gate in open_gates for part in (Text(), question_page(run.id, gate))),
    )


def _steps_table(run: WorkflowRunDetail) -> Table:
    """In the order they are written; what was done in a loop below it, one iteration after the other."""
    written = {step["id"]: index for index, step in enumerate(run.definition["steps"])}
    rows = table("STEP", "TYPE", "STATUS", wrapped={"STATUS"})
    for step in sorted(run.steps, key=lambda step: _place(step.key, written)):
        key = words("  " * step.key.count("/") + step.key)
        rows.add_row(key, step.type.value, step_words(step))
    return rows


def _place(key: str, written: Mapping[str, int]) -> list[tuple[int, int]]:
    """Of `each[2]/fetch`: that of `each`, the third time, then that of `fetch`."""
    return [(written[step], -1 if index is None else index) for step, index in parts_of(key)]


def step_words(step: StepSummary) -> Text:
    """How a step stands: never colour alone."""
    text = dot(step.status)
    if step.attempt > 1:
        text.append(f" (attempt {step.attempt})", "bright_black")
    if step.is_kept:
        text.append(" (kept)", "bright_black")
    facts = [_step_took(step), dollars(step.cost_micros) if step.cost_micros else "", clean(step.note)]
    text.append("".join(f"  {fact}" for fact in facts if fact), "bright_black")
    return text.append("  ").append_text(problem_text(step.error)) if step.error else text


def step_page(step: StepDetail) -> RenderableType:
    """All there is to know about one step."""
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
            parts.append(_indented(words(short_text(step.input), "bright_black")))
    parts += _value("OUTPUT", found.output)
    return Group(*parts)


def value_text(value: JsonValue) -> str:
    """A text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)


def short_text(value: JsonValue) -> str:
    """In a line or a few; the beginning of what is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return cut(text, MAX_SHORT)


def question_page(run_id: str, gate: Gate) -> RenderableType:
    """What somebody is asked, and how to answer while that is still of use."""
    if gate.kind != "approval":
        return gate_page(gate)
    parts: list[RenderableType] = [Text.assemble(dot(gate.status), "  ", (clean(gate.title), "bold"))]
    if gate.body:
        parts.append(_indented(words(gate.body.strip())))
    if gate.status is GateStatus.OPEN:
        until = f" ({ago(gate.expires_at, now())} it is too late)" if gate.expires_at else ""
        step = f" --step {shlex.quote(str(gate.payload['step']))}"
        parts.append(
            _indented(
                Text.assemble(
                    "answer: ",
                    (f"forge workflow approve {run_id}{clean(step)}", "bold"),
                    f", or reject{until}",
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


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)


def _started_by(run: WorkflowRun) -> str:
    return run.source if run.trigger is TriggerType.MANUAL else f"{run.trigger.value}: {run.source}"


def _took(run: WorkflowRun) -> str | None:
    return duration((run.finished_at or now()) - run.started_at) if run.started_at else None


def _step_took(step: StepSummary) -> str:
    if step.started_at is None or step.finished_at is None:
        return ""
    return duration(step.finished_at - step.started_at)


def _attempt_line(attempt: Attempt) -> Text:
    took = "" if attempt.duration_ms is None else duration(timedelta(milliseconds=attempt.duration_ms))
    line = Text.assemble((f"{attempt.number}  ", "bold"), (f"{took}  ", "bright_black"))
    line.append_text(problem_text(attempt.error) if attempt.error else dot("completed"))
    return line.append(f"\n   {clean(attempt.note)}", "bright_black") if attempt.note else line


def _value(title: str, value: JsonValue) -> list[RenderableType]:
    return [] if value is None else [Text(f"\n{title}", "bright_black"), words(value_text(value))]
