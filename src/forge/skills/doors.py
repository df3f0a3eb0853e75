"""What skills have to know of bots, which stand above them: wired in where everything fits together."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from forge.skills.models import Capability

Having = Callable[[str], Awaitable[Mapping[str, list[str]]]]
"""Of an account: the slugs of the bots that have a skill, by its name."""


@dataclass(frozen=True)
class BotUse:
    """A skill as a bot uses it."""

    bot_id: str
    settings: Mapping[str, str]
    narrowed: list[Capability] | None


Using = Callable[[str, str, str], Awaitable[BotUse]]
"""Of an account, a bot and a skill. Raises NotFound when the bot does not have it."""


@dataclass(frozen=True)
class BotDoor:
    having: Having
    using: Using
