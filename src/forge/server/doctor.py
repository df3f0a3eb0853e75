"""`forge doctor`: check everything Forge needs and advise on problems."""

from collections import Counter
from datetime import timedelta

import click
from pydantic import BaseModel
from rich.console import Group
from rich.table import Column, Table
from rich.text import Text

from forge.config import load_settings
from forge.server.checks.check import Check, CheckFunction, CheckStatus, open_situation
from forge.server.checks.host import (
    check_clock,
    check_data_dir,
    check_disk,
    check_git,
    check_python,
    check_sqlite,
    check_web_app,
)
from forge.server.checks.self_test import run_self_test
from forge.server.checks.services import (
    check_audit_checks,
    check_database,
    check_model_keys,
    check_port,
    check_sandbox,
    check_server,
)
from forge.terminal.commands import Result, local_command
from forge.terminal.output import FAINT, dot, words, working
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
@local_command
def doctor(*, deep: bool) -> Result[Report]:
    """Check this machine and explain how to fix each problem. Exit code 1 if a check fails."""
    checks: list[Check] = []
    with working("Checking …") as show_progress, open_situation(load_settings()) as situation:
        for check in CHECKS:
            show_progress(f"Checking {check.__name__.removeprefix('check_').replace('_', ' ')} …")
            checks.append(check(situation))
        if deep:
            checks += run_self_test(situation.server.client if situation.server else None, show_progress)
    is_ok = all(check.status is not CheckStatus.BAD for check in checks)
    return Result(Report(ok=is_ok, checks=checks), _page, exit_code=0 if is_ok else 1)


def _page(report: Report) -> Group:
    rows = Table.grid(*[Column(no_wrap=True)] * 2, Column(overflow="fold"), padding=(0, 2, 0, 0))
    for check in report.checks:
        rows.add_row(dot(check.status), check.name, _finding(check))
    return Group(rows, _summary(report))


def _finding(check: Check) -> Text:
    text = words(check.finding)
    if check.took_ms is not None:
        text.append(f" ({duration(timedelta(milliseconds=check.took_ms))})", FAINT)
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
