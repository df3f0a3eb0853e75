"""The interview itself: a state and an answer in, the next state out. No clock, no model, no database.

Two speak in it. The guide's turns are computed here, at once; a model's turn is `due` until somebody has asked it, and
comes back through `hear`. Whoever speaks, what is known is the sum of the patches, so a person can go back to any
question, and answers behind it are asked again only if they no longer fit.
"""

from datetime import datetime

from forge.errors import Conflict
from forge.interview.answers import Answer, Chosen, Confirmed, Said, WentBack
from forge.interview.asides import as_first_asked, asks_again, revision_of, waits_for_words
from forge.interview.budget import budget_of
from forge.interview.categories import Known, Purpose, classify
from forge.interview.completing import to_config, to_skill_request
from forge.interview.config import NOTHING, Fields
from forge.interview.errors import BadAnswer
from forge.interview.extras import with_extras
from forge.interview.guide import next_question
from forge.interview.phases import Mode, Phase
from forge.interview.speaking.hearing import heard
from forge.interview.speaking.reply import ModelTurn
from forge.interview.state import Asked, Due, Exchange, Speaker, State, Written
from forge.interview.turns import AskQuestion, Clarify, ReadyToAssemble, ReadyToCreateSkill, ShowPreview
from forge.interview.understanding import Unclear, understand
from forge.interview.writing import is_written
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD


def begin(state: State) -> State:
    """With the first turn, or with the model's being due."""
    return state.but(due=Due.ASK) if state.speaker is Speaker.MODEL else _go_on(state)


def take(state: State, answer: Answer, at: datetime) -> State:
    """Raises `BadAnswer` for an answer that does not fit; the state is not touched by it."""
    if state.made is not None:
        raise Conflict("This interview is finished.")
    if state.due is not None or state.asked is None:
        raise Conflict("Forge is still thinking.", hint="Wait for the next turn, or cancel.")
    if isinstance(answer, WentBack):
        return go_back(state, answer.phase)
    if isinstance(state.asked.turn, ReadyToAssemble | ReadyToCreateSkill):
        return _at_the_end(state, state.asked, answer, at)
    answer = _as_option(state.asked, answer)
    if state.left_at is not None and state.set_aside and _is_same(state, answer):
        return _as_before(state)
    return _take(state, state.asked, answer, at)


def _take(state: State, asked: Asked, answer: Answer, at: datetime) -> State:
    label = _label(asked, answer)
    extra = asked.extras.get(answer.index) if isinstance(answer, Chosen) else None
    if extra == "setup":
        return state.but(asked=waits_for_words(asked, asked.turn.phase, _SETUP))
    if asked.topic == "revise" and isinstance(answer, Chosen) and isinstance(asked.turn, AskQuestion):
        return go_back(state, Phase(asked.turn.options[answer.index].id))
    try:
        patch = _patch(state, asked, answer)
    except Unclear as unclear:
        return state.but(asked=asks_again(asked, str(unclear)))
    exchange = Exchange(
        number=_next_number(state),
        asked=as_first_asked(asked),
        answer=answer,
        label=label,
        patch=patch,
        purpose=_purpose(asked, answer),
        answered_at=at,
    )
    aside = state.set_aside[1:] if state.left_at is not None else state.set_aside
    state = state.but(exchanges=[*state.exchanges, exchange], set_aside=aside, left_at=None, edited=None)
    if extra == "skip":
        return _finish(state.but(set_aside=[]))
    if state.speaker is Speaker.MODEL and not _is_forges_own(asked):
        return state.but(due=Due.ASK)
    return _go_on(state)


_SETUP = (
    "Add a key for a provider: in Settings, Models, or with `forge secrets set ANTHROPIC_API_KEY`. "
    "When it is there, say so, and I ask again."
)


def _is_forges_own(asked: Asked) -> bool:
    """Questions that the guide asks whoever speaks."""
    return asked.topic.startswith("capability:")


def _as_option(asked: Asked, answer: Answer) -> Answer:
    """Words that are those of an option choose it."""
    if isinstance(answer, Said) and isinstance(asked.turn, AskQuestion):
        wanted = answer.text.strip().casefold()
        for index, option in enumerate(asked.turn.options):
            if option.label.strip().casefold() == wanted:
                return Chosen(index=index)
    return answer


def _label(asked: Asked, answer: Answer) -> str:
    """The answer in words; refuses one that the turn does not take."""
    match asked.turn, answer:
        case AskQuestion(options=options), Chosen(index=index):
            if index >= len(options):
                raise BadAnswer(
                    f"There is no option {index}: they are counted from 0 to {len(options) - 1}.",
                    field="answer",
                )
            return options[index].label
        case AskQuestion(allow_free_text=True) | Clarify() | ShowPreview(), Said(text=text):
            return text
        case ShowPreview(), Confirmed(yes=yes):
            return "Yes" if yes else "No"
        case AskQuestion(), _:
            raise BadAnswer(
                "Choose one of the options.", hint='For instance {"OptionIndex": 0}.', field="answer"
            )
        case Clarify(), _:
            raise BadAnswer("Answer in words.", hint='For instance {"FreeText": "…"}.', field="answer")
        case _:
            raise BadAnswer("Answer with yes or no.", hint='For instance {"Confirm": true}.', field="answer")


def _patch(state: State, asked: Asked, answer: Answer) -> Fields:
    if isinstance(answer, Chosen):
        return asked.patches[answer.index] if answer.index < len(asked.patches) else NOTHING
    if isinstance(answer, Said) and asked.free is not None:
        return understand(state, asked, answer.text)
    return NOTHING


def _purpose(asked: Asked, answer: Answer) -> Purpose | None:
    """What the answer says about the whole; None when nothing."""
    match answer:
        case Chosen(index=index) if asked.topic == "category" and isinstance(asked.turn, AskQuestion):
            chosen = asked.turn.options[index].id
            return Known(chosen) if chosen in set(Known) else None
        case Said(text=text) if asked.topic in ("category", "purpose"):
            found = classify(text)
            return found if isinstance(found, Known) else None
        case _:
            return None


def _next_number(state: State) -> int:
    return 1 + max((exchange.number for exchange in [*state.exchanges, *state.set_aside]), default=0)


# Back


def go_back(state: State, phase: Phase | None) -> State:
    """To the question before, or to the first of a phase; it is asked again as it was."""
    if not state.exchanges:
        raise BadAnswer("This is the first question: there is nothing to go back to.")
    place = _place_before(state) if phase is None else _place_of(state, phase)
    back = state.exchanges[place]
    return state.but(
        exchanges=state.exchanges[:place],
        set_aside=[*state.exchanges[place:], *state.set_aside],
        left_at=state.left_at or state.asked,
        asked=back.asked,
        edited=None,
    )


def _place_before(state: State) -> int:
    for place in reversed(range(len(state.exchanges))):
        if isinstance(state.exchanges[place].asked.turn, AskQuestion | Clarify):
            return place
    return 0


def _place_of(state: State, phase: Phase) -> int:
    for place, exchange in enumerate(state.exchanges):
        if exchange.asked.turn.phase is phase:
            return place
    raise BadAnswer(f"Nothing was asked about {phase.value} yet.", hint="Only back: to a phase that is over.")


def _is_same(state: State, answer: Answer) -> bool:
    return state.asked == state.set_aside[0].asked and answer == state.set_aside[0].answer


def _as_before(state: State) -> State:
    """The same answer as the first time: all that came after it still holds."""
    return state.but(
        exchanges=[*state.exchanges, *state.set_aside], set_aside=[], asked=state.left_at, left_at=None
    )


# The guide's turns, and the end


def _go_on(state: State) -> State:
    """The guide's next turn. Answers that were set aside are taken up where the question is the same as it was."""
    while True:
        asked = None if _is_spent(state) else next_question(state)
        if asked is None:
            return _finish(state)
        asked = with_extras(state, asked)
        kept = next((one for one in state.set_aside if one.asked == asked), None)
        if kept is None:
            return state.but(asked=asked, due=None)
        left = [one for one in state.set_aside if one is not kept]
        state = state.but(exchanges=[*state.exchanges, kept], set_aside=left)


def _is_spent(state: State) -> bool:
    """Capabilities are confirmed one by one, however many questions there were."""
    return state.question_count >= budget_of(state).most and not _is_confirming(state)


def _is_confirming(state: State) -> bool:
    """Whether the skill is there, and all that is left is what it may do."""
    return state.mode is Mode.SKILL and is_written(state)


def _finish(state: State) -> State:
    """Ready; or first the text that only now can be written."""
    if not is_written(state):
        return state.but(due=Due.WRITE, set_aside=[], left_at=None)
    turn = (
        ReadyToCreateSkill(skill_request=to_skill_request(state))
        if state.mode is Mode.SKILL
        else ReadyToAssemble(config=to_config(state))
    )
    asked = Asked(turn=turn, topic="ready", speaker=state.speaker)
    return state.but(asked=asked, due=None, set_aside=[], left_at=None)


def _at_the_end(state: State, asked: Asked, answer: Answer, at: datetime) -> State:
    """Nothing is made by an answer: that takes its own word. But things can still be changed."""
    match answer:
        case Confirmed(yes=True):
            return state
        case Confirmed(yes=False):
            return go_back(state, None)
        case Said(text=text):
            if state.speaker is Speaker.GUIDE:
                return state.but(asked=revision_of(state))
            exchange = Exchange(
                number=_next_number(state), asked=asked, answer=answer, label=text, answered_at=at
            )
            return state.but(exchanges=[*state.exchanges, exchange], due=Due.ASK, edited=None)
        case _:
            raise BadAnswer("Answer with yes or no, or say what to change.", field="answer")


# What comes from outside


def hear(state: State, turn: ModelTurn, *, model: str, cost_micros: int) -> State:
    """The model's turn, with what it understood of the last answer."""
    said = heard(state, turn)
    if state.exchanges:
        last = state.exchanges[-1]
        understood = last.model_copy(
            update={
                "patch": last.patch.merged(said.patch),
                "purpose": said.purpose or last.purpose,
                "model": model,
                "cost_micros": last.cost_micros + cost_micros,
            }
        )
        kept = [one for one in state.set_aside if one.number in said.keeps]
        state = state.but(exchanges=[*state.exchanges[:-1], understood, *kept])
    else:
        state = state.but(
            opening=state.opening.merged(said.patch),
            found_purpose=said.purpose or state.found_purpose,
            opening_model=model,
            opening_cost_micros=state.opening_cost_micros + cost_micros,
        )
    state = state.but(set_aside=[], left_at=None, due=None)
    if said.asked is not None and not said.is_ready and not _is_spent(state):
        return state.but(asked=with_extras(state, said.asked))
    return _go_on(state) if _lacks_essentials(state) or _is_confirming(state) else _finish(state)


def _lacks_essentials(state: State) -> bool:
    """What no default can stand for: the guide asks for it when a model thinks it is done."""
    known = state.config
    is_few = len(known.variants or []) < state.basis.variants
    return not known.name or not (known.description or known.purpose or known.steps) or is_few


def give_up(state: State, why: str) -> State:
    """The model does not answer: the guide goes on from here."""
    return _go_on(state.but(speaker=Speaker.GUIDE, why_guide=why, due=None))


def switch(state: State, speaker: Speaker, why: str | None) -> State:
    """From the next turn on; the one that was asked stays."""
    state = state.but(speaker=speaker, why_guide=why)
    return state if state.asked is not None or state.due is not None else begin(state)


def wrote(state: State, written: Written) -> State:
    """What the text turned out to need is asked for, one by one, if nobody said what it may do."""
    if written.skill is not None and state.config.capabilities is None:
        manifest = read_skill_md(written.skill.files.get(SKILL_MD, ""), written.skill.name).manifest
        needed = manifest.capabilities if manifest else []
        state = state.but(opening=state.opening.merged(Fields(capabilities=needed)))
    state = state.but(written=written, due=None)
    if state.edited is not None:
        return state
    return _go_on(state) if state.mode is Mode.SKILL else _finish(state)


def rewrite(state: State) -> State:
    """Other settings than those of the ready turn need their own text."""
    return state.but(due=Due.WRITE)


def withdraw(state: State) -> State:
    """Nobody waits for the model any more: the answer it was to understand is taken back."""
    if state.due is None:
        raise Conflict("Forge is not thinking.")
    if state.edited is not None:
        return state.but(due=None, edited=None)  # settings of the review, and no answer
    if not state.exchanges:
        return give_up(state, "You did not want to wait for the model.")
    last = state.exchanges[-1]
    return state.but(exchanges=state.exchanges[:-1], asked=last.asked, due=None)
