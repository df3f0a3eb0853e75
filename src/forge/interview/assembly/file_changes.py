"""List the files to be written, with diffs, for review before they are confirmed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from forge.bots.models import BotFile
from forge.bots.versions.diff import CONTEXT, Hunk, compare
from forge.interview.assembly.bot_files import BotDraft
from forge.interview.models import FileChange
from forge.kernel.hashing import hash_text
from forge.skills.models import SkillFiles


def new_bot_changes(drafts: Sequence[BotDraft], slugs: Sequence[str]) -> list[FileChange]:
    return [
        FileChange(path=bot_path(slug, file), content=text)
        for draft, slug in zip(drafts, slugs, strict=True)
        for file, text in draft.contents.items()
    ]


def reconfigured_bot_changes(
    slug: str, before: Mapping[BotFile, str], after: Mapping[BotFile, str]
) -> list[FileChange]:
    return [_change(bot_path(slug, file), before[file], text) for file, text in after.items()]


def new_skill_changes(written: Iterable[SkillFiles]) -> list[FileChange]:
    return [change for skill in written for change in skill_changes(skill, None)]


def skill_changes(skill: SkillFiles, before: SkillFiles | None) -> list[FileChange]:
    old = before.files if before else {}
    return [_change(skill_path(skill.name, name), old.get(name), text) for name, text in skill.files.items()]


def hash_changes(changes: Iterable[FileChange]) -> dict[str, str]:
    return {change.path: hash_text(change.content) for change in changes}


def bot_path(slug: str, file: BotFile) -> str:
    return f"{slug}/{file.file_name}"


def skill_path(name: str, file: str) -> str:
    return f"skills/{name}/{file}"


def _change(path: str, before: str | None, after: str) -> FileChange:
    diff = "" if before is None else unified_diff(before, after, path)
    return FileChange(path=path, content=after, before=before, diff=diff)


def unified_diff(before: str, after: str, path: str) -> str:
    """Return a unified diff; empty when nothing differs."""
    if before == after:
        return ""
    old, new = before.splitlines(), after.splitlines()
    rows = [f"--- a/{path}", f"+++ b/{path}"]
    for hunk in _hunks(compare(old, new)):
        left, right = _span(hunk, is_left=True), _span(hunk, is_left=False)
        rows.append(f"@@ -{_format_range(left)} +{_format_range(right)} @@")
        for stretch in hunk:
            if stretch.is_same:
                rows += [f" {old[i]}" for i in stretch.left]
            else:
                rows += [f"-{old[i]}" for i in stretch.left]
                rows += [f"+{new[j]}" for j in stretch.right]
    return "\n".join(rows) + "\n"


def _hunks(stretches: list[Hunk]) -> Iterator[list[Hunk]]:
    """Group changes that are close to each other."""
    hunk: list[Hunk] = []
    for at, stretch in enumerate(stretches):
        if not stretch.is_same:
            hunk.append(stretch)
            continue
        is_last, length = at == len(stretches) - 1, len(stretch.left)
        if hunk and (is_last or length > 2 * CONTEXT):
            yield [*hunk, _cut(stretch, 0, CONTEXT)]
            hunk = []
        if hunk:
            hunk.append(stretch)
        elif not is_last:
            hunk = [_cut(stretch, max(0, length - CONTEXT), length)]
    if any(not stretch.is_same for stretch in hunk):
        yield hunk


def _cut(stretch: Hunk, start: int, end: int) -> Hunk:
    return Hunk(stretch.is_same, stretch.left[start:end], stretch.right[start:end])


def _span(hunk: list[Hunk], *, is_left: bool) -> range:
    parts = [stretch.left if is_left else stretch.right for stretch in hunk]
    return range(parts[0].start, parts[-1].stop)


def _format_range(lines: range) -> str:
    """Format a range of a hunk header: lines count from 1, and an empty range names the line before it."""
    return f"{lines.start + 1 if len(lines) else lines.start},{len(lines)}"
