"""The diff log as people read it: `diff_log.md`."""

from collections.abc import Iterable, Iterator

from forge.audits.evidence.records import DiffLog, FileChange
from forge.audits.evidence.rendering_ledger import one_line

TODO = "TODO: say what this change is for (forge audit evidence --summary)."
MAX_HUNKS = 500


def render_diff_log(log: DiffLog, at: str) -> str:
    return "\n".join(_lines(log, at)) + "\n"


def _lines(log: DiffLog, at: str) -> Iterator[str]:
    yield "# Diff Log (overwrite each cycle)"
    yield from _section(
        "Cycle Metadata",
        (
            f"- Timestamp: {at}",
            f"- Phase: {one_line(log.phase)}",
            f"- Branch: {one_line(log.branch or 'none')}",
            f"- HEAD: {log.head or 'none'}",
            f"- BASE_HEAD: {log.base or 'none'}",
            f"- Tree: {log.tree}",
            "- Diff basis: everything since BASE_HEAD, untracked files too",
        ),
    )
    yield from _section("Cycle Status", [f"- Status: {'COMPLETE' if log.is_complete else 'BLOCKED'}"])
    yield from _section("Summary", [one_line(line) for line in log.summary.splitlines()] or [TODO])
    yield from _section(f"Files Changed ({len(log.files)})", map(_bullet, log.files))
    results = (f"- {level.name}: {level.status} -- {one_line(level.summary)}" for level in log.verification)
    yield from _section("Verification", results)
    yield from _section("Notes (optional)", [one_line(log.notes) or "none"])
    yield from _section("Next Steps", [one_line(log.next_steps) or "none"])
    hunks = [hunk for file in log.files for hunk in _hunks(file)]
    more = [f"    … and {len(hunks) - MAX_HUNKS:,} more"] if len(hunks) > MAX_HUNKS else []
    yield from _section("Minimal Diff Hunks", [*hunks[:MAX_HUNKS], *more] or ["    none"])


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield from lines


def _bullet(file: FileChange) -> str:
    moved = f"{one_line(file.old_path)} => " if file.old_path else ""
    return f"- {file.kind}: {moved}{one_line(file.path)} (+{file.added} -{file.removed})"


def _hunks(file: FileChange) -> Iterator[str]:
    for first, last in file.lines:
        yield f"    @@ +{first},{last - first + 1} @@ {one_line(file.path)}"
