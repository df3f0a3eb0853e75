"""Show skills, registries and runs of skills in a terminal."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.text import Text

from forge.kernel.clock import now
from forge.skills.cli.arguments import scope_words
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
from forge.terminal.output import FAINT, TONES, Columns, Fields, dot, marked, section, words
from forge.terminal.text import ago, clean, size

_TONES = {SkillState.READY: "ok", SkillState.REVIEW: "warn", SkillState.BROKEN: "bad"}
SHOWN_FILES = 40


def _origin(card: SkillCard) -> str:
    return source_words(card.source)


def _limits(skill: SkillDetail) -> str:
    limits = skill.limits
    return f"{limits.memory_bytes >> 20} MB, {limits.seconds:g} s, {limits.fuel:,} instructions"


def _asks(asks: Iterable[AskedView]) -> str:
    return ", ".join(dict.fromkeys(ask.capability.value for ask in asks))


def _summary(card: SkillCard) -> str:
    return _first_sentence((card.state is SkillState.BROKEN and card.problem) or card.description)


def _staged_summary(skill: StagedSkill) -> str:
    if skill.valid and skill.manifest:
        return _first_sentence(skill.manifest.description)
    return _first_sentence(skill.problems[0].message) if skill.problems else ""


skills_table = Columns[SkillCard](
    {
        "SKILL": "name",
        "KIND": "kind",
        "VERSION": "version",
        "STATE": lambda card: state_words(card.state),
        "TIER": "tier",
        "MAY": lambda card: card.granted or "-",
        "DESCRIPTION": _summary,
    },
    wrap={"MAY", "DESCRIPTION"},
)
staged_table = Columns[StagedSkill](
    {
        "SKILL": "name",
        "VERSION": lambda skill: skill.manifest.version if skill.manifest else dot("bad"),
        "ASKS FOR": lambda skill: _asks(skill.asks) or "-",
        "DESCRIPTION": _staged_summary,
    },
    wrap={"ASKS FOR", "DESCRIPTION"},
)
runs_table = Columns[SkillRun](
    {
        "WHEN": "at",
        "END": lambda run: end_words(run.end),
        "FOR": "purpose",
        "BY": "by",
        "TOOK": lambda run: timedelta(milliseconds=run.duration_ms),
        "MEMORY": lambda run: "-" if run.memory_bytes is None else size(run.memory_bytes),
        "USED": lambda run: [f"{one} x{count}" for one, count in run.capabilities_used.items()] or "-",
        "WHY": lambda run: _one_line(run.error),
    },
    wrap={"USED", "WHY"},
)
registries_table = Columns[Registry](
    {
        "REGISTRY": "name",
        "SKILLS": "skills",
        "FETCHED": lambda registry: registry.fetched_at or "never",
        "ADDRESS": "url",
        "PROBLEM": lambda registry: words(registry.problem or "", "yellow"),
    },
    wrap={"ADDRESS", "PROBLEM"},
)
entries_table = Columns[RegistryEntry](
    {
        "SKILL": lambda entry: f"{entry.registry}:{entry.name}",
        "VERSION": "version",
        "HERE": lambda entry: entry.installed or "-",
        "KIND": "kind",
        "ASKS FOR": lambda entry: entry.capabilities or "-",
        "DESCRIPTION": lambda entry: _first_sentence(entry.description),
    },
    wrap={"ASKS FOR", "DESCRIPTION"},
)
_skill_fields = Fields[SkillDetail](
    {
        "name": "name",
        "description": lambda skill: _one_line(skill.description),
        "kind": lambda skill: f"{skill.kind.value}{f' ({skill.entry})' if skill.entry else ''}",
        "version": "version",
        "state": lambda skill: state_words(skill.state),
        "problem": lambda skill: words(skill.problem, "red") if skill.problem else None,
        "tier": "tier",
        "limits": _limits,
        "source": _origin,
        "license": lambda skill: skill.manifest.license if skill.manifest else None,
        "compatibility": lambda skill: skill.manifest.compatibility if skill.manifest else None,
        "categories": "categories",
        "bots": "bots",
        "tests": "tests",
        "folder": "folder",
        "changed": "changed_at",
    }
)
_staged_fields = Fields[StagedSkill](
    {
        "skill": lambda skill: f"{skill.name} {skill.manifest.version}" if skill.manifest else skill.name,
        "description": lambda skill: _one_line(skill.manifest.description) if skill.manifest else None,
        "kind": lambda skill: skill.manifest.kind if skill.manifest else None,
        "from": lambda skill: source_words(skill.source),
        "path": lambda skill: skill.path if skill.path != skill.name else None,
        "license": lambda skill: skill.manifest.license if skill.manifest else None,
        "replaces": lambda skill: None if skill.replaces is None else f"version {skill.replaces}",
        "different": "changes",
        "files": lambda skill: f"{len(skill.files)}, {size(sum(file.bytes for file in skill.files))}",
        "asks for": lambda skill: _asks(skill.asks) or "nothing",
    }
)


def skill_page(skill: SkillDetail) -> RenderableType:
    return Group(
        _skill_fields(skill),
        *section("CAPABILITIES", _capability_lines(skill.asks, skill.grants, skill.folder_hash)),
        *section("DEPENDS ON", map(_relation_line, skill.dependencies)),
        *section("INHERITS FROM", map(_relation_line, skill.parents)),
        *section("CONFLICTS WITH", map(_relation_line, skill.conflicts)),
        *section("FILES", _file_lines(skill.files)),
        *section("PROBLEMS", map(problem_line, skill.problems)),
    )


def staged_page(skill: StagedSkill) -> RenderableType:
    """Show what a user needs to know before installing a skill."""
    return Group(
        _staged_fields(skill),
        *section("NEEDS", map(_relation_line, skill.needs)),
        *section("CONFLICTS WITH", map(_relation_line, skill.conflicts)),
        *map(problem_line, skill.problems),
    )


def installed_line(done: Installed) -> Text:
    """Show what an installation did, or why it was refused. A skill that was left unchanged has no state."""
    if not done.installed:
        return marked("bad", f"{done.name}: {done.problem or 'It was not installed.'}", done.hint)
    verb = "unchanged" if done.state is None else "installed"
    hint = done.hint
    if done.state is SkillState.REVIEW:
        hint = hint or f"Not all it asks for is granted: forge skill grant {done.name}"
    tone = "ok" if done.state in (None, SkillState.READY) and not done.problem else "warn"
    problem = f" ({done.problem})" if done.problem else ""
    return marked(tone, f"{verb} {done.name} {done.version}".rstrip() + problem, hint)


def problem_line(problem: SkillProblem) -> Text:
    place = "" if problem.line is None else f"SKILL.md:{problem.line} "
    return marked("warn" if problem.is_warning else "bad", f"{place}{problem.message}", problem.hint)


def case_line(case: Case) -> Text:
    verdict = "passed" if case.passed else "failed"
    return marked("ok" if case.passed else "bad", f"{verdict} {case.name}", case.detail or None)


def result_text(ran: SkillRan) -> str:
    """Return text as it is, also that of a model inside its object; everything else as JSON."""
    match ran.kind, ran.output:
        case (_, str(text)) | (SkillKind.PROMPT, {"text": str(text)}):
            return text
        case _, output:
            return json.dumps(output, indent=2, ensure_ascii=False)


def state_words(state: SkillState) -> Text:
    return Text(f"● {state.value}", TONES[_TONES[state]])


def end_words(end: RunEnd) -> Text:
    return Text(f"● {end.value}", TONES["ok" if end is RunEnd.DONE else "bad"])


def source_words(source: Origin) -> str:
    match source:
        case FolderSource():
            return f"the folder {source.path}"
        case ZipSource():
            return f"the archive {source.name}"
        case GitSource():
            pinned = f"@{source.ref}" if source.ref else ""
            inside = f"#{source.path}" if source.path else ""
            commit = f" ({source.commit[:12]})" if source.commit else ""
            return f"{source.url}{pinned}{inside}{commit}"
        case RegistrySource():
            return f"{source.registry}:{source.name}@{source.version}"
        case _:
            return "came with Forge" if source.type == "starter" else "made here"


def _capability_lines(asks: list[AskedView], grants: list[Grant], folder_hash: str) -> Iterator[Text]:
    """Yield what the skill asks for and whether it was granted, then grants that it no longer asks for."""
    given = {grant.capability: grant for grant in grants}
    for ask in asks:
        whose = f" from {ask.from_parent}" if ask.from_parent else ""
        needed = ", needed" if ask.is_needed else ""
        wanted = f" ({scope_words(ask.scope)})" if scope_words(ask.scope) else ""
        tone, verdict = _verdict(given.get(ask.capability), folder_hash)
        yield marked(tone, f"{ask.capability.value}{wanted}{whose}{needed}: {verdict}")
    asked = {ask.capability for ask in asks}
    for grant in (grant for grant in grants if grant.capability not in asked):
        yield marked("warn", f"{grant.capability.value}: granted, but no longer asked for")


def _verdict(grant: Grant | None, folder_hash: str) -> tuple[str, str]:
    if grant is None:
        return "bad", "not granted"
    far = f" for {scope_words(grant.scope)}" if scope_words(grant.scope) else ""
    by = f"by {grant.granted_by}, {ago(grant.granted_at, now())}"
    if grant.folder_hash != folder_hash:
        return "warn", f"granted{far} {by}; does not count: the skill changed since"
    return "ok", f"granted{far} {by}"


def _relation_line(relation: RelationView) -> Text:
    wanted = "" if relation.range == "*" else f"@{relation.range}"
    here = f" (here: {relation.version})" if relation.version else ""
    problem = f": {relation.problem}" if relation.problem else ""
    return marked("bad" if relation.problem else "ok", f"{relation.name}{wanted}{here}{problem}")


def _file_lines(files: list[SkillFileView]) -> Iterator[Text]:
    for file in files[:SHOWN_FILES]:
        yield Text.assemble(clean(file.path), (f"  {size(file.bytes)}", FAINT))
    if len(files) > SHOWN_FILES:
        yield Text(f"and {len(files) - SHOWN_FILES} more", FAINT)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _first_sentence(text: str) -> str:
    first, end, _ = _one_line(text).partition(". ")
    return first + end.strip()
