"""`forge audit init` and `forge audit baseline`: how a project that is already there begins with audits."""

import json
import shlex
from datetime import date, timedelta
from pathlib import Path

import click

from forge.audits.terminal import audit_errors, data_dir
from forge.errors import Conflict, Invalid
from forge.kernel.clock import now
from forge.terminal.output import working

EXPIRES_DAYS = 90
_ENVIRONMENTS = (".venv", "venv", "env")


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--force", is_flag=True, help="Replace existing files.")
@click.option("--dry-run", is_flag=True, help="Print the files instead of writing them.")
def init(path: Path, force: bool, dry_run: bool) -> None:
    """Propose forge.json and boundaries.json that match the current layout of the project in PATH."""
    from forge.audits.auditor import Auditor
    from forge.audits.models import AuditRequest
    from forge.audits.project import CONFIG
    from forge.audits.proposals.boundaries_proposal import propose_boundaries
    from forge.audits.proposals.forge_json_proposal import propose_forge_json
    from forge.workspace.observed.location import find_repository

    with audit_errors():
        root = find_repository(path).root
        with working("Looking at the project…"), Auditor(data_dir()).open(path, AuditRequest()) as snapshot:
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
    place = "" if path == Path() else f" {shlex.quote(str(path))}"
    click.echo(
        "Read them, then:\n"
        f"  forge audit{place} --only A4,A9,W1   # layers, dependencies, secrets: these need no evidence\n"
        f"  forge audit evidence{place}          # run the tests; A3, A5, A7 and A8 look at what comes of it"
    )


def _find_environment(root: Path) -> str | None:
    return next((name for name in _ENVIRONMENTS if (root / name / "pyvenv.cfg").is_file()), None)


@click.command()
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--expires", default=f"{EXPIRES_DAYS}d", help="A date, a number of days (90d), or never.")
@click.option(
    "--reason", default="present when the baseline was written", help="Why the findings are accepted."
)
@click.option("--only", help="Accept only findings of these checks: A4,A9")
def baseline(path: Path, expires: str, reason: str, only: str | None) -> None:
    """Accept the current findings in PATH, so that only new ones fail the audit."""
    from forge.audits.auditor import Auditor
    from forge.audits.engine.baseline import NEVER_ACCEPTED, baseline_path, create_baseline, read_baseline
    from forge.audits.engine.check_runner import run_checks
    from forge.audits.engine.registry import load_checks, select_checks, split_codes
    from forge.audits.models import AuditRequest
    from forge.workspace.observed.location import find_repository

    with audit_errors():
        today = now().date()
        until = _until(expires, today)
        checks = select_checks(load_checks(), split_codes(only))
        if only is None:
            checks = [check for check in checks if check.code not in NEVER_ACCEPTED]
        chosen = {check.code for check in checks}
        if unfit := NEVER_ACCEPTED & chosen:
            raise Invalid(
                f"{', '.join(sorted(unfit))}: about one change only; there is nothing to accept for later."
            )
        with working("Auditing…"), Auditor(data_dir()).open(path, AuditRequest()) as snapshot:
            before, name = read_baseline(snapshot), baseline_path(snapshot.governance)
            if before.problem is not None:
                raise Invalid(f"{before.problem}.", hint="Correct it, or remove it to begin a new one.")
            report = run_checks(snapshot, checks, at=now())
        findings = [finding for result in report.results for finding in result.findings]
        others = [one for one in before.accepted.values() if one.check not in chosen]
        file = create_baseline(findings, since=today, until=until, reason=reason, others=others)
        _write(find_repository(path).root, {name: f"{file.model_dump_json(indent=2)}\n"}, force=True)
    click.echo(f"{len(file.findings)} findings are accepted{f' until {until}' if until else ''}.")


def _until(expires: str, today: date) -> date | None:
    if expires == "never":
        return None
    try:
        days = expires.removesuffix("d")
        until = today + timedelta(days=int(days)) if days.isdecimal() else date.fromisoformat(expires)
    except (ValueError, OverflowError):
        raise Invalid(f"--expires {expires!r} is no date.", hint="Write 90d, 2027-01-31 or never.") from None
    if until <= today:
        raise Invalid(f"--expires {expires!r} is already over.")
    return until


def _write(root: Path, texts: dict[str, str], *, force: bool) -> None:
    from forge.workspace.filesystem.files import Files

    with Files(root) as files:
        for name, text in texts.items():
            try:
                written = files.write(name, text.encode(), expect=None if force else "")
            except Conflict as error:
                raise Conflict(f"{name} is already there.", hint="--force replaces it.") from error
            click.echo(f"{'Wrote' if written.created else 'Replaced'} {name}")
