"""A skill in words and numbers, for lists and its own page."""

from collections.abc import Mapping, Sequence

from forge.skills.contents import text_of
from forge.skills.entries import find_entries
from forge.skills.execution import LIMITS
from forge.skills.knowing import Broken, Known
from forge.skills.models import SkillProblem, Tier
from forge.skills.sources import OwnSource
from forge.skills.validation import validate
from forge.skills.views import LimitsView, SkillCard, SkillDetail, SkillFileView, SkillState
from forge.skills.writing import cases_in


def card_of(known: Known, bots: Sequence[str]) -> SkillCard:
    manifest = known.manifest
    return SkillCard(
        name=manifest.name,
        description=manifest.description,
        kind=manifest.kind,
        version=manifest.version,
        tier=known.tier,
        source=known.source,
        state=known.state,
        problem=known.problem or known.review,
        capabilities=[one.capability for one in known.asks],
        granted=list(known.counting),
        categories=manifest.categories,
        bots=list(bots),
        changed_at=known.record.changed_at if known.record else None,
    )


def broken_card(name: str, broken: Broken, bots: Sequence[str]) -> SkillCard:
    """Of one that cannot be read."""
    record = broken.record
    return SkillCard(
        name=name,
        tier=record.tier if record else Tier.UNTRUSTED,
        source=record.source if record else OwnSource(),
        state=SkillState.BROKEN,
        problem=broken.error.message,
        bots=list(bots),
    )


def detail_of(known: Known, bots: Sequence[str], *, folder: str) -> SkillDetail:
    files, manifest = known.snapshot.files, known.manifest
    entries = find_entries(manifest.kind, files)
    return SkillDetail(
        **card_of(known, bots).model_dump(),
        manifest=manifest,
        body=known.composed.body,
        folder=folder,
        folder_hash=known.folder_hash,
        entry=entries[0] if entries else None,
        files=file_views(files),
        problems=validate(manifest.name, files).problems,
        asks=known.asks,
        grants=known.grants,
        limits=limits_of(known.tier),
        dependencies=known.dependencies,
        conflicts=known.conflicts,
        parents=known.parents,
        tests=[*cases_in(files)],
        installed_at=known.record.installed_at if known.record else None,
    )


def broken_detail(name: str, broken: Broken, bots: Sequence[str], *, folder: str) -> SkillDetail:
    """What can be seen of one that cannot be read: enough to repair it."""
    files, error, record = broken.snapshot.files, broken.error, broken.record
    problems = validate(name, files).problems if files else []
    return SkillDetail(
        **broken_card(name, broken, bots).model_dump(),
        folder=folder,
        folder_hash=broken.folder_hash,
        files=file_views(files),
        problems=problems or [SkillProblem(message=error.message, hint=error.hint)],
        limits=limits_of(record.tier if record else Tier.UNTRUSTED),
        installed_at=record.installed_at if record else None,
    )


def file_views(files: Mapping[str, bytes]) -> list[SkillFileView]:
    return [
        SkillFileView(path=path, bytes=len(data), is_text=text_of(data) is not None)
        for path, data in files.items()
    ]


def limits_of(tier: Tier) -> LimitsView:
    limits = LIMITS[tier]
    return LimitsView(memory_bytes=limits.memory_bytes, fuel=limits.fuel, seconds=limits.seconds)
