"""How an interview begins: what it is about, what is known of that already, and who asks."""

from dataclasses import dataclass

from forge.bots.models import MAX_BOT_DESCRIPTION
from forge.bots.service import Bots
from forge.errors import Invalid
from forge.interview import engine
from forge.interview.assembly.assembly import Assembly
from forge.interview.assembly.current import soul_fields
from forge.interview.categories import classify
from forge.interview.completing import opening_of
from forge.interview.config import Fields
from forge.interview.facts import FactFinder, Voice
from forge.interview.models import NewSession
from forge.interview.phases import Mode
from forge.interview.state import Basis, Speaker, State
from forge.skills.library import Library

FEWEST_VARIANTS = 2


@dataclass(frozen=True)
class Beginning:
    facts: FactFinder
    bots: Bots
    assembly: Assembly
    library: Library

    async def state(self, account_id: str, new: NewSession, session_id: str) -> State:
        """With the first turn, or with the model's being due."""
        basis = await self._basis(account_id, new)
        description = new.description.strip()
        purpose = classify(f"{description} {basis.fields.description or ''} {basis.fields.purpose or ''}")
        voice = await self.facts.voice(account_id)
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
            opening=opening_of(new.mode, description, purpose, basis),
        )
        return engine.begin(state)

    async def _basis(self, account_id: str, new: NewSession) -> Basis:
        if new.soul is not None and new.mode in (Mode.RECONFIGURE, Mode.SKILL):
            raise Invalid("Only a new bot can begin with a soul.", field="soul")
        match new.mode:
            case Mode.RECONFIGURE:
                if new.bot_slug is None:
                    raise Invalid("Say which bot to reconfigure.", field="bot_slug")
                bot = await self.bots.find(account_id, new.bot_slug)
                return await self.assembly.basis(bot)
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
                if new.variants < FEWEST_VARIANTS:
                    raise Invalid("A batch has two variants or more.", field="variants")
                return Basis(fields=_soul(new), soul=new.soul, variants=new.variants)
            case _:
                return Basis(fields=_soul(new), soul=new.soul)


def _soul(new: NewSession) -> Fields:
    return soul_fields(new.soul) if new.soul is not None else Fields()


def _speaker(wanted: Speaker | None, voice: Voice) -> tuple[Speaker, str | None]:
    if wanted is Speaker.GUIDE:
        return Speaker.GUIDE, "You chose Forge's own questions."
    if voice.model is None:
        return Speaker.GUIDE, voice.why
    return Speaker.MODEL, None
