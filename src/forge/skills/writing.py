"""Writes the files of a skill: from what a model wrote, or from what is known of it alone."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from forge.errors import Invalid
from forge.skills import templates
from forge.skills.capabilities import BY_HOSTS, BY_ROOTS
from forge.skills.entries import ENTRIES, find_entries
from forge.skills.execution import Language
from forge.skills.manifest import read_skill_md, write_skill_md
from forge.skills.models import SKILL_MD, Capability, Manifest, SkillCase, SkillFiles, SkillKind

FIRST_VERSION = "0.1.0"
BUILDER_CREATED: Mapping[str, str] = {"forge-origin": "builder-created"}
SOURCE_FILES: Mapping[SkillKind, Mapping[Language, str]] = {
    SkillKind.SCRIPT: {Language.PY: "skill.py", Language.JS: "skill.js"},
    SkillKind.LOCAL: {Language.PY: "scripts/run.py", Language.JS: "scripts/run.js"},
}
"""What is run, where Forge writes it; instructions have nothing to run."""
REACHES: Mapping[str, tuple[Capability, ...]] = {
    "forge-hosts": BY_HOSTS,
    "forge-files": BY_ROOTS,
    "forge-env": (Capability.READ_ENV,),
    "forge-secrets": (Capability.GET_SECRET,),
    "forge-commands": (Capability.EXEC_COMMAND,),
}
"""How far what is asked for goes: keys of the manifest, each of no use without one of its capabilities."""
TRIGGERS = "tests/triggers.json"
"""Tests of the description, not of what is run."""

Content = TypeVar("Content", str, bytes)

_CASE_FILE = re.compile(r"tests/[^/]+\.json")
_VERSION = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?")
_NO_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_CASE_NAME = 48


@dataclass(frozen=True)
class SkillText:
    """All that is known of a skill before it has files."""

    name: str
    description: str
    kind: SkillKind = SkillKind.PROMPT
    trigger: str = ""
    """When a bot should use it."""
    steps: str = ""
    """What it does, a step per line."""
    capabilities: tuple[Capability, ...] = ()
    reach: Mapping[str, Sequence[str]] | None = None
    """How far they go, by the keys in `REACHES`. None leaves what a skill that is changed says of it."""
    body: str = ""
    """Of SKILL.md; without one it is made of the trigger and the steps."""
    source: str = ""
    """`run(input)` of a script; a program that reads and writes JSON when it is local."""
    entry: str = ""
    """The file of the source; without one it is Python's."""
    cases: tuple[SkillCase, ...] = ()
    version: str | None = None
    """None: the first one, or the one after that of the skill that is changed."""

    @property
    def source_file(self) -> str:
        return self.entry or SOURCE_FILES[self.kind][Language.PY]


def render_skill(
    text: SkillText, existing: SkillFiles | None = None, *, marks: Mapping[str, str] = BUILDER_CREATED
) -> SkillFiles:
    """As it was written. Of an existing skill, what is not ours to write stays: its other files and other metadata. A new
    one is marked by how it was made."""
    files = _foreign(existing, text.kind)
    body = text.body.strip() or templates.body_of(text.name, text.description, text.trigger, text.steps)
    files[SKILL_MD] = write_skill_md(_manifest(text, existing, marks), body + "\n")
    if text.kind in SOURCE_FILES:
        files[text.source_file] = text.source.strip("\n") + "\n"
        files |= _case_files(text.cases)
    return SkillFiles(name=text.name, files=dict(sorted(files.items())))


def template_skill(text: SkillText, existing: SkillFiles | None = None) -> SkillFiles:
    """What Forge writes without a model: whole instructions; of a program the frame, which runs and says what is left.

    Of an existing skill its own instructions, source and tests stay, but for what is told anew.
    """
    if existing is not None and SKILL_MD in existing.files:
        return _retold(text, existing)
    return render_skill(_filled(text), existing)


def new_skill(name: str, kind: SkillKind, language: Language | None, description: str) -> SkillFiles:
    """One to begin with: what is there runs and passes its tests, and says what is left to write. Raises Invalid."""
    if kind is SkillKind.PROMPT:
        return render_skill(SkillText(name, description), marks={})
    entry = SOURCE_FILES[kind].get(language or Language.PY)
    if entry is None:
        raise Invalid(
            "Forge writes no component; it is compiled from a language of your choice.",
            hint="Begin with js or py, and put your skill.wasm in the place of the source.",
        )
    return render_skill(_filled(SkillText(name, description, kind, entry=entry)), marks={})


def edited(skill: SkillFiles, *, name: str, capabilities: tuple[Capability, ...]) -> SkillFiles:
    """The same skill under this name, asking for these capabilities and no further; nothing else changes, not even the version."""
    found = read_skill_md(skill.files.get(SKILL_MD, ""), skill.name)
    if found.manifest is None:
        return skill
    metadata = _with_capabilities(found.manifest.metadata, capabilities)
    manifest = found.manifest.model_copy(update={"name": name, "metadata": metadata})
    return SkillFiles(name=name, files={**skill.files, SKILL_MD: write_skill_md(manifest, found.body)})


def cases_in(files: Mapping[str, Content]) -> dict[str, Content]:
    """Its tests, by file."""
    return {path: content for path, content in sorted(files.items()) if _is_case(path)}


def bumped(version: str) -> str:
    """The next patch; of what is no version, the first."""
    found = _VERSION.match(version)
    if found is None:
        return FIRST_VERSION
    major, minor, patch = (int(part or 0) for part in found.groups())
    return f"{major}.{minor}.{patch + 1}"


def _filled(text: SkillText) -> SkillText:
    """With a source that runs and tests that pass."""
    if text.kind is SkillKind.PROMPT:
        return text
    path = text.source_file
    body = templates.body_of(text.name, text.description, text.trigger, text.steps)
    return replace(
        text,
        body=body + templates.left_to_write(path),
        source=templates.source_of(path, text.name, text.description, text.steps),
        cases=tuple(SkillCase.model_validate(case) for case in templates.CASES),
    )


def _retold(text: SkillText, existing: SkillFiles) -> SkillFiles:
    found = read_skill_md(existing.files[SKILL_MD], existing.name)
    kind = found.manifest.kind if found.manifest else None
    body = templates.retold(found.body, text.trigger, text.steps) if found.body.strip() else ""
    entry = next(iter(find_entries(text.kind, existing.files)), "")
    source = existing.files.get(entry, "")
    if text.kind is not SkillKind.PROMPT and (kind is not text.kind or not source):
        return render_skill(_filled(text), existing)
    kept = render_skill(replace(text, body=body, source=source, entry=entry), existing)
    tests = cases_in(existing.files) if text.kind in SOURCE_FILES else {}
    return SkillFiles(name=kept.name, files=dict(sorted({**kept.files, **tests}.items())))


def _is_case(path: str) -> bool:
    return path != TRIGGERS and _CASE_FILE.fullmatch(path) is not None


def _foreign(existing: SkillFiles | None, kind: SkillKind) -> dict[str, str]:
    """Not what is run, as it was or will be, and not its tests."""
    if existing is None:
        return {}
    before = _manifest_of(existing)
    ours = {SKILL_MD, *ENTRIES[kind], *(ENTRIES[before.kind] if before else ())}
    return {path: text for path, text in existing.files.items() if path not in ours and not _is_case(path)}


def _manifest(text: SkillText, existing: SkillFiles | None, marks: Mapping[str, str]) -> Manifest:
    before = _manifest_of(existing)
    version = text.version or (bumped(before.version) if before else FIRST_VERSION)
    metadata = {"version": version, "forge-kind": text.kind.value}
    if before is None:
        metadata |= marks
        given = Manifest(name=text.name, description=text.description)
    else:
        metadata = {**before.metadata, **metadata}
        given = before.model_copy(update={"name": text.name, "description": text.description})
    if text.reach is not None:
        metadata = _with_reach(metadata, text.reach)
    return given.model_copy(update={"metadata": _with_capabilities(metadata, text.capabilities)})


def _manifest_of(existing: SkillFiles | None) -> Manifest | None:
    if existing is None:
        return None
    return read_skill_md(existing.files.get(SKILL_MD, ""), existing.name).manifest


def _with_capabilities(metadata: Mapping[str, str], capabilities: tuple[Capability, ...]) -> dict[str, str]:
    """How far one goes that is not asked for is not said either."""
    asked = " ".join(one for one in Capability if one in capabilities)
    idle = {key for key, belonging in REACHES.items() if not set(belonging) & set(capabilities)}
    rest = {key: value for key, value in metadata.items() if key not in {"forge-capabilities", *idle}}
    return {**rest, "forge-capabilities": asked} if asked else rest


def _with_reach(metadata: Mapping[str, str], reach: Mapping[str, Sequence[str]]) -> dict[str, str]:
    rest = {key: value for key, value in metadata.items() if key not in REACHES}
    return rest | {key: " ".join(dict.fromkeys(reach[key])) for key in REACHES if reach.get(key)}


def _case_files(cases: tuple[SkillCase, ...]) -> Iterator[tuple[str, str]]:
    taken: set[str] = set()
    for number, case in enumerate(cases, start=1):
        slug = _NO_SLUG.sub("-", case.name.lower())[:_LONGEST_CASE_NAME].strip("-") or f"case-{number}"
        slug = slug if slug not in taken else f"{slug}-{number}"
        taken.add(slug)
        content = json.dumps(case.model_dump(mode="json"), indent=2, ensure_ascii=False)
        yield f"tests/{slug}.json", content + "\n"
