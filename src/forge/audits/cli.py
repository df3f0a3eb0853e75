"""`forge audit`: the audit itself, and the commands around it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.audits.evidence_cli import authorize, evidence, trust, verify
from forge.audits.setup_cli import baseline, init
from forge.audits.terminal import audit_errors, data_dir, paint_for_terminal
from forge.terminal.entry import show_error
from forge.terminal.output import print_json, working

if TYPE_CHECKING:
    from forge.audits.models import AuditReport

UNNAMED = "run"
FORMATS = ("text", "json", "sarif", "md")


class AuditGroup(click.Group):
    """`forge audit init` is a command; `forge audit`, `forge audit src/app` and `forge audit --only A4` are an audit."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        asks_for_help = bool(args) and args[0] in ctx.help_option_names
        if not asks_for_help and (not args or args[0] not in self.commands):
            args = [UNNAMED, *args]
        return super().parse_args(ctx, args)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return "" if name == UNNAMED else name, command, rest

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[PATH] [OPTIONS] | COMMAND [ARGS]..."]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        shown = [param for param in self.unnamed.get_params(ctx) if isinstance(param, click.Option)]
        with formatter.section("Options"):
            formatter.write_dl([record for param in shown if (record := param.get_help_record(ctx))])
        self.format_commands(ctx, formatter)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for name in self.commands if name != UNNAMED]

    @property
    def unnamed(self) -> click.Command:
        """What is meant when no command is named."""
        return self.commands[UNNAMED]


class UnnamedContext(click.Context):
    @property
    def command_path(self) -> str:
        """Without a place for the name."""
        return super().command_path.rstrip()


class UnnamedCommand(click.Command):
    context_class = UnnamedContext


@click.group(cls=AuditGroup)
def audit() -> None:
    """Audit the project in PATH (default: the current directory). Exit code 0: passed, 1: failed, 2: could not
    be audited.
    """


@audit.command(UNNAMED, cls=UnnamedCommand)
@click.argument("path", type=click.Path(path_type=Path), default=".")
@click.option("--claimed-files", help="Files the change claims to have changed: a.py,src/b.py,old.py=>new.py")
@click.option("--phase", default="unknown", help="Name of the phase, for the report and the ledger.")
@click.option("--base", help="Compare with this revision instead of the last commit.")
@click.option("--only", help="Run only these checks: A4,A9")
@click.option("--file", help="Leave out findings in unchanged files.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="Output format.")
@click.option("--no-ledger", is_flag=True, help="Do not append to the project's ledger.")
@click.option("--explain", metavar="CODE", help="Explain what a check looks at and how to pass it.")
@click.option("--self-test", is_flag=True, help="Run every check on its own examples.")
@click.pass_context
def run(
    ctx: click.Context, explain: str | None, self_test: bool, form: str, path: Path, **given: object
) -> None:
    """Audit the project in PATH."""
    with audit_errors():
        if explain is not None:
            is_good = _explain(explain)
        elif self_test:
            is_good = _self_test(as_json=form == "json")
        else:
            is_good = _run(path, form, **given)  # pyright: ignore[reportArgumentType] - click knows the types
    ctx.exit(0 if is_good else 1)


def _run(
    path: Path,
    form: str,
    *,
    claimed_files: str | None,
    only: str | None,
    file: str | None,
    no_ledger: bool,
    **given: str,
) -> bool:
    from forge.audits.auditor import Auditor
    from forge.audits.claims import read_claims_option
    from forge.audits.display_text import escape_path
    from forge.audits.engine.registry import split_codes
    from forge.audits.models import AuditRequest

    request = AuditRequest(
        claimed_files=None if claimed_files is None else read_claims_option(claimed_files),
        only=split_codes(only),
        file=None if file is None else escape_path(file),
        ledger=not no_ledger,
        **given,  # phase, base
    )
    auditor = Auditor(data_dir())
    with working("Auditing…") as say:
        place = "" if path == Path() else str(path)
        audited = auditor.run(
            path, request, place=place, on_result=lambda result: say(f"{result.code} {result.name}")
        )
    _PRINTERS[form](audited.report)
    if audited.ledger_problem is not None:
        click.echo("This audit is not in the ledger; --no-ledger leaves it alone.", err=True)
        show_error(audited.ledger_problem)
    elif audited.ledger_entry is not None and form == "text":
        click.echo(f"\nEntry {audited.ledger_entry} of the ledger.", err=True)
    return not audited.report.overall.blocks


def _print_text(report: "AuditReport") -> None:
    from forge.audits.formats.text import block, details

    paint = paint_for_terminal()
    click.echo(block(report, paint))
    if told := details(report, paint):
        click.echo(f"\n{told}")


def _print_markdown(report: "AuditReport") -> None:
    from forge.audits.formats.markdown import markdown

    click.echo(markdown(report), nl=False)


def _print_sarif(report: "AuditReport") -> None:
    from forge.audits.engine.registry import load_checks
    from forge.audits.formats.sarif import sarif

    click.echo(json.dumps(sarif(report, load_checks()), indent=2, ensure_ascii=False))


_PRINTERS: dict[str, Callable[["AuditReport"], None]] = {
    "text": _print_text,
    "json": print_json,
    "sarif": _print_sarif,
    "md": _print_markdown,
}


def _explain(code: str) -> bool:
    from forge.audits.engine.registry import load_checks, select_checks, split_codes

    for check in select_checks(load_checks(), split_codes(code)):
        kind = "blocks" if check.is_blocking else "warns"
        click.echo(f"{check.code} {check.name} ({kind})\n\n{check.why}\n\n{check.docs.strip()}")
        click.echo(f"\nForge proves it on {len(check.fixtures)} examples: forge audit --self-test")
    return True


def _self_test(*, as_json: bool) -> bool:
    from forge.audits.engine.registry import load_checks
    from forge.audits.engine.self_test import run_self_tests

    proofs = run_self_tests(load_checks())
    if as_json:
        print_json(proofs)
    else:
        paint = paint_for_terminal()
        for proof in proofs:
            verdict = "PASS" if proof.is_sound else "FAIL"
            told = f"{proof.fixtures} examples, {proof.caught} of them bad, all told apart"
            click.echo(f"{proof.code:<4} {paint(verdict, verdict)}  {'; '.join(proof.problems) or told}")
    return all(proof.is_sound for proof in proofs)


for command in (init, baseline, evidence, verify, authorize, trust):
    audit.add_command(command)
