"""Resolve the models of a bot, and check that their API keys exist."""

from collections.abc import Iterable

from forge.bots.models import Bot, Identity
from forge.llm.catalog import Catalog, Resolved, Target
from forge.llm.errors import ModelKeyRefused
from forge.llm.models import Role


def bot_scope(bot_id: str) -> str:
    """Return the scope of a bot's model choices, secrets and calls."""
    return f"bot:{bot_id}"


class ModelReadiness:
    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def targets(
        self, account_id: str, bot_id: str, identity: Identity, *, model: str | None = None
    ) -> list[Target]:
        """Return the requested model or the one of IDENTITY.md; else the chain chosen for this bot, or for bots."""
        ref = model or identity.ref
        if ref is not None:
            return [await self._catalog.target(account_id, ref)]
        return await self._catalog.chain(account_id, bot_scope(bot_id), Role.BOT)

    async def check(
        self, account_id: str, bot_id: str, identity: Identity, *, model: str | None = None
    ) -> list[Target]:
        """Return the same, but raise if the API key of the first model is missing."""
        targets = await self.targets(account_id, bot_id, identity, model=model)
        try:
            await self._catalog.credential(targets[0].provider, account_id, bot_scope(bot_id))
        except ModelKeyRefused as error:
            hint = (
                f"Set it: forge secrets set {targets[0].provider.key_name}, or Settings, Models. "
                "Without a key: forge models serve, then forge models demo."
            )
            raise ModelKeyRefused(error.message, hint=hint) from error
        return targets

    async def models(self, account_id: str, bots: Iterable[Bot]) -> dict[str, Resolved]:
        """Return the first model of each bot by bot id; problems are part of the result."""
        named = {bot_scope(bot.id): bot for bot in bots}
        wanted = {scope: bot.identity.ref for scope, bot in named.items()}
        found = await self._catalog.resolve_first(account_id, Role.BOT, wanted)
        return {named[scope].id: resolved for scope, resolved in found.items()}
