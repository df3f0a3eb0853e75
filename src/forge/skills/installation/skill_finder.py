"""Find the skills in a tree of files: every folder with a `SKILL.md`, including its subfolders."""

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forge.documents.frontmatter import UnreadableFrontMatter, read_front_matter
from forge.documents.yaml_nodes import Shape
from forge.errors import ForgeError
from forge.skills.format.contents import check_path, check_sizes, is_part_of_skill
from forge.skills.models import SKILL_MD, SkillProblem, first_error, is_skill_name
from forge.workspace.filesystem.paths import fold

LOWERCASE_MANIFEST = "skill.md"
"""Accepted by the standard's reference implementation too; renamed to SKILL.md."""
MAX_SKILLS = 5000
_NAMED_ONCE = 5
"""Maximum number of files to report with the same problem."""


@dataclass(frozen=True)
class FoundSkill:
    """A folder with a SKILL.md, which may still be invalid."""

    name: str
    """The name in its manifest if valid, otherwise that of its folder."""
    path: str
    """Path of its folder in the tree; empty for the root."""
    files: dict[str, bytes]
    problems: list[SkillProblem]
    """Problems of its files, not of its manifest."""

    @property
    def mistake(self) -> SkillProblem | None:
        """The first problem that prevents installation."""
        return first_error(self.problems)


def skill_folders(paths: Iterable[str], *, below: str = "") -> list[str]:
    """Return the outermost folders with a manifest, sorted."""
    prefix = f"{below}/" if below else ""
    manifests = {
        posixpath.dirname(path)
        for path in paths
        if posixpath.basename(path) in (SKILL_MD, LOWERCASE_MANIFEST)
        and path.startswith(prefix)
        and is_part_of_skill(tuple(path.split("/")))
    }
    return sorted(folder for folder in manifests if not _has_outer(folder, manifests))


def find_skills(
    files: Mapping[str, bytes], *, refused: Mapping[str, str] | None = None, below: str = ""
) -> list[FoundSkill]:
    """Return the skills by path. `refused` has paths of the tree that could not be read, with the reason."""
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


def _found(folder: str, files: dict[str, bytes], refused: dict[str, str], wrapper: str | None) -> FoundSkill:
    files = dict(files)
    if SKILL_MD not in files:
        files[SKILL_MD] = files.pop(LOWERCASE_MANIFEST)
    left_out = sorted(path for path in files if not is_part_of_skill(tuple(path.split("/"))))
    kept = {path: data for path, data in sorted(files.items()) if path not in set(left_out)}
    own = posixpath.basename(folder)
    said = declared_name(kept[SKILL_MD])
    name = said if said and (is_skill_name(said) or folder in ("", wrapper)) else own or "skill"
    is_renamed = folder not in ("", wrapper) and own != name
    problems = [
        *_refusals(refused),
        *_mistakes(kept),
        *_warnings(left_out, own if is_renamed else None, name),
    ]
    return FoundSkill(name, folder, kept, problems)


def declared_name(manifest: bytes) -> str | None:
    """Return the name in a SKILL.md, even if the rest is invalid."""
    try:
        found = read_front_matter(manifest.decode()).find("name")
    except (UnicodeDecodeError, UnreadableFrontMatter):
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
            yield SkillProblem(message=f"On some systems {path[:200]} and {other[:200]} are the same file.")


def _warnings(left_out: list[str], old_name: str | None, name: str) -> Iterable[SkillProblem]:
    if old_name:
        message = f"Its folder {old_name[:100]} is renamed to {name}, the name in its manifest."
        yield SkillProblem(message=message, is_warning=True)
    if left_out:
        more = f" and {len(left_out) - 1:,} more" if len(left_out) > 1 else ""
        message = f"{left_out[0][:200]}{more} is not part of a skill and is left out."
        yield SkillProblem(message=message, is_warning=True)


def _wrapper(files: Mapping[str, bytes]) -> str | None:
    """Return the single top folder, if there is one: archives often wrap their content in one."""
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
