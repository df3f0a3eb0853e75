"""Find the skills of a bot, and attach, change and detach them by editing `skills.toml`."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from forge.bots.errors import BotBlocked
from forge.bots.files.folders import BotFolders
from forge.bots.files.problems import describe_problem, errors_of
from forge.bots.files.skills_toml import parse_skills, with_skill, without_skill
from forge.bots.management.skill_access import LibrarySkill, SkillAccess
from forge.bots.models import Bot, BotFile, BotSkillChange, NewBotSkill, SkillEntry, SkillView
from forge.bots.versions.models import FileState
from forge.bots.versions.service import Versions
from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.skills.models import Capability
from forge.skills.relations.semver import parse_range, parse_version
from forge.skills.views import SkillState

DESCRIPTION = "description"
"""The override that replaces the description of the skill."""
ORIGIN = "origin"
"""A note on how the skill was attached; not passed to the skill."""


@dataclass(frozen=True)
class OfferedSkill:
    """A skill that a bot can use."""

    entry: SkillEntry
    seen: LibrarySkill

    @property
    def description(self) -> str:
        return self.entry.overrides.get(DESCRIPTION, "").strip() or self.seen.description

    @property
    def settings(self) -> dict[str, str]:
        own = (DESCRIPTION, ORIGIN)
        return {key: value for key, value in self.entry.overrides.items() if key not in own}

    @property
    def narrowed(self) -> list[Capability] | None:
        if self.entry.capabilities is None:
            return None
        return [one for one in Capability if one in self.entry.capabilities]


class BotSkills:
    def __init__(self, access: SkillAccess) -> None:
        self._access = access

    async def offered(self, account_id: str, entries: Iterable[SkillEntry]) -> list[OfferedSkill]:
        """Return the enabled, readable skills of the required version, by name."""
        wanted = {entry.skill_name: entry for entry in entries if entry.enabled}
        found = await self._find(account_id, wanted)
        return [
            OfferedSkill(wanted[name], seen)
            for name, seen in found.items()
            if isinstance(seen, LibrarySkill) and _unusable_reason(wanted[name], seen) is None
        ]

    async def views(self, account_id: str, entries: Iterable[SkillEntry]) -> list[SkillView]:
        """Return all skills, by name, each with its problem."""
        named = {entry.skill_name: entry for entry in entries}
        found = await self._find(account_id, named)
        return [_view(named[name], seen) for name, seen in found.items()]

    async def _find(
        self, account_id: str, entries: Mapping[str, SkillEntry]
    ) -> dict[str, LibrarySkill | ForgeError]:
        return await self._access.find(account_id, sorted(entries)) if entries else {}


def _unusable_reason(entry: SkillEntry, seen: LibrarySkill) -> str | None:
    """Return why a bot cannot use the skill."""
    if seen.state is SkillState.BROKEN:
        return seen.problem or "The skill cannot be used."
    if not entry.version:
        return None
    wanted, actual = parse_range(entry.version), parse_version(seen.version)
    if wanted is None:
        return f"skills.toml requires version {entry.version}, which is not a version or a version range."
    if wanted.is_any or (actual is not None and actual in wanted):
        return None
    return f"skills.toml requires version {entry.version}, but the library has {seen.version}."


def _view(entry: SkillEntry, found: LibrarySkill | ForgeError) -> SkillView:
    view = SkillView(
        name=entry.skill_name,
        enabled=entry.enabled,
        pin=entry.version,
        narrowed=entry.capabilities,
        overrides=entry.overrides,
    )
    if isinstance(found, ForgeError):
        return view.model_copy(update={"problem": found.message})
    reason = _unusable_reason(entry, found)
    return view.model_copy(
        update={
            "description": OfferedSkill(entry, found).description,
            "kind": found.kind,
            "version": found.version,
            "state": found.state,
            "tier": found.tier,
            "is_offered": entry.enabled and reason is None,
            "problem": reason or found.problem,
            "capabilities": list(found.asks),
            "granted": list(found.granted),
        }
    )


class SkillAttachments:
    def __init__(
        self, versions: Versions, folders: BotFolders, skills: BotSkills, access: SkillAccess
    ) -> None:
        self._versions = versions
        self._folders = folders
        self._skills = skills
        self._access = access

    async def views(self, account_id: str, bot: Bot) -> list[SkillView]:
        return await self._skills.views(account_id, await self._read(bot))

    async def attach(self, account_id: str, bot: Bot, new: NewBotSkill, *, by: str) -> SkillView:
        """Attach a skill. A starter is copied into the library first. A skill that cannot be used yet is attached too; its view
        shows the problem."""
        _check_version_range(new.version)
        name = new.skill_name
        await self._access.check_together([*(one.skill_name for one in await self._read(bot)), name])
        await self._access.add_to_library(account_id, name)

        def add(text: str, entries: list[SkillEntry]) -> str:
            if any(one.skill_name == name for one in entries):
                raise Conflict(
                    f"{bot.slug} already has the skill {name}.",
                    hint="Change it in skills.toml, or detach it first.",
                )
            return with_skill(text, SkillEntry.model_validate(new.model_dump()))

        await self._edit(bot, add, f"Attach {name}", by=by)
        return await self._view(account_id, bot, name)

    async def change(
        self, account_id: str, bot: Bot, name: str, change: BotSkillChange, *, by: str
    ) -> SkillView:
        fields = change.model_dump(exclude_unset=True)
        _check_version_range(fields.get("version"))

        def replace(text: str, entries: list[SkillEntry]) -> str:
            old = _find(bot, entries, name)
            new = SkillEntry.model_validate({**old.model_dump(), **fields})
            return text if new == old else with_skill(text, new)

        await self._edit(bot, replace, _change_message(name, fields), by=by)
        return await self._view(account_id, bot, name)

    async def detach(self, account_id: str, bot: Bot, name: str, *, by: str) -> SkillView:
        """Detach a skill. It stays in the library."""
        view = await self._view(account_id, bot, name)

        def remove(text: str, entries: list[SkillEntry]) -> str:
            _find(bot, entries, name)
            return without_skill(text, name)

        await self._edit(bot, remove, f"Detach {name}", by=by)
        return view

    async def find_offered(self, account_id: str, bot: Bot, name: str) -> OfferedSkill | None:
        """Return a skill as the bot uses it; None if it cannot."""
        named = [entry for entry in await self._read(bot) if entry.skill_name == name]
        return next(iter(await self._skills.offered(account_id, named)), None)

    async def slugs_by_skill(self, bots: Iterable[Bot]) -> dict[str, list[str]]:
        """Map each skill to the slugs of the bots that have it, enabled or not. Unreadable files are skipped."""
        return await asyncio.to_thread(self._slugs_by_skill, list(bots))

    def _slugs_by_skill(self, bots: list[Bot]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for bot in sorted(bots, key=lambda bot: bot.slug):
            for entry in self._entries(bot):
                found.setdefault(entry.skill_name, []).append(bot.slug)
        return found

    def _entries(self, bot: Bot) -> list[SkillEntry]:
        try:
            text = self._folders.read(bot.slug, BotFile.SKILLS)
        except ForgeError:  # its problem is shown on the page of the bot
            return []
        return parse_skills(text or "").value or []

    async def _edit(
        self, bot: Bot, edit: Callable[[str, list[SkillEntry]], str], message: str, *, by: str
    ) -> None:
        def change(state: FileState) -> str:
            return edit(state.content or "", _entries_of(state))

        await self._versions.edit(bot, BotFile.SKILLS, change, message, by=by)

    async def _read(self, bot: Bot) -> list[SkillEntry]:
        return _entries_of(await self._versions.state(bot, BotFile.SKILLS))

    async def _view(self, account_id: str, bot: Bot, name: str) -> SkillView:
        entries = await self._read(bot)
        (view,) = await self._skills.views(account_id, [_find(bot, entries, name)])
        return view


def _entries_of(state: FileState) -> list[SkillEntry]:
    entries = parse_skills(state.content).value if state.content is not None else None
    if entries is None:
        errors = errors_of(state.problems)
        raise BotBlocked(describe_problem(errors[0]) if errors else "skills.toml is missing.")
    return entries


def _find(bot: Bot, entries: list[SkillEntry], name: str) -> SkillEntry:
    for entry in entries:
        if entry.skill_name == name:
            return entry
    raise NotFound(
        f"{bot.slug} has no skill {name}.", hint=f"Attach it: forge skill attach {name} {bot.slug}"
    )


def _check_version_range(version: str | None) -> None:
    if version is not None and parse_range(version) is None:
        raise Invalid(
            f"{version} is not a version or a version range.",
            hint="Examples: 1.2.0, ^1.2, ~1.2, >=1.0,<2.",
            field="version",
        )


def _change_message(name: str, fields: dict[str, Any]) -> str:
    if set(fields) == {"enabled"}:
        return f"{'Enable' if fields['enabled'] else 'Disable'} {name}"
    return f"Change {name}: {', '.join(fields)}"
