"""The commands `forge audit init` and `forge audit baseline`: introduce audits in an existing project."""

import json
import shlex
from datetime import date, timedelta
from pathlib import Path

import click

from forge.audits.cli.common import PATH, audit_errors, open_project
from forge.audits.display_text import format_count
from forge.audits.engine.baseline import NEVER_ACCEPTED, baseline_path, create_baseline, read_baseline
from forge.audits.engine.check_runner import run_checks
from forge.audits.engine.registry import load_checks, select_checks, split_codes
from forge.audits.project import CONFIG
from forge.audits.proposals.boundaries_proposal import propose_boundaries
from forge.audits.proposals.forge_json_proposal import propose_forge_json
from forge.errors import Conflict, Invalid
from forge.kernel.clock import now
from forge.workspace.filesystem.files import Files

EXPIRES_DAYS = 90
_ENVIRONMENTS = (".venv", "venv", "env")


@click.command()
@PATH
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--dry-run", is_flag=True, help="Print the files instead of writing them.")
def init(path: Path, force: bool, dry_run: bool) -> None:
    """Propose forge.json and boundaries.json that match the current layout of the project in PATH."""
    with audit_errors():
        with open_project(path) as (snapshot, root):
            proposed = {
                CONFIG: propose_forge_json(snapshot, _find_environment(root)),
                snapshot.governance.boundaries: propose_boundaries(snapshot),
            }
        texts = {
            name: f"{json.dumps(value, indent=2, ensure_ascii=False)}\n" for name, value in proposed.items()
        }
        if dry_run:
            for name, text in texts.items():
                click.echo(f"--- {name}\n{text}", nl=False)
            return
        _write(root, texts, force=force)
    argument = "" if path == Path() else f" {shlex.quote(str(path))}"
    click.echo(
        "Review the files, then run:\n"
        f"  forge audit{argument} --only A4,A9,W1   # check layers, dependencies and secrets\n"
        f"  forge audit evidence{argument}          # run the tests and sign the results, for A3, A5, A7 and A8"
    )


def _find_environment(root: Path) -> str | None:
    return next((name for name in _ENVIRONMENTS if (root / name / "pyvenv.cfg").is_file()), None)


@click.command()
@PATH
@click.option("--expires", default=f"{EXPIRES_DAYS}d", help="A date, a number of days (90d), or never.")
@click.option(
    "--reason", default="present when the baseline was written", help="Why the findings are accepted."
)
@click.option("--only", help="Accept only findings of these checks: A4,A9")
def baseline(path: Path, expires: str, reason: str, only: str | None) -> None:
    """Accept the current findings in PATH, so that only new ones fail the audit."""
    with audit_errors():
        today = now().date()
        until = _until(expires, today)
        checks = select_checks(load_checks(), split_codes(only))
        if only is None:
            checks = [check for check in checks if check.code not in NEVER_ACCEPTED]
        chosen = {check.code for check in checks}
        if unfit := NEVER_ACCEPTED & chosen:
            raise Invalid(
                f"Findings of {', '.join(sorted(unfit))} cannot be accepted: they are about a single change."
            )
        with open_project(path) as (snapshot, root):
            before, name = read_baseline(snapshot), baseline_path(snapshot.governance)
            if before.problem is not None:
                raise Invalid(f"{before.problem}.", hint="Fix the file, or delete it to create a new one.")
            report = run_checks(snapshot, checks, at=now())
        findings = [finding for result in report.results for finding in result.findings]
        others = [entry for entry in before.accepted.values() if entry.check not in chosen]
        file = create_baseline(findings, since=today, until=until, reason=reason, others=others)
        _write(root, {name: f"{file.model_dump_json(indent=2)}\n"}, force=True)
    accepted = format_count(len(file.findings), "findings")
    click.echo(f"Accepted {accepted}{f' until {until}' if until else ''}.")


def _until(expires: str, today: date) -> date | None:
    if expires == "never":
        return None
    try:
        days = expires.removesuffix("d")
        until = today + timedelta(days=int(days)) if days.isdecimal() else date.fromisoformat(expires)
    except (ValueError, OverflowError):
        raise Invalid(
            f"--expires {expires!r} is not a valid date.",
            hint="Use a value such as 90d, 2027-01-31 or never.",
        ) from None
    if until <= today:
        raise Invalid(f"--expires {expires!r} must be in the future.")
    return until


def _write(root: Path, texts: dict[str, str], *, force: bool) -> None:
    with Files(root) as files:
        for name, text in texts.items():
            try:
                written = files.write(name, text.encode(), expect=None if force else "")
            except Conflict as error:
                raise Conflict(f"{name} already exists.", hint="Use --force to replace it.") from error
            click.echo(f"{'Wrote' if written.created else 'Replaced'} {name}")
