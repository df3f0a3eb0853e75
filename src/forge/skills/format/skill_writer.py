"""Write the files of a skill, from a model's text or from templates."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from forge.errors import Invalid
from forge.skills.capabilities import FOLDER_CAPABILITIES, HOST_CAPABILITIES
from forge.skills.execution import ENTRY_FILES, Language, find_entry_files
from forge.skills.format import skill_templates
from forge.skills.format.manifest import read_skill_md, write_skill_md
from forge.skills.models import SKILL_MD, Capability, Manifest, SkillCase, SkillFiles, SkillKind

FIRST_VERSION = "0.1.0"
BUILDER_CREATED: Mapping[str, str] = {"forge-origin": "builder-created"}
SOURCE_FILES: Mapping[SkillKind, Mapping[Language, str]] = {
    SkillKind.SCRIPT: {Language.PY: "skill.py", Language.JS: "skill.js"},
    SkillKind.LOCAL: {Language.PY: "scripts/run.py", Language.JS: "scripts/run.js"},
}
"""The file Forge writes the source to; instructions have none."""
SCOPE_KEYS: Mapping[str, tuple[Capability, ...]] = {
    "forge-hosts": HOST_CAPABILITIES,
    "forge-files": FOLDER_CAPABILITIES,
    "forge-env": (Capability.READ_ENV,),
    "forge-secrets": (Capability.GET_SECRET,),
    "forge-commands": (Capability.EXEC_COMMAND,),
}
"""Manifest keys for scopes, with the capabilities each belongs to."""
TRIGGERS_FILE = "tests/triggers.json"
"""Tests of the description, not of the code."""

Content = TypeVar("Content", str, bytes)

_CASE_FILE = re.compile(r"tests/[^/]+\.json")
_VERSION = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_CASE_NAME = 48


@dataclass(frozen=True)
class SkillText:
    """The content of a skill to write files from."""

    name: str
    description: str
    kind: SkillKind = SkillKind.PROMPT
    trigger: str = ""
    """When a bot should use it."""
    steps: str = ""
    """What it does, one step per line."""
    capabilities: tuple[Capability, ...] = ()
    reach: Mapping[str, Sequence[str]] | None = None
    """Scopes by the keys in `SCOPE_KEYS`. None keeps those of an existing skill."""
    body: str = ""
    """Body of SKILL.md; built from trigger and steps if empty."""
    source: str = ""
    """Source of `run(input)` for a script; a program that reads and writes JSON for kind LOCAL."""
    entry: str = ""
    """File of the source; Python's by default."""
    cases: tuple[SkillCase, ...] = ()
    version: str | None = None
    """None for the first version, or the next patch of an existing skill."""

    @property
    def source_file(self) -> str:
        return self.entry or SOURCE_FILES[self.kind][Language.PY]


def render_skill(
    text: SkillText, existing: SkillFiles | None = None, *, marks: Mapping[str, str] = BUILDER_CREATED
) -> SkillFiles:
    """Write the files of a skill. Other files and metadata of an existing skill are kept; a new one gets `marks`."""
    files = _other_files(existing, text.kind)
    body = text.body.strip() or skill_templates.instructions_from(
        text.name, text.description, text.trigger, text.steps
    )
    files[SKILL_MD] = write_skill_md(_manifest(text, existing, marks), body + "\n")
    if text.kind in SOURCE_FILES:
        files[text.source_file] = text.source.strip("\n") + "\n"
        files |= _case_files(text.cases)
    return SkillFiles(name=text.name, files=dict(sorted(files.items())))


def template_skill(text: SkillText, existing: SkillFiles | None = None) -> SkillFiles:
    """Write a skill from templates: complete instructions, or a source template that runs and says what is left to write.

    Instructions, source and tests of an existing skill are kept, except for a new trigger or new steps.
    """
    if existing is not None and SKILL_MD in existing.files:
        return _update_existing(text, existing)
    return render_skill(_from_template(text), existing)


def new_skill(name: str, kind: SkillKind, language: Language | None, description: str) -> SkillFiles:
    """Write a new skill that runs and passes its tests, and says what is left to write. Raises Invalid."""
    if kind is SkillKind.PROMPT:
        return render_skill(SkillText(name, description), marks={})
    entry = SOURCE_FILES[kind].get(language or Language.PY)
    if entry is None:
        raise Invalid(
            "Forge cannot generate a WebAssembly component.",
            hint="Choose js or py, and replace the source with your skill.wasm.",
        )
    return render_skill(_from_template(SkillText(name, description, kind, entry=entry)), marks={})


def edit_skill(skill: SkillFiles, *, name: str, capabilities: tuple[Capability, ...]) -> SkillFiles:
    """Return the skill with another name and other requested capabilities; the version stays the same."""
    found = read_skill_md(skill.files.get(SKILL_MD, ""), skill.name)
    if found.manifest is None:
        return skill
    metadata = _with_capabilities(found.manifest.metadata, capabilities)
    manifest = found.manifest.model_copy(update={"name": name, "metadata": metadata})
    return SkillFiles(name=name, files={**skill.files, SKILL_MD: write_skill_md(manifest, found.body)})


def find_cases(files: Mapping[str, Content]) -> dict[str, Content]:
    """Return the test cases, by path."""
    return {path: content for path, content in sorted(files.items()) if _is_case(path)}


def next_patch(version: str) -> str:
    """Return the next patch version, or the first one if `version` is not valid."""
    found = _VERSION.match(version)
    if found is None:
        return FIRST_VERSION
    major, minor, patch = (int(part or 0) for part in found.groups())
    return f"{major}.{minor}.{patch + 1}"


def _from_template(text: SkillText) -> SkillText:
    """Add source and tests from the templates."""
    if text.kind is SkillKind.PROMPT:
        return text
    path = text.source_file
    body = skill_templates.instructions_from(text.name, text.description, text.trigger, text.steps)
    return replace(
        text,
        body=body + skill_templates.remaining_work(path),
        source=skill_templates.source_from(path, text.name, text.description, text.steps),
        cases=tuple(SkillCase.model_validate(case) for case in skill_templates.CASES),
    )


def _update_existing(text: SkillText, existing: SkillFiles) -> SkillFiles:
    found = read_skill_md(existing.files[SKILL_MD], existing.name)
    kind = found.manifest.kind if found.manifest else None
    body = (
        skill_templates.update_instructions(found.body, text.trigger, text.steps)
        if found.body.strip()
        else ""
    )
    entry = next(iter(find_entry_files(text.kind, existing.files)), "")
    source = existing.files.get(entry, "")
    if text.kind is not SkillKind.PROMPT and (kind is not text.kind or not source):
        return render_skill(_from_template(text), existing)
    kept = render_skill(replace(text, body=body, source=source, entry=entry), existing)
    tests = find_cases(existing.files) if text.kind in SOURCE_FILES else {}
    return SkillFiles(name=kept.name, files=dict(sorted({**kept.files, **tests}.items())))


def _is_case(path: str) -> bool:
    return path != TRIGGERS_FILE and _CASE_FILE.fullmatch(path) is not None


def _other_files(existing: SkillFiles | None, kind: SkillKind) -> dict[str, str]:
    """Return the files Forge does not write: not SKILL.md, the source or the tests."""
    if existing is None:
        return {}
    before = _manifest_of(existing)
    ours = {SKILL_MD, *ENTRY_FILES[kind], *(ENTRY_FILES[before.kind] if before else ())}
    return {path: text for path, text in existing.files.items() if path not in ours and not _is_case(path)}


def _manifest(text: SkillText, existing: SkillFiles | None, marks: Mapping[str, str]) -> Manifest:
    before = _manifest_of(existing)
    version = text.version or (next_patch(before.version) if before else FIRST_VERSION)
    metadata = {"version": version, "forge-kind": text.kind.value}
    if before is None:
        metadata |= marks
        given = Manifest(name=text.name, description=text.description)
    else:
        metadata = {**before.metadata, **metadata}
        given = before.model_copy(update={"name": text.name, "description": text.description})
    if text.reach is not None:
        metadata = _with_scopes(metadata, text.reach)
    return given.model_copy(update={"metadata": _with_capabilities(metadata, text.capabilities)})


def _manifest_of(existing: SkillFiles | None) -> Manifest | None:
    if existing is None:
        return None
    return read_skill_md(existing.files.get(SKILL_MD, ""), existing.name).manifest


def _with_capabilities(metadata: Mapping[str, str], capabilities: tuple[Capability, ...]) -> dict[str, str]:
    """Set the requested capabilities, and remove the scopes of all others."""
    asked = " ".join(one for one in Capability if one in capabilities)
    idle = {key for key, belonging in SCOPE_KEYS.items() if not set(belonging) & set(capabilities)}
    rest = {key: value for key, value in metadata.items() if key not in {"forge-capabilities", *idle}}
    return {**rest, "forge-capabilities": asked} if asked else rest


def _with_scopes(metadata: Mapping[str, str], reach: Mapping[str, Sequence[str]]) -> dict[str, str]:
    rest = {key: value for key, value in metadata.items() if key not in SCOPE_KEYS}
    return rest | {key: " ".join(dict.fromkeys(reach[key])) for key in SCOPE_KEYS if reach.get(key)}


def _case_files(cases: tuple[SkillCase, ...]) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for number, case in enumerate(cases, start=1):
        slug = _NO_SLUG.sub("-", case.name.lower())[:_LONGEST_CASE_NAME].strip("-") or f"case-{number}"
        slug = slug if slug not in taken else f"{slug}-{number}"
        taken.add(slug)
        content = json.dumps(case.model_dump(mode="json"), indent=2, ensure_ascii=False)
        yield f"tests/{slug}.json", content + "\n"
