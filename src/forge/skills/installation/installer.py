"""Install staged skills, dependencies first, each completely or not at all."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.kernel.clock import now
from forge.skills.capabilities import check_grants_of, create_grants
from forge.skills.format.contents import Snapshot
from forge.skills.format.validation import validate
from forge.skills.installation.views import InstallChoice, Installed
from forge.skills.library.library import Library
from forge.skills.models import Origin, SkillProblem, first_error
from forge.skills.records import NewRecord, SkillRecords
from forge.skills.relations.skill_graph import resolve
from forge.skills.skill_state import BrokenSkill, ReadableSkill, SkillStates
from forge.store.database import Store


@dataclass(frozen=True)
class Candidate:
    """A fetched skill to install."""

    snapshot: Snapshot
    source: Origin
    problem: SkillProblem | None = None
    """A problem of the fetched files that prevents installation."""


@dataclass(frozen=True)
class Installer:
    database: Store
    library: Library
    states: SkillStates
    records: SkillRecords

    async def install(
        self,
        account_id: str,
        candidates: Mapping[str, Candidate],
        choices: Sequence[InstallChoice],
        *,
        force: bool,
        by: str,
    ) -> list[Installed]:
        """Install the chosen skills, and their dependencies among the candidates. Results are in the order of the choices."""
        there = await self.states.snapshots()
        chosen = {choice.name: choice for choice in choices}
        done: dict[str, Installed] = {}
        for name in await asyncio.to_thread(self._in_order, chosen, candidates, there):
            choice = chosen.get(name) or InstallChoice(name=name)
            try:
                done[name] = await self._one(account_id, candidates, choice, there, force=force, by=by)
            except ForgeError as error:
                done[name] = Installed(name=name, installed=False, problem=error.message, hint=error.hint)
            else:
                there[name] = candidates[name].snapshot
        return [*(done[name] for name in chosen), *(one for name, one in done.items() if name not in chosen)]

    def _in_order(
        self,
        chosen: Mapping[str, InstallChoice],
        candidates: Mapping[str, Candidate],
        there: Mapping[str, Snapshot],
    ) -> list[str]:
        """Return the names to install, dependencies first; those already in the library are skipped."""
        fetched = {name: candidate.snapshot for name, candidate in candidates.items()}
        skills = self.states.parse({**there, **fetched})
        order: dict[str, None] = {}
        for name in chosen:
            needed = resolve(name, skills).order if name in skills else [name]
            along = (one for one in needed if one in candidates and (one in chosen or one not in there))
            order.update(dict.fromkeys(along))
            order.setdefault(name)
        return list(order)

    async def _one(
        self,
        account_id: str,
        candidates: Mapping[str, Candidate],
        choice: InstallChoice,
        there: Mapping[str, Snapshot],
        *,
        force: bool,
        by: str,
    ) -> Installed:
        name = choice.name
        candidate = candidates.get(name)
        if candidate is None:
            raise NotFound(f"The fetched skills do not include {name}.")
        known = await asyncio.to_thread(self._checked, candidate, there)
        self._refuse_replacing(candidate.snapshot, there.get(name), force=force)
        grants = create_grants(
            name,
            known.manifest.kind,
            known.requested,
            choice.grants,
            folder_hash=known.folder_hash,
            by=by,
            at=now(),
        )
        check_grants_of(account_id, grants)
        if name in there:
            await self.states.require_change_permission(account_id, name)
        kept = await self.library.put(name, candidate.snapshot.files, replace=name in there)
        async with self.database.begin() as tx:
            await self.records.save(
                tx,
                account_id,
                NewRecord(
                    name,
                    source=candidate.source,
                    tier=choice.tier,
                    version=known.manifest.version,
                    folder_hash=candidate.snapshot.folder_hash,
                ),
                grants,
            )
        found = await self.states.get(account_id, name)
        return Installed(
            name=name,
            installed=True,
            is_new=kept.is_new,
            state=found.state,
            problem=found.review_reason,
            hint=f"If you have reviewed it: forge skill trust {name} local" if found.needs_trust else None,
            version=known.manifest.version,
            path=str(kept.path),
        )

    def _checked(self, candidate: Candidate, there: Mapping[str, Snapshot]) -> ReadableSkill:
        """Return the state the skill would have. Raises the error that prevents its installation."""
        snapshot = candidate.snapshot
        found = [candidate.problem] if candidate.problem else []
        found += validate(snapshot.name, snapshot.files).problems
        if mistake := first_error(found):
            raise Invalid(mistake.located_message, hint=mistake.hint)
        known = self.states.preview({snapshot.name: snapshot}, there)[snapshot.name]
        if isinstance(known, BrokenSkill):
            raise known.error
        if known.problem is not None:
            raise Conflict(known.problem, hint="Install its dependencies first, or together with it.")
        return known

    def _refuse_replacing(self, snapshot: Snapshot, there: Snapshot | None, *, force: bool) -> None:
        if there is not None and there.folder_hash != snapshot.folder_hash and not force:
            raise Conflict(
                f"The library already has a different skill {snapshot.name}.",
                hint="Replace it: --force. Your changes to it will be lost.",
                detail={"skill": snapshot.name},
            )
