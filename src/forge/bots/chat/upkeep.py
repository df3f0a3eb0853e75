"""What is due after an answer, or when a conversation has fallen quiet: a title, and facts worth keeping.

None of it is worth failing for: the answer is there. What a step cannot do is in the log of its run.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.bots.chat import store
from forge.bots.chat.aside import OF_NO_USE, RETRY, Aside, tidy_title, title_prompt
from forge.bots.chat.branches import read_session, session_stream
from forge.bots.chat.endings import Due, after
from forge.bots.chat.given import ChatInput
from forge.bots.chat.models import ChatChanged, ChatRemembered, Recalled, Speaker
from forge.bots.chat.scene import Scene
from forge.bots.memory.extraction import ExtractedFact, PreparedFact, extract
from forge.bots.readiness import bot_scope
from forge.bots.telling import tell_changed
from forge.events.log import EventLog
from forge.llm.gateway import Gateway
from forge.llm.models import Role
from forge.llm.money import Spender
from forge.runs.attempt import Retry, StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.journal import Told
from forge.runs.kinds import RunKind
from forge.store.engine import Tx

REMEMBER = "remember"
PATIENT = Retry(attempts=8, first_delay_s=2.0, factor=4.0, longest_delay_s=3600.0)
"""Nobody waits for it, so a provider may be away for almost two hours; what was said is not looked at again."""
MAX_KNOWN = 100
"""Facts a model is shown so that it does not write them down again."""


class RememberInput(BaseModel):
    """Take facts from the messages of a branch behind `after_id`, up to `upto_id`."""

    model_config = ConfigDict(frozen=True)

    bot_id: str
    session_id: str
    title: str
    after_id: str | None
    upto_id: str

    @property
    def scope(self) -> str:
        return bot_scope(self.bot_id)


class Upkeep:
    def __init__(self, gateway: Gateway, events: EventLog, scene: Scene, aside: Aside) -> None:
        self._gateway = gateway
        self._events = events
        self._scene = scene
        self._aside = aside

    def kind(self) -> RunKind[RememberInput]:
        """Facts from a conversation, on their own."""
        return RunKind(REMEMBER, RememberInput, self.run, title=lambda given: f"Remember: {given.title}")

    async def run(self, context: RunContext, given: RememberInput) -> dict[str, Any]:
        return {"facts": await self._remember(context, given, PATIENT)}

    async def do(self, context: RunContext, given: ChatInput, due: Due) -> None:
        if due.needs_title:
            with suppress(StepFailed):  # the first words of the question are its title
                await self._give_title(context, given)
        if due.remember_upto is not None:
            wanted = RememberInput(
                bot_id=given.bot_id,
                session_id=given.session_id,
                title=given.title,
                after_id=due.remember_after,
                upto_id=due.remember_upto,
            )
            try:
                await self._remember(context, wanted, RETRY)
            except StepFailed as failed:  # told in the log of this run
                if failed.problem.retryable:
                    await context.transact("not remembered", lambda tx: _give_back(tx, wanted))

    async def _give_title(self, context: RunContext, given: ChatInput) -> None:
        said = await context.step("title", self._make_title, given, retry=RETRY)
        title = tidy_title(said["text"])

        async def save(tx: Tx) -> None:
            session = await store.find_session(tx, given.session_id, lock=True)
            if session is None or session.is_titled or not title:
                return
            row = await store.change_session(tx, session.id, title=title, is_titled=True)
            if row is not None:
                told = ChatChanged(session=await read_session(tx, row))
                await self._events.append(tx, session_stream(row.id), told)
                await tell_changed(tx, self._events, row.bot_id, "session")

        await context.transact("titled", save)

    async def _make_title(self, step: StepInfo, given: ChatInput) -> Told:
        branch = await self._scene.branch(given.session_id, given.answer_id)
        bot = await self._scene.bots.find(step.account_id, given.bot_id)
        prompt = title_prompt(branch.rows[0].text, branch.rows[-1].text)
        return await self._aside.say(step, given.scope, bot.identity.ref, prompt)

    async def _remember(self, context: RunContext, given: RememberInput, retry: Retry) -> int:
        found = await context.step("extract", self._extract, given, retry=retry)
        if not found:
            return 0

        async def keep(tx: Tx) -> list[dict[str, Any]]:
            prepared = [PreparedFact.model_validate(one) for one in found]
            kept = await self._scene.memories.keep(tx, given.bot_id, given.session_id, prepared)
            facts = [Recalled(id=memory.id, fact=memory.fact) for memory in kept]
            if facts and await store.find_session(tx, given.session_id) is not None:
                told = ChatRemembered(facts=facts)
                await self._events.append(tx, session_stream(given.session_id), told)
            return [fact.model_dump() for fact in facts]

        return len(await context.transact("remembered", keep))

    async def _extract(self, step: StepInfo, given: RememberInput) -> Told:
        bot = await self._scene.bots.find(step.account_id, given.bot_id)
        if not bot.identity.memory:
            return Told([])
        branch = await self._scene.branch(given.session_id, given.upto_id)
        said = [(row.role, row.text) for row in after(branch.rows, given.after_id) if row.text.strip()]
        known = await self._scene.memories.find(bot.id, limit=MAX_KNOWN)
        facts = await self._ask(step, given.scope, bot.identity.ref, said, [one.fact for one in known.items])
        prepared = await self._scene.memories.prepare(facts)
        return Told([one.model_dump(mode="json") for one in prepared])

    async def _ask(
        self,
        step: StepInfo,
        scope: str,
        own_model: str | None,
        said: Sequence[tuple[Speaker, str]],
        known: Sequence[str],
    ) -> list[ExtractedFact]:
        """The model for small things; where that is of no use, the bot's own."""
        spender = Spender(step.account_id, step.key, step.run_id, scope)
        try:
            return await extract(self._gateway, spender, said, known)
        except OF_NO_USE:
            return await extract(self._gateway, spender, said, known, role=Role.BOT, model=own_model)


async def _give_back(tx: Tx, given: RememberInput) -> None:
    """Nobody has looked at it after all: it is tried again when the conversation has fallen quiet."""
    session = await store.find_session(tx, given.session_id, lock=True)
    if session is not None and session.remembered_id == given.upto_id:
        await store.change_session(tx, session.id, remembered_id=given.after_id)
