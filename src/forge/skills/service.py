"""What people do with skills: look, write, grant, run, test."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm.money import Spender
from forge.skills import store
from forge.skills.catalogue import CatalogueLine
from forge.skills.contents import encoded, text_of
from forge.skills.describing import broken_card, broken_detail, card_of, detail_of
from forge.skills.doors import BotDoor
from forge.skills.folders import taken
from forge.skills.granting import grants_of
from forge.skills.host.own_folder import OwnFolder
from forge.skills.knowing import Broken, Knowing, Known
from forge.skills.library import Library
from forge.skills.models import Capability, SkillFiles, SkillKind, Tier, first_mistake
from forge.skills.packing import pack
from forge.skills.recording import Recording, Standing
from forge.skills.relations.graph import dependents
from forge.skills.running import Call, Result, Runner, as_shown, input_text, tried_run
from forge.skills.sources import OwnSource
from forge.skills.testing import SkillTests
from forge.skills.triggering import Triggering
from forge.skills.validation import validate
from forge.skills.views import (
    FileContent,
    GrantsWish,
    NewFrame,
    NewSkill,
    RunWish,
    SkillCard,
    SkillDetail,
    SkillEdit,
    SkillRan,
    SkillRun,
    SkillState,
    SkillTestReport,
    SkillTestWish,
    TryWish,
    Validation,
)
from forge.skills.writing import new_skill
from forge.store.engine import Store
from forge.store.paging import Cursor, Page, page_of


@dataclass(frozen=True)
class Skills:
    database: Store
    library: Library
    knowing: Knowing
    recording: Recording
    runner: Runner
    triggering: Triggering
    bots: BotDoor

    async def find_all(
        self,
        account_id: str,
        *,
        words: str = "",
        kind: SkillKind | None = None,
        tier: Tier | None = None,
        state: SkillState | None = None,
        capability: Capability | None = None,
    ) -> list[SkillCard]:
        """By name."""
        bots = await self.bots.having(account_id)
        cards = [
            broken_card(name, found, bots.get(name, []))
            if isinstance(found, Broken)
            else card_of(found, bots.get(name, []))
            for name, found in (await self.knowing.all(account_id)).items()
        ]
        sought = words.lower().split()
        return [
            card
            for card in cards
            if kind in (None, card.kind)
            and tier in (None, card.tier)
            and state in (None, card.state)
            and (capability is None or capability in card.capabilities)
            and all(word in _haystack(card) for word in sought)
        ]

    async def detail(self, account_id: str, name: str) -> SkillDetail:
        """Raises NotFound. One that cannot be read is shown as far as it can be."""
        bots = (await self.bots.having(account_id)).get(name, [])
        found = await self.knowing.look(account_id, name)
        folder = str(self.library.path(name))
        if isinstance(found, Broken):
            return await asyncio.to_thread(broken_detail, name, found, bots, folder=folder)
        return await asyncio.to_thread(detail_of, found, bots, folder=folder)

    def frame(self, wish: NewFrame) -> SkillFiles:
        """Raises Invalid."""
        return new_skill(wish.name, wish.kind, wish.language, wish.description)

    async def create(self, account_id: str, new: NewSkill) -> SkillDetail:
        if await self.library.exists(new.name):
            raise taken(new.name)
        kept = await self.library.write(SkillFiles(name=new.name, files=new.files))
        if not kept.is_new:
            raise taken(new.name)
        await self._record_own(account_id, new.name, Tier.LOCAL)
        return await self.detail(account_id, new.name)

    async def validate(self, new: NewSkill) -> Validation:
        return await asyncio.to_thread(validate, new.name, encoded(new.files))

    async def save(self, account_id: str, name: str, edit: SkillEdit) -> SkillDetail:
        """A starter that is changed becomes your own; what was granted no longer counts."""
        found = await self.knowing.look(account_id, name)
        if edit.base_hash != found.folder_hash:
            raise _changed(name)
        await self.library.save(name, edit.files, found.snapshot.folder_hash)
        await self._record_own(account_id, name, found.record.tier if found.record else Tier.LOCAL)
        return await self.detail(account_id, name)

    async def remove(self, account_id: str, name: str, *, force: bool) -> SkillCard:
        found = await self.knowing.look(account_id, name)
        bots = (await self.bots.having(account_id)).get(name, [])
        if not force:
            await self._refuse_needed(account_id, name, bots)
        await self.library.remove(name)
        await asyncio.to_thread(OwnFolder(self.runner.parts.files_dir, account_id, name).remove)
        async with self.database.begin() as tx:
            await store.delete_skill(tx, account_id, name)
            self.recording.tell(tx, account_id, name, "removed")
        if isinstance(found, Broken):
            return broken_card(name, found, bots)
        return card_of(found, bots)

    async def file(self, name: str, path: str) -> FileContent:
        files = (await self.library.snapshot(name)).files
        if path not in files:
            raise NotFound(f"The skill {name} has no file {path[:200]}.")
        return FileContent(path=path, text=text_of(files[path]), bytes=len(files[path]))

    async def export(self, name: str) -> bytes:
        """A zip with its folder in it."""
        return await asyncio.to_thread(pack, (await self.library.snapshot(name)).files, below=name)

    async def try_out(self, wish: TryWish, *, by: str) -> SkillRan:
        """Scripts alone: of instructions there is nothing to run, and programs run only with what an owner granted."""
        files = encoded(wish.files)
        found = await asyncio.to_thread(validate, wish.name, files)
        if mistake := first_mistake(found.problems):
            raise Invalid(mistake.said)
        if found.manifest is None:
            raise Invalid("This is no skill.")
        kind, text = found.manifest.kind, input_text(wish.input)
        if kind is not SkillKind.SCRIPT:
            raise Invalid(
                f"Only scripts are tried out; {_NOT_TRIED[kind]}.", hint="Save it, and use it from there."
            )
        return tried_run(wish.name, text, await self.runner.try_out(wish.name, kind, files, text), by=by)

    async def run(self, account_id: str, name: str, wish: RunWish, *, by: str) -> SkillRan:
        call = Call(account_id, wish.input, wish.purpose, by)
        if wish.bot is not None:
            use = await self.bots.using(account_id, wish.bot, name)
            call = replace(call, bot_id=use.bot_id, settings=use.settings, narrowed=use.narrowed)
        return await self.runner.run(name, call)

    async def test(self, account_id: str, name: str, wish: SkillTestWish) -> SkillTestReport:
        """As it is granted; nothing it keeps or writes stays."""
        known = await self.knowing.one(account_id, name)

        async def run(_name: str, _kind: SkillKind, _files: Mapping[str, bytes], text: str) -> Result:
            return await self.runner.test(known, text)

        report = await SkillTests(run).run(name, known.snapshot.files)
        return await self._triggered(account_id, known, report) if wish.triggers else report

    async def _triggered(self, account_id: str, known: Known, report: SkillTestReport) -> SkillTestReport:
        """With whether a model picks it; without a model the rest of the report is worth having all the same."""
        everything = await self.knowing.all(account_id)
        others = [_line(one) for one in everything.values() if isinstance(one, Known)]
        spender = Spender(account_id, new_id())
        try:
            tried = await self.triggering.run(spender, _line(known), others, known.snapshot.files)
        except ForgeError as error:
            return report.model_copy(update={"triggers_skipped": error.message})
        return report.model_copy(
            update={
                "triggers": tried.cases,
                "cost_micros": tried.cost_micros,
                "passed": report.passed and all(case.passed for case in tried.cases),
            }
        )

    async def runs(self, account_id: str, name: str, cursor: Cursor | None, limit: int) -> Page[SkillRun]:
        """Also of a skill that is gone."""
        async with self.database.read() as tx:
            found = await store.list_runs(tx, account_id, name, cursor, limit + 1)
        return page_of([as_shown(run) for run in found], limit, lambda run: Cursor(run.at, run.id))

    async def grant(self, account_id: str, name: str, wish: GrantsWish, *, by: str) -> SkillDetail:
        known = await self.knowing.one(account_id, name)
        if wish.folder_hash != known.folder_hash:
            raise _changed(name)
        grants = grants_of(
            name,
            known.manifest.kind,
            known.asks,
            wish.grants,
            folder_hash=known.folder_hash,
            by=by,
            at=now(),
        )
        async with self.database.begin() as tx:
            if known.record is None:
                await self.recording.keep(tx, account_id, _standing(known, known.tier))
            await store.replace_grants(tx, account_id, name, grants)
            self.recording.tell(tx, account_id, name, "grants")
        return await self.detail(account_id, name)

    async def revoke(self, account_id: str, name: str, capability: Capability) -> SkillDetail:
        async with self.database.begin() as tx:
            if not await store.delete_grant(tx, account_id, name, capability):
                raise NotFound(f"The skill {name} has no grant of {capability.value}.")
            self.recording.tell(tx, account_id, name, "grants")
        return await self.detail(account_id, name)

    async def set_tier(self, account_id: str, name: str, tier: Tier) -> SkillDetail:
        known = await self.knowing.one(account_id, name)
        async with self.database.begin() as tx:
            await self.recording.keep(tx, account_id, _standing(known, tier))
        return await self.detail(account_id, name)

    async def _record_own(self, account_id: str, name: str, tier: Tier) -> None:
        found = await self.knowing.look(account_id, name)
        version = "" if isinstance(found, Broken) else found.manifest.version
        async with self.database.begin() as tx:
            await self.recording.keep(
                tx,
                account_id,
                Standing(
                    name,
                    source=OwnSource(),
                    tier=tier,
                    version=version,
                    folder_hash=found.snapshot.folder_hash,
                ),
            )

    async def _refuse_needed(self, account_id: str, name: str, bots: list[str]) -> None:
        known = await self.knowing.all(account_id)
        skills = {one: found.skill for one, found in known.items() if isinstance(found, Known)}
        needed = dependents(name, skills)
        if bots or needed:
            raise Conflict(
                f"The skill {name} is needed by {', '.join([*bots, *needed][:10])}.",
                hint="Detach it there first, or remove it all the same: --force.",
                detail={"bots": bots, "skills": needed},
            )


_NOT_TRIED = {
    SkillKind.PROMPT: "these are instructions",
    SkillKind.LOCAL: "a program has to be granted exec_command first",
}


def _line(known: Known) -> CatalogueLine:
    return CatalogueLine(known.manifest.name, known.manifest.description, known.manifest.kind)


def _standing(known: Known, tier: Tier) -> Standing:
    return Standing(
        known.manifest.name,
        source=known.source,
        tier=tier,
        version=known.manifest.version,
        folder_hash=known.snapshot.folder_hash,
    )


def _haystack(card: SkillCard) -> str:
    return " ".join([card.name, card.description, *card.categories]).lower()


def _changed(name: str) -> Conflict:
    return Conflict(f"The skill {name} is another now than the one you looked at.", hint="Look at it again.")
