"""`forge skill run`, `test` and `runs`."""

import sys

import click

from forge.skills.cli.arguments import skill_path
from forge.skills.cli.views import case_line, result_text, runs_table
from forge.skills.execution import RunEnd
from forge.skills.models import Tier
from forge.skills.views import RunWish, SkillDetail, SkillRan, SkillRun, SkillTestReport
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import read_object
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json, working
from forge.terminal.text import clean

RUN_S = 600.0
"""Instructions are followed by a model, which is slow; everything else has lower limits."""
_TOO_MUCH = (RunEnd.FUEL, RunEnd.MEMORY, RunEnd.TIME)


@click.command()
@click.argument("name")
@click.option(
    "--input", "given", default="{}", metavar="JSON", help="Input: JSON, @FILE, or - for standard input."
)
@click.option("--as", "bot", metavar="BOT", help="Run as this bot, with its settings, memories and limits.")
@json_option
@click.pass_context
def run(ctx: click.Context, name: str, given: str, bot: str | None, as_json: bool) -> None:
    """Run a skill and print its output.

    Exit code 0 only if it succeeded. Logs are printed to standard error.
    """
    wish = RunWish.model_construct(input=read_object(given, "--input"), bot=bot, purpose="cli")
    with connect() as client, working("Running…"):
        ran = client.post(f"{skill_path(name)}/run", SkillRan, wish.model_dump(), within_s=RUN_S)
    for line in ran.logs:
        click.echo(clean(f"{line.level}: {line.message}"), err=True)
    if as_json:
        print_json(ran)
    elif ran.end is RunEnd.DONE:
        text = result_text(ran)
        click.echo(clean(text) if sys.stdout.isatty() else text)
    if ran.end is not RunEnd.DONE:
        _say_failure(ran)
        ctx.exit(1)


@click.command()
@click.argument("name")
@click.option(
    "--triggers",
    is_flag=True,
    help="Also ask the configured model whether it would select the skill; costs a little.",
)
@json_option
@click.pass_context
def test(ctx: click.Context, name: str, triggers: bool, as_json: bool) -> None:
    """Run the tests of a skill, each in a fresh instance. Exit code 1 if a test fails or cannot be run."""
    with connect() as client, working("Testing…"):
        report = client.post(
            f"{skill_path(name)}/test", SkillTestReport, {"triggers": triggers}, within_s=RUN_S
        )
    if as_json:
        print_json(report)
    else:
        _print_report(report)
    ctx.exit(0 if report.passed and not report.triggers_skipped else 1)


@click.command()
@click.argument("name")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="Maximum number of results."
)
@api_command
def runs(client: Client, name: str, limit: int) -> Result[list[SkillRun]]:
    """List the runs of a skill, latest first.

    Shows result, duration, memory and used capabilities.
    """
    found = list(client.pages(f"{skill_path(name)}/runs", SkillRun, limit))
    if not found:  # a removed skill keeps its runs; one that never existed has none
        client.get(skill_path(name), SkillDetail)
    return Result(found, runs_table, empty="It was not run yet.")


def _hint(ran: SkillRan) -> str | None:
    """Return what to do about a failure that the skill did not cause. A refusal has its own hint."""
    if ran.end is RunEnd.UNUSABLE:
        return f"forge skill validate {ran.skill}"
    if ran.end in _TOO_MUCH and ran.tier is not Tier.LOCAL:
        return f"A skill that is trusted further may take more: forge skill trust {ran.skill} TIER"
    return None


def _say_failure(ran: SkillRan) -> None:
    click.echo(
        f"{click.style(ran.end.value, fg='red', bold=True)}: {clean(ran.error or 'It failed.')}", err=True
    )
    if hint := _hint(ran):
        click.echo(f"{click.style(' hint:', fg='yellow')} {hint}", err=True)


def _print_report(report: SkillTestReport) -> None:
    out = console()
    for case in (*report.cases, *report.triggers):
        out.print(case_line(case))
    if report.triggers_skipped:
        click.echo(f"The triggers were not tested: {clean(report.triggers_skipped)}", err=True)
    is_shown = any(report.output in case.detail for case in report.cases)
    if report.output and not report.passed and not is_shown:
        click.echo(clean(report.output), err=True)
