"""All that a bot's files say, for a conversation with it; or why there cannot be one."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from forge.bots.errors import BotBlocked
from forge.bots.files.identity import parse_identity
from forge.bots.files.parsed import Parsed
from forge.bots.files.skills import parse_skills
from forge.bots.files.soul import parse_soul
from forge.bots.files.user import parse_user
from forge.bots.models import BotFile, Identity, SkillEntry, Soul
from forge.bots.problems import said
from forge.bots.versions.naming import typed
from forge.bots.versions.standing import Standing
from forge.errors import Internal

T = TypeVar("T")

NOT_ACCEPTED = "SOUL.md was changed outside of Forge and nobody has accepted it."


@dataclass(frozen=True)
class BotFiles:
    soul: Soul
    soul_text: str
    soul_version: int
    identity: Identity
    user: str
    skills: list[SkillEntry]


@dataclass(frozen=True)
class Block:
    """Why a bot cannot be talked to, and what to do about it."""

    reason: str
    hint: str


def find_block(slug: str, standings: Iterable[Standing]) -> Block | None:
    return next((block for standing in standings if (block := _block(slug, standing))), None)


def texts(slug: str, standings: Mapping[BotFile, Standing]) -> dict[BotFile, str]:
    """Of the very files that were judged."""
    if block := find_block(slug, standings.values()):
        raise BotBlocked(block.reason, hint=block.hint)
    return {file: standing.disk.text or "" for file, standing in standings.items()}


def whole(slug: str, standings: Mapping[BotFile, Standing]) -> BotFiles:
    text = texts(slug, standings)
    return BotFiles(
        soul=_value(parse_soul(text[BotFile.SOUL])),
        soul_text=text[BotFile.SOUL],
        soul_version=standings[BotFile.SOUL].head.number,
        identity=_value(parse_identity(text[BotFile.IDENTITY])),
        user=_value(parse_user(text[BotFile.USER])),
        skills=_value(parse_skills(text[BotFile.SKILLS])),
    )


def _block(slug: str, standing: Standing) -> Block | None:
    which = typed(slug, standing.file)
    if standing.disk.text is None:
        return Block(said(standing.problems[0]), f"Write it back: forge bots files rollback {which}")
    if standing.file is BotFile.SOUL and not standing.is_accepted:
        return Block(
            NOT_ACCEPTED,
            f"See what changed: forge bots files diff {which}. Then: forge bots files accept {which}, "
            f"or: forge bots files rollback {which}",
        )
    if standing.errors:
        return Block(
            said(standing.errors[0]),
            f"Correct it: forge bots files edit {which}. Or go back: forge bots files rollback {which}",
        )
    return None


def _value(parsed: Parsed[T]) -> T:
    if parsed.value is None:
        raise Internal("A file without a mistake could not be read.")
    return parsed.value
