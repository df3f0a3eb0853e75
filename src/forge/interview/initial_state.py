"""Create the initial state of an interview: what is known, what is available, and who asks."""

from dataclasses import dataclass
from typing import Any

from forge.bots.management.service import Bots
from forge.bots.models import MAX_BOT_DESCRIPTION
from forge.errors import ForgeError, Invalid
from forge.interview import engine, store
from forge.interview.assembly.assembler import Assembler
from forge.interview.assembly.bot_files import fields_from_soul
from forge.interview.domain.build_config import DEFAULT_MODEL, Fields
from forge.interview.domain.categories import Purpose, classify, defaults_for, purpose_key, purpose_name
from forge.interview.domain.config_builder import initial_fields
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis, Facts, InterviewSpeaker, ModelOffer, Remembered, State
from forge.interview.models import NewSession
from forge.llm.catalog import Catalog, Target
from forge.llm.models import Role
from forge.skills.library.library import Library
from forge.skills.suggestions import suggest_skills
from forge.store.database import Store

MAX_REMEMBERED = 3
MAX_MODELS = 5


@dataclass(frozen=True)
class AvailableModel:
    """The model that could lead the interview, or why there is none."""

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
            skills=suggest_skills(
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

    async def available_model(self, account_id: str) -> AvailableModel:
        try:
            [target, *_] = await self._catalog.chain(account_id, "", Role.INTERVIEWER)
            await self._catalog.credential(target.provider, account_id, "")
        except ForgeError as error:
            return AvailableModel(None, error.message)
        return AvailableModel(target.ref)

    async def models(self, account_id: str) -> list[ModelOffer]:
        """List the model chosen for bots, then those chosen for other roles; those that can be used first."""
        async with self._database.read() as tx:
            chosen = await self._catalog.in_use(tx, account_id)
        [usual, *_] = await self._catalog.chain(account_id, "", Role.BOT)
        offers = [await self._usual(account_id, usual)]
        for ref, place in chosen.items():
            if ref != usual.ref:
                offers += await self._offer(account_id, ref, place)
        return sorted(offers, key=lambda offer: not offer.has_key)[:MAX_MODELS]

    async def _usual(self, account_id: str, target: Target) -> ModelOffer:
        return ModelOffer(
            ref=DEFAULT_MODEL,
            label=f"The model chosen for bots ({target.ref})",
            reason=f"Follows Settings, Models: change it there for all bots at once. {_price(target)}",
            **await self._usability(account_id, target),
        )

    async def _offer(self, account_id: str, ref: str, place: str) -> list[ModelOffer]:
        try:
            target = await self._catalog.target(account_id, ref)
        except ForgeError:
            return []  # a model without a price cannot be called
        reason = f"Already chosen in {place}. {_price(target)}"
        usability = await self._usability(account_id, target)
        return [ModelOffer(ref=target.ref, label=target.ref, reason=reason, **usability)]

    async def _usability(self, account_id: str, target: Target) -> dict[str, Any]:
        try:
            await self._catalog.credential(target.provider, account_id, "")
        except ForgeError as error:
            return {"has_key": False, "problem": error.message}
        return {"has_key": True}


def _price(target: Target) -> str:
    price = target.price
    if not price.input and not price.output:
        return "Costs nothing."
    return f"${price.input:g} for a million tokens read, ${price.output:g} written."


MIN_VARIANTS = 2


@dataclass(frozen=True)
class InitialStates:
    facts: FactFinder
    bots: Bots
    assembler: Assembler
    library: Library

    async def create(self, account_id: str, new: NewSession, session_id: str) -> State:
        """Return the state with its first turn, or with a model turn due."""
        basis = await self._basis(account_id, new)
        description = new.description.strip()
        purpose = classify(f"{description} {basis.fields.description or ''} {basis.fields.purpose or ''}")
        voice = await self.facts.available_model(account_id)
        speaker, why = _speaker(new.speaker, voice)
        state = State(
            session_id=session_id,
            mode=new.mode,
            description=description,
            found_purpose=purpose,
            speaker=speaker,
            why_guide=why,
            model=voice.model,
            basis=basis,
            facts=await self.facts.find(account_id, description, purpose),
            opening=initial_fields(new.mode, description, purpose, basis),
        )
        return engine.begin(state)

    async def _basis(self, account_id: str, new: NewSession) -> Basis:
        if new.soul is not None and new.mode in (Mode.RECONFIGURE, Mode.SKILL):
            raise Invalid("`soul` is only allowed for new bots.", field="soul")
        match new.mode:
            case Mode.RECONFIGURE:
                if new.bot_slug is None:
                    raise Invalid("`bot_slug` is required to reconfigure a bot.", field="bot_slug")
                bot = await self.bots.find(account_id, new.bot_slug)
                return await self.assembler.basis(bot)
            case Mode.SKILL if new.skill is not None:
                files = await self.library.read(new.skill)
                skill = await self.library.find(new.skill)
                known = Fields(
                    name=skill.manifest.name,
                    description=skill.manifest.description[:MAX_BOT_DESCRIPTION],
                    kind=skill.manifest.kind,
                    capabilities=skill.manifest.capabilities,
                )
                return Basis(fields=known, skill_name=new.skill, skill_files=files)
            case Mode.BATCH:
                if new.variants < MIN_VARIANTS:
                    raise Invalid("A batch needs at least two variants.", field="variants")
                return Basis(fields=_soul_fields(new), soul=new.soul, variants=new.variants)
            case _:
                return Basis(fields=_soul_fields(new), soul=new.soul)


def _soul_fields(new: NewSession) -> Fields:
    return fields_from_soul(new.soul) if new.soul is not None else Fields()


def _speaker(wanted: InterviewSpeaker | None, voice: AvailableModel) -> tuple[InterviewSpeaker, str | None]:
    if wanted is InterviewSpeaker.GUIDE:
        return InterviewSpeaker.GUIDE, "You chose Forge's own questions."
    if voice.model is None:
        return InterviewSpeaker.GUIDE, voice.why
    return InterviewSpeaker.MODEL, None
