"""Reads a draft as it was saved, whichever version of Forge saved it."""

from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from forge.interview.answers import MAX_TEXT, Said
from forge.interview.categories import Known, Purpose, classify
from forge.interview.config import Fields
from forge.interview.errors import BrokenDraft, NewerDraft
from forge.interview.phases import Mode, Phase
from forge.interview.state import SCHEMA_VERSION, Asked, Basis, Exchange, Speaker, State
from forge.interview.store import DraftRow
from forge.interview.turns import Clarify

_PURPOSE: TypeAdapter[Purpose] = TypeAdapter(Purpose)


def read_state(row: DraftRow) -> State:
    """Raises `NewerDraft` for one that only a newer Forge understands: it is kept as it is."""
    if row.schema_version > SCHEMA_VERSION:
        raise NewerDraft(
            f"This draft was saved by a newer Forge (version {row.schema_version} of its form; this one reads "
            f"{SCHEMA_VERSION}).",
            hint="Update Forge to go on with it, or begin anew: it is kept.",
        )
    try:
        if row.schema_version == 1:
            return _from_first(row)
        return State.model_validate_json(row.state_json)
    except ValidationError as error:
        raise BrokenDraft("This draft cannot be read any more.", hint="Delete it and begin anew.") from error


class _FirstExchange(BaseModel):
    question: str = ""
    answer: str = ""
    phase: str = ""


class _First(BaseModel):
    """It knew questions and answers as texts, and what was known as one config."""

    initial_description: str
    purpose_category: Any = None
    conversation: list[_FirstExchange] = []
    config: dict[str, Any] = {}


def _from_first(row: DraftRow) -> State:
    saved = _First.model_validate_json(row.state_json)
    description = saved.initial_description[:MAX_TEXT]
    answered = [one for one in saved.conversation if one.answer.strip()]
    return State(
        session_id=row.session_id,
        mode=Mode.BOT,
        description=description,
        found_purpose=_purpose(saved.purpose_category, description),
        speaker=Speaker.GUIDE,
        why_guide="This draft is from an older version: Forge's own questions go on with it.",
        basis=Basis(fields=_fields(saved.config)),
        exchanges=[_exchange(row, number, one) for number, one in enumerate(answered, start=1)],
    )


def _exchange(row: DraftRow, number: int, one: _FirstExchange) -> Exchange:
    phase = Phase(one.phase) if one.phase in set(Phase) else Phase.BASICS
    text = one.answer[:MAX_TEXT]
    asked = Asked(
        turn=Clarify(phase=phase, message=one.question), topic=f"earlier:{number}", speaker=Speaker.MODEL
    )
    return Exchange(
        number=number, asked=asked, answer=Said(text=text), label=text, answered_at=row.updated_at
    )


def _fields(saved: dict[str, Any]) -> Fields:
    """Each by itself: one that does not fit is not known."""
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
    return Known(found) if isinstance(found, str) else found
