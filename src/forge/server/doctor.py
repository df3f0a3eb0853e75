"""`forge doctor`: looks at everything Forge needs, says what it found and what to do about it."""

from collections import Counter
from datetime import timedelta

import click
from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from forge.config import load_settings
from forge.server.checks.audit_checks import check_audit_checks
from forge.server.checks.check import Check, CheckFunction, CheckStatus, Situation, look_around
from forge.server.checks.clock import check_clock
from forge.server.checks.data_dir import check_data_dir, check_disk
from forge.server.checks.database import check_database
from forge.server.checks.deep import Say, check_deeply
from forge.server.checks.git import check_git
from forge.server.checks.interpreter import check_python, check_sqlite
from forge.server.checks.model_keys import check_model_keys
from forge.server.checks.network import check_port, check_server
from forge.server.checks.sandbox import check_sandbox
from forge.server.checks.web_app import check_web_app
from forge.terminal.options import json_option
from forge.terminal.output import console, dot, print_json, words, working
from forge.terminal.text import clean, duration

CHECKS: tuple[CheckFunction, ...] = (
    check_python,
    check_sqlite,
    check_git,
    check_sandbox,
    check_data_dir,
    check_disk,
    check_server,
    check_port,
    check_database,
    check_clock,
    check_model_keys,
    check_audit_checks,
    check_web_app,
)


class Report(BaseModel):
    ok: bool
    checks: list[Check]


@click.command()
@click.option("--deep", is_flag=True, help="Also have the running server prove itself with a self-test run.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, deep: bool, as_json: bool) -> None:
    """Check this machine and say what to do about each problem. Exit code 1 when something is bad."""
    with working("Looking around …") as say, look_around(load_settings()) as situation:
        checks = _examine(situation, say, deep=deep)
    report = Report(ok=all(check.status is not CheckStatus.BAD for check in checks), checks=checks)
    if as_json:
        print_json(report)
    else:
        _print(report)
    ctx.exit(0 if report.ok else 1)


def _examine(situation: Situation, say: Say, *, deep: bool) -> list[Check]:
    checks: list[Check] = []
    for check in CHECKS:
        say(f"Checking {check.__name__.removeprefix('check_').replace('_', ' ')} …")
        checks.append(check(situation))
    if deep:
        checks += check_deeply(situation.server.client if situation.server else None, say)
    return checks


def _print(report: Report) -> None:
    rows = Table.grid(padding=(0, 2, 0, 0))
    rows.add_column(no_wrap=True)
    rows.add_column(no_wrap=True)
    rows.add_column(overflow="fold")
    for check in report.checks:
        rows.add_row(dot(check.status), check.name, _finding(check))
    out = console()
    out.print(rows)
    out.print(_summary(report))


def _finding(check: Check) -> Text:
    text = words(check.finding)
    if check.took_ms is not None:
        text.append(f" ({duration(timedelta(milliseconds=check.took_ms))})", "bright_black")
    if check.advice:
        text.append(f"\n→ {clean(check.advice)}", "yellow")
    return text


def _summary(report: Report) -> Text:
    counts = Counter(check.status for check in report.checks)
    if bad := counts[CheckStatus.BAD]:
        return Text(f"\nBad: {bad} of {len(report.checks)} checks.", "red")
    if warned := counts[CheckStatus.WARN]:
        return Text(f"\nForge works here. Could be better: {warned} of {len(report.checks)}.", "yellow")
    return Text("\nAll is well.", "green")
