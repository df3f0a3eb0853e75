"""How versions and differences look in a terminal."""

from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from forge.bots.models import FileProblem
from forge.bots.versions.models import DiffRow, FileDiff, FileVersion
from forge.kernel.clock import now
from forge.terminal.output import table, words
from forge.terminal.text import ago, clean, size


def place_of(problem: FileProblem) -> str:
    """`SOUL.md:4:7:`, as compilers say it, so that editors can go there."""
    place = "".join(f":{number}" for number in (problem.line, problem.column) if number is not None)
    return f"{problem.file.file_name}{place}:{' warning:' if problem.is_warning else ''}"


def history_table(versions: Iterable[FileVersion]) -> Table:
    rows = table("VERSION", "WHEN", "AUTHOR", "SIZE", "MESSAGE", "HASH", wrapped={"MESSAGE"})
    for one in versions:
        when = ago(one.created_at, now())
        rows.add_row(
            str(one.number), when, words(one.author), size(one.bytes), words(one.message), one.hash[:12]
        )
    return rows


def diff_text(diff: FileDiff) -> Text:
    """What was removed and what was added below each other, as people know it from git."""
    text = Text(f"{clean(diff.left)} → {clean(diff.right)}: ", "bright_black")
    text.append(f"{diff.added} added, {diff.removed} removed" if diff.rows else "no difference")
    waiting: list[Text] = []
    for row in diff.rows:
        if row.kind not in ("changed", "added"):
            _append(text, waiting)
            waiting = []
        for line in _lines(row):
            if row.kind in ("changed", "added") and line.plain.startswith("+"):
                waiting.append(line)
            else:
                _append(text, [line])
    _append(text, waiting)
    if diff.is_cut:
        text.append("\nThere is more than is shown.", "bright_black")
    return text


def _append(text: Text, lines: Iterable[Text]) -> None:
    for line in lines:
        text.append("\n").append_text(line)


def _lines(row: DiffRow) -> list[Text]:
    match row.kind:
        case "skipped":
            return [Text(f"  … {row.left} lines are the same", "bright_black")]
        case "same":
            return [Text(f"  {clean(row.left)}")]
        case "removed":
            return [Text(f"- {clean(row.left)}", "red")]
        case "added":
            return [Text(f"+ {clean(row.right)}", "green")]
        case "changed":
            return [Text(f"- {clean(row.left)}", "red"), Text(f"+ {clean(row.right)}", "green")]
