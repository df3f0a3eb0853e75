"""The `forge audit` command: run an audit, explain checks, and run their self-tests."""

import json
from collections.abc import Callable
from pathlib import Path

import click

from forge.audits.auditor import Auditor
from forge.audits.claims import read_claims_option
from forge.audits.cli.common import PATH, audit_errors, data_dir, paint_for_terminal
from forge.audits.cli.evidence import authorize, evidence, trust, verify
from forge.audits.cli.setup import baseline, init
from forge.audits.display_text import escape_path
from forge.audits.engine.registry import load_checks, select_checks, split_codes
from forge.audits.engine.self_test import run_self_tests
from forge.audits.formats.markdown import markdown
from forge.audits.formats.sarif import sarif
from forge.audits.formats.text import block, details
from forge.audits.models import AuditReport, AuditRequest
from forge.terminal.entry import show_error
from forge.terminal.output import print_json, working

DEFAULT_COMMAND = "run"
FORMATS = ("text", "json", "sarif", "md")


class AuditGroup(click.Group):
    """A group that runs an audit if the first argument is not a command: `forge audit src/app`, `forge audit --only A4`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_for_help = bool(args) and args[0] in ctx.help_option_names
        if not asks_for_help and (not args or args[0] not in self.commands):
            args = [DEFAULT_COMMAND, *args]
        return super().parse_args(ctx, args)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[PATH] [OPTIONS] | COMMAND [ARGS]..."]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.default_command.format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.commands if name != DEFAULT_COMMAND]

    @property
    def default_command(self) -> click.Command:
        return self.commands[DEFAULT_COMMAND]


@click.group(cls=AuditGroup)
def audit() -> None:
    """Audit the project in PATH (default: the current directory). Exit code 0: passed, 1: failed, 2: could not
    be audited.
    """


@audit.command(DEFAULT_COMMAND)
@PATH
@click.option("--claimed-files", help="Files the change claims to have changed: a.py,src/b.py,old.py=>new.py")
@click.option("--phase", default="unknown", help="Name of the phase, for the report and the ledger.")
@click.option("--base", help="Compare with this revision instead of the last commit.")
@click.option("--only", help="Run only these checks: A4,A9")
@click.option("--file", help="Leave out findings in unchanged files.")
@click.option("--format", "output_format", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--no-ledger", is_flag=True, help="Do not append to the project's ledger.")
@click.option("--explain", metavar="CODE", help="Explain what a check looks at and how to pass it.")
@click.option("--self-test", is_flag=True, help="Run every check on its own examples.")
@click.pass_context
def run(
    ctx: click.Context,
    explain: str | None,
    self_test: bool,
    output_format: str,
    path: Path,
    **options: object,
) -> None:
    """Audit the project in PATH."""
    with audit_errors():
        if explain is not None:
            passed = _explain(explain)
        elif self_test:
            passed = _self_test(as_json=output_format == "json")
        else:
            passed = _run(path, output_format, **options)  # pyright: ignore[reportArgumentType] - click knows the types
    ctx.exit(0 if passed else 1)


def _run(
    path: Path,
    output_format: str,
    *,
    claimed_files: str | None,
    only: str | None,
    file: str | None,
    no_ledger: bool,
    **options: str,
) -> bool:
    request = AuditRequest(
        claimed_files=None if claimed_files is None else read_claims_option(claimed_files),
        only=split_codes(only),
        file=None if file is None else escape_path(file),
        ledger=not no_ledger,
        **options,  # phase, base
    )
    auditor = Auditor(data_dir())
    with working("Auditing…") as show_progress:
        audited = auditor.run(
            path,
            request,
            place="" if path == Path() else str(path),
            on_result=lambda result: show_progress(f"{result.code} {result.name}"),
        )
    _PRINTERS[output_format](audited.report)
    if audited.ledger_problem is not None:
        click.echo("The audit was not recorded in the ledger. Use --no-ledger to skip the ledger.", err=True)
        show_error(audited.ledger_problem)
    elif audited.ledger_entry is not None and output_format == "text":
        click.echo(f"\nRecorded as ledger entry {audited.ledger_entry}.", err=True)
    return not audited.report.overall.blocks


def _print_text(report: AuditReport) -> None:
    paint = paint_for_terminal()
    click.echo(block(report, paint))
    if findings := details(report, paint):
        click.echo(f"\n{findings}")


def _print_markdown(report: AuditReport) -> None:
    click.echo(markdown(report), nl=False)


def _print_sarif(report: AuditReport) -> None:
    click.echo(json.dumps(sarif(report, load_checks()), indent=2, ensure_ascii=False))


_PRINTERS: dict[str, Callable[[AuditReport], None]] = {
    "text": _print_text,
    "json": print_json,
    "sarif": _print_sarif,
    "md": _print_markdown,
}


def _explain(code: str) -> bool:
    for check in select_checks(load_checks(), split_codes(code)):
        kind = "blocks" if check.is_blocking else "warns"
        click.echo(f"{check.code} {check.name} ({kind})\n\n{check.why}\n\n{check.docs.strip()}")
        click.echo(f"\nTested on {len(check.fixtures)} examples. Run them with: forge audit --self-test")
    return True


def _self_test(*, as_json: bool) -> bool:
    proofs = run_self_tests(load_checks())
    if as_json:
        print_json(proofs)
    else:
        paint = paint_for_terminal()
        for proof in proofs:
            verdict = "PASS" if proof.is_sound else "FAIL"
            summary = f"{proof.fixtures} examples ({proof.caught} bad), all verdicts correct"
            click.echo(f"{proof.code:<4} {paint(verdict, verdict)}  {'; '.join(proof.problems) or summary}")
    return all(proof.is_sound for proof in proofs)


for command in (init, baseline, evidence, verify, authorize, trust):
    audit.add_command(command)
