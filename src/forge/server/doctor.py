"""`forge doctor`: check everything Forge needs and advise on problems."""

from collections import Counter
from datetime import timedelta

import click
from pydantic import BaseModel
from rich.table import Table
from rich.text import Text

from forge.config import load_settings
from forge.server.checks.check import Check, CheckFunction, CheckStatus, Situation, open_situation
from forge.server.checks.host import (
    check_clock,
    check_data_dir,
    check_disk,
    check_git,
    check_python,
    check_sqlite,
    check_web_app,
)
from forge.server.checks.self_test import ReportProgress, run_self_test
from forge.server.checks.services import (
    check_audit_checks,
    check_database,
    check_model_keys,
    check_port,
    check_sandbox,
    check_server,
)
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
@click.option("--deep", is_flag=True, help="Also execute a self-test run on the running server.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, deep: bool, as_json: bool) -> None:
    """Check this machine and explain how to fix each problem. Exit code 1 if a check fails."""
    with working("Checking …") as report_progress, open_situation(load_settings()) as situation:
        checks = _run_checks(situation, report_progress, deep=deep)
    report = Report(ok=all(check.status is not CheckStatus.BAD for check in checks), checks=checks)
    if as_json:
        print_json(report)
    else:
        _print(report)
    ctx.exit(0 if report.ok else 1)


def _run_checks(situation: Situation, report_progress: ReportProgress, *, deep: bool) -> list[Check]:
    checks: list[Check] = []
    for check in CHECKS:
        report_progress(f"Checking {check.__name__.removeprefix('check_').replace('_', ' ')} …")
        checks.append(check(situation))
    if deep:
        checks += run_self_test(situation.server.client if situation.server else None, report_progress)
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
        return Text(f"\nFailed: {bad} of {len(report.checks)} checks.", "red")
    if warned := counts[CheckStatus.WARN]:
        return Text(f"\nForge works here, with warnings: {warned} of {len(report.checks)} checks.", "yellow")
    return Text("\nAll checks passed.", "green")
