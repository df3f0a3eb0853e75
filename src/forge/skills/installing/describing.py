"""What was fetched, as it would be in the library: read and compared, not executed."""

import asyncio
from collections.abc import Mapping, Sequence

from forge.skills.contents import Snapshot, snapshot_of
from forge.skills.describing import file_views
from forge.skills.installing.staging import Waiting
from forge.skills.installing.views import StagedSkill
from forge.skills.knowing import Broken, Knowing, Known
from forge.skills.models import SkillProblem
from forge.skills.validation import validate


async def describe(knowing: Knowing, skills: Sequence[Waiting]) -> list[StagedSkill]:
    """Of each: whether it is a skill, what it asks for, needs and conflicts with, in the library and in this stage."""
    there = await knowing.snapshots()
    return await asyncio.to_thread(_describe, knowing, skills, there)


def _describe(
    knowing: Knowing, skills: Sequence[Waiting], there: Mapping[str, Snapshot]
) -> list[StagedSkill]:
    """Each together with the others that were fetched: what one needs may come along."""
    fetched = {one.found.name: snapshot_of(one.found.name, one.found.files) for one in skills}
    known = knowing.describe(fetched, there)
    return [_staged(one, fetched[one.found.name], known[one.found.name]) for one in skills]


def _staged(waiting: Waiting, snapshot: Snapshot, known: Known | Broken) -> StagedSkill:
    found = waiting.found
    report = validate(found.name, found.files)
    staged = StagedSkill(
        name=found.name,
        path=found.path,
        valid=report.valid,
        problems=report.problems,
        manifest=report.manifest,
        folder_hash=snapshot.folder_hash,
        files=file_views(found.files),
        asks=report.asks,
        source=waiting.source,
    )
    if isinstance(known, Broken):
        told = [*_broken(known), *report.problems] if report.valid else report.problems
        return staged.model_copy(update={"valid": False, "problems": told})
    needs = [*known.parents, *known.dependencies]
    return staged.model_copy(update={"asks": known.asks, "needs": needs, "conflicts": known.conflicts})


def _broken(broken: Broken) -> list[SkillProblem]:
    return [SkillProblem(message=broken.error.message, hint=broken.error.hint)]
