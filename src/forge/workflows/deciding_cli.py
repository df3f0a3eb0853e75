"""`forge workflow approve`, `reject` and `cancel`: what a person says to a run under way."""

import click

from forge.runs.models import GateStatus
from forge.terminal.client import connect
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json
from forge.workflows.choice import find_workflow_run, run_path
from forge.workflows.models import WorkflowRunDetail

STEP = click.option("--step", metavar="KEY", help="Which step, when several of the run wait.")
COMMENT = click.option("--comment", default="", help="Words that go with it; steps can use them.")


@click.command()
@click.argument("run")
@STEP
@COMMENT
@json_option
def approve(run: str, step: str | None, comment: str, as_json: bool) -> None:
    """Say yes to what a run waits for.

    RUN is an id, its beginning, or the name of a workflow: its newest run.
    """
    _decide(run, "approve", "Approved", step, comment, as_json=as_json)


@click.command()
@click.argument("run")
@STEP
@COMMENT
@json_option
def reject(run: str, step: str | None, comment: str, as_json: bool) -> None:
    """Say no to what a run waits for.

    What that means says the workflow: by default, what depends on the step is skipped.
    """
    _decide(run, "reject", "Rejected", step, comment, as_json=as_json)


@click.command()
@click.argument("run")
@json_option
def cancel(run: str, as_json: bool) -> None:
    """Stop a run and everything it started."""
    with connect() as client:
        run_id = find_workflow_run(client, run)
        cancelled = client.post(f"{run_path(run_id)}/cancel", WorkflowRunDetail)
    if as_json:
        print_json(cancelled)
    else:
        click.echo(f"Cancelled {run_id}.")


def _decide(run: str, verb: str, done: str, step: str | None, comment: str, *, as_json: bool) -> None:
    with connect() as client:
        run_id = find_workflow_run(client, run)
        body = {"step": step, "comment": comment}
        decided = client.post(f"{run_path(run_id)}/{verb}", WorkflowRunDetail, body)
    if as_json:
        print_json(decided)
        return
    click.echo(f"{done}. Follow it: forge workflow logs {run_id} -f")
    if any(gate.status is GateStatus.OPEN for gate in decided.gates):
        console(stderr=True).print("It still waits for you: forge workflow status", run_id)
