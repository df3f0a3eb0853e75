"""What people can do in an interview: begin, answer, go back, switch, make, replay."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from forge.errors import Conflict, NotFound
from forge.interview import engine, store
from forge.interview.answers import Answer
from forge.interview.assembly.assembly import Assembly
from forge.interview.beginning import Beginning
from forge.interview.config import BuilderConfig, SkillBuildRequest
from forge.interview.drafts import Draft, Drafts, interview_stream
from forge.interview.errors import NotThisMode, WentOn
from forge.interview.facts import FactFinder
from forge.interview.granting import as_granted
from forge.interview.kind import KIND, InterviewInput
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
from forge.interview.phases import Mode
from forge.interview.remembering import entry_of
from forge.interview.replaying import replay, verify
from forge.interview.state import Made, Speaker, State
from forge.interview.turns import ReadyToAssemble, ReadyToCreateSkill
from forge.interview.views import draft_summary
from forge.interview.waiting import wait_until_said
from forge.interview.wording import one_line, shortened
from forge.interview.writing import is_written
from forge.kernel.ids import new_id
from forge.runs.service import Runs
from forge.store.engine import Tx

MAX_TITLE = 60


class AlreadyMade(Conflict):
    """Somebody else confirmed the same interview a moment ago; raised and caught while something is made."""


@dataclass(frozen=True)
class Interviews:
    drafts: Drafts
    runs: Runs
    facts: FactFinder
    beginning: Beginning
    assembly: Assembly

    async def start(
        self, account_id: str, new: NewSession, *, session_id: str | None = None, waits: bool = True
    ) -> SessionView:
        """Forge's first turn, once it is there unless nobody waits; the id may be the client's."""
        state = await self.beginning.state(account_id, new, (session_id or new_id()).lower())
        async with self.drafts.database.begin() as tx:
            run_id = await self._run(tx, account_id, state)
            draft = await self.drafts.create(tx, account_id, state, run_id)
        return (await self._settled(account_id, draft) if waits else draft).view

    async def reconfigure(self, account_id: str, session_id: str, new: NewReconfiguration) -> SessionView:
        wanted = NewSession(
            description=new.description, mode=Mode.RECONFIGURE, bot_slug=new.bot_slug, speaker=new.speaker
        )
        return await self.start(account_id, wanted, session_id=session_id)

    async def answer(
        self, account_id: str, session_id: str, new: NewAnswer, *, waits: bool = True
    ) -> SessionView:
        """The next turn, once it is there; whoever does not wait finds it in the stream."""
        await self._revive(account_id, session_id)
        draft = await self._answered(account_id, session_id, new.answer, new.turn)
        return (await self._settled(account_id, draft) if waits else draft).view

    async def _answered(self, account_id: str, session_id: str, answer: Answer, turn: int | None) -> Draft:
        async with self.drafts.database.begin() as tx:
            draft = await self.drafts.lock(tx, account_id, session_id)
            if turn is not None and turn != draft.row.revision:
                raise WentOn(
                    "Forge has gone on since: this answers a turn that is over.",
                    hint="Look at the turn that waits now.",
                    detail={"revision": draft.row.revision},
                )
            state = engine.take(draft.state, answer, self.drafts.clock())
            if state == draft.state:
                return draft
            return await self._save(tx, account_id, draft, state)

    async def switch(self, account_id: str, session_id: str, speaker: Speaker) -> SessionView:
        """Who asks from the next turn on."""
        voice = await self.facts.voice(account_id)
        if speaker is Speaker.MODEL and voice.model is None:
            raise Conflict(voice.why or "There is no model.", hint="Add a key in Settings, Models.")
        models = await self.facts.models(account_id)
        async with self.drafts.database.begin() as tx:
            draft = await self.drafts.lock(tx, account_id, session_id)
            _must_be_open(draft.state)
            facts = draft.state.facts.model_copy(update={"models": models})
            why = "You chose Forge's own questions." if speaker is Speaker.GUIDE else None
            state = engine.switch(draft.state.but(model=voice.model, facts=facts), speaker, why)
            draft = await self.drafts.save(tx, draft, state, run_id=draft.row.run_id)
        return draft.view

    async def cancel(self, account_id: str, session_id: str) -> SessionView:
        """Of thinking, not of the interview."""
        async with self.drafts.database.begin() as tx:
            draft = await self.drafts.lock(tx, account_id, session_id)
            run_id = draft.row.run_id
            draft = await self._save(tx, account_id, draft, engine.withdraw(draft.state))
        if run_id is not None:
            await self._stop(account_id, run_id)
        return draft.view

    async def view(self, account_id: str, session_id: str) -> SessionView:
        """Whoever looks first at one whose run has ended puts it right for all, and an answer names the revision that
        was shown: so looking may save it."""
        return (await self._revive(account_id, session_id)).view

    async def list_drafts(self, account_id: str) -> list[DraftSummary]:
        async with self.drafts.database.read() as tx:
            return [draft_summary(row) for row in await store.list_drafts(tx, account_id)]

    async def delete(self, account_id: str, session_id: str) -> None:
        """Its answers are gone; what was made stays."""
        async with self.drafts.database.begin() as tx:
            row = await store.find(tx, session_id.lower(), lock=True)
            if row is None or row.account_id != account_id:
                return
            await store.delete(tx, row.session_id)
            stream = interview_stream(row.session_id)
            await self.drafts.events.forget(tx, stream)
            await self.drafts.events.append(tx, stream, InterviewDeleted(session_id=row.session_id))
            self.drafts.tell_account(tx, row)
        if row.run_id is not None:
            await self._stop(account_id, row.run_id)

    # What comes of it

    async def assemble(
        self, account_id: str, session_id: str, config: BuilderConfig | None, *, by: str, dry_run: bool
    ) -> Assembled:
        """Bots, exactly once."""
        draft = await self._revive(account_id, session_id)
        if not draft.state.mode.makes_bots:
            raise NotThisMode("This interview is about a skill.", hint="Create it: create-skill.")
        if draft.state.made is not None:
            return Assembled(result=Result.of(draft.state.made), files=replay(draft.state) if dry_run else [])
        _must_be_quiet(draft.state)
        wanted = await self.assembly.check(account_id, config or _agreed(draft.state), draft.state)
        draft = await self._written_for(account_id, draft, wanted)
        if dry_run:
            return Assembled(result=None, files=await self.assembly.plan(account_id, draft.state, wanted))
        return await self._once(
            account_id,
            draft,
            lambda settle: self.assembly.assemble(account_id, draft.state, wanted, by=by, settle=settle),
        )

    async def create_skill(
        self, account_id: str, session_id: str, request: SkillBuildRequest | None, *, by: str, dry_run: bool
    ) -> Assembled:
        draft = await self._revive(account_id, session_id)
        if draft.state.mode is not Mode.SKILL:
            raise NotThisMode("This interview is about a bot.", hint="Make it: assemble.")
        if draft.state.made is not None:
            return Assembled(result=Result.of(draft.state.made), files=replay(draft.state) if dry_run else [])
        _must_be_quiet(draft.state)
        agreed = _agreed_skill(draft.state)
        wanted = as_granted(draft.state, request or agreed)
        if dry_run:
            return Assembled(result=None, files=await self.assembly.plan_skill(draft.state, wanted))
        return await self._once(
            account_id,
            draft,
            lambda settle: self.assembly.create_skill(account_id, draft.state, wanted, by=by, settle=settle),
        )

    async def replay(self, account_id: str, session_id: str) -> Assembled:
        state = (await self.drafts.find(account_id, session_id)).state
        if state.made is None:
            raise Conflict("Nothing was made in this interview yet.", hint="Finish it first.")
        files = replay(state)
        return Assembled(result=Result.of(state.made), files=files, differs=verify(state, files))

    async def _once(
        self,
        account_id: str,
        draft: Draft,
        make: Callable[[Callable[[Tx, Made], Awaitable[None]]], Awaitable[Made]],
    ) -> Assembled:
        """Whoever comes second gets what the first one made."""

        async def settle(tx: Tx, made: Made) -> None:
            current = await self.drafts.lock(tx, account_id, draft.row.session_id)
            if current.state.made is not None:
                raise AlreadyMade("This was made already.")
            if current.row.revision != draft.row.revision:
                raise _went_on()
            state = current.state.but(made=made)
            await self.drafts.save(tx, current, state, finished_at=self.drafts.clock())
            await store.record(tx, account_id, entry_of(state, made))
            finished = InterviewFinished(session_id=draft.row.session_id, made=made)
            await self.drafts.events.append(tx, interview_stream(draft.row.session_id), finished)

        try:
            return Assembled(result=Result.of(await make(settle)))
        except AlreadyMade:
            current = await self.drafts.find(account_id, draft.row.session_id)
            if current.state.made is None:
                raise
            return Assembled(result=Result.of(current.state.made))

    async def _written_for(self, account_id: str, draft: Draft, config: BuilderConfig) -> Draft:
        """Settings that were changed in the review may need another soul."""
        edited = None if config == _agreed_or_none(draft.state) else config
        if is_written(draft.state.but(edited=edited)):
            return draft
        async with self.drafts.database.begin() as tx:
            current = await self.drafts.lock(tx, account_id, draft.row.session_id)
            if current.state.made is not None:
                return current
            _must_be_quiet(current.state)
            if current.row.revision != draft.row.revision:
                raise _went_on()
            state = engine.rewrite(current.state.but(edited=edited))
            draft = await self._save(tx, account_id, current, state)
        draft = await self._settled(account_id, draft)
        _must_be_quiet(draft.state)
        return draft

    # Memory

    async def memory(self, account_id: str, limit: int) -> list[MemoryEntry]:
        async with self.drafts.database.read() as tx:
            return await store.recall_recent(tx, account_id, limit)

    async def forget(self, account_id: str, entry_id: str | None) -> int:
        async with self.drafts.database.begin() as tx:
            gone = await store.forget(tx, account_id, entry_id)
        if entry_id is not None and not gone:
            raise NotFound("There is no such memory.")
        return gone

    async def may_watch(self, account_id: str, session_id: str) -> bool:
        async with self.drafts.database.read() as tx:
            row = await store.find(tx, session_id)
        return row is not None and row.account_id == account_id

    async def is_free(self, session_id: str) -> bool:
        """Whether an interview could be begun under this id."""
        async with self.drafts.database.read() as tx:
            return await store.find(tx, session_id) is None

    # What takes longer

    async def _run(self, tx: Tx, account_id: str, state: State) -> str | None:
        """Begun with the change that needs it, or not at all."""
        if state.due is None:
            return None
        short = shortened(one_line(state.description), MAX_TITLE)
        given = InterviewInput(session_id=state.session_id, title=f"Forge: {short or state.mode.value}")
        run = await self.runs.start(tx, account_id, KIND, given.model_dump())
        return run.id

    async def _save(self, tx: Tx, account_id: str, draft: Draft, state: State) -> Draft:
        """With the run that it needs now."""
        return await self.drafts.save(tx, draft, state, run_id=await self._run(tx, account_id, state))

    async def _settled(self, account_id: str, draft: Draft) -> Draft:
        if draft.state.due is None:
            return draft
        return await wait_until_said(self.drafts, account_id, draft)

    async def _revive(self, account_id: str, session_id: str) -> Draft:
        """A draft whose run was ended by somebody must not wait for it for ever."""
        draft = await self.drafts.find(account_id, session_id)
        if draft.state.due is None or draft.row.run_id is None:
            return await self._with_turn(account_id, draft)
        if not await self._has_ended(account_id, draft.row.run_id):
            return draft
        async with self.drafts.database.begin() as tx:
            current = await self.drafts.lock(tx, account_id, session_id)
            if current.row.run_id != draft.row.run_id or current.state.due is None:
                return current
            return await self._save(tx, account_id, current, engine.withdraw(current.state))

    async def _has_ended(self, account_id: str, run_id: str) -> bool:
        """One that is not there any more, too: old runs are deleted."""
        try:
            return (await self.runs.find_one(account_id, run_id)).status.is_final
        except NotFound:
            return True

    async def _with_turn(self, account_id: str, draft: Draft) -> Draft:
        """A draft of an older version has no last turn: the guide goes on where it stopped."""
        if draft.state.asked is not None or draft.state.due is not None or draft.state.made is not None:
            return draft
        facts = await self.facts.find(account_id, draft.state.description, draft.state.purpose)
        async with self.drafts.database.begin() as tx:
            current = await self.drafts.lock(tx, account_id, draft.row.session_id)
            if current.state.asked is not None:
                return current
            state = engine.begin(current.state.but(facts=facts))
            return await self._save(tx, account_id, current, state)

    async def _stop(self, account_id: str, run_id: str) -> None:
        with suppress(Conflict, NotFound):  # it ended by itself a moment before, or is long gone
            await self.runs.cancel(account_id, run_id, by="interview")


def _went_on() -> WentOn:
    return WentOn("The interview has gone on since.", hint="Look at what it says now.")


def _must_be_open(state: State) -> None:
    if state.made is not None:
        raise Conflict("This interview is finished.")


def _must_be_quiet(state: State) -> None:
    if state.due is not None:
        raise Conflict("Forge is still thinking.", hint="Wait for the next turn, or cancel.")


def _agreed_or_none(state: State) -> BuilderConfig | None:
    turn = state.asked.turn if state.asked else None
    return turn.config if isinstance(turn, ReadyToAssemble) else None


def _agreed(state: State) -> BuilderConfig:
    agreed = _agreed_or_none(state)
    if agreed is None:
        raise Conflict("The interview is not finished.", hint="Answer what is left, or send a whole config.")
    return agreed


def _agreed_skill(state: State) -> SkillBuildRequest:
    turn = state.asked.turn if state.asked else None
    if not isinstance(turn, ReadyToCreateSkill):
        raise Conflict("The interview is not finished.", hint="Answer what is left: a skill is tried first.")
    return turn.skill_request
