"""The operations on interviews: start, answer, switch speaker, create, replay, delete."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from forge.errors import Conflict, NotFound
from forge.interview import engine, store
from forge.interview.assembly.assembler import Assembler
from forge.interview.assembly.replay import find_differences, replay
from forge.interview.domain.build_config import BuilderConfig, SkillBuildRequest
from forge.interview.domain.capability_grants import check_granted
from forge.interview.domain.categories import purpose_key
from forge.interview.domain.config_builder import is_written
from forge.interview.domain.dialogue import Answer, Mode, ReadyToAssemble, ReadyToCreateSkill
from forge.interview.domain.state import AnsweredTurn, InterviewSpeaker, Made, State
from forge.interview.domain.text_analysis import one_line, shorten
from forge.interview.drafts import Draft, Drafts, draft_summary, interview_stream
from forge.interview.errors import NotFinished, NotThisMode, WentOn
from forge.interview.initial_state import FactFinder, InitialStates
from forge.interview.interview_run import KIND, InterviewInput
from forge.interview.models import (
    Assembled,
    DraftSummary,
    InterviewDeleted,
    InterviewFinished,
    MemoryEntry,
    NewAnswer,
    NewReconfiguration,
    NewSession,
    Result,
    SessionView,
)
from forge.kernel.ids import new_id
from forge.runs.service import Runs
from forge.store.database import Tx

MAX_WAIT_S = 290.0


async def _wait_until_idle(drafts: Drafts, account_id: str, draft: Draft) -> Draft:
    """Return the draft once nothing is due, or its current state after a timeout."""
    try:
        async with (
            asyncio.timeout(MAX_WAIT_S),
            drafts.events.follow_new(interview_stream(draft.row.session_id)) as batches,
        ):
            async for _ in batches:
                draft = await drafts.find(account_id, draft.row.session_id)
                if draft.state.due is None:
                    return draft
    except TimeoutError:
        pass  # the run continues; a later request gets its result
    except NotFound:
        return await drafts.find(
            account_id, draft.row.session_id
        )  # raises NotFound: it was deleted while waiting
    return draft


def memory_entry(state: State, made: Made) -> MemoryEntry:
    """Record what was created, which may differ from the last answers after edits in the review."""
    config = BuilderConfig.model_validate(made.config) if made.bots else None
    skills = [request.name for request in config.skills] if config else []
    return MemoryEntry(
        id=new_id(),
        purpose_category=purpose_key(state.purpose),
        initial_description=state.description,
        chosen_tone=config.personality.tone if config else None,
        chosen_model=config.model_settings.model if config else None,
        chosen_skills=[made.skill.name] if made.skill else skills,
        bot_slug=made.bots[0].bot_slug if made.bots else None,
        created_at=made.at,
    )


MAX_TITLE = 60


@dataclass
class ShownTurn:
    """The turn that a client was shown when it sent an answer without naming one."""

    requests: int = 0
    revision: int | None = None


class ShownTurns:
    """The turns that overlapping answers without a turn are for.

    A client cannot have seen the next turn before it has the response to its first answer, so all answers that overlap
    are for the same turn: a double click never answers two questions.
    """

    def __init__(self) -> None:
        self._turns: dict[str, ShownTurn] = {}

    @contextmanager
    def hold(self, session_id: str) -> Generator[ShownTurn]:
        """Return the turn that is answered, until the response is sent."""
        turn = self._turns.setdefault(session_id, ShownTurn())
        turn.requests += 1
        try:
            yield turn
        finally:
            turn.requests -= 1
            if not turn.requests:
                del self._turns[session_id]


class AlreadyFinished(Conflict):
    """A concurrent request finished the interview first. Raised and caught while creating."""


@dataclass(frozen=True)
class Interviews:
    drafts: Drafts
    runs: Runs
    facts: FactFinder
    initial_states: InitialStates
    assembler: Assembler
    shown_turns: ShownTurns = field(default_factory=ShownTurns)

    async def start(
        self, account_id: str, new: NewSession, *, session_id: str | None = None, waits: bool = True
    ) -> SessionView:
        """Start an interview; with `waits`, return once its first turn is there."""
        state = await self.initial_states.create(account_id, new, (session_id or new_id()).lower())
        async with self.drafts.database.begin() as tx:
            run_id = await self._start_run(tx, account_id, state)
            draft = await self.drafts.create(tx, account_id, state, run_id)
        return (await self._wait_if_due(account_id, draft) if waits else draft).view

    async def reconfigure(self, account_id: str, session_id: str, new: NewReconfiguration) -> SessionView:
        wanted = NewSession(
            description=new.description, mode=Mode.RECONFIGURE, bot_slug=new.bot_slug, speaker=new.speaker
        )
        return await self.start(account_id, wanted, session_id=session_id)

    async def answer(
        self,
        account_id: str,
        session_id: str,
        new: NewAnswer,
        *,
        shown: ShownTurn | None = None,
        waits: bool = True,
    ) -> SessionView:
        """Answer the current turn; with `waits`, return once the next one is there."""
        current = await self._recover(account_id, session_id)
        turn = new.turn
        if turn is None and shown is not None:
            turn = shown.revision = shown.revision or current.row.revision
        draft = await self._apply_answer(account_id, session_id, new.answer, turn)
        return (await self._wait_if_due(account_id, draft) if waits else draft).view

    async def _apply_answer(
        self, account_id: str, session_id: str, answer: Answer, turn: int | None
    ) -> Draft:
        async with self.drafts.database.begin() as tx:
            draft = await self.drafts.lock(tx, account_id, session_id)
            if _is_repeated(draft.state, answer, turn):
                return draft
            _require_open(draft.state)
            if turn is not None and turn != draft.row.revision:
                raise WentOn(
                    "The interview has moved on: this answers an earlier turn.",
                    hint="Reload the interview and answer its current turn.",
                    detail={"revision": draft.row.revision},
                )
            state = engine.apply_answer(draft.state, answer, self.drafts.clock())
            if state == draft.state:
                return draft
            answered = AnsweredTurn(revision=draft.row.revision, answer=answer)
            return await self._save(tx, account_id, draft, state.replace(answered=answered))

    async def switch(self, account_id: str, session_id: str, speaker: InterviewSpeaker) -> SessionView:
        """Change the speaker from the next turn on."""
        voice = await self.facts.available_model(account_id)
        if speaker is InterviewSpeaker.MODEL and voice.model is None:
            raise Conflict(voice.why or "No model is available.", hint="Add a key in Settings, Models.")
        models = await self.facts.models(account_id)
        async with self.drafts.database.begin() as tx:
            draft = await self.drafts.lock(tx, account_id, session_id)
            _require_open(draft.state)
            facts = draft.state.facts.model_copy(update={"models": models})
            why = "You chose Forge's own questions." if speaker is InterviewSpeaker.GUIDE else None
            state = engine.switch_speaker(draft.state.replace(model=voice.model, facts=facts), speaker, why)
            draft = await self.drafts.save(tx, draft, state, run_id=draft.row.run_id)
        return draft.view

    async def cancel(self, account_id: str, session_id: str) -> SessionView:
        """Cancel the pending model call; the interview stays open."""
        async with self.drafts.database.begin() as tx:
            draft = await self.drafts.lock(tx, account_id, session_id)
            run_id = draft.row.run_id
            draft = await self._save(tx, account_id, draft, engine.cancel_pending(draft.state))
        if run_id is not None:
            await self._cancel_run(account_id, run_id)
        return draft.view

    async def view(self, account_id: str, session_id: str) -> SessionView:
        """Return an interview. This may save it: a draft whose run has ended is recovered first, so that the
        revision shown is the one an answer must name."""
        return (await self._recover(account_id, session_id)).view

    async def list_drafts(self, account_id: str) -> list[DraftSummary]:
        async with self.drafts.database.read() as tx:
            return [draft_summary(row) for row in await store.list_drafts(tx, account_id)]

    async def delete(self, account_id: str, session_id: str) -> None:
        """Delete the draft and its events. Bots and skills it created stay."""
        async with self.drafts.database.begin() as tx:
            row = await store.find(tx, session_id.lower(), lock=True)
            if row is None or row.account_id != account_id:
                return
            await store.delete(tx, row.session_id)
            stream = interview_stream(row.session_id)
            await self.drafts.events.delete_events(tx, stream)
            await self.drafts.events.append(tx, stream, InterviewDeleted(session_id=row.session_id))
            self.drafts.notify_account(tx, row)
        if row.run_id is not None:
            await self._cancel_run(account_id, row.run_id)

    # Results

    async def assemble(
        self, account_id: str, session_id: str, config: BuilderConfig | None, *, by: str, dry_run: bool
    ) -> Assembled:
        """Create the bots exactly once; later calls return the first result."""
        draft = await self._recover(account_id, session_id)
        if not draft.state.mode.makes_bots:
            raise NotThisMode.is_about_a_skill()
        if draft.state.made is not None:
            result = _finished(draft.state.made, config)
            return Assembled(result=result, files=replay(draft.state) if dry_run else [])
        _require_idle(draft.state)
        wanted = await self.assembler.check(account_id, config or _agreed(draft.state), draft.state)
        draft = await self._with_text_for(account_id, draft, wanted)
        if dry_run:
            return Assembled(result=None, files=await self.assembler.plan(account_id, draft.state, wanted))
        return await self._create_once(
            account_id,
            draft,
            lambda finish: self.assembler.assemble(account_id, draft.state, wanted, by=by, finish=finish),
            wanted,
        )

    async def create_skill(
        self, account_id: str, session_id: str, request: SkillBuildRequest | None, *, by: str, dry_run: bool
    ) -> Assembled:
        draft = await self._recover(account_id, session_id)
        if draft.state.mode is not Mode.SKILL:
            raise NotThisMode.is_about_a_bot()
        if draft.state.made is not None:
            result = _finished(draft.state.made, request)
            return Assembled(result=result, files=replay(draft.state) if dry_run else [])
        _require_idle(draft.state)
        agreed = _agreed_skill(draft.state)
        if agreed is not None:
            wanted = check_granted(draft.state, request or agreed)
        elif request is not None:
            draft, wanted = await self._with_skill_for(account_id, draft, request), request
        else:
            raise NotFinished.skill()
        if dry_run:
            return Assembled(result=None, files=await self.assembler.plan_skill(draft.state, wanted))
        return await self._create_once(
            account_id,
            draft,
            lambda finish: self.assembler.create_skill(account_id, draft.state, wanted, by=by, finish=finish),
            wanted,
        )

    async def replay(self, account_id: str, session_id: str) -> Assembled:
        state = (await self.drafts.find(account_id, session_id)).state
        if state.made is None:
            raise Conflict("This interview has not created anything yet.", hint="Finish it first.")
        files = replay(state)
        return Assembled(result=Result.of(state.made), files=files, differs=find_differences(state, files))

    async def _create_once(
        self,
        account_id: str,
        draft: Draft,
        make: Callable[[Callable[[Tx, Made], Awaitable[None]]], Awaitable[Made]],
        wanted: BuilderConfig | SkillBuildRequest,
    ) -> Assembled:
        """Create and finish in one transaction; the loser of a race gets the winner's result."""

        async def finish(tx: Tx, made: Made) -> None:
            current = await self.drafts.lock(tx, account_id, draft.row.session_id)
            if current.state.made is not None:
                raise AlreadyFinished("This interview is already finished.")
            if current.row.revision != draft.row.revision:
                raise _changed_in_between()
            state = current.state.replace(made=made)
            await self.drafts.save(tx, current, state, finished_at=self.drafts.clock())
            await store.record(tx, account_id, memory_entry(state, made))
            finished = InterviewFinished(session_id=draft.row.session_id, made=made)
            await self.drafts.events.append(tx, interview_stream(draft.row.session_id), finished)

        try:
            return Assembled(result=Result.of(await make(finish)))
        except AlreadyFinished:
            current = await self.drafts.find(account_id, draft.row.session_id)
            if current.state.made is None:
                raise
            return Assembled(result=_finished(current.state.made, wanted))

    async def _with_skill_for(self, account_id: str, draft: Draft, request: SkillBuildRequest) -> Draft:
        """Have the skill of a complete request written and tested, although the interview is not finished."""
        if is_written(draft.state.replace(requested=request)):
            return draft
        return await self._rewrite(account_id, draft, requested=request)

    async def _with_text_for(self, account_id: str, draft: Draft, config: BuilderConfig) -> Draft:
        """Have the soul rewritten if the settings were edited in the review."""
        edited = None if config == _agreed_or_none(draft.state) else config
        if is_written(draft.state.replace(edited=edited)):
            return draft
        return await self._rewrite(account_id, draft, edited=edited)

    async def _rewrite(self, account_id: str, draft: Draft, **changes: Any) -> Draft:
        async with self.drafts.database.begin() as tx:
            current = await self.drafts.lock(tx, account_id, draft.row.session_id)
            if current.state.made is not None:
                return current
            _require_idle(current.state)
            if current.row.revision != draft.row.revision:
                raise _changed_in_between()
            state = engine.request_rewrite(current.state.replace(**changes))
            draft = await self._save(tx, account_id, current, state)
        draft = await self._wait_if_due(account_id, draft)
        _require_idle(draft.state)
        return draft

    # Memory

    async def memory(self, account_id: str, limit: int) -> list[MemoryEntry]:
        async with self.drafts.database.read() as tx:
            return await store.recall_recent(tx, account_id, limit)

    async def forget(self, account_id: str, entry_id: str | None) -> int:
        async with self.drafts.database.begin() as tx:
            gone = await store.forget(tx, account_id, entry_id)
        if entry_id is not None and not gone:
            raise NotFound("There is no such memory entry.")
        return gone

    async def may_watch(self, account_id: str, session_id: str) -> bool:
        async with self.drafts.database.read() as tx:
            row = await store.find(tx, session_id)
        return row is not None and row.account_id == account_id

    async def is_free(self, session_id: str) -> bool:
        """Check whether an interview could be started with this id."""
        async with self.drafts.database.read() as tx:
            return await store.find(tx, session_id) is None

    # Background runs

    async def _start_run(self, tx: Tx, account_id: str, state: State) -> str | None:
        """Start the run that the state needs, in the same transaction."""
        if state.due is None:
            return None
        short = shorten(one_line(state.description), MAX_TITLE)
        inputs = InterviewInput(session_id=state.session_id, title=f"Forge: {short or state.mode.value}")
        run = await self.runs.start(tx, account_id, KIND, inputs.model_dump())
        return run.id

    async def _save(self, tx: Tx, account_id: str, draft: Draft, state: State) -> Draft:
        """Save the draft together with the run it now needs."""
        return await self.drafts.save(tx, draft, state, run_id=await self._start_run(tx, account_id, state))

    async def _wait_if_due(self, account_id: str, draft: Draft) -> Draft:
        if draft.state.due is None:
            return draft
        return await _wait_until_idle(self.drafts, account_id, draft)

    async def _recover(self, account_id: str, session_id: str) -> Draft:
        """Recover a draft that waits for a run which was cancelled or deleted."""
        draft = await self.drafts.find(account_id, session_id)
        if draft.state.due is None or draft.row.run_id is None:
            return await self._with_turn(account_id, draft)
        if not await self._has_ended(account_id, draft.row.run_id):
            return draft
        async with self.drafts.database.begin() as tx:
            current = await self.drafts.lock(tx, account_id, session_id)
            if current.row.run_id != draft.row.run_id or current.state.due is None:
                return current
            return await self._save(tx, account_id, current, engine.cancel_pending(current.state))

    async def _has_ended(self, account_id: str, run_id: str) -> bool:
        """Count a missing run as ended: old runs are deleted."""
        try:
            return (await self.runs.find_one(account_id, run_id)).status.is_final
        except NotFound:
            return True

    async def _with_turn(self, account_id: str, draft: Draft) -> Draft:
        """Give a draft of an older version its next turn from the guide."""
        if draft.state.asked is not None or draft.state.due is not None or draft.state.made is not None:
            return draft
        facts = await self.facts.find(account_id, draft.state.description, draft.state.purpose)
        async with self.drafts.database.begin() as tx:
            current = await self.drafts.lock(tx, account_id, draft.row.session_id)
            if current.state.asked is not None:
                return current
            state = engine.begin(current.state.replace(facts=facts))
            return await self._save(tx, account_id, current, state)

    async def _cancel_run(self, account_id: str, run_id: str) -> None:
        with suppress(Conflict, NotFound):  # it has just ended, or was deleted
            await self.runs.cancel(account_id, run_id, by="interview")


def _is_repeated(state: State, answer: Answer, turn: int | None) -> bool:
    """Tell whether the answer was already applied to this turn: a double click, or a retried request."""
    last = state.answered
    if last is None or last.answer != answer:
        return False
    return state.due is not None or turn == last.revision


def _changed_in_between() -> WentOn:
    return WentOn("The interview has changed in between.", hint="Reload it and try again.")


def _require_open(state: State) -> None:
    if state.made is not None:
        raise Conflict("This interview is finished.")


def _require_idle(state: State) -> None:
    if state.due is not None:
        raise Conflict("Forge is still thinking.", hint="Wait for the next turn, or cancel.")


def _agreed_or_none(state: State) -> BuilderConfig | None:
    turn = state.asked.turn if state.asked else None
    return turn.config if isinstance(turn, ReadyToAssemble) else None


def _agreed(state: State) -> BuilderConfig:
    agreed = _agreed_or_none(state)
    if agreed is None:
        raise NotFinished.bot()
    return agreed


def _agreed_skill(state: State) -> SkillBuildRequest | None:
    turn = state.asked.turn if state.asked else None
    return turn.skill_request if isinstance(turn, ReadyToCreateSkill) else None


def _finished(made: Made, wanted: BuilderConfig | SkillBuildRequest | None) -> Result:
    """Return what was created. Raise if a repeated request wants something else."""
    asked = wanted.model_dump(mode="json") if wanted else {}
    if made.config and any(value not in (None, made.config.get(name)) for name, value in asked.items()):
        raise Conflict(
            "This interview is finished: something else was created than this request asks for.",
            hint="Change what was created, or start a new interview.",
        )
    return Result.of(made)
