"""`forge workflow runs`, `status` and `logs`: what runs are doing, and did."""

import click

from forge.runs.models import RunStatus
from forge.terminal.client import connect
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, print_json
from forge.workflows.choice import find_workflow, find_workflow_run, run_path, workflow_path
from forge.workflows.models import StepDetail, WorkflowRun, WorkflowRunDetail


@click.command()
@click.argument("name", required=False)
@limit_option
@json_option
def runs(name: str | None, limit: int, as_json: bool) -> None:
    """List runs, newest first: of the workflow NAME, or of all."""
    with connect() as client:
        path = f"{workflow_path(find_workflow(client, name).id)}/runs" if name else "/workflow-runs"
        found = list(client.pages(path, WorkflowRun, limit))
    if as_json:
        print_json(found)
    elif not found:
        click.echo("Nothing was run yet. Start one: forge workflow trigger NAME", err=True)
    else:
        from forge.workflows.show_runs import runs_table

        console().print(runs_table(found))


@click.command()
@click.argument("run")
@click.option("--step", metavar="KEY", help="All about one step: what went in, what came out, attempts, log.")
@json_option
def status(run: str, step: str | None, as_json: bool) -> None:
    """Show how a run stands, step by step.

    RUN is an id, its beginning, or the name of a workflow: its newest run.
    """
    with connect() as client:
        path = run_path(find_workflow_run(client, run))
        if step is not None:
            [found] = client.get(f"{path}/steps", list[StepDetail], {"key": step})
            _print_step(found, as_json=as_json)
            return
        detail = client.get(path, WorkflowRunDetail)
    if as_json:
        print_json(detail)
        return
    from forge.workflows.show_runs import run_page

    console().print(run_page(detail))


@click.command()
@click.argument("run")
@click.option("-f", "--follow", "following", is_flag=True, help="Go on until it ends.")
@json_option
@click.pass_context
def logs(ctx: click.Context, run: str, following: bool, as_json: bool) -> None:
    """Tell what happened in a run, line by line.

    Its steps, what they wrote down, how it ended. RUN is an id, its beginning, or the name of a workflow: its newest run. Exits with 1 when it failed or was
    cancelled. With --json every event is printed as a line.
    """
    from forge.workflows.watch import follow, going_on, tell

    with connect() as client:
        run_id = find_workflow_run(client, run)
        with going_on(run_id):
            told = (follow if following else tell)(client, run_id, as_json=as_json)
    ctx.exit(1 if told.status in (RunStatus.FAILED, RunStatus.CANCELLED) else 0)


def _print_step(step: StepDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(step)
        return
    from forge.workflows.show_runs import step_page

    console().print(step_page(step))
