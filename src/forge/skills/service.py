"""The skill library: list, edit, grant, run and test skills."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm.budgets import Spender
from forge.skills import store
from forge.skills.capabilities import check_grants_of, create_grants
from forge.skills.execution import LIMITS, find_entry_files
from forge.skills.format.contents import encode_texts, file_views, text_of
from forge.skills.format.skill_writer import find_cases, new_skill
from forge.skills.format.validation import validate
from forge.skills.format.zip_archive import pack
from forge.skills.host.resources import OwnFolder
from forge.skills.invocations.runner import (
    Runner,
    RunRequest,
    SkillResult,
    serialize_input,
    unsaved_run,
    with_crash_marked,
)
from forge.skills.invocations.skill_tests import SkillTests
from forge.skills.invocations.trigger_tests import TriggerTests
from forge.skills.library.folders import name_taken
from forge.skills.library.library import Library
from forge.skills.models import (
    Capability,
    OwnSource,
    SkillFiles,
    SkillKind,
    SkillProblem,
    Tier,
    first_error,
)
from forge.skills.prompts.skill_catalog import CatalogLine
from forge.skills.records import NewRecord, SkillRecords
from forge.skills.relations.skill_graph import dependents
from forge.skills.skill_state import BrokenSkill, ReadableSkill, SkillStates
from forge.skills.views import (
    FileContent,
    GrantsWish,
    LimitsView,
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
from forge.store.database import Store
from forge.store.pagination import Cursor, Page, make_page


@dataclass(frozen=True)
class BotUse:
    """How a bot uses a skill."""

    bot_id: str
    settings: Mapping[str, str]
    allowed_capabilities: list[Capability] | None


@dataclass(frozen=True)
class BotAccess:
    """Access to bots, which are in a higher layer: callbacks that the application provides."""

    bots_by_skill: Callable[[str], Awaitable[Mapping[str, list[str]]]]
    """Return the slugs of an account's bots by the name of the skill they use."""
    find_use: Callable[[str, str, str], Awaitable[BotUse]]
    """Return how a bot of an account uses a skill. Raises NotFound if it does not."""


@dataclass(frozen=True)
class Skills:
    database: Store
    library: Library
    states: SkillStates
    records: SkillRecords
    runner: Runner
    trigger_tests: TriggerTests
    bots: BotAccess

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
        """Return the matching skills, by name."""
        bots = await self.bots.bots_by_skill(account_id)
        cards = [
            broken_card(name, found, bots.get(name, []))
            if isinstance(found, BrokenSkill)
            else card_of(found, bots.get(name, []))
            for name, found in (await self.states.all(account_id)).items()
        ]
        sought = words.lower().split()
        return [
            card
            for card in cards
            if kind in (None, card.kind)
            and tier in (None, card.tier)
            and state in (None, card.state)
            and (capability is None or capability in card.capabilities)
            and all(word in _searchable_text(card) for word in sought)
        ]

    async def detail(self, account_id: str, name: str) -> SkillDetail:
        """Return the details of a skill, as far as it can be read. Raises NotFound."""
        bots = (await self.bots.bots_by_skill(account_id)).get(name, [])
        found = await self.states.find(account_id, name)
        folder = str(self.library.path(name))
        if isinstance(found, BrokenSkill):
            return await asyncio.to_thread(broken_detail, name, found, bots, folder=folder)
        return await asyncio.to_thread(detail_of, found, bots, folder=folder)

    def generate(self, request: NewFrame) -> SkillFiles:
        """Generate the files of a new skill. Raises Invalid."""
        return new_skill(request.name, request.kind, request.language, request.description)

    async def create(self, account_id: str, new: NewSkill) -> SkillDetail:
        if await self.library.exists(new.name):
            raise name_taken(new.name)
        kept = await self.library.write(SkillFiles(name=new.name, files=new.files))
        if not kept.is_new:
            raise name_taken(new.name)
        await self._record_own(account_id, new.name, Tier.LOCAL)
        return await self.detail(account_id, new.name)

    async def validate(self, new: NewSkill) -> Validation:
        return await asyncio.to_thread(validate, new.name, encode_texts(new.files))

    async def save(self, account_id: str, name: str, edit: SkillEdit) -> SkillDetail:
        """Save the text files. An edited starter becomes the account's own; grants lose their effect."""
        found = await self.states.find(account_id, name)
        if edit.base_hash != found.folder_hash:
            raise _changed(name)
        await self.states.require_change_permission(account_id, name)
        await self.library.save(name, edit.files, found.snapshot.folder_hash)
        await self._record_own(account_id, name, found.record.tier if found.record else Tier.LOCAL)
        return await self.detail(account_id, name)

    async def remove(self, account_id: str, name: str, *, force: bool) -> SkillCard:
        found = await self.states.find(account_id, name)
        await self.states.require_change_permission(account_id, name)
        bots = (await self.bots.bots_by_skill(account_id)).get(name, [])
        if not force:
            await self._refuse_needed(account_id, name, bots)
        await self.library.remove(name)
        await asyncio.to_thread(OwnFolder(self.runner.host_services.files_dir, account_id, name).remove)
        async with self.database.begin() as tx:
            await store.delete_skill(tx, account_id, name)
            self.records.publish_change(tx, account_id, name, "removed")
        if isinstance(found, BrokenSkill):
            return broken_card(name, found, bots)
        return card_of(found, bots)

    async def file(self, name: str, path: str) -> FileContent:
        files = (await self.library.snapshot(name)).files
        if path not in files:
            raise NotFound(f"The skill {name} has no file {path[:200]}.")
        return FileContent(path=path, text=text_of(files[path]), bytes=len(files[path]))

    async def export(self, name: str) -> bytes:
        """Return a zip that contains the folder."""
        return await asyncio.to_thread(pack, (await self.library.snapshot(name)).files, below=name)

    async def try_out(self, request: TryWish, *, by: str) -> SkillRan:
        """Run unsaved files. Only scripts: instructions have nothing to run, and programs need a grant."""
        files = encode_texts(request.files)
        found = await asyncio.to_thread(validate, request.name, files)
        if mistake := first_error(found.problems):
            raise Invalid(mistake.located_message)
        if found.manifest is None:
            raise Invalid("The files are not a skill.")
        kind, text = found.manifest.kind, serialize_input(request.input)
        if kind is not SkillKind.SCRIPT:
            raise Invalid(
                f"Only scripts can run without being saved; {_WHY_NOT_TRIED[kind]}.",
                hint="Save the skill first.",
            )
        return unsaved_run(
            request.name, text, await self.runner.try_out(request.name, kind, files, text), by=by
        )

    async def run(self, account_id: str, name: str, request: RunWish, *, by: str) -> SkillRan:
        call = RunRequest(account_id, request.input, request.purpose, by)
        if request.bot is not None:
            use = await self.bots.find_use(account_id, request.bot, name)
            call = replace(
                call, bot_id=use.bot_id, settings=use.settings, allowed_capabilities=use.allowed_capabilities
            )
        return await self.runner.run(name, call)

    async def test(self, account_id: str, name: str, request: SkillTestWish) -> SkillTestReport:
        """Run the skill's tests with its grants. Nothing it stores or writes is kept."""
        known = await self.states.get(account_id, name)

        async def run(_name: str, _kind: SkillKind, _files: Mapping[str, bytes], text: str) -> SkillResult:
            return await self.runner.test(account_id, known, text)

        report = await SkillTests(run).run(name, known.snapshot.files)
        return await self._with_trigger_tests(account_id, known, report) if request.triggers else report

    async def _with_trigger_tests(
        self, account_id: str, known: ReadableSkill, report: SkillTestReport
    ) -> SkillTestReport:
        """Add the trigger tests to the report; without a model they are skipped."""
        everything = await self.states.all(account_id)
        others = [_catalog_line(one) for one in everything.values() if isinstance(one, ReadableSkill)]
        spender = Spender(account_id, new_id())
        try:
            tried = await self.trigger_tests.run(spender, _catalog_line(known), others, known.snapshot.files)
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
        """List the runs of a skill, which may have been removed."""
        async with self.database.read() as tx:
            found = await store.list_runs(tx, account_id, name, cursor, limit + 1)
        return make_page([with_crash_marked(run) for run in found], limit, lambda run: Cursor(run.at, run.id))

    async def grant(self, account_id: str, name: str, request: GrantsWish, *, by: str) -> SkillDetail:
        known = await self.states.get(account_id, name)
        if request.folder_hash != known.folder_hash:
            raise _changed(name)
        grants = create_grants(
            name,
            known.manifest.kind,
            known.requested,
            request.grants,
            folder_hash=known.folder_hash,
            by=by,
            at=now(),
        )
        check_grants_of(account_id, grants)
        async with self.database.begin() as tx:
            if known.record is None:
                await self.records.save(tx, account_id, _new_record(known, known.tier))
            await store.replace_grants(tx, account_id, name, grants)
            self.records.publish_change(tx, account_id, name, "grants")
        return await self.detail(account_id, name)

    async def revoke(self, account_id: str, name: str, capability: Capability) -> SkillDetail:
        async with self.database.begin() as tx:
            if not await store.delete_grant(tx, account_id, name, capability):
                raise NotFound(f"The skill {name} has no grant of {capability.value}.")
            self.records.publish_change(tx, account_id, name, "grants")
        return await self.detail(account_id, name)

    async def set_tier(self, account_id: str, name: str, tier: Tier) -> SkillDetail:
        known = await self.states.get(account_id, name)
        async with self.database.begin() as tx:
            await self.records.save(tx, account_id, _new_record(known, tier))
        return await self.detail(account_id, name)

    async def _record_own(self, account_id: str, name: str, tier: Tier) -> None:
        found = await self.states.find(account_id, name)
        version = "" if isinstance(found, BrokenSkill) else found.manifest.version
        async with self.database.begin() as tx:
            await self.records.save(
                tx,
                account_id,
                NewRecord(
                    name,
                    source=OwnSource(),
                    tier=tier,
                    version=version,
                    folder_hash=found.snapshot.folder_hash,
                ),
            )

    async def _refuse_needed(self, account_id: str, name: str, bots: list[str]) -> None:
        known = await self.states.all(account_id)
        skills = {one: found.skill for one, found in known.items() if isinstance(found, ReadableSkill)}
        needed = dependents(name, skills)
        if bots or needed:
            raise Conflict(
                f"The skill {name} is needed by {', '.join([*bots, *needed][:10])}.",
                hint="Detach it first, or remove it anyway: --force.",
                detail={"bots": bots, "skills": needed},
            )


_WHY_NOT_TRIED = {
    SkillKind.PROMPT: "these are instructions",
    SkillKind.LOCAL: "a program needs exec_command granted first",
}


def _catalog_line(known: ReadableSkill) -> CatalogLine:
    return CatalogLine(known.manifest.name, known.manifest.description, known.manifest.kind)


def _new_record(known: ReadableSkill, tier: Tier) -> NewRecord:
    return NewRecord(
        known.manifest.name,
        source=known.source,
        tier=tier,
        version=known.manifest.version,
        folder_hash=known.snapshot.folder_hash,
    )


def _searchable_text(card: SkillCard) -> str:
    return " ".join([card.name, card.description, *card.categories]).lower()


def _changed(name: str) -> Conflict:
    return Conflict(f"The skill {name} changed since you reviewed it.", hint="Review it again.")


def card_of(known: ReadableSkill, bots: Sequence[str]) -> SkillCard:
    manifest = known.manifest
    return SkillCard(
        name=manifest.name,
        description=manifest.description,
        kind=manifest.kind,
        version=manifest.version,
        tier=known.tier,
        source=known.source,
        state=known.state,
        problem=known.problem or known.review_reason,
        capabilities=[one.capability for one in known.requested],
        granted=list(known.active_grants),
        categories=manifest.categories,
        bots=list(bots),
        changed_at=known.record.changed_at if known.record else None,
    )


def broken_card(name: str, broken: BrokenSkill, bots: Sequence[str]) -> SkillCard:
    """Build the card of a skill that cannot be read."""
    record = broken.record
    return SkillCard(
        name=name,
        tier=record.tier if record else Tier.UNTRUSTED,
        source=record.source if record else OwnSource(),
        state=SkillState.BROKEN,
        problem=broken.error.message,
        bots=list(bots),
    )


def detail_of(known: ReadableSkill, bots: Sequence[str], *, folder: str) -> SkillDetail:
    files, manifest = known.snapshot.files, known.manifest
    entries = find_entry_files(manifest.kind, files)
    return SkillDetail(
        **card_of(known, bots).model_dump(),
        manifest=manifest,
        body=known.composed.body,
        folder=folder,
        folder_hash=known.folder_hash,
        entry=entries[0] if entries else None,
        files=file_views(files),
        problems=validate(manifest.name, files).problems,
        asks=known.requested,
        grants=known.grants,
        limits=limits_of(known.tier),
        dependencies=known.dependencies,
        conflicts=known.conflicts,
        parents=known.parents,
        tests=[*find_cases(files)],
        installed_at=known.record.installed_at if known.record else None,
    )


def broken_detail(name: str, broken: BrokenSkill, bots: Sequence[str], *, folder: str) -> SkillDetail:
    """Build the details of a skill that cannot be read: enough to repair it."""
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


def limits_of(tier: Tier) -> LimitsView:
    limits = LIMITS[tier]
    return LimitsView(memory_bytes=limits.memory_bytes, fuel=limits.fuel, seconds=limits.seconds)
