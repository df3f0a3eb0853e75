"""`forge audit evidence`, `verify`, `authorize` and `trust`: making proofs, checking them, and deciding whose count."""

import asyncio
import os
import pwd
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forge.audits.terminal import audit_errors, data_dir, paint_for_terminal
from forge.terminal.options import json_option
from forge.terminal.output import print_json, working
from forge.terminal.text import clean

if TYPE_CHECKING:
    from forge.audits.evidence.collector import CollectedEvidence
    from forge.audits.evidence.proof import FileVerification
    from forge.audits.evidence.signing_keys import SigningKeys
    from forge.audits.models import AuditRequest
    from forge.audits.snapshot import Snapshot

PATH = click.argument("path", type=click.Path(path_type=Path), default=".")
LONGEST_S = 7200
MAX_LINES = 12
"""Of what a failing test says."""


@click.command()
@PATH
@click.option("--phase", default="unknown", help="Name of the phase, for the record.")
@click.option("--summary", default="", help="Purpose of the change; reviewers read it first.")
@click.option("--notes", default="", help="Further notes for reviewers.")
@click.option("--next-steps", default="", help="What comes after this change.")
@click.option("--claimed-files", help="Files the change claims to have changed: a.py,src/b.py")
@click.option("--base", help="Compare with this revision instead of the last commit.")
@click.option(
    "--timeout",
    type=click.IntRange(1, LONGEST_S),
    default=900,
    show_default=True,
    help="Time limit for each command, in seconds.",
)
@json_option
@click.pass_context
def evidence(
    ctx: click.Context,
    path: Path,
    phase: str,
    timeout: int,
    as_json: bool,
    base: str | None,
    claimed_files: str | None,
    **account: str,
) -> None:
    """Run the tests of the project in PATH in the sandbox and sign the results.

    Exit code 0: the evidence is good, 1: a level failed, 2: nothing was recorded.
    """
    from forge.audits.claims import read_claims_option
    from forge.audits.models import AuditRequest

    with audit_errors():
        claims = None if claimed_files is None else read_claims_option(claimed_files)
        request = AuditRequest(phase=phase, base=base, claimed_files=claims)
        with working("Looking at the project…") as say:
            collected = _collect(path, request, account, timeout, say)
    if as_json:
        _print_record(collected)
    else:
        _print_run(collected)
    ctx.exit(0 if collected.run.status == "PASS" else 1)


def _collect(
    path: Path, request: "AuditRequest", account: dict[str, str], timeout_s: int, say: Callable[[str], None]
) -> "CollectedEvidence":
    from forge.audits.auditor import Auditor
    from forge.audits.evidence.collector import EvidenceRequest, collect
    from forge.config import load_settings
    from forge.sandbox.models import Level
    from forge.sandbox.sandboxes import Sandboxes
    from forge.workspace.observed.location import find_repository

    auditor = Auditor(data_dir())
    collecting = collect(
        lambda: auditor.open(path, request),
        find_repository(path).root,
        _keys(),
        Sandboxes(Level(load_settings().sandbox_required), hidden=(data_dir(),)),
        EvidenceRequest(account["summary"], account["notes"], account["next_steps"], timeout_s),
        on_level=lambda level: say(f"{level.name}: {level.status}"),
    )
    return asyncio.run(collecting)


def _print_run(collected: "CollectedEvidence") -> None:
    paint, run = paint_for_terminal(), collected.run
    for level in run.levels:
        click.echo(
            f"{level.name:<9} {paint(level.status, level.status)}{f'  {clean(level.reason)}' if level.reason else ''}"
        )
        for step in level.steps:
            click.echo(f"  {clean(step.name)}: {clean(step.summary)}".replace("\n", "\n    "))
            for name, message in zip_longest(step.failing, step.messages, fillvalue=""):
                click.echo(f"    {paint('failed', 'fail')} {clean(name)}")
                for line in message.splitlines()[:MAX_LINES]:
                    click.echo(f"      {clean(line)}")
    for told in (run.problem, collected.notice):
        if told:
            click.echo(clean(told))
    click.echo(
        f"Evidence: {paint(run.status, run.status)}, record {collected.entry.number}, tree {run.tree[:12]}"
    )


def _print_record(collected: "CollectedEvidence") -> None:
    import msgspec

    print_json({"run": msgspec.to_builtins(collected.run), "diff_log": msgspec.to_builtins(collected.log)})


@click.command()
@PATH
@click.option("--accept", is_flag=True, help="Accept the current records as the known state on this machine.")
@json_option
@click.pass_context
def verify(ctx: click.Context, path: Path, accept: bool, as_json: bool) -> None:
    """Verify that the evidence files of the project in PATH are unchanged.

    Names each changed file and the first broken entry. Exit code 0: intact, 1: changed, 2: could not be verified.
    """
    from forge.audits.evidence.proof import verify_files

    with audit_errors():
        if accept:
            _accept(path)
        with _snapshot(path) as (snapshot, _):
            found = list(verify_files(snapshot))
    if as_json:
        print_json({one.file: {"entries": one.entries, "problems": list(one.problems)} for one in found})
    else:
        for one in found:
            _print_soundness(one)
    ctx.exit(0 if all(one.is_whole for one in found) else 1)


def _print_soundness(one: "FileVerification") -> None:
    paint = paint_for_terminal()
    if not one.problems:
        click.echo(f"{one.file}: {paint('PASS', 'PASS')}  {one.summary}")
    for problem in one.problems:
        word = problem.severity.upper()
        name = problem.file or one.file
        click.echo(f"{name}: {paint(word, word)}  {clean(problem.message)} [{problem.rule}]")
        click.echo(f"  {paint(clean(problem.fix), 'dim')}")


def _accept(path: Path) -> None:
    """What this machine remembers gives way; what the records prove by themselves does not."""
    from forge.audits.evidence.evidence_log import verify_log
    from forge.audits.evidence.ledger import LEDGER
    from forge.audits.evidence.proof import RUNS
    from forge.audits.snapshot import Trust, seen_at
    from forge.errors import Conflict

    with _snapshot(path) as (snapshot, root):
        for book in (LEDGER, RUNS):
            where = seen_at(book.records, snapshot.branch, snapshot.head)
            state = verify_log(book, snapshot.evidence, Trust(snapshot.trust.keys), {}, where)
            if state.is_tampered:
                broken = next(problem for problem in state.problems if problem.severity == "fail")
                raise Conflict(f"{book.records} cannot be accepted: {broken.message}.", hint=broken.fix)
            _keys().remember(root, where, state.head)


@click.command()
@PATH
@click.option(
    "--commit",
    default="HEAD",
    show_default=True,
    help="The last commit to authorize; includes all commits before it.",
)
@click.option("--by", help="Name of the person who authorizes. Default: you.")
@click.option("--bypass", metavar="REASON", help="Authorize without a signed-off audit, for this reason.")
@click.option("--auto", is_flag=True, help="Authorized by a rule, not by a person.")
def authorize(path: Path, commit: str, by: str | None, bypass: str | None, auto: bool) -> None:
    """Authorize the commits of the project in PATH for check A6."""
    from forge.audits.evidence.ledger import authorize as write_authorization
    from forge.audits.evidence.ledger import check_signed_off, open_writer
    from forge.audits.evidence.records import Kind
    from forge.errors import Invalid, NotFound

    with audit_errors(), _snapshot(path) as (snapshot, root):
        if auto and bypass is not None:
            raise Invalid("An authorisation is automatic or a bypass, not both.")
        full = snapshot.head if commit == "HEAD" else snapshot.commits.find(commit)
        if full is None:
            raise NotFound(f"There is no commit {commit[:80]!r} here.", hint="Commit first, then authorise.")
        kind = Kind.BYPASS if bypass is not None else Kind.AUTO_AUTHORIZED if auto else Kind.AUTHORIZED
        if kind is not Kind.BYPASS:
            check_signed_off(snapshot, full)
        writer = open_writer(_keys(), root, branch=snapshot.branch, head=snapshot.head)
        who = by or pwd.getpwuid(os.getuid()).pw_name
        entry = write_authorization(writer, snapshot.governance, full, who, kind=kind, reason=bypass or "")
    click.echo(f"Entry {entry.number} of the ledger: {full} is authorised by {clean(who)}.")


@click.command()
@click.argument("key", required=False)
@click.option("--name", default="", help="Name to remember the owner of the key by.")
@click.option("--remove", is_flag=True, help="Stop trusting this key.")
@json_option
def trust(key: str | None, name: str, remove: bool, as_json: bool) -> None:
    """Trust signatures made with KEY on this machine. Without KEY, list the trusted keys."""
    from forge.errors import NotFound

    with audit_errors():
        keys = _keys()
        if key is None:
            _print_keys(keys, as_json=as_json)
        elif not remove:
            click.echo(f"Trusted: {keys.add_trusted(key, name)}")
        elif keys.remove_trusted(key):
            click.echo("It counts here no more.")
        else:
            raise NotFound("That key was not trusted here.")


def _print_keys(keys: "SigningKeys", *, as_json: bool) -> None:
    own = keys.own()
    others = keys.trusted()
    if as_json:
        print_json({"own": own, "trusted": others})
        return
    click.echo(f"{own}  this machine" if own else "This machine has no key yet; the first audit makes it.")
    for key, name in others.items():
        click.echo(f"{key}  {clean(name)}")


@contextmanager
def _snapshot(path: Path) -> Generator[tuple["Snapshot", Path]]:
    from forge.audits.auditor import Auditor
    from forge.audits.models import AuditRequest
    from forge.workspace.observed.location import find_repository

    with Auditor(data_dir()).open(path, AuditRequest()) as snapshot:
        yield snapshot, find_repository(path).root


def _keys() -> "SigningKeys":
    from forge.audits.evidence.signing_keys import SigningKeys

    return SigningKeys(data_dir() / "audit")
