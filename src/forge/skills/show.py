"""How skills look in a terminal."""

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.skills.command_words import scope_words
from forge.skills.execution import RunEnd
from forge.skills.installing.views import Installed, Registry, RegistryEntry, StagedSkill
from forge.skills.models import Case, Grant, SkillKind, SkillProblem
from forge.skills.sources import FolderSource, GitSource, Origin, RegistrySource, ZipSource
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
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago, clean, duration, size

_TONES = {SkillState.READY: "ok", SkillState.REVIEW: "warn", SkillState.BROKEN: "bad"}
SHOWN_FILES = 40


def skills_table(cards: Iterable[SkillCard]) -> Table:
    rows = table(
        "SKILL", "KIND", "VERSION", "STATE", "TIER", "MAY", "DESCRIPTION", wrapped={"MAY", "DESCRIPTION"}
    )
    for card in cards:
        rows.add_row(
            words(card.name),
            card.kind.value,
            words(card.version),
            state_words(card.state),
            card.tier.value,
            ", ".join(card.granted) or "-",
            words(_first_sentence((card.state is SkillState.BROKEN and card.problem) or card.description)),
        )
    return rows


def skill_page(skill: SkillDetail) -> RenderableType:
    limits = skill.limits
    pairs = [
        ("name", skill.name),
        ("description", _one_line(skill.description) or None),
        ("kind", f"{skill.kind.value}{f' ({skill.entry})' if skill.entry else ''}"),
        ("version", skill.version or None),
        ("state", state_words(skill.state)),
        ("problem", words(skill.problem, "red") if skill.problem else None),
        ("tier", skill.tier.value),
        ("limits", f"{limits.memory_bytes >> 20} MB, {limits.seconds:g} s, {limits.fuel:,} instructions"),
        ("source", source_words(skill.source)),
        ("license", skill.manifest.license if skill.manifest else None),
        ("compatibility", skill.manifest.compatibility if skill.manifest else None),
        ("categories", ", ".join(skill.categories) or None),
        ("bots", ", ".join(skill.bots) or None),
        ("tests", ", ".join(skill.tests) or None),
        ("folder", skill.folder),
        ("changed", ago(skill.changed_at, now()) if skill.changed_at else None),
    ]
    return Group(
        key_values(pairs),
        *_section("CAPABILITIES", _capability_lines(skill.asks, skill.grants, skill.folder_hash)),
        *_section("DEPENDS ON", map(_relation_line, skill.dependencies)),
        *_section("INHERITS FROM", map(_relation_line, skill.parents)),
        *_section("CONFLICTS WITH", map(_relation_line, skill.conflicts)),
        *_section("FILES", _file_lines(skill.files)),
        *_section("PROBLEMS", map(problem_line, skill.problems)),
    )


def staged_page(skill: StagedSkill) -> RenderableType:
    """What somebody has to know before they let it in."""
    manifest = skill.manifest
    replaces = f"version {skill.replaces}" if skill.replaces is not None else None
    pairs = [
        ("skill", f"{skill.name} {manifest.version}" if manifest else skill.name),
        ("description", _one_line(manifest.description) if manifest else None),
        ("kind", manifest.kind.value if manifest else None),
        ("from", source_words(skill.source)),
        ("place", skill.path if skill.path not in ("", skill.name) else None),
        ("license", manifest.license if manifest else None),
        ("replaces", replaces),
        ("different", ", ".join(skill.changes) or None),
        ("files", f"{len(skill.files)}, {size(sum(file.bytes for file in skill.files))}"),
        ("asks for", ", ".join(dict.fromkeys(ask.capability.value for ask in skill.asks)) or "nothing"),
    ]
    return Group(
        key_values(pairs),
        *_section("NEEDS", map(_relation_line, skill.needs)),
        *_section("CONFLICTS WITH", map(_relation_line, skill.conflicts)),
        *map(problem_line, skill.problems),
    )


def staged_table(skills: Iterable[StagedSkill]) -> Table:
    rows = table("SKILL", "VERSION", "ASKS FOR", "DESCRIPTION", wrapped={"ASKS FOR", "DESCRIPTION"})
    for skill in skills:
        manifest, first = skill.manifest, next(iter(skill.problems), None)
        told = manifest.description if skill.valid and manifest else first.message if first else ""
        asks = ", ".join(dict.fromkeys(ask.capability.value for ask in skill.asks)) or "-"
        version = words(manifest.version) if manifest else dot("bad")
        rows.add_row(words(skill.name), version, asks, words(_first_sentence(told)))
    return rows


def installed_line(done: Installed) -> Text:
    """`● installed pdf 1.0.0`, or why not, with what to do about it below. What was left alone has no state."""
    if not done.installed:
        return _told("bad", f"{done.name}: {done.problem or 'It was not installed.'}", done.hint)
    verb = "unchanged" if done.state is None else "installed"
    hint = done.hint
    if done.state is SkillState.REVIEW:
        hint = hint or f"Not all it asks for is granted: forge skill grant {done.name}"
    tone = "ok" if done.state in (None, SkillState.READY) and not done.problem else "warn"
    problem = f" ({done.problem})" if done.problem else ""
    return _told(tone, f"{verb} {done.name} {done.version}".rstrip() + problem, hint)


def problem_line(problem: SkillProblem) -> Text:
    """`● SKILL.md:4 what is wrong`, and what to do about it below."""
    place = "" if problem.line is None else f"SKILL.md:{problem.line} "
    return _told("warn" if problem.is_warning else "bad", f"{place}{problem.message}", problem.hint)


def case_line(case: Case) -> Text:
    verdict = "passed" if case.passed else "failed"
    return _told("ok" if case.passed else "bad", f"{verdict} {case.name}", case.detail or None)


def runs_table(runs: Iterable[SkillRun]) -> Table:
    rows = table("WHEN", "END", "FOR", "BY", "TOOK", "MEMORY", "USED", "WHY", wrapped={"USED", "WHY"})
    for run in runs:
        rows.add_row(
            ago(run.at, now()),
            end_words(run.end),
            run.purpose,
            words(run.by),
            duration(timedelta(milliseconds=run.duration_ms)),
            "-" if run.memory_bytes is None else size(run.memory_bytes),
            ", ".join(f"{one} x{count}" for one, count in run.capabilities_used.items()) or "-",
            words(_one_line(run.error)),
        )
    return rows


def registries_table(registries: Iterable[Registry]) -> Table:
    rows = table("REGISTRY", "SKILLS", "FETCHED", "ADDRESS", "PROBLEM", wrapped={"ADDRESS", "PROBLEM"})
    for registry in registries:
        fetched = ago(registry.fetched_at, now()) if registry.fetched_at else "never"
        rows.add_row(
            words(registry.name),
            str(registry.skills),
            fetched,
            words(registry.url),
            words(registry.problem or "", "yellow"),
        )
    return rows


def entries_table(entries: Iterable[RegistryEntry]) -> Table:
    rows = table(
        "SKILL", "VERSION", "HERE", "KIND", "ASKS FOR", "DESCRIPTION", wrapped={"ASKS FOR", "DESCRIPTION"}
    )
    for entry in entries:
        rows.add_row(
            words(f"{entry.registry}:{entry.name}"),
            words(entry.version),
            words(entry.installed or "-"),
            entry.kind.value,
            words(", ".join(entry.capabilities) or "-"),
            words(_first_sentence(entry.description)),
        )
    return rows


def result_text(ran: SkillRan) -> str:
    """A text as it is, that of a model without what it comes wrapped in; all else as JSON."""
    match ran.kind, ran.output:
        case (_, str(text)) | (SkillKind.PROMPT, {"text": str(text)}):
            return text
        case _, output:
            return json.dumps(output, indent=2, ensure_ascii=False)


def state_words(state: SkillState) -> Text:
    return Text(f"● {state.value}", dot(_TONES[state]).style)


def end_words(end: RunEnd) -> Text:
    return Text(f"● {end.value}", dot("ok" if end is RunEnd.DONE else "bad").style)


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
    """What it asks for with what became of that, then what it was granted and does not ask for any more."""
    given = {grant.capability: grant for grant in grants}
    for ask in asks:
        whose = f" from {ask.from_parent}" if ask.from_parent else ""
        needed = ", needed" if ask.is_needed else ""
        wanted = f" ({scope_words(ask.scope)})" if scope_words(ask.scope) else ""
        tone, verdict = _verdict(given.get(ask.capability), folder_hash)
        yield _told(tone, f"{ask.capability.value}{wanted}{whose}{needed}: {verdict}", None)
    asked = {ask.capability for ask in asks}
    for grant in (grant for grant in grants if grant.capability not in asked):
        yield _told("warn", f"{grant.capability.value}: granted, and not asked for any more", None)


def _verdict(grant: Grant | None, folder_hash: str) -> tuple[str, str]:
    if grant is None:
        return "bad", "not granted"
    far = f" for {scope_words(grant.scope)}" if scope_words(grant.scope) else ""
    by = f"by {grant.granted_by}, {ago(grant.granted_at, now())}"
    if grant.folder_hash != folder_hash:
        return "warn", f"granted{far} {by}; does not count: the skill was changed since"
    return "ok", f"granted{far} {by}"


def _relation_line(relation: RelationView) -> Text:
    wanted = "" if relation.range == "*" else f"@{relation.range}"
    here = f" (here: {relation.version})" if relation.version else ""
    problem = f": {relation.problem}" if relation.problem else ""
    return _told("bad" if relation.problem else "ok", f"{relation.name}{wanted}{here}{problem}", None)


def _file_lines(files: list[SkillFileView]) -> Iterator[Text]:
    for file in files[:SHOWN_FILES]:
        yield Text.assemble(clean(file.path), (f"  {size(file.bytes)}", "bright_black"))
    if len(files) > SHOWN_FILES:
        yield Text(f"and {len(files) - SHOWN_FILES} more", "bright_black")


def _section(title: str, lines: Iterable[Text]) -> Iterator[Text]:
    found = list(lines)
    if found:
        yield Text(f"\n{title}", "bright_black")
        yield from found


def _told(tone: str, text: str, hint: str | None) -> Text:
    line = Text.assemble(("● ", dot(tone).style), clean(text))
    return line.append(f"\n  {clean(hint)}", "bright_black") if hint else line


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _first_sentence(text: str) -> str:
    """What a list has room for."""
    first, end, _ = _one_line(text).partition(". ")
    return first + end.strip()
