"""Gives skills to bots and takes them away: each time a version of `skills.toml`, like every edit of it."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from forge.bots.errors import BotBlocked
from forge.bots.files.skills import parse_skills
from forge.bots.files.skills_editing import with_skill, without_skill
from forge.bots.folder import Folders
from forge.bots.models import Bot, BotFile, BotSkillChange, NewBotSkill, SkillEntry, SkillView
from forge.bots.problems import errors_of, said
from forge.bots.shelf import Offer, Shelf
from forge.bots.skill_hands import SkillHands
from forge.bots.versions.models import FileState
from forge.bots.versions.service import Versions
from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.skills.relations.versions import parse_range

Edit = Callable[[str, list[SkillEntry]], str]


class Attaching:
    def __init__(self, versions: Versions, folders: Folders, shelf: Shelf, hands: SkillHands) -> None:
        self._versions = versions
        self._folders = folders
        self._shelf = shelf
        self._hands = hands

    async def views(self, account_id: str, bot: Bot) -> list[SkillView]:
        return await self._shelf.views(account_id, await self._read(bot))

    async def attach(self, account_id: str, bot: Bot, new: NewBotSkill, *, by: str) -> SkillView:
        """A starter is copied into the library, so that it can be edited. One that cannot be taken up as it is is
        attached all the same, and says what is missing."""
        _check_pin(new.version)
        name = new.skill_name
        await self._hands.check_together([*(one.skill_name for one in await self._read(bot)), name])
        await self._hands.take(account_id, name)

        def add(text: str, entries: list[SkillEntry]) -> str:
            if any(one.skill_name == name for one in entries):
                raise Conflict(
                    f"{bot.slug} has the skill {name} already.",
                    hint="Change it in skills.toml, or detach it first.",
                )
            return with_skill(text, SkillEntry.model_validate(new.model_dump()))

        await self._edit(bot, add, f"Attach {name}", by=by)
        return await self._view(account_id, bot, name)

    async def change(
        self, account_id: str, bot: Bot, name: str, change: BotSkillChange, *, by: str
    ) -> SkillView:
        given = change.model_dump(exclude_unset=True)
        _check_pin(given.get("version"))

        def put(text: str, entries: list[SkillEntry]) -> str:
            old = _find(bot, entries, name)
            new = SkillEntry.model_validate({**old.model_dump(), **given})
            return text if new == old else with_skill(text, new)

        await self._edit(bot, put, _words(name, given), by=by)
        return await self._view(account_id, bot, name)

    async def detach(self, account_id: str, bot: Bot, name: str, *, by: str) -> SkillView:
        """The skill stays in the library."""
        view = await self._view(account_id, bot, name)

        def drop(text: str, entries: list[SkillEntry]) -> str:
            _find(bot, entries, name)
            return without_skill(text, name)

        await self._edit(bot, drop, f"Detach {name}", by=by)
        return view

    async def offer(self, account_id: str, bot: Bot, name: str) -> Offer | None:
        """None when the bot cannot take it up."""
        named = [entry for entry in await self._read(bot) if entry.skill_name == name]
        return next(iter(await self._shelf.offers(account_id, named)), None)

    async def having(self, bots: Iterable[Bot]) -> dict[str, list[str]]:
        """The slugs of the bots that name each skill, enabled or not. A file that cannot be read names none."""
        return await asyncio.to_thread(self._having, list(bots))

    def _having(self, bots: list[Bot]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for bot in sorted(bots, key=lambda bot: bot.slug):
            for entry in self._entries(bot):
                found.setdefault(entry.skill_name, []).append(bot.slug)
        return found

    def _entries(self, bot: Bot) -> list[SkillEntry]:
        try:
            text = self._folders.read(bot.slug, BotFile.SKILLS)
        except ForgeError:  # its own page says what is wrong with it
            return []
        return parse_skills(text or "").value or []

    async def _edit(self, bot: Bot, edit: Edit, message: str, *, by: str) -> None:
        def change(state: FileState) -> str:
            return edit(state.content or "", _named_in(state))

        await self._versions.edit(bot, BotFile.SKILLS, change, message, by=by)

    async def _read(self, bot: Bot) -> list[SkillEntry]:
        return _named_in(await self._versions.state(bot, BotFile.SKILLS))

    async def _view(self, account_id: str, bot: Bot, name: str) -> SkillView:
        entries = await self._read(bot)
        (view,) = await self._shelf.views(account_id, [_find(bot, entries, name)])
        return view


def _named_in(state: FileState) -> list[SkillEntry]:
    entries = parse_skills(state.content).value if state.content is not None else None
    if entries is None:
        errors = errors_of(state.problems)
        raise BotBlocked(said(errors[0]) if errors else "skills.toml is gone.")
    return entries


def _find(bot: Bot, entries: list[SkillEntry], name: str) -> SkillEntry:
    for entry in entries:
        if entry.skill_name == name:
            return entry
    raise NotFound(
        f"{bot.slug} has no skill called {name}.", hint=f"Give it one: forge skill attach {name} {bot.slug}"
    )


def _check_pin(version: str | None) -> None:
    if version is not None and parse_range(version) is None:
        raise Invalid(
            f"{version} is no version and no range of them.",
            hint="Such as 1.2.0, ^1.2, ~1.2, or >=1.0,<2.",
            field="version",
        )


def _words(name: str, given: dict[str, Any]) -> str:
    if set(given) == {"enabled"}:
        return f"{'Enable' if given['enabled'] else 'Disable'} {name}"
    return f"Change {name}: {', '.join(given)}"
