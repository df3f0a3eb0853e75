"""Show skills, registries and runs of skills in a terminal."""

import json
from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from forge.kernel.clock import now
from forge.skills.capabilities import format_scope
from forge.skills.execution import RunEnd
from forge.skills.installation.views import Installed, Registry, RegistryEntry, StagedSkill
from forge.skills.models import (
    Case,
    FolderSource,
    GitSource,
    Grant,
    Origin,
    RegistrySource,
    SkillKind,
    SkillProblem,
    ZipSource,
)
from forge.skills.views import (
    AskedView,
    RelationView,
    SkillCard,
    SkillDetail,
    SkillFileView,
    SkillRan,
    SkillRun,
    SkillState,
)
from forge.terminal.output import Columns, Fields, marked, section
from forge.terminal.text import ago, size


def format_source(source: Origin) -> str:
    match source:
        case FolderSource():
            return f"the folder {source.path}"
        case ZipSource():
            return f"the archive {source.name}"
        case GitSource():
            pinned = f"@{source.ref}" if source.ref else ""
            inside = f"#{source.path}" if source.path else ""
            return f"{source.url}{pinned}{inside}{f' ({source.commit[:12]})' if source.commit else ''}"
        case RegistrySource():
            return f"{source.registry}:{source.name}@{source.version}"
        case _:
            return "built in" if source.type == "starter" else "created here"


def requested(asks: Iterable[AskedView]) -> str:
    return ", ".join(dict.fromkeys(ask.capability.value for ask in asks))


def _first_sentence(text: str) -> str:
    first, end, _ = " ".join(text.split()).partition(". ")
    return first + end.strip()


def _summary(card: SkillCard) -> str:
    return (card.state is SkillState.BROKEN and card.problem) or card.description


def _staged_summary(skill: StagedSkill) -> str:
    if skill.valid and skill.manifest:
        return _first_sentence(skill.manifest.description)
    return _first_sentence(skill.problems[0].message) if skill.problems else ""


skills_table = Columns[SkillCard](
    {"skill": "name"},
    "kind version state tier granted",
    {"description": lambda card: _first_sentence(_summary(card))},
)
staged_table = Columns[StagedSkill](
    {
        "skill": "name",
        "version": lambda skill: skill.manifest.version if skill.manifest else marked("bad", "invalid"),
        "requests": lambda skill: requested(skill.asks),
        "description": _staged_summary,
    }
)
runs_table = Columns[SkillRun](
    {
        "when": "at",
        "end": lambda run: marked("ok" if run.end is RunEnd.DONE else "bad", run.end.value),
        "for": "purpose",
        "by": "by",
        "took": "duration_ms",
        "memory": "memory_bytes",
        "used": lambda run: [f"{one} x{count}" for one, count in run.capabilities_used.items()],
        "error": lambda run: " ".join(run.error.split()),
    }
)
registries_table = Columns[Registry](
    {"registry": "name"}, "skills", {"fetched": lambda one: one.fetched_at or "never"}, "url problem"
)
entries_table = Columns[RegistryEntry](
    {"skill": lambda entry: f"{entry.registry}:{entry.name}"},
    "version installed kind",
    {"requests": "capabilities", "description": lambda entry: _first_sentence(entry.description)},
)
_relations_table = Columns[RelationView]("name range", {"installed": "version"}, "problem")
_files_table = Columns[SkillFileView]({"file": "path", "size": "bytes"})
_skill_fields = Fields[SkillDetail](
    "name",
    {
        "description": lambda skill: " ".join(skill.description.split()),
        "kind": lambda skill: f"{skill.kind.value}{f' ({skill.entry})' if skill.entry else ''}",
    },
    "version state problem tier",
    {
        "limits": lambda skill: f"{skill.limits.memory_bytes >> 20} MB, {skill.limits.seconds:g} s",
        "source": lambda skill: format_source(skill.source),
        "license": lambda skill: skill.manifest.license if skill.manifest else None,
        "compatibility": lambda skill: skill.manifest.compatibility if skill.manifest else None,
    },
    "categories bots tests folder changed_at",
)
_staged_fields = Fields[StagedSkill](
    {
        "skill": lambda skill: f"{skill.name} {skill.manifest.version}" if skill.manifest else skill.name,
        "description": lambda skill: " ".join(skill.manifest.description.split()) if skill.manifest else None,
        "kind": lambda skill: skill.manifest.kind if skill.manifest else None,
        "from": lambda skill: format_source(skill.source),
        "path": lambda skill: skill.path if skill.path != skill.name else None,
        "license": lambda skill: skill.manifest.license if skill.manifest else None,
        "replaces": lambda skill: None if skill.replaces is None else f"version {skill.replaces}",
        "changed": "changes",
        "files": lambda skill: f"{len(skill.files)}, {size(sum(file.bytes for file in skill.files))}",
        "requests": lambda skill: requested(skill.asks) or "nothing",
    }
)


def skill_page(skill: SkillDetail) -> RenderableType:
    return Group(
        _skill_fields(skill),
        *section("CAPABILITIES", _capability_lines(skill)),
        *_relations_table.section("DEPENDS ON", skill.dependencies),
        *_relations_table.section("INHERITS FROM", skill.parents),
        *_relations_table.section("CONFLICTS WITH", skill.conflicts),
        *_files_table.section("FILES", skill.files),
        *section("PROBLEMS", map(problem_line, skill.problems)),
    )


def staged_page(skill: StagedSkill) -> RenderableType:
    """Show what a user needs to know before installing a skill."""
    return Group(
        _staged_fields(skill),
        *_relations_table.section("NEEDS", skill.needs),
        *_relations_table.section("CONFLICTS WITH", skill.conflicts),
        *map(problem_line, skill.problems),
    )


def _capability_lines(skill: SkillDetail) -> Iterator[Text]:
    """Yield the requested capabilities and whether they are granted, then grants that are no longer requested."""
    grants = {grant.capability: grant for grant in skill.grants}
    for ask in skill.asks:
        scope = f" ({format_scope(ask.scope)})" if format_scope(ask.scope) else ""
        origin = f" from {ask.from_parent}" if ask.from_parent else ""
        tone, verdict = _verdict(grants.get(ask.capability), skill.folder_hash)
        required = ", required" if ask.is_needed else ""
        yield marked(tone, f"{ask.capability.value}{scope}{origin}{required}: {verdict}")
    asked = {ask.capability for ask in skill.asks}
    for capability in (one for one in grants if one not in asked):
        yield marked("warn", f"{capability.value}: granted, but no longer requested")


def _verdict(grant: Grant | None, folder_hash: str) -> tuple[str, str]:
    if grant is None:
        return "bad", "not granted"
    scope = f" for {format_scope(grant.scope)}" if format_scope(grant.scope) else ""
    granted = f"granted{scope} by {grant.granted_by}, {ago(grant.granted_at, now())}"
    if grant.folder_hash != folder_hash:
        return "warn", f"{granted}; not in effect: the skill changed since"
    return "ok", granted


def installed_line(done: Installed) -> Text:
    """Show what an installation did, or why it was refused. A skill that was left unchanged has no state."""
    if not done.installed:
        return marked("bad", f"{done.name}: {done.problem or 'Not installed.'}", done.hint)
    hint = done.hint
    if done.state is SkillState.REVIEW:
        hint = hint or f"Not all requested capabilities are granted: forge skill grant {done.name}"
    tone = "ok" if done.state in (None, SkillState.READY) and not done.problem else "warn"
    verb = "unchanged" if done.state is None else "installed"
    problem = f" ({done.problem})" if done.problem else ""
    return marked(tone, f"{verb} {done.name} {done.version}".rstrip() + problem, hint)


def problem_line(problem: SkillProblem) -> Text:
    place = "" if problem.line is None else f"SKILL.md:{problem.line} "
    return marked("warn" if problem.is_warning else "bad", f"{place}{problem.message}", problem.hint)


def case_line(case: Case) -> Text:
    verdict = "passed" if case.passed else "failed"
    return marked("ok" if case.passed else "bad", f"{verdict} {case.name}", case.detail or None)


def result_text(ran: SkillRan) -> str:
    """Return a string unchanged, also the text of a model's answer; everything else as JSON."""
    match ran.kind, ran.output:
        case (_, str(text)) | (SkillKind.PROMPT, {"text": str(text)}):
            return text
        case _, output:
            return json.dumps(output, indent=2, ensure_ascii=False)
