"""W1: no added line holds a credential. It warns and does not block, as only a person can tell that one is made up."""

from collections.abc import Sequence

from forge.audits.broken_config import broken_config
from forge.audits.check import Check, Examination, Found, skip
from forge.audits.checks.w1_fixtures import FIXTURES
from forge.audits.counting import counted, first_of
from forge.audits.models import Severity
from forge.audits.paths import shown
from forge.audits.secrets.added import Leak, find_leaks
from forge.audits.snapshot import AddedLine, Change, Snapshot
from forge.workspace.observed_mirror import LARGE

MAX_LEAKS = 1000
"""Findings of one audit; who has more has one problem, not a thousand."""
MAX_NAMED = 5
_UNIT = "added lines"
_FIX = (
    "Revoke this credential and make a new one: whoever can read the history has it, also after the line is gone. "
    "Keep the new one out of the project (`forge secrets set NAME`, or an environment variable), and take the old one "
    "out of the history before it is pushed. If it is made up, say so on the line: `forge: allow-secret`."
)
_DOCS = """\
Looks at every line that was added since the base, whoever wrote it and wherever it is, for credentials:

- **tokens that are known by their shape**: of code hosts, registries, clouds, model providers, payment services, chat
  and mail services; private keys in PEM armour; some 200 kinds, listed in `docs/reference/secrets.md`
- **values that are known by their owner's name**: `datadog_api_key: 0f3a…`
- **places where secrets are**: passwords in URLs, `Authorization` headers, JSON web tokens, `curl -u`
- **anything else that is called a secret and looks generated**: a password, key or token that is assigned a text as
  random as one. Words, templates (`${TOKEN}`), hashes and placeholders are none.

In documents, tests and examples only the first two count; in lock files and minified code only the first.

A finding is a warning. The secret itself is not part of it: the line is shown with the secret masked.

To say otherwise: `forge: allow-secret` in a comment on the line (`gitleaks:allow`, `pragma: allowlist secret` and
`trufflehog:ignore` are understood, too); `audit.ignore` in `forge.json` for whole files; `forge audit baseline` for
what is there today. Binary files, and files of 32 MB and more, are not looked into: the detail names them.
"""


def examine(snapshot: Snapshot) -> Examination:
    if (broken := broken_config(snapshot, _UNIT)) is not None:
        return broken
    lines = _lines(snapshot)
    unread = _unread(snapshot)
    if not lines:
        return skip(f"{_nothing(snapshot)}{unread}", _UNIT)
    leaks = find_leaks(lines, MAX_LEAKS)
    found = [_found(leak) for leak in leaks.first]
    detail = _detail(found, leaks.left, len(lines)) + unread
    return Examination(tuple(found), len(lines), _UNIT, detail)


def _lines(snapshot: Snapshot) -> Sequence[AddedLine]:
    paths = {line.path for line in snapshot.added_lines}
    ignored = set(filter(snapshot.project.ignores, paths))
    if not ignored:
        return snapshot.added_lines
    return [line for line in snapshot.added_lines if line.path not in ignored]


def _nothing(snapshot: Snapshot) -> str:
    return (
        "audit.ignore leaves out every line that was added" if snapshot.added_lines else "no line was added"
    )


def _unread(snapshot: Snapshot) -> str:
    """What git compares no lines of; a file that is gone has nothing to search."""
    why = {
        change.path: reason
        for change in snapshot.changes
        if (reason := _reason(snapshot, change)) and not snapshot.project.ignores(change.path)
    }
    if not why:
        return ""
    names = [f"{shown(path)[:200]} ({why[path]})" for path in sorted(why)]
    return f"; not searched: {first_of(names, MAX_NAMED)}"


def _reason(snapshot: Snapshot, change: Change) -> str | None:
    entry = snapshot.tree.entries.get(change.path)
    if entry is None or not entry.kind.is_file:
        return None
    if entry.size >= LARGE and (change.is_binary or change.added):
        return "too large"
    return "binary" if change.is_binary else None


def _found(leak: Leak) -> Found:
    certain = " Its checksum is right, so it is a real one." if leak.is_certain else ""
    return Found(
        rule=leak.rule,
        severity=Severity.WARN,
        message=f"The line adds a secret: {leak.kind}.{certain}",
        fix=_FIX,
        path=leak.path,
        line=leak.line,
        subject=f"{leak.rule} {leak.name}",
        excerpt=leak.excerpt,
    )


def _detail(found: Sequence[Found], left: int, examined: int) -> str:
    if not found:
        return f"no secret in {counted(examined, _UNIT)}"
    first, count = found[0], len(found) + left
    more = f", of which {len(found):,} are shown" if left else ""
    where = f"{first.rule} in {first.path}:{first.line}"
    return f"{counted(count, 'secrets')} in {counted(examined, _UNIT)}{more}; the first: {where}"


CHECK = Check(
    code="W1",
    name="Secrets in diff",
    why="A credential in a repository belongs to everybody who can read it, now and later; deleting the line does not take it back.",
    docs=_DOCS,
    examine=examine,
    fixtures=FIXTURES,
    is_blocking=False,
)
