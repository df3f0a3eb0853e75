"""Installs what was fetched and looked at: what each skill needs first, each whole or not at all."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.kernel.clock import now
from forge.skills.contents import Snapshot
from forge.skills.granting import grants_of
from forge.skills.installing.views import InstallChoice, Installed
from forge.skills.knowing import Broken, Knowing, Known
from forge.skills.library import Library
from forge.skills.models import SkillProblem, first_mistake
from forge.skills.recording import Recording, Standing
from forge.skills.relations.graph import resolve
from forge.skills.sources import Origin
from forge.skills.validation import validate
from forge.store.engine import Store


@dataclass(frozen=True)
class Candidate:
    """A skill that was fetched."""

    snapshot: Snapshot
    source: Origin
    problem: SkillProblem | None = None
    """What came along with it and cannot be taken."""


@dataclass(frozen=True)
class Confirming:
    database: Store
    library: Library
    knowing: Knowing
    recording: Recording

    async def install(
        self,
        account_id: str,
        candidates: Mapping[str, Candidate],
        choices: Sequence[InstallChoice],
        *,
        force: bool,
        by: str,
    ) -> list[Installed]:
        """In the order of the choices; what they need and was fetched along with them is installed too."""
        there = await self.knowing.snapshots()
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
        """What a skill needs comes before it; what the library has already is not fetched again."""
        fetched = {name: candidate.snapshot for name, candidate in candidates.items()}
        skills = self.knowing.read({**there, **fetched})
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
            raise NotFound(f"There is no skill {name} among those that were fetched.")
        known = await asyncio.to_thread(self._checked, candidate, there)
        self._refuse_replacing(candidate.snapshot, there.get(name), force=force)
        grants = grants_of(
            name,
            known.manifest.kind,
            known.asks,
            choice.grants,
            folder_hash=known.folder_hash,
            by=by,
            at=now(),
        )
        kept = await self.library.put(name, candidate.snapshot.files, replace=name in there)
        async with self.database.begin() as tx:
            await self.recording.keep(
                tx,
                account_id,
                Standing(
                    name,
                    source=candidate.source,
                    tier=choice.tier,
                    version=known.manifest.version,
                    folder_hash=candidate.snapshot.folder_hash,
                ),
                grants,
            )
        found = await self.knowing.one(account_id, name)
        return Installed(
            name=name,
            installed=True,
            is_new=kept.is_new,
            state=found.state,
            problem=found.review,
            hint=f"If you have read it: forge skill trust {name} local" if found.needs_trust else None,
            version=known.manifest.version,
            path=str(kept.path),
        )

    def _checked(self, candidate: Candidate, there: Mapping[str, Snapshot]) -> Known:
        """Raises what keeps it out of the library."""
        snapshot = candidate.snapshot
        found = [candidate.problem] if candidate.problem else []
        found += validate(snapshot.name, snapshot.files).problems
        if mistake := first_mistake(found):
            raise Invalid(mistake.said, hint=mistake.hint)
        known = self.knowing.describe({snapshot.name: snapshot}, there)[snapshot.name]
        if isinstance(known, Broken):
            raise known.error
        if known.problem is not None:
            raise Conflict(known.problem, hint="Install what it needs first, or together with it.")
        return known

    def _refuse_replacing(self, snapshot: Snapshot, there: Snapshot | None, *, force: bool) -> None:
        if there is not None and there.folder_hash != snapshot.folder_hash and not force:
            raise Conflict(
                f"The library has another skill {snapshot.name} already.",
                hint="Replace it: --force. What you changed in it is lost then.",
                detail={"skill": snapshot.name},
            )
