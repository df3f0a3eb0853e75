"""Skills of a workspace: `.agents/skills/<name>/SKILL.md`, as other clients of the standard read them.

Agents read their instructions and files in place, and run their scripts like any file of the project: in the sandbox, with
no grants.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from forge.agents.models import NearbySkill
from forge.agents.spec import SkillKit
from forge.agents.tool import ToolContext
from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.format.manifest import MAX_SKILL_MD, ParsedSkill, read_skill_md
from forge.skills.models import MAX_SKILL_NAME, SKILL_MD, SkillKind
from forge.skills.prompts.agent_tools import ReadSkillFile, UseSkill
from forge.skills.prompts.quoting import on_one_line, section
from forge.skills.prompts.skill_catalog import (
    MAX_FILE,
    MAX_FILES_NAMED,
    CatalogLine,
    activation_text,
    catalog_text,
    file_text,
)
from forge.workspace.filesystem.entries import Bounds, Entry, EntryKind
from forge.workspace.filesystem.files import FileContent, Files

ROOTS = (".agents/skills", ".claude/skills")
"""In order of precedence."""
MAX_SKILLS = 100
MAX_PROBLEM = 300
BYTES_PER_CHARACTER = 4


class WorkspaceSkills:
    """Lets agents use the skills of their workspace."""

    def find(self, files: Files) -> list[NearbySkill]:
        found: dict[str, NearbySkill] = {}
        for folder in _folders(files):
            if len(found) >= MAX_SKILLS:
                break
            if folder.name not in found:
                found[folder.name] = _look(files, folder)
        return [found[name] for name in sorted(found)]

    def kit(self, found: Sequence[NearbySkill]) -> SkillKit:
        usable = {skill.name: skill.folder for skill in found if skill.problem is None}
        lines = [
            CatalogLine(skill.name, skill.description, SkillKind.PROMPT)
            for skill in found
            if skill.problem is None
        ]
        broken = [
            f"- {on_one_line(skill.name, MAX_SKILL_NAME)}: {on_one_line(skill.problem, MAX_PROBLEM)}"
            for skill in found
            if skill.problem is not None
        ]
        parts = [section("skills", catalog_text(lines)), *_broken(broken)]
        source = _Workspace(usable)
        names = list(usable)
        tools = (UseSkill(names, source), ReadSkillFile(names, source)) if names else ()
        return SkillKit("\n\n".join(part for part in parts if part), tools)


def _broken(lines: Sequence[str]) -> list[str]:
    if not lines:
        return []
    listed = section("skills", "\n".join(lines))
    return [f"Skills of this project that cannot be read as they are:\n{listed}"]


class _Workspace:
    """Reads skills from the folders they were found in."""

    def __init__(self, folders: Mapping[str, str]) -> None:
        self._folders = folders

    async def open(self, name: str, context: ToolContext) -> str:
        return await asyncio.to_thread(self._open, name, context.files)

    async def read(self, name: str, path: str, context: ToolContext) -> str:
        return await asyncio.to_thread(self._read, name, path, context.files)

    def _open(self, name: str, files: Files) -> str:
        folder = self._folders[name]
        reading = _reading(files, folder, name)
        if reading.manifest is None:
            raise Invalid(f"The skill {name} cannot be read: {_mistake(reading)}")
        inside = [path for path in _inside(files, folder) if path != SKILL_MD]
        text = activation_text(name, reading.body, inside, {}, SkillKind.PROMPT)
        return f"It is in {folder}; its paths are relative to that folder.\n\n{text}"

    def _read(self, name: str, path: str, files: Files) -> str:
        wanted = path.removeprefix("./")
        if wanted.startswith("/") or ".." in wanted.split("/"):
            raise Invalid(f"{path!r} is not a path inside the skill.", hint="Use the path as it was listed.")
        found = files.read(f"{self._folders[name]}/{wanted}", limit=MAX_FILE * BYTES_PER_CHARACTER)
        return file_text(name, wanted, _text(found, wanted))


def _folders(files: Files) -> Iterator[Entry]:
    for root in ROOTS:
        try:
            entries = files.list(root)
        except ForgeError:  # missing, or not a folder
            continue
        yield from (entry for entry in entries if entry.kind in (EntryKind.DIR, EntryKind.LINK))


def _look(files: Files, folder: Entry) -> NearbySkill:
    try:
        reading = _reading(files, folder.path, folder.name)
    except NotFound:
        return NearbySkill(name=folder.name, folder=folder.path, problem=f"It has no {SKILL_MD}.")
    except ForgeError as error:
        return NearbySkill(name=folder.name, folder=folder.path, problem=error.message)
    if reading.manifest is None:
        return NearbySkill(name=folder.name, folder=folder.path, problem=_mistake(reading))
    return NearbySkill(name=folder.name, description=reading.manifest.description, folder=folder.path)


def _reading(files: Files, folder: str, name: str) -> ParsedSkill:
    found = files.read(f"{folder}/{SKILL_MD}", limit=MAX_SKILL_MD * BYTES_PER_CHARACTER)
    return read_skill_md(_text(found, SKILL_MD), name)


def _text(found: FileContent, path: str) -> str:
    """Decode a file; one that was cut off may end in the middle of a character."""
    try:
        return found.data.decode(errors="strict" if found.hash else "ignore")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path!r} is not a text file.") from error


def _mistake(reading: ParsedSkill) -> str:
    mistake = reading.mistake
    return f"{SKILL_MD}, {mistake.located_message}" if mistake else f"Its {SKILL_MD} is wrong."


def _inside(files: Files, folder: str) -> list[str]:
    walked = files.walk(folder, bounds=Bounds(entries=MAX_FILES_NAMED * 2))
    return [entry.path.removeprefix(f"{folder}/") for entry in walked if entry.kind is EntryKind.FILE]
