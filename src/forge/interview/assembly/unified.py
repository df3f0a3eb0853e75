"""A difference as terminals and reviews show it: unified, with three lines around each change."""

from collections.abc import Iterator

from forge.bots.versions.diff import CONTEXT, Stretch, compare


def unified(before: str, after: str, path: str) -> str:
    """Empty when nothing differs."""
    if before == after:
        return ""
    old, new = before.splitlines(), after.splitlines()
    rows = [f"--- a/{path}", f"+++ b/{path}"]
    for hunk in _hunks(compare(old, new)):
        left, right = _span(hunk, is_left=True), _span(hunk, is_left=False)
        rows.append(f"@@ -{_counted(left)} +{_counted(right)} @@")
        for stretch in hunk:
            if stretch.is_same:
                rows += [f" {old[i]}" for i in stretch.left]
            else:
                rows += [f"-{old[i]}" for i in stretch.left]
                rows += [f"+{new[j]}" for j in stretch.right]
    return "\n".join(rows) + "\n"


def _hunks(stretches: list[Stretch]) -> Iterator[list[Stretch]]:
    """Changes that are near each other belong together."""
    hunk: list[Stretch] = []
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


def _cut(stretch: Stretch, start: int, end: int) -> Stretch:
    return Stretch(stretch.is_same, stretch.left[start:end], stretch.right[start:end])


def _span(hunk: list[Stretch], *, is_left: bool) -> range:
    parts = [stretch.left if is_left else stretch.right for stretch in hunk]
    return range(parts[0].start, parts[-1].stop)


def _counted(lines: range) -> str:
    """Lines count from 1; of none, the one before is named."""
    return f"{lines.start + 1 if len(lines) else lines.start},{len(lines)}"
