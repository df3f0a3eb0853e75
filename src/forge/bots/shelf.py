"""The skills of a bot: what the library has of those its file names, and which of them it can take up."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from forge.bots.models import SkillEntry, SkillView
from forge.bots.skill_hands import SkillHands, SkillSeen
from forge.errors import ForgeError
from forge.skills.models import Capability
from forge.skills.relations.versions import parse_range, parse_version
from forge.skills.views import SkillState

DESCRIPTION = "description"
"""The override that takes the place of what the skill says it is for."""
ORIGIN = "origin"
"""A note of Forge's on how the skill came to the bot; the skill is not told."""


@dataclass(frozen=True)
class Offer:
    """A skill that a bot can take up."""

    entry: SkillEntry
    seen: SkillSeen

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


class Shelf:
    def __init__(self, hands: SkillHands) -> None:
        self._hands = hands

    async def offers(self, account_id: str, entries: Iterable[SkillEntry]) -> list[Offer]:
        """Those that are enabled, can be read and are of the version that is wanted; by name."""
        wanted = {entry.skill_name: entry for entry in entries if entry.enabled}
        found = await self._look(account_id, wanted)
        return [
            Offer(wanted[name], seen)
            for name, seen in found.items()
            if isinstance(seen, SkillSeen) and _refusal(wanted[name], seen) is None
        ]

    async def views(self, account_id: str, entries: Iterable[SkillEntry]) -> list[SkillView]:
        """All of them, by name, each with what keeps it from the conversation."""
        named = {entry.skill_name: entry for entry in entries}
        found = await self._look(account_id, named)
        return [_view(named[name], seen) for name, seen in found.items()]

    async def _look(
        self, account_id: str, entries: Mapping[str, SkillEntry]
    ) -> dict[str, SkillSeen | ForgeError]:
        return await self._hands.look(account_id, sorted(entries)) if entries else {}


def _refusal(entry: SkillEntry, seen: SkillSeen) -> str | None:
    """Why a bot cannot take it up."""
    if seen.state is SkillState.BROKEN:
        return seen.problem or "It cannot be used as it is."
    if not entry.version:
        return None
    wanted, there = parse_range(entry.version), parse_version(seen.version)
    if wanted is None:
        return f"skills.toml wants the version {entry.version}, which is no version and no range of them."
    if wanted.is_any or (there is not None and there in wanted):
        return None
    return f"skills.toml wants the version {entry.version}, and the library has {seen.version}."


def _view(entry: SkillEntry, found: SkillSeen | ForgeError) -> SkillView:
    said = SkillView(
        name=entry.skill_name,
        enabled=entry.enabled,
        pin=entry.version,
        narrowed=entry.capabilities,
        overrides=entry.overrides,
    )
    if isinstance(found, ForgeError):
        return said.model_copy(update={"problem": found.message})
    refusal = _refusal(entry, found)
    return said.model_copy(
        update={
            "description": Offer(entry, found).description,
            "kind": found.kind,
            "version": found.version,
            "state": found.state,
            "tier": found.tier,
            "is_offered": entry.enabled and refusal is None,
            "problem": refusal or found.problem,
            "capabilities": list(found.asks),
            "granted": list(found.granted),
        }
    )
