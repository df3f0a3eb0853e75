"""What was fetched, as it would be in the library: read and compared, not executed."""

import asyncio
from collections.abc import Mapping, Sequence

from forge.skills.contents import Snapshot, snapshot_of
from forge.skills.installing.installing import Describe
from forge.skills.installing.staging import Waiting
from forge.skills.knowing import Broken, Knowing
from forge.skills.models import SkillProblem
from forge.skills.validation import validate
from forge.skills.views import StagedSkill


def describe_with(knowing: Knowing) -> Describe:
    async def describe(skills: Sequence[Waiting]) -> list[StagedSkill]:
        there = await knowing.snapshots()
        return await asyncio.to_thread(_describe, knowing, skills, there)

    return describe


def _describe(
    knowing: Knowing, skills: Sequence[Waiting], there: Mapping[str, Snapshot]
) -> list[StagedSkill]:
    """Each together with the others that were fetched: what one needs may come along."""
    fetched = {one.found.name: snapshot_of(one.found.name, one.found.files) for one in skills}
    known = knowing.describe(fetched, there)
    told: list[StagedSkill] = []
    for waiting in skills:
        found = waiting.found
        report = validate(found.name, found.files)
        joined = known[found.name]
        told.append(
            StagedSkill(
                name=found.name,
                path=found.path,
                valid=report.valid and not isinstance(joined, Broken),
                problems=report.problems
                if report.problems or not isinstance(joined, Broken)
                else _broken(joined),
                manifest=report.manifest,
                folder_hash=fetched[found.name].folder_hash,
                asks=report.asks if isinstance(joined, Broken) else joined.asks,
                source=waiting.source,
                needs=[] if isinstance(joined, Broken) else [*joined.parents, *joined.dependencies],
                conflicts=[] if isinstance(joined, Broken) else joined.conflicts,
            )
        )
    return told


def _broken(broken: Broken) -> list[SkillProblem]:
    return [SkillProblem(message=broken.error.message, hint=broken.error.hint)]
