"""Assemble the bots component: run kinds, services, and access for skills."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.agents.steps import AgentSteps
from forge.bots.background_jobs import purge_deleted, watch_folders
from forge.bots.chat.answer_run import ChatRun
from forge.bots.chat.answers import Answers
from forge.bots.chat.completion import AnswerWriter, FollowUpRun
from forge.bots.chat.maintenance import IdleSessions, StaleAnswers
from forge.bots.chat.preparation import AnswerPreparation
from forge.bots.chat.prompt_context import PromptContext
from forge.bots.chat.questions import Questions
from forge.bots.chat.retry_notes import RetryNotes
from forge.bots.chat.service import Chats
from forge.bots.chat.sessions import Sessions
from forge.bots.chat.side_calls import SideCalls
from forge.bots.files.folders import BotFolders
from forge.bots.management.bot_skills import BotSkills
from forge.bots.management.service import Bots
from forge.bots.management.skill_access import SkillAccess
from forge.bots.memory.service import Memories
from forge.bots.models import Bot, SkillView
from forge.bots.readiness import ModelReadiness
from forge.bots.versions.service import Versions
from forge.errors import Conflict, ForgeError, NotFound
from forge.kernel.background import in_background
from forge.llm.catalog import Catalog
from forge.runs.kinds import RunKind
from forge.runs.service import Runs
from forge.skills.host.context import RecallMemories
from forge.skills.service import BotAccess, BotUse


@dataclass(frozen=True)
class BotServices:
    """Services of the bots component."""

    bots: Bots
    versions: Versions
    memories: Memories
    chats: Chats
    sessions: Sessions
    questions: Questions
    """For other features, to ask a question in their own transaction."""
    answers: Answers


class BotComponent:
    def __init__(
        self, data_dir: Path, steps: AgentSteps, catalog: Catalog, skills: SkillAccess, memories: Memories
    ) -> None:
        self._steps = steps
        self._folders, bot_skills = BotFolders(data_dir), BotSkills(skills)
        self._readiness = ModelReadiness(catalog)
        database, events, gateway = steps.database, steps.events, steps.gateway
        versions = Versions(database, events, self._folders)
        bots = Bots(database, events, self._folders, versions, self._readiness, skills)
        self._context = PromptContext(database, bots, versions, memories, bot_skills)
        side_calls = SideCalls(gateway)
        self._follow_up_run = FollowUpRun(gateway, events, self._context, side_calls)
        retry_notes = RetryNotes(database, events)
        self._chat = ChatRun(
            steps,
            self._context,
            skills,
            AnswerPreparation(self._context, self._readiness, side_calls, retry_notes),
            AnswerWriter(events),
            self._follow_up_run,
            retry_notes,
        )

    def kinds(self) -> tuple[RunKind[Any], ...]:
        return self._chat.kind(), self._follow_up_run.kind()

    @asynccontextmanager
    async def open(self, runs: Runs, *, is_server: bool) -> AsyncGenerator[BotServices]:
        """Start the services. A server also runs the background jobs."""
        database, events, context = self._steps.database, self._steps.events, self._context
        stale_answers = StaleAnswers(database, events, runs)
        idle_sessions = IdleSessions(database, runs, stale_answers)
        questions = Questions(
            events, runs, context.versions, self._readiness, context.memories, idle_sessions
        )
        async with AsyncExitStack() as stack:
            if is_server:
                for work, name in (
                    (idle_sessions.run(), "sweep of idle conversations"),
                    (watch_folders(self._folders, context.versions), "watcher of bot folders"),
                    (purge_deleted(database, events, self._folders), "purge of deleted bots"),
                ):
                    await stack.enter_async_context(in_background(work, name))
            yield BotServices(
                bots=context.bots,
                versions=context.versions,
                memories=context.memories,
                chats=Chats(database, events, runs, context.bots, questions, stale_answers, idle_sessions),
                sessions=Sessions(database, events, runs, stale_answers),
                questions=questions,
                answers=Answers(database, events, runs, questions, stale_answers),
            )


def recall_for_skills(memories: Memories) -> RecallMemories:
    async def recall(_account_id: str, bot_id: str, text: str, limit: int) -> list[str]:
        return [match.memory.fact for match in await memories.recall(bot_id, text, limit=limit)]

    return recall


def bot_access_for_skills(bots: Bots) -> BotAccess:
    async def using(account_id: str, ref: str, skill: str) -> BotUse:
        bot = await bots.find(account_id, ref)
        offer = await bots.find_offered_skill(account_id, bot, skill)
        if offer is None:
            raise _unusable(bot, skill, await bots.skills(account_id, bot.id))
        return BotUse(bot.id, offer.settings, offer.narrowed)

    return BotAccess(bots.slugs_by_skill, using)


def _unusable(bot: Bot, skill: str, views: Iterable[SkillView]) -> ForgeError:
    who = bot.identity.display_name
    view = next((one for one in views if one.name == skill), None)
    if view is None:
        return NotFound(
            f"{who} does not have the skill {skill}.", hint=f"forge skill attach {skill} {bot.slug}"
        )
    if not view.enabled:
        return Conflict(
            f"The skill {skill} is disabled for {who}.", hint=f"forge skill enable {skill} {bot.slug}"
        )
    return Conflict(f"{who} cannot use the skill {skill}: {view.problem}")
