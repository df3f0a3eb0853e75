"""Finds the skills in a tree of files: every folder with a `SKILL.md` is one, with all that lies below it."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forge.documents.frontmatter import Unusable, read_front_matter
from forge.documents.nodes import Shape
from forge.errors import ForgeError
from forge.skills.contents import belongs, check_path, check_sizes
from forge.skills.models import SKILL_MD, SkillProblem, first_mistake, is_skill_name
from forge.workspace.paths import fold

OTHER_SPELLING = "skill.md"
"""The standard's own reader takes it too. It gets its proper name."""
MAX_SKILLS = 5000
_NAMED_ONCE = 5
"""How many of several files are named when all have the same problem."""


@dataclass(frozen=True)
class Found:
    """A folder that wants to be a skill. Whether it is one is another question."""

    name: str
    """What its manifest says, if that can be a name; else that of its folder."""
    path: str
    """Of its folder in the tree; empty for the tree itself."""
    files: dict[str, bytes]
    problems: list[SkillProblem]
    """With what came along, not with the manifest."""

    @property
    def mistake(self) -> SkillProblem | None:
        """What keeps it out of the library."""
        return first_mistake(self.problems)


def skill_folders(paths: Iterable[str], *, below: str = "") -> list[str]:
    """The folders with a manifest that are in no other such folder, sorted."""
    prefix = f"{below}/" if below else ""
    manifests = {
        posixpath.dirname(path)
        for path in paths
        if posixpath.basename(path) in (SKILL_MD, OTHER_SPELLING)
        and path.startswith(prefix)
        and belongs(tuple(path.split("/")))
    }
    return sorted(folder for folder in manifests if not _has_outer(folder, manifests))


def find_skills(
    files: Mapping[str, bytes], *, refused: Mapping[str, str] | None = None, below: str = ""
) -> list[Found]:
    """By path. `refused`: paths that are in the tree and could not be had, each with the reason."""
    refused = refused or {}
    folders = skill_folders(files, below=below)
    members: dict[str, dict[str, bytes]] = {folder: {} for folder in folders}
    reasons: dict[str, dict[str, str]] = {folder: {} for folder in folders}
    for path, data in files.items():
        if (folder := _folder_of(path, members)) is not None:
            members[folder][_within(path, folder)] = data
    for path, reason in refused.items():
        if (folder := _folder_of(path, members)) is not None:
            reasons[folder][_within(path, folder)] = reason
    wrapper = _wrapper(files)
    return [_found(folder, members[folder], reasons[folder], wrapper) for folder in folders]


def _found(folder: str, files: dict[str, bytes], refused: dict[str, str], wrapper: str | None) -> Found:
    files = dict(files)
    if SKILL_MD not in files:
        files[SKILL_MD] = files.pop(OTHER_SPELLING)
    left_out = sorted(path for path in files if not belongs(tuple(path.split("/"))))
    kept = {path: data for path, data in sorted(files.items()) if path not in set(left_out)}
    own = posixpath.basename(folder)
    said = said_name(kept[SKILL_MD])
    name = said if said and (is_skill_name(said) or folder in ("", wrapper)) else own or "skill"
    is_renamed = folder not in ("", wrapper) and own != name
    problems = [
        *_refusals(refused),
        *_mistakes(kept),
        *_warnings(left_out, own if is_renamed else None, name),
    ]
    return Found(name, folder, kept, problems)


def said_name(manifest: bytes) -> str | None:
    """What a SKILL.md says its skill is called, however wrong the rest of it is."""
    try:
        found = read_front_matter(manifest.decode()).find("name")
    except (UnicodeDecodeError, Unusable):
        return None
    return found[1].text if found and found[1].shape is Shape.SCALAR and found[1].text else None


def _refusals(refused: Mapping[str, str]) -> Iterable[SkillProblem]:
    for path, reason in sorted(refused.items())[:_NAMED_ONCE]:
        yield SkillProblem(message=f"{path[:200]}: {reason}")


def _mistakes(files: Mapping[str, bytes]) -> Iterable[SkillProblem]:
    try:
        check_sizes({path: len(data) for path, data in files.items()})
        for path in files:
            check_path(path)
    except ForgeError as error:
        yield SkillProblem(message=error.message, hint=error.hint)
    spellings: dict[str, str] = {}
    for path in files:
        other = spellings.setdefault("/".join(fold(part) for part in path.split("/")), path)
        if other != path:
            yield SkillProblem(message=f"On some machines {path[:200]} and {other[:200]} are the same file.")


def _warnings(left_out: list[str], old_name: str | None, name: str) -> Iterable[SkillProblem]:
    if old_name:
        message = f"Its folder was called {old_name[:100]}; it gets the name its manifest has, {name}."
        yield SkillProblem(message=message, is_warning=True)
    if left_out:
        more = f" and {len(left_out) - 1:,} more" if len(left_out) > 1 else ""
        message = f"{left_out[0][:200]}{more} is no part of a skill, and is left out."
        yield SkillProblem(message=message, is_warning=True)


def _wrapper(files: Mapping[str, bytes]) -> str | None:
    """The one folder that everything is in: archives are often made so, under a name of their own."""
    tops = {path.partition("/")[0] for path in files}
    return tops.pop() if len(tops) == 1 else None


def _folder_of(path: str, folders: Mapping[str, object]) -> str | None:
    folder = posixpath.dirname(path)
    while True:
        if folder in folders:
            return folder
        if not folder:
            return None
        folder = posixpath.dirname(folder)


def _within(path: str, folder: str) -> str:
    return path.removeprefix(f"{folder}/") if folder else path


def _has_outer(folder: str, folders: set[str]) -> bool:
    while folder:
        folder = posixpath.dirname(folder)
        if folder in folders:
            return True
    return False
