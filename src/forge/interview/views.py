"""An interview as clients see it."""

from forge.errors import ForgeError
from forge.interview.asides import phases_of
from forge.interview.completing import preview_of
from forge.interview.models import DraftSummary, Line, SessionView, SpokenBy, StateSummary
from forge.interview.phases import Mode, Phase
from forge.interview.reading import read_state
from forge.interview.state import Exchange, Speaker, State
from forge.interview.store import DraftRow
from forge.interview.turns import ShowPreview, words_of

MAX_DESCRIPTION = 300


def session_view(row: DraftRow, state: State) -> SessionView:
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
            why=state.why_guide if state.speaker is Speaker.GUIDE else None,
            can_switch=state.model is not None or state.speaker is Speaker.MODEL,
        ),
        preview=preview_of(state),
        lines=[_line(exchange) for exchange in state.exchanges],
        back_to=phases_of(state),
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
        return "This is how it stands. Shall we go on?"
    return words_of(turn) or "Ready. Is there anything to change?"


def draft_summary(row: DraftRow) -> DraftSummary:
    """Also of one that cannot be opened: it is listed, with the reason."""
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
