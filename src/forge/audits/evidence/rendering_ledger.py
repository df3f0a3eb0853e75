"""The ledger as people read it: `audit_ledger.md`. Compared with what is on disk to the letter, so a change here is a
change of the format."""

from collections.abc import Iterable, Iterator

from forge.audits.evidence.chain import Entry
from forge.audits.evidence.records import Audited, Authorized, Kind, Legacy, ResultLine, body_of
from forge.audits.findings import shown_text

HEADER = """\
# Audit Ledger -- Forge AEM

Append-only: entries are added at the end and never changed. Rendered from `audit_ledger.jsonl`.
Do not edit or truncate: `forge audit verify` finds it.
"""
_OUTCOMES = {
    Kind.AUTHORIZED: "AUTHORIZED (committed)",
    Kind.AUTO_AUTHORIZED: "AUTO-AUTHORIZED (committed)",
    Kind.BYPASS: "BYPASS",
}


def render_ledger_entry(entry: Entry) -> str:
    body = body_of(entry)
    if isinstance(body, Legacy):
        return ""
    lines = ["", "---", ""]
    if isinstance(body, Audited):
        lines += _audited(entry, body)
    elif isinstance(body, Authorized):
        lines += _authorized(entry, body)
    else:
        lines += [f"## Entry {entry.number}: {one_line(entry.kind)}", f"Timestamp: {one_line(entry.at)}"]
    return "\n".join(lines) + "\n"


def _audited(entry: Entry, body: Audited) -> Iterator[str]:
    yield f"## Audit Entry: {one_line(body.phase)} -- Iteration {body.iteration}"
    yield f"Timestamp: {entry.at}"
    yield f"AEM Cycle: {one_line(body.phase)}"
    yield f"Outcome: {body.outcome}"
    yield f"HEAD: {body.head or 'none'}"
    yield f"Base: {body.base or 'none'}"
    yield f"Tree: {body.tree}"
    yield from _section("Checklist", map(_result, body.checks))
    if body.fix_plan:
        yield from _section("Fix Plan (FAIL items)", map(one_line, body.fix_plan))
    yield from _section("Files Changed", map(one_line, body.files))
    yield from _section("Notes", map(_result, body.warnings))


def _authorized(entry: Entry, body: Authorized) -> Iterator[str]:
    yield f"## Authorization: Iteration {body.iteration}"
    yield f"Timestamp: {entry.at}"
    yield f"Outcome: {_OUTCOMES[Kind(entry.kind)]}"
    yield f"commit: {one_line(body.commit)}"
    yield f"By: {one_line(body.by)}"
    if body.reason:
        yield f"Reason: {one_line(body.reason)}"


def _section(title: str, items: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"### {title}"
    lines = [f"- {item}" for item in items]
    yield from lines or ["- none"]


def _result(line: ResultLine) -> str:
    return f"{line.code} {one_line(line.name)}: {line.result} -- {one_line(line.detail)}"


def one_line(text: str) -> str:
    """Nothing a name or a message says can begin a line of its own."""
    return shown_text(" ".join(text.split()))
