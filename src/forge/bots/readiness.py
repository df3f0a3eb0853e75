"""Whether a bot could answer now: which models it asks, and whether there is a key for them."""

from collections.abc import Iterable

from forge.bots.models import Bot, Identity
from forge.llm.catalog import Catalog, Resolved, Target
from forge.llm.errors import ModelKeyRefused
from forge.llm.models import Role


def bot_scope(bot_id: str) -> str:
    """Under which a bot's choices, secrets and calls are kept."""
    return f"bot:{bot_id}"


class Readiness:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def targets(
        self, account_id: str, bot_id: str, identity: Identity, *, model: str | None = None
    ) -> list[Target]:
        """The model that is wished for, or that its IDENTITY.md names, and no other; else what is chosen for it, or for
        bots."""
        ref = model or identity.ref
        if ref is not None:
            return [await self._catalog.target(account_id, ref)]
        return await self._catalog.chain(account_id, bot_scope(bot_id), Role.BOT)

    async def check(
        self, account_id: str, bot_id: str, identity: Identity, *, model: str | None = None
    ) -> list[Target]:
        """The same, when the first of them can be asked: a person is told what is missing before a word is said."""
        targets = await self.targets(account_id, bot_id, identity, model=model)
        try:
            await self._catalog.key(targets[0], account_id, bot_scope(bot_id))
        except ModelKeyRefused as error:
            hint = (
                f"Set it: forge secrets set {targets[0].provider.key_name}, or Settings, Models. "
                "Without a key: forge models serve, then forge models demo."
            )
            raise ModelKeyRefused(error.message, hint=hint) from error
        return targets

    async def models(self, account_id: str, bots: Iterable[Bot]) -> dict[str, Resolved]:
        """The model each bot asks first, by its id; what is wrong with it is told, not raised."""
        named = {bot_scope(bot.id): bot for bot in bots}
        wanted = {scope: bot.identity.ref for scope, bot in named.items()}
        found = await self._catalog.first_of_each(account_id, Role.BOT, wanted)
        return {named[scope].id: resolved for scope, resolved in found.items()}
