"""Create and reconfigure bots with their skills, and validate their configs."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime

from forge.bots.management.creation import NewBotFiles, slug_of
from forge.bots.management.service import Bots
from forge.bots.models import Bot, BotFile, Category
from forge.bots.versions.models import NewContent
from forge.bots.versions.service import Versions
from forge.errors import Internal, Invalid, NotFound
from forge.interview.assembly.bot_files import BotDraft, changed_files, render_bots
from forge.interview.assembly.bot_skills import SkillAdditions, added_skills
from forge.interview.assembly.file_changes import (
    hash_changes,
    new_bot_changes,
    new_skill_changes,
    reconfigured_bot_changes,
)
from forge.interview.domain.build_config import DEFAULT_MODEL, BuilderConfig, ModelConfig, SkillRequest
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import BotMade, Made, State
from forge.interview.errors import NotThisMode
from forge.interview.models import FileChange
from forge.kernel.hashing import hash_text
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import ModelUnknown
from forge.llm.models import ProviderKind, Role
from forge.skills.models import SkillFiles
from forge.store.database import Tx

FinishInterview = Callable[[Tx, Made], Awaitable[None]]
"""Called in the creating transaction. Raises if the interview is already finished, which rolls everything
back."""


class BotCreator:
    def __init__(self, bots: Bots, skills: SkillAdditions, clock: Callable[[], datetime]) -> None:
        self._bots = bots
        self._skills = skills
        self._clock = clock

    async def plan(self, state: State, config: BuilderConfig) -> list[FileChange]:
        drafts = render_bots(state, config)
        slugs = await self._bots.free_slugs([draft.slug for draft in drafts])
        return [*new_bot_changes(drafts, slugs), *new_skill_changes(await self._skills.new(config.skills))]

    async def make(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, finish: FinishInterview
    ) -> Made:
        """Finish the interview first, then write skills and folders, so that the loser of a race is rejected
        before it touches a file."""
        drafts, additions, made = render_bots(state, config), self._skills.open(), list[Made]()

        async def finish_and_add_skills(tx: Tx, bots: list[Bot]) -> None:
            made.append(self._made(bots, drafts, await self._skills.new(config.skills), config))
            await finish(tx, made[0])
            await additions.add_all(config.skills)

        new = [NewBotFiles(draft.slug, draft.contents) for draft in drafts]
        try:
            await self._bots.create_all(account_id, new, by=by, in_transaction=finish_and_add_skills)
        except BaseException:
            if not made or not await self._exists(account_id, made[0]):
                await additions.undo()
            raise
        return made[0]

    def _made(
        self, bots: list[Bot], drafts: list[BotDraft], written: list[SkillFiles], config: BuilderConfig
    ) -> Made:
        changes = [*new_bot_changes(drafts, [bot.slug for bot in bots]), *new_skill_changes(written)]
        return Made(
            bots=[_bot_made(self._bots, bot, bot.identity.display_name, config) for bot in bots],
            hashes=hash_changes(changes),
            config=config.model_dump(mode="json"),
            at=self._clock(),
        )

    async def _exists(self, account_id: str, made: Made) -> bool:
        """Check whether the bot exists: a connection lost during the commit leaves that open."""
        try:
            await self._bots.find(account_id, made.bots[0].bot_id)
        except NotFound:
            return False
        return True


def _bot_made(bots: Bots, bot: Bot, name: str, config: BuilderConfig, *, is_new: bool = True) -> BotMade:
    folder = bots.folder(bot.slug)
    return BotMade(
        bot_id=bot.id,
        bot_slug=bot.slug,
        bot_name=name,
        soul_path=str(folder / BotFile.SOUL.file_name),
        identity_path=str(folder / BotFile.IDENTITY.file_name),
        user_path=str(folder / BotFile.USER.file_name),
        skills_attached=[request.name for request in config.skills],
        is_new=is_new,
    )


VERSION_MESSAGE = "Reconfigured with Forge"


class BotReconfigurer:
    def __init__(
        self, bots: Bots, versions: Versions, skills: SkillAdditions, clock: Callable[[], datetime]
    ) -> None:
        self._bots = bots
        self._versions = versions
        self._skills = skills
        self._clock = clock

    async def plan(self, account_id: str, state: State, config: BuilderConfig) -> list[FileChange]:
        bot = await self._find(account_id, state)
        before = await self._versions.contents(bot)
        after = await _changed(state, config, before)
        return await self._changes(bot, before, after, added_skills(state, config))

    async def make(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, finish: FinishInterview
    ) -> Made:
        bot = await self._find(account_id, state)
        before = await self._versions.contents(bot)
        after = await _changed(state, config, before)
        added, additions = added_skills(state, config), self._skills.open()
        made = self._made(bot, await self._changes(bot, before, after, added), config)

        async def finish_and_add_skills(tx: Tx) -> None:
            await finish(tx, made)
            await additions.add_all(added)

        new = {
            file: NewContent.of(file, text, hash_text(before[file]), VERSION_MESSAGE)
            for file, text in after.items()
        }
        await self._versions.save_all(bot, new, by=by, in_transaction=finish_and_add_skills)
        return made

    async def _find(self, account_id: str, state: State) -> Bot:
        ref = state.basis.bot_id or state.basis.bot_slug
        if ref is None:
            raise Internal("The interview does not name the bot to change.")
        return await self._bots.find(account_id, ref)

    async def _changes(
        self, bot: Bot, before: Mapping[BotFile, str], after: Mapping[BotFile, str], added: list[SkillRequest]
    ) -> list[FileChange]:
        written = await self._skills.new(added)
        return [*reconfigured_bot_changes(bot.slug, before, after), *new_skill_changes(written)]

    def _made(self, bot: Bot, changes: list[FileChange], config: BuilderConfig) -> Made:
        return Made(
            bots=[_bot_made(self._bots, bot, config.name, config, is_new=False)],
            hashes=hash_changes(changes),
            before={change.path: change.before for change in changes if change.before is not None},
            config=config.model_dump(mode="json"),
            at=self._clock(),
        )


async def _changed(state: State, config: BuilderConfig, before: Mapping[BotFile, str]) -> dict[BotFile, str]:
    """Compute the changed files in a thread: hand-written files may be long."""
    return await asyncio.to_thread(changed_files, state, config, before)


class ConfigValidator:
    def __init__(self, catalog: Catalog, skills: SkillAdditions) -> None:
        self._catalog = catalog
        self._skills = skills

    async def check(self, account_id: str, config: BuilderConfig, state: State) -> BuilderConfig:
        """Raise when the settings are invalid."""
        _check_mode(state, config)
        names = [variant.name for variant in config.variants] or [config.name]
        for name in [config.name, *names]:
            slug_of(name)
        _require_distinct(names, "Two of the bots have the same name: {}.", "variants")
        if config.category not in set(Category):
            known = ", ".join(Category)
            raise Invalid(
                f"Unknown category {config.category!r}.", hint=f"Choose one of: {known}.", field="category"
            )
        await self._check_model(account_id, config.model_settings)
        await self._skills.check(added_skills(state, config))
        return config

    async def _check_model(self, account_id: str, wanted: ModelConfig) -> None:
        target = await self._target(account_id, wanted.model)
        if target is None:
            return
        if wanted.temperature > 1 and target.provider.kind is ProviderKind.ANTHROPIC:
            raise Invalid(
                f"Temperature {wanted.temperature:g} is too high for {target.ref}, which accepts at most 1.",
                hint="Lower the temperature, or choose another model.",
                field="model_config.temperature",
            )
        if wanted.max_tokens >= target.price.context_window:
            raise Invalid(
                f"Answers of {wanted.max_tokens:,} tokens do not fit the context window of {target.ref}, which has "
                f"{target.price.context_window:,} tokens for question and answer together.",
                hint="Lower max_tokens, or choose a model with a larger context window.",
                field="model_config.max_tokens",
            )

    async def _target(self, account_id: str, model: str) -> Target | None:
        """Resolve the model. None when the default is not set up yet: a bot may be created before that."""
        if model != DEFAULT_MODEL:
            return await self._catalog.target(account_id, model)
        try:
            return (await self._catalog.chain(account_id, "", Role.BOT))[0]
        except (ModelUnknown, Invalid):
            return None


def _check_mode(state: State, config: BuilderConfig) -> None:
    """Raise when the settings belong to another kind of interview."""
    if not state.mode.makes_bots:
        raise NotThisMode.is_about_a_skill()
    if config.variants and state.mode is not Mode.BATCH:
        raise Invalid(
            "Only a batch creates several bots.",
            hint="Start an interview with mode `batch`.",
            field="variants",
        )


def _require_distinct(names: Iterable[str], message: str, field: str) -> None:
    seen = set[str]()
    for name in names:
        if name.casefold() in seen:
            raise Invalid(message.format(name), hint="Give each bot a different name.", field=field)
        seen.add(name.casefold())
