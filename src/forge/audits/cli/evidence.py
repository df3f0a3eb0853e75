"""The commands `forge audit evidence`, `verify`, `authorize` and `trust`: collect, verify and sign off evidence."""

import asyncio
import os
import pwd
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from rich.console import Group
from rich.text import Text

from forge.audits.auditor import Auditor
from forge.audits.claims import read_claims_option
from forge.audits.cli.common import PATH, audit_command, audit_errors, data_dir, open_project, verdict
from forge.audits.evidence.evidence_log import verify_log
from forge.audits.evidence.ledger import LEDGER, check_signed_off, open_writer
from forge.audits.evidence.ledger import authorize as write_authorization
from forge.audits.evidence.proof import RUNS, FileVerification, verify_files
from forge.audits.evidence.records import Kind
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.models import AuditRequest
from forge.audits.snapshot import Trust, seen_at
from forge.config import load_settings
from forge.errors import Conflict, Invalid, NotFound
from forge.terminal.commands import Result
from forge.terminal.output import FAINT, print_json, words, working
from forge.terminal.text import clean
from forge.workspace.observed.location import find_repository

if TYPE_CHECKING:
    from forge.audits.evidence.collector import CollectedEvidence

MAX_TIMEOUT_S = 7200
MAX_MESSAGE_LINES = 12
"""The number of lines shown of the message of a failing test."""


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
    type=click.IntRange(1, MAX_TIMEOUT_S),
    default=900,
    show_default=True,
    help="Time limit for each command, in seconds.",
)
@audit_command
def evidence(
    *, path: Path, phase: str, timeout: int, base: str | None, claimed_files: str | None, **description: str
) -> Result[dict[str, Any]]:
    """Run the tests of the project in PATH in the sandbox and sign the results.

    Exit code 0: the evidence is good, 1: a level failed, 2: nothing was recorded.
    """
    from forge.audits.evidence.collector import EvidenceRequest, collect  # slow to import
    from forge.sandbox.models import Level
    from forge.sandbox.sandboxes import Sandboxes

    claims = None if claimed_files is None else read_claims_option(claimed_files)
    request = AuditRequest(phase=phase, base=base, claimed_files=claims)
    with working("Reading the project…") as show_progress:
        collected = asyncio.run(
            collect(
                lambda: Auditor(data_dir()).open(path, request),
                find_repository(path).root,
                _keys(),
                Sandboxes(Level(load_settings().sandbox_required), hidden=(data_dir(),)),
                EvidenceRequest(
                    description["summary"], description["notes"], description["next_steps"], timeout
                ),
                on_level=lambda level: show_progress(f"{level.name}: {level.status}"),
            )
        )
    data = {"run": msgspec.to_builtins(collected.run), "diff_log": msgspec.to_builtins(collected.log)}
    exit_code = 0 if collected.run.status == "PASS" else 1
    return Result(data, lambda _: _evidence_page(collected), exit_code=exit_code)


def _evidence_page(collected: "CollectedEvidence") -> Group:
    run, lines = collected.run, list[Text]()
    for level in run.levels:
        reason = f"  {clean(level.reason)}" if level.reason else ""
        lines.append(Text.assemble(f"{level.name:<9} ", verdict(level.status), reason))
        for step in level.steps:
            lines.append(words(f"  {step.name}: {step.summary}".replace("\n", "\n    ")))
            for name, message in zip_longest(step.failing, step.messages, fillvalue=""):
                lines.append(Text.assemble("    ", ("failed", "red"), f" {clean(name)}"))
                lines += [words(f"      {line}") for line in message.splitlines()[:MAX_MESSAGE_LINES]]
    lines += [words(message) for message in (run.problem, collected.notice) if message]
    record = f", record {collected.entry.number}, tree {run.tree[:12]}"
    return Group(*lines, Text.assemble("Evidence: ", verdict(run.status), record))


@click.command()
@PATH
@click.option("--accept", is_flag=True, help="Accept the current records as the known state on this machine.")
@audit_command
def verify(*, path: Path, accept: bool) -> Result[dict[str, Any]]:
    """Verify that the evidence files of the project in PATH are unchanged.

    Names each changed file and the first broken entry. Exit code 0: intact, 1: changed, 2: could not be verified.
    """
    if accept:
        _accept(path)
    with open_project(path) as (snapshot, _):
        found = list(verify_files(snapshot))
    data = {one.file: {"entries": one.entries, "problems": list(one.problems)} for one in found}
    is_intact = all(one.is_intact for one in found)
    return Result(data, lambda _: Group(*map(_verification_page, found)), exit_code=0 if is_intact else 1)


def _verification_page(verification: FileVerification) -> Group:
    lines: list[Text] = []
    if not verification.problems:
        lines.append(
            Text.assemble(f"{verification.file}: ", verdict("PASS"), f"  {clean(verification.summary)}")
        )
    for problem in verification.problems:
        name = clean(problem.file or verification.file)
        message = f"  {clean(problem.message)} [{problem.rule}]"
        lines.append(Text.assemble(f"{name}: ", verdict(problem.severity.upper()), message))
        lines.append(words(f"  {problem.fix}", FAINT))
    return Group(*lines)


def _accept(path: Path) -> None:
    """Replace the heads this machine remembers. Raises Conflict if the records contradict their own signatures."""
    with open_project(path) as (snapshot, root):
        for log in (LEDGER, RUNS):
            where = seen_at(log.records, snapshot.branch, snapshot.head)
            state = verify_log(log, snapshot.evidence, Trust(snapshot.trust.keys), {}, where)
            if state.is_tampered:
                broken = next(problem for problem in state.problems if problem.severity == "fail")
                raise Conflict(f"{log.records} cannot be accepted: {broken.message}.", hint=broken.fix)
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
    with audit_errors(), open_project(path) as (snapshot, root):
        if auto and bypass is not None:
            raise Invalid("--auto and --bypass cannot be combined.")
        full = snapshot.head if commit == "HEAD" else snapshot.commits.find(commit)
        if full is None:
            raise NotFound(f"Commit {commit[:80]!r} does not exist.", hint="Commit first, then authorize.")
        kind = Kind.BYPASS if bypass is not None else Kind.AUTO_AUTHORIZED if auto else Kind.AUTHORIZED
        if kind is not Kind.BYPASS:
            check_signed_off(snapshot, full)
        writer = open_writer(_keys(), root, branch=snapshot.branch, head=snapshot.head)
        who = by or pwd.getpwuid(os.getuid()).pw_name
        entry = write_authorization(writer, snapshot.governance, full, who, kind=kind, reason=bypass or "")
    click.echo(f"Commit {full} authorized by {clean(who)} (ledger entry {entry.number}).")


@click.command()
@click.option("--name", default="", help="Name to remember the owner of the key by.")
@click.option("--remove", is_flag=True, help="Stop trusting this key.")
@audit_command
def trust(key: str | None = None, /, *, name: str, remove: bool, as_json: bool) -> int:
    """Trust signatures made with KEY on this machine. Without KEY, list the trusted keys."""
    keys = _keys()
    own, others = keys.own(), keys.trusted()
    if key is not None and not remove:
        click.echo(f"Trusted: {keys.add_trusted(key, name)}")
    elif key is not None and keys.remove_trusted(key):
        click.echo("Key removed.")
    elif key is not None:
        raise NotFound("This key is not trusted.")
    elif as_json:
        print_json({"own": own, "trusted": others})
    else:
        click.echo(
            f"{own}  this machine" if own else "This machine has no key yet; the first audit creates it."
        )
        for other, owner in others.items():
            click.echo(f"{other}  {clean(owner)}")
    return 0


def _keys() -> SigningKeys:
    return SigningKeys(data_dir() / "audit")
