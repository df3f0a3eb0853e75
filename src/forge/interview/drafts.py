"""Load, save and present interviews, and publish an event for every change."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.errors import Conflict, ForgeError, NotFound
from forge.events.log import EventLog
from forge.interview import store
from forge.interview.domain.build_config import Fields
from forge.interview.domain.categories import KnownPurpose, Purpose, classify
from forge.interview.domain.config_builder import build_preview
from forge.interview.domain.dialogue import MAX_TEXT, Clarify, Mode, Phase, Said, ShowPreview, words_of
from forge.interview.domain.state import (
    SCHEMA_VERSION,
    Asked,
    Basis,
    Exchange,
    InterviewSpeaker,
    State,
    answered_phases,
)
from forge.interview.errors import BrokenDraft, NewerDraft
from forge.interview.models import (
    DraftSummary,
    InterviewsChanged,
    InterviewTurned,
    Line,
    SessionView,
    SpokenBy,
    StateSummary,
)
from forge.interview.store import DraftRow
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.store.database import Store, Tx

_PURPOSE: TypeAdapter[Purpose] = TypeAdapter(Purpose)


def read_state(row: DraftRow) -> State:
    """Raise `NewerDraft` for a draft of a newer version, which is left unchanged."""
    if row.schema_version > SCHEMA_VERSION:
        raise NewerDraft(
            f"This draft was saved by a newer Forge (format {row.schema_version}; this version reads up to "
            f"{SCHEMA_VERSION}).",
            hint="Update Forge to continue it, or start a new interview. The draft is kept.",
        )
    try:
        if row.schema_version == 1:
            return _from_first_format(row)
        return State.model_validate_json(row.state_json)
    except ValidationError as error:
        raise BrokenDraft(
            "This draft is damaged and cannot be read.", hint="Delete it and start a new interview."
        ) from error


class _FirstExchange(BaseModel):
    question: str = ""
    answer: str = ""
    phase: str = ""


class _FirstFormat(BaseModel):
    """Format 1: questions and answers as plain text, and the settings as one dict."""

    initial_description: str
    purpose_category: Any = None
    conversation: list[_FirstExchange] = []
    config: dict[str, Any] = {}


def _from_first_format(row: DraftRow) -> State:
    saved = _FirstFormat.model_validate_json(row.state_json)
    description = saved.initial_description[:MAX_TEXT]
    answered = [one for one in saved.conversation if one.answer.strip()]
    return State(
        session_id=row.session_id,
        mode=Mode.BOT,
        description=description,
        found_purpose=_purpose(saved.purpose_category, description),
        speaker=InterviewSpeaker.GUIDE,
        why_guide="This draft is from an older version and continues with Forge's own questions.",
        basis=Basis(fields=_fields(saved.config)),
        exchanges=[_exchange(row, number, one) for number, one in enumerate(answered, start=1)],
    )


def _exchange(row: DraftRow, number: int, one: _FirstExchange) -> Exchange:
    phase = Phase(one.phase) if one.phase in set(Phase) else Phase.BASICS
    text = one.answer[:MAX_TEXT]
    asked = Asked(
        turn=Clarify(phase=phase, message=one.question),
        topic=f"earlier:{number}",
        speaker=InterviewSpeaker.MODEL,
    )
    return Exchange(
        number=number, asked=asked, answer=Said(text=text), label=text, answered_at=row.updated_at
    )


def _fields(saved: dict[str, Any]) -> Fields:
    """Keep the values that are valid today."""
    known = Fields()
    for name, value in saved.items():
        if name not in Fields.model_fields or value is None:
            continue
        try:
            known = known.merged(Fields.model_validate({name: value}))
        except ValidationError:
            continue
    return known


def _purpose(saved: Any, description: str) -> Purpose:
    if saved is None:
        return classify(description)
    try:
        found = _PURPOSE.validate_python(saved)
    except ValidationError:
        return classify(description)
    return KnownPurpose(found) if isinstance(found, str) else found


MAX_DESCRIPTION = 300


def _session_view(row: DraftRow, state: State) -> SessionView:
    return SessionView(
        session_id=state.session_id,
        mode=state.mode,
        initial_description=state.description,
        phase=state.phase,
        question_count=state.question_count,
        state_summary=StateSummary(phase=state.phase, question_count=state.question_count),
        turn=state.asked.turn if state.asked else None,
        revision=row.revision,
        due=state.due,
        spoken_by=SpokenBy(
            speaker=state.speaker,
            model=state.model,
            why=state.why_guide if state.speaker is InterviewSpeaker.GUIDE else None,
            can_switch=state.model is not None or state.speaker is InterviewSpeaker.MODEL,
        ),
        preview=build_preview(state),
        lines=[_line(exchange) for exchange in state.exchanges],
        back_to=answered_phases(state),
        bot_slug=state.basis.bot_slug,
        skill_name=state.basis.skill_name,
        trial=state.written.trial if state.written else None,
        made=state.made,
        cost_micros=state.cost_micros,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _line(exchange: Exchange) -> Line:
    return Line(
        number=exchange.number,
        phase=exchange.asked.turn.phase,
        question=_question(exchange),
        answer=exchange.label,
        speaker=exchange.asked.speaker,
        answered_at=exchange.answered_at,
    )


def _question(exchange: Exchange) -> str:
    turn = exchange.asked.turn
    if isinstance(turn, ShowPreview):
        return "This is what is known so far. Continue?"
    return words_of(turn) or "Ready. Is there anything to change?"


def draft_summary(row: DraftRow) -> DraftSummary:
    """Summarize a draft. One that cannot be opened is listed with the reason."""
    try:
        state = read_state(row)
    except ForgeError as error:
        return DraftSummary(
            session_id=row.session_id,
            mode=Mode.BOT,
            initial_description="",
            name=None,
            phase=Phase.BASICS,
            question_count=0,
            created_at=row.created_at,
            updated_at=row.updated_at,
            problem=error.message,
        )
    return DraftSummary(
        session_id=row.session_id,
        mode=state.mode,
        initial_description=state.description[:MAX_DESCRIPTION],
        name=state.config.name,
        phase=state.phase,
        question_count=state.question_count,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def interview_stream(session_id: str) -> str:
    return f"interview:{session_id}"


@dataclass(frozen=True)
class Draft:
    row: DraftRow
    state: State

    @property
    def view(self) -> SessionView:
        return _session_view(self.row, self.state)


class Drafts:
    def __init__(self, database: Store, events: EventLog, *, clock: Callable[[], datetime] = now) -> None:
        self.database = database
        self.events = events
        self.clock = clock

    async def create(self, tx: Tx, account_id: str, state: State, run_id: str | None = None) -> Draft:
        at = self.clock()
        row = DraftRow(
            session_id=state.session_id,
            account_id=account_id,
            state_json=state.model_dump_json(),
            schema_version=SCHEMA_VERSION,
            revision=1,
            run_id=run_id,
            created_at=at,
            updated_at=at,
            finished_at=None,
        )
        if not await store.insert(tx, row):
            raise Conflict(
                "An interview with this id already exists.", hint="Resume it, or choose another id."
            )
        return await self._publish(tx, Draft(row, state))

    async def find(self, account_id: str, session_id: str) -> Draft:
        async with self.database.read() as tx:
            return self._own(account_id, await store.find(tx, session_id.lower()))

    async def lock(self, tx: Tx, account_id: str, session_id: str) -> Draft:
        return self._own(account_id, await store.find(tx, session_id.lower(), lock=True))

    def _own(self, account_id: str, row: DraftRow | None) -> Draft:
        if row is None or row.account_id != account_id:
            raise NotFound(
                "There is no such interview.",
                hint="List unfinished interviews: forge drafts",
                websocket_hint="Start one with `start_bot`, `start_skill` or `reconfigure`.",
            )
        return Draft(row, read_state(row))

    async def save(
        self, tx: Tx, draft: Draft, state: State, *, run_id: str | None = None, **more: Any
    ) -> Draft:
        """Save a locked draft and publish the change to its stream and to the account's stream."""
        state = state.replace(schema_version=SCHEMA_VERSION)
        values: dict[str, Any] = {
            "state_json": state.model_dump_json(),
            "schema_version": SCHEMA_VERSION,
            "revision": draft.row.revision + 1,
            "run_id": run_id,
            "updated_at": self.clock(),
            **more,
        }
        await store.change(tx, draft.row.session_id, **values)
        return await self._publish(tx, Draft(replace(draft.row, **values), state))

    async def _publish(self, tx: Tx, draft: Draft) -> Draft:
        fact = InterviewTurned(session=draft.view)
        await self.events.append(tx, interview_stream(draft.row.session_id), fact)
        self.notify_account(tx, draft.row)
        return draft

    def notify_account(self, tx: Tx, row: DraftRow) -> None:
        """Notify subscribers of the account that the list of drafts changed."""
        changed = InterviewsChanged(session_id=row.session_id)
        self.events.append_last(tx, account_stream(row.account_id), changed)
