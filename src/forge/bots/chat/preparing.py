"""Before a model is asked: may this bot talk, what does it remember, does the conversation fit."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict

from forge.bots.chat import store
from forge.bots.chat.aside import Aside
from forge.bots.chat.given import ChatInput
from forge.bots.chat.models import AnswerFacts, Recalled, SkillUse
from forge.bots.chat.scene import Branch, Scene
from forge.bots.chat.skill_use import told
from forge.bots.chat.summary import stretches, summary_prompt, tokens, too_many
from forge.bots.models import Identity
from forge.bots.readiness import Readiness
from forge.kernel.clock import now
from forge.llm.catalog import Target
from forge.llm.sampling import takes_temperature
from forge.runs.attempt import StepInfo
from forge.runs.journal import Told
from forge.skills.catalogue import CatalogueLine

MAX_RECALLED = 8
SHARE_OF_WINDOW = 4
"""An answer may take a quarter of the window; the gateway allows no more."""


class Prepared(BaseModel):
    """What was found, small enough to be journaled: the conversation itself is read again when it is sent."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    directive: str
    model: str | None
    """The one the bot names; None for whatever is chosen for bots."""
    facts: AnswerFacts
    summary: str = ""
    """What there is of a summary already."""
    stretches: list[list[str]] = []
    """Ids of messages that are to be condensed, in pieces that can be read at once."""
    tokens: int = 0
    """What would be sent without a summary."""
    skills: list[CatalogueLine] = []
    """What the bot can take up."""
    used: str = ""
    """What it did with skills before this answer was interrupted."""

    @property
    def sent(self) -> int:
        """Tokens that go along with every turn of the answer, roughly."""
        return self.tokens // 2 if self.stretches else self.tokens


class Preparing:
    def __init__(self, scene: Scene, readiness: Readiness, aside: Aside) -> None:
        self._scene = scene
        self._readiness = readiness
        self._aside = aside

    async def prepare(self, step: StepInfo, given: ChatInput) -> Told:
        scene, account_id = self._scene, step.account_id
        bot = await scene.bots.find(account_id, given.bot_id)
        files = await scene.versions.whole(bot)
        targets = await self._readiness.check(account_id, bot.id, files.identity, model=given.model)
        branch = await scene.branch(given.session_id, given.question_id)
        recalled = [] if given.said else await self._recall(bot.id, branch)
        window = min(target.price.context_window for target in targets)
        facts = AnswerFacts(
            run_id=step.run_id,
            temperature=await _temperature(files.identity, targets[0]),
            max_tokens=min(files.identity.max_tokens, max(1, window // SHARE_OF_WINDOW)),
            soul_version=files.soul_version,
            recalled=recalled,
        )
        skills = await scene.skills(account_id, files)
        system = tokens(await scene.system(bot, branch.session, skills, files))
        rows = branch.unsummarised
        count = too_many(rows[:-1], window - facts.max_tokens - system - tokens(branch.question.text))
        prepared = Prepared(
            at=now(),
            directive=await scene.directive(bot.id, branch, [one.id for one in recalled]),
            model=given.model or files.identity.ref,
            facts=facts,
            summary=branch.summary.text if branch.summary else "",
            stretches=[[row.id for row in one] for one in stretches(rows[:count], window // 2)],
            tokens=system + sum(tokens(row.text) for row in rows),
            skills=skills,
            used=told(await self._used(given.answer_id), "this answer before it was interrupted"),
        )
        return Told(prepared.model_dump(mode="json"))

    async def condense(
        self, step: StepInfo, given: ChatInput, model: str | None, before: str, ids: list[str]
    ) -> Told:
        """The summary of what was condensed before and of these messages."""
        branch = await self._scene.branch(given.session_id, given.question_id)
        wanted = set(ids)
        rows = [row for row in branch.rows if row.id in wanted]
        return await self._aside.say(step, given.scope, model, summary_prompt(before, rows))

    async def _used(self, answer_id: str) -> list[SkillUse]:
        """Nothing, unless the answer is one that is resumed."""
        async with self._scene.database.read() as tx:
            row = await store.find_message(tx, answer_id)
        return row.answer.skills_used if row and row.answer else []

    async def _recall(self, bot_id: str, branch: Branch) -> list[Recalled]:
        """What fits the question and does not go along anyway."""
        known = set(branch.session.standing)
        known |= {one.id for row in branch.unsummarised if row.answer for one in row.answer.recalled}
        found = await self._scene.memories.recall(bot_id, branch.question.text, limit=MAX_RECALLED)
        fitting = [match.memory for match in found if match.memory.id not in known]
        return [Recalled(id=memory.id, fact=memory.fact) for memory in fitting]


async def _temperature(identity: Identity, target: Target) -> float | None:
    """What is not sent must not be shown either."""
    return identity.temperature if await takes_temperature(target.provider.kind, target.model) else None
