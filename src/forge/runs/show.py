"""How runs, steps and gates look in a terminal."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.runs.models import Gate, GateStatus, Problem, Run, RunDetail, Step
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago, clean, duration

TONES = {"positive": "green", "negative": "red", "neutral": ""}


def runs_table(runs: Iterable[Run]) -> Table:
    rows, at = table("ID", "STATUS", "TITLE", "CREATED", wrapped={"TITLE"}), now()
    for run in runs:
        title = Text.assemble(clean(run.title), (f" {clean(run.kind)}", "bright_black"))
        rows.add_row(words(run.id), _run_status(run), title, ago(run.created_at, at))
    return rows


def _run_status(run: Run) -> Text:
    text = dot(run.status)
    if run.progress and not run.status.is_final:
        text.append(f" {run.progress.done}/{run.progress.total}", "bright_black")
    return text


def run_page(detail: RunDetail) -> RenderableType:
    run = detail.run
    parts: list[RenderableType] = [_run_facts(run)]
    if detail.steps:
        parts += [_heading("Steps"), steps_table(detail.steps)]
    if detail.children:
        parts += [_heading("Children"), runs_table(detail.children)]
    for gate in detail.gates:
        parts += [_heading("Asks"), gate_page(gate)]
    return Group(*parts)


def _run_facts(run: Run) -> Table:
    at = now()
    return key_values(
        [
            ("run", run.id),
            ("title", f"{run.title} ({run.kind})"),
            ("status", dot(run.status)),
            ("progress", _progress(run)),
            ("parent", run.parent_id),
            ("attempt", str(run.attempt) if run.attempt > 1 else None),
            ("created", f"{run.created_at.astimezone():%Y-%m-%d %H:%M:%S} ({ago(run.created_at, at)})"),
            ("took", took(run)),
            ("output", json.dumps(run.output, ensure_ascii=False) if run.output is not None else None),
            ("error", problem_text(run.error) if run.error else None),
        ]
    )


def _progress(run: Run) -> str | None:
    if run.progress is None:
        return None
    return f"{run.progress.done} of {run.progress.total} {run.progress.note}".strip()


def took(run: Run) -> str | None:
    return duration((run.finished_at or now()) - run.started_at) if run.started_at else None


def problem_text(problem: Problem) -> Text:
    text = Text.assemble((clean(problem.message), "red"), (f" ({clean(problem.code)})", "bright_black"))
    return text.append(f"\nhint: {clean(problem.hint)}", "yellow") if problem.hint else text


def steps_table(steps: Iterable[Step]) -> Table:
    rows = table("#", "STEP", "STATUS", "TOOK", wrapped={"STEP", "STATUS"})
    for step in steps:
        rows.add_row(str(step.number), words(step.name), step_status(step), step_took(step))
    return rows


def step_status(step: Step) -> Text:
    text = dot(step.status)
    if step.attempt > 1:
        text.append(f" (attempt {step.attempt})", "bright_black")
    if step.error:
        text.append(f" {clean(step.error.message)}", "bright_black")
    return text


def step_took(step: Step) -> str:
    return "" if step.duration_ms is None else duration(timedelta(milliseconds=step.duration_ms))


def gates_table(gates: Iterable[Gate]) -> Table:
    rows, at = table("ID", "STATUS", "QUESTION", "OPTIONS", "UNTIL", wrapped={"QUESTION", "OPTIONS"}), now()
    for gate in gates:
        rows.add_row(
            words(gate.id),
            dot(gate.status),
            words(gate.title),
            words(", ".join(option.id for option in gate.options)),
            ago(gate.expires_at, at) if gate.expires_at and gate.status is GateStatus.OPEN else "",
        )
    return rows


def gate_page(gate: Gate, *, is_being_answered: bool = False) -> RenderableType:
    """All that an answer is bound to; how to give one, unless that is what happens now."""
    parts: list[RenderableType] = [Text.assemble(dot(gate.status), "  ", (clean(gate.title), "bold"))]
    if gate.body:
        parts.append(_indented(words(gate.body)))
    if gate.payload:
        parts.append(_indented(key_values(_payload(gate))))
    parts.append(_indented(_options(gate)))
    if not is_being_answered:
        parts.append(_indented(_gate_end(gate, now())))
    return Group(*parts)


def _payload(gate: Gate) -> list[tuple[str, str]]:
    return [
        (clean(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in gate.payload.items()
    ]


def _options(gate: Gate) -> Table:
    rows = Table.grid(padding=(0, 2, 0, 0))
    for option in gate.options:
        chosen = gate.answer is not None and gate.answer.option == option.id
        rows.add_row("→" if chosen else " ", words(option.id, TONES[option.tone]), words(option.label))
    return rows


def _gate_end(gate: Gate, at: datetime) -> Text:
    if gate.answer:
        comment = f": {gate.answer.comment}" if gate.answer.comment else ""
        who = f"answered by {gate.answer.answered_by} {ago(gate.answer.answered_at, at)}{comment}"
        return words(who, "bright_black")
    if gate.status is not GateStatus.OPEN:
        return words(f"{gate.status}: nobody answered", "bright_black")
    until = f" ({ago(gate.expires_at, at)} it is too late)" if gate.expires_at else ""
    return Text.assemble(
        "answer: ", (f"forge gates answer {gate.id} OPTION", "bold"), (until, "bright_black")
    )


def _heading(text: str) -> Text:
    return Text(f"\n{text}", style="bright_black")


def _indented(part: RenderableType) -> Padding:
    return Padding(part, (0, 0, 0, 2), expand=False)
