"""Files that would be written, as people are shown them before they confirm."""

from collections.abc import Iterable, Mapping, Sequence

from forge.bots.models import BotFile
from forge.interview.assembly.files import BotDraft
from forge.interview.assembly.unified import unified
from forge.interview.models import FileChange
from forge.kernel.hashing import hash_text
from forge.skills.models import SkillFiles


def new_bots(drafts: Sequence[BotDraft], slugs: Sequence[str]) -> list[FileChange]:
    return [
        FileChange(path=bot_path(slug, file), content=text)
        for draft, slug in zip(drafts, slugs, strict=True)
        for file, text in draft.contents.items()
    ]


def changed_bot(slug: str, before: Mapping[BotFile, str], after: Mapping[BotFile, str]) -> list[FileChange]:
    return [_change(bot_path(slug, file), before[file], text) for file, text in after.items()]


def skills(written: Iterable[SkillFiles]) -> list[FileChange]:
    return [change for skill in written for change in one_skill(skill, None)]


def one_skill(skill: SkillFiles, before: SkillFiles | None) -> list[FileChange]:
    old = before.files if before else {}
    return [_change(skill_path(skill.name, name), old.get(name), text) for name, text in skill.files.items()]


def hashes_of(changes: Iterable[FileChange]) -> dict[str, str]:
    return {change.path: hash_text(change.content) for change in changes}


def bot_path(slug: str, file: BotFile) -> str:
    return f"{slug}/{file.file_name}"


def skill_path(name: str, file: str) -> str:
    return f"skills/{name}/{file}"


def _change(path: str, before: str | None, after: str) -> FileChange:
    diff = "" if before is None else unified(before, after, path)
    return FileChange(path=path, content=after, before=before, diff=diff)
