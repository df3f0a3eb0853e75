"""`forge workflow trigger`, `retry`, `rerun`, `runs`, `status`, `logs`, `approve`, `reject` and `cancel`."""

from collections.abc import Callable, Iterator
from typing import Any

import click
from rich.text import Text

from forge.events.models import Event, EventData, read_fact
from forge.runs.models import (
    Gate,
    GateAnswered,
    GateExpired,
    GateOpened,
    GateStatus,
    RunCompleted,
    RunFailed,
    RunStarted,
    RunStatus,
)
from forge.runs.run_state import RunState, fact_of
from forge.runs.run_view import problem_text, watch
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import read_object
from forge.terminal.options import limit_option, together
from forge.terminal.output import FAINT, console, dot, print_output, words, working
from forge.terminal.text import clean, duration
from forge.workflows.cli import views
from forge.workflows.cli.arguments import (
    declared_inputs,
    find_workflow,
    find_workflow_run,
    read_inputs,
    read_samples,
    run_path,
    workflow_path,
)
from forge.workflows.models import (
    DryRun,
    StepDetail,
    Submitted,
    WorkflowDetail,
    WorkflowRun,
    WorkflowRunDetail,
    WorkflowStepLogged,
    WorkflowStepMoved,
)

PAGE = 1000
MAX_SHOWN = 2000
"""Characters of the output that are printed at the end of a log."""

_watching_options = together(
    click.option("--wait", is_flag=True, help="Wait for the result and print it."),
    click.option("-f", "--follow", is_flag=True, help="Follow the run until it ends."),
)
_payload_options = together(
    click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="Input value. Repeatable."),
    click.option("--payload", metavar="JSON", help="Complete input: JSON, @FILE, or - for standard input."),
)
_answer_options = together(
    click.option("--step", metavar="KEY", help="Step to answer, if several are waiting."),
    click.option("--comment", default="", help="Comment that is stored with the answer; steps can use it."),
)


@click.command()
@_payload_options
@_watching_options
@click.option("--dry-run", is_flag=True, help="Show what would happen without doing it.")
@click.option(
    "--sample", "samples", multiple=True, metavar="STEP=JSON", help="Output of a step in the dry run."
)
@api_command
def trigger(
    client: Client,
    name: str,
    /,
    inputs: tuple[str, ...],
    payload: str | None,
    samples: tuple[str, ...],
    as_json: bool,
    **mode: bool,
) -> Result[Any] | int:
    """Start a workflow.

    Returns immediately, or when the run ends with --wait or --follow. Exit code 0: completed, 1: failed or
    cancelled. Ctrl-C stops watching, not the run.
    """
    _check_options(**mode)
    if samples and not mode["dry_run"]:
        raise click.UsageError("--sample requires --dry-run.")
    values = read_object(payload, "--payload") if payload is not None else {}
    found = find_workflow(client, name)
    values |= read_inputs(inputs, declared_inputs(found.definition))
    path = workflow_path(found.id)
    if not mode["dry_run"]:
        return _report(client, client.post(f"{path}/trigger", Submitted, values), as_json=as_json, **mode)
    body = {"payload": values, "samples": read_samples(samples)}
    result = client.post(f"{path}/dry-run", DryRun, body)
    if result.error and not as_json:
        console(stderr=True).print(problem_text(result.error))
    note = "Dry run: nothing was executed."
    return Result(result, views.dry_run_page, note=note, exit_code=1 if result.error else 0)


@click.command()
@_watching_options
@api_command
def retry(client: Client, run: str, /, as_json: bool, **mode: bool) -> Result[Any] | int:
    """Continue a failed run from the failed step, as a new run.

    Completed steps are not repeated.
    """
    _check_options(**mode)
    submitted = client.post(f"{run_path(find_workflow_run(client, run))}/retry", Submitted)
    return _report(client, submitted, as_json=as_json, **mode)


@click.command()
@_payload_options
@click.option(
    "--latest", is_flag=True, help="Use the newest version of the workflow instead of the one of the run."
)
@_watching_options
@api_command
def rerun(
    client: Client,
    run: str,
    /,
    inputs: tuple[str, ...],
    payload: str | None,
    latest: bool,
    as_json: bool,
    **mode: bool,
) -> Result[Any] | int:
    """Start a run again from the beginning, as a new run.

    Uses the same input; --input changes single inputs, --payload replaces all of them.
    """
    _check_options(**mode)
    path = run_path(find_workflow_run(client, run))
    values = None if payload is None else read_object(payload, "--payload")
    if inputs:
        before = client.get(path, WorkflowRunDetail)
        newest = latest and client.get(workflow_path(before.workflow_id), WorkflowDetail)
        declared = declared_inputs(newest.definition if newest else before.definition)
        earlier = before.payload if isinstance(before.payload, dict) else {}
        values = {**(earlier if values is None else values), **read_inputs(inputs, declared)}
    submitted = client.post(f"{path}/rerun", Submitted, {"payload": values, "use_latest": latest})
    return _report(client, submitted, as_json=as_json, **mode)


def _check_options(**mode: bool) -> None:
    if sum(mode.values()) > 1:
        names = [f"--{name.replace('_', '-')}" for name in mode]
        raise click.UsageError(f"Choose one of {', '.join(names)}.")


def _report(client: Client, submitted: Submitted, *, as_json: bool, **mode: bool) -> Result[Any] | int:
    run_id = submitted.run_id
    if mode["follow"]:
        return _follow(client, run_id, as_json=as_json)
    if mode["wait"]:
        return _wait(client, run_id, as_json=as_json)
    note = f"Follow it with: forge workflow logs {run_id} -f"
    return Result(submitted, f"Submitted: {run_id}", note=note)


def _follow(client: Client, run_id: str, *, as_json: bool) -> int:
    again = f"workflow logs {run_id} -f"
    state = watch(client, run_id, _printer(client, run_id), again, as_json=as_json)
    return 0 if state.status is RunStatus.COMPLETED else 1


def _wait(client: Client, run_id: str, *, as_json: bool) -> Result[WorkflowRunDetail] | int:
    """Wait until the run ends. Questions to the user are printed to standard error."""
    err = console(stderr=True)
    with working("Running…") as set_status:

        def on_event(event: Event, _: RunState) -> None:
            fact = _fact(event)
            if isinstance(fact, WorkflowStepMoved):
                set_status(f"{fact.step.key}: {fact.step.status.value}")
            elif isinstance(fact, GateOpened):
                err.print(views.question_page(run_id, client.get(f"/gates/{fact.gate.id}", Gate)))

        watch(client, run_id, on_event, f"workflow logs {run_id} -f", as_json=False)
    run = client.get(run_path(run_id), WorkflowRunDetail)
    if run.status is RunStatus.COMPLETED:
        return Result(run, "") if as_json else print_output(views.value_text(run.output))
    if not as_json:
        err.print(problem_text(run.error) if run.error else f"The run was {run.status.value}.")
    note = f"Retry from the failed step with: forge workflow retry {run_id}" if run.error else ""
    return Result(run, "", note=note, exit_code=1)


@click.command()
@limit_option
@api_command
def runs(client: Client, name: str | None = None, /, *, limit: int) -> Result[list[WorkflowRun]]:
    """List runs of one workflow or of all, newest first."""
    path = f"{workflow_path(find_workflow(client, name).id)}/runs" if name else "/workflow-runs"
    found = list(client.pages(path, WorkflowRun, limit))
    return Result(found, views.runs_table, empty="No runs. Start one with: forge workflow trigger NAME")


@click.command()
@click.option("--step", metavar="KEY", help="Show the input, output, attempts and log of this step.")
@api_command
def status(client: Client, run: str, /, step: str | None) -> Result[Any]:
    """Show the steps of a run and their state.

    RUN is an id, an id prefix, or the name of a workflow (its newest run).
    """
    path = run_path(find_workflow_run(client, run))
    if step is not None:
        [found] = client.get(f"{path}/steps", list[StepDetail], {"key": step})
        return Result(found, views.step_page)
    return Result(client.get(path, WorkflowRunDetail), views.run_page)


@click.command()
@click.option("-f", "--follow", "following", is_flag=True, help="Follow until the run ends.")
@api_command
def logs(client: Client, run: str, /, following: bool, as_json: bool) -> int:
    """Print the log of a run.

    Shows its steps, their log lines and the result. RUN is an id, an id prefix, or the name of a workflow (its newest run). Exit code 1 if the run failed or was
    cancelled. With --json, print each event as a line.
    """
    run_id = find_workflow_run(client, run)
    if following:
        return _follow(client, run_id, as_json=as_json)
    state, print_event = RunState(), _printer(client, run_id)
    for event in _history(client, f"run:{run_id}"):
        state.add(event)
        click.echo(event.json) if as_json else print_event(event, state)
    return 1 if state.status in (RunStatus.FAILED, RunStatus.CANCELLED) else 0


def _history(client: Client, stream: str) -> Iterator[Event]:
    after = 0
    while found := client.get("/events", list[Event], {"stream": stream, "after": after, "limit": PAGE}):
        yield from found
        after = found[-1].seq


def _printer(client: Client, run_id: str) -> Callable[[Event, RunState], None]:
    out, shown = console(), dict[str, str]()

    def print_event(event: Event, state: RunState) -> None:
        fact = _fact(event)
        if isinstance(fact, WorkflowStepMoved):
            line = views.step_words(fact.step).plain
            if shown.get(fact.step.key) == line:
                return
            shown[fact.step.key] = line
        for line in _lines(fact, state):
            out.print(Text.assemble((f"{event.at.astimezone():%H:%M:%S}  ", FAINT), line))
        if isinstance(fact, GateOpened):  # as it is now: in a log it may be answered already
            out.print(views.question_page(run_id, client.get(f"/gates/{fact.gate.id}", Gate)))
        elif isinstance(fact, RunCompleted) and fact.output is not None:
            text = views.value_text(fact.output)
            more = f"\n… full output: forge workflow status {run_id} --json" if len(text) > MAX_SHOWN else ""
            out.print(words(text[:MAX_SHOWN] + more))

    return print_event


def _fact(event: Event) -> EventData | None:
    return read_fact(event, (WorkflowStepMoved, WorkflowStepLogged)) or fact_of(event)


def _lines(fact: EventData | None, state: RunState) -> Iterator[Text]:
    match fact:
        case WorkflowStepMoved():
            yield _step_line(fact.step.key, views.step_words(fact.step))
        case WorkflowStepLogged():
            yield from (_step_line(fact.key, views.log_text(line)) for line in fact.lines)
        case GateOpened():
            yield _step_line(str(fact.gate.payload.get("step", "")), "needs an answer")
        case RunStarted() if fact.attempt > 1:
            yield Text(f"resumed by another process, attempt {fact.attempt}", "yellow")
        case GateAnswered():
            yield words(f"{fact.option} by {fact.answered_by}{f': {fact.comment}' if fact.comment else ''}")
        case GateExpired():
            yield Text("not answered in time", "yellow")
        case _ if state.status.is_final:
            took = duration(state.last_at - state.began_at) if state.began_at and state.last_at else ""
            error = problem_text(fact.error) if isinstance(fact, RunFailed) else ""
            yield Text.assemble(dot(state.status), (f"  {took}  ", FAINT), error)
        case _:
            pass


def _step_line(key: str, text: Text | str) -> Text:
    return Text.assemble((f"{clean(key):<20}  ", "bold"), text)


@click.command()
@_answer_options
@api_command
def approve(client: Client, run: str, /, step: str | None, comment: str) -> Result[WorkflowRunDetail]:
    """Approve the pending step of a run.

    RUN is an id, an id prefix, or the name of a workflow (its newest run).
    """
    return _decide(client, run, "approve", {"step": step, "comment": comment})


@click.command()
@_answer_options
@api_command
def reject(client: Client, run: str, /, step: str | None, comment: str) -> Result[WorkflowRunDetail]:
    """Reject the pending step of a run.

    The workflow defines the effect; by default, dependent steps are skipped.
    """
    return _decide(client, run, "reject", {"step": step, "comment": comment})


def _decide(client: Client, run: str, verb: str, body: dict[str, Any]) -> Result[WorkflowRunDetail]:
    run_id = find_workflow_run(client, run)
    decided = client.post(f"{run_path(run_id)}/{verb}", WorkflowRunDetail, body)
    is_waiting = any(gate.status is GateStatus.OPEN for gate in decided.gates)
    note = f"Other steps are waiting for approval: forge workflow status {run_id}" if is_waiting else ""
    text = f"Sent: {verb}. Follow it with: forge workflow logs {run_id} -f"
    return Result(decided, text, note=note)


@click.command()
@api_command
def cancel(client: Client, run: str, /) -> Result[WorkflowRunDetail]:
    """Cancel a run and everything it started."""
    run_id = find_workflow_run(client, run)
    cancelled = client.post(f"{run_path(run_id)}/cancel", WorkflowRunDetail)
    return Result(cancelled, f"Cancelled {run_id}.")
