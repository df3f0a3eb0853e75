"""Changes one skill in `skills.toml` and leaves the rest as somebody wrote it, comments included."""

import re
import tomllib
from collections.abc import Sequence

from forge.bots.files.skills import parse_skills, render_skills
from forge.bots.files.toml_lines import Statement, statements
from forge.bots.models import SkillEntry
from forge.documents.frontmatter import BOM

_TABLE = re.compile(r"\[(?!\[)")


def with_skill(text: str, entry: SkillEntry) -> str:
    """In its place, or at the end. The text is one that can be read."""
    entries = parse_skills(text).value or []
    names = [one.skill_name for one in entries]
    if entry.skill_name in names:
        wanted = [entry if one.skill_name == entry.skill_name else one for one in entries]
        return _checked(_replaced(text, entry.skill_name, render_skills([entry])), wanted)
    plain = _plain(text)
    appended = f"{plain.rstrip()}\n\n{render_skills([entry])}" if plain.strip() else render_skills([entry])
    return _checked(appended, [*entries, entry])


def without_skill(text: str, name: str) -> str:
    wanted = [one for one in parse_skills(text).value or [] if one.skill_name != name]
    return _checked(_replaced(text, name, ""), wanted)


def _checked(text: str | None, wanted: Sequence[SkillEntry]) -> str:
    """Tables can be written in ways that cannot be cut out; then the file is written anew."""
    if text is not None and parse_skills(text).value == list(wanted):
        return text
    return render_skills(list(wanted))


def _replaced(text: str, name: str, table: str) -> str | None:
    """None when the skill has no table of its own, in one piece."""
    text = _plain(text)
    found = statements(text)
    owners = list(_owners(found))
    own = [place for place, owner in enumerate(owners) if owner == name]
    if not own or own != list(range(own[0], own[-1] + 1)):
        return None
    start, end = found[own[0]].start, found[own[-1]].end
    before, after = text[:start], text[end:]
    if not table:
        return before.rstrip() + "\n\n" + after.lstrip("\n") if before.strip() else after.lstrip("\n")
    return before + table + after


def _owners(found: Sequence[Statement]) -> list[str | None]:
    """Of which skill's table each statement is a part; None for others."""
    owners: list[str | None] = []
    owner: str | None = None
    for statement in found:
        if _TABLE.match(statement.text):
            content = tomllib.loads(statement.text)
            owner = next(iter(content.get("skills", {})), None)
        owners.append(owner)
    return owners


def _plain(text: str) -> str:
    return text.removeprefix(BOM).replace("\r\n", "\n")
