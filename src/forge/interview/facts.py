"""What an interview begins with: what the house has to offer, what is remembered, and who could speak."""

from dataclasses import dataclass

from forge.bots.service import Bots
from forge.errors import ForgeError
from forge.interview import store
from forge.interview.categories import Purpose, defaults_for, purpose_key, purpose_name
from forge.interview.config import DEFAULT_MODEL
from forge.interview.state import Facts, ModelOffer, Remembered
from forge.llm.catalog import Catalog, Target
from forge.llm.models import Role
from forge.skills.library import Library
from forge.skills.suggesting import suggest
from forge.store.engine import Store

MAX_REMEMBERED = 3
MAX_MODELS = 5


@dataclass(frozen=True)
class Voice:
    """Which model could speak; or why none can."""

    model: str | None
    why: str | None = None


class FactFinder:
    def __init__(self, database: Store, bots: Bots, library: Library, catalog: Catalog) -> None:
        self._database = database
        self._bots = bots
        self._library = library
        self._catalog = catalog

    async def find(self, account_id: str, description: str, purpose: Purpose) -> Facts:
        bots = await self._bots.names(account_id)
        async with self._database.read() as tx:
            entries = await store.recall_by_category(tx, account_id, purpose_key(purpose), MAX_REMEMBERED)
        kept, library = set(Remembered.model_fields), await self._library.all()
        return Facts(
            skills=suggest(
                description,
                defaults_for(purpose).skills,
                library,
                kind=purpose_name(purpose),
            ),
            models=await self.models(account_id),
            remembered=[Remembered(**entry.model_dump(include=kept)) for entry in entries],
            bot_names=bots,
            skill_names=sorted(skill.manifest.name for skill in library),
        )

    async def voice(self, account_id: str) -> Voice:
        try:
            [target, *_] = await self._catalog.chain(account_id, "", Role.INTERVIEWER)
            await self._catalog.key(target, account_id, "")
        except ForgeError as error:
            return Voice(None, error.message)
        return Voice(target.ref)

    async def models(self, account_id: str) -> list[ModelOffer]:
        """What is chosen for bots first, then the others that somebody chose for something."""
        async with self._database.read() as tx:
            chosen = await self._catalog.in_use(tx, account_id)
        [usual, *_] = await self._catalog.chain(account_id, "", Role.BOT)
        offers = [await self._usual(account_id, usual)]
        for ref, place in chosen.items():
            if ref != usual.ref and len(offers) < MAX_MODELS:
                offers += await self._offer(account_id, ref, place)
        return offers

    async def _usual(self, account_id: str, target: Target) -> ModelOffer:
        return ModelOffer(
            ref=DEFAULT_MODEL,
            label=f"What is chosen for bots ({target.ref})",
            reason=f"Follows Settings, Models: change it there for all bots at once. {_price(target)}",
            has_key=await self._has_key(account_id, target),
        )

    async def _offer(self, account_id: str, ref: str, place: str) -> list[ModelOffer]:
        try:
            target = await self._catalog.target(account_id, ref)
        except ForgeError:
            return []  # without a price it cannot be called: nothing to offer
        has_key = await self._has_key(account_id, target)
        reason = f"Already chosen in {place}. {_price(target)}"
        return [ModelOffer(ref=target.ref, label=target.ref, reason=reason, has_key=has_key)]

    async def _has_key(self, account_id: str, target: Target) -> bool:
        try:
            await self._catalog.key(target, account_id, "")
        except ForgeError:
            return False
        return True


def _price(target: Target) -> str:
    price = target.price
    if not price.input and not price.output:
        return "Costs nothing."
    return f"${price.input:g} for a million tokens read, ${price.output:g} written."
