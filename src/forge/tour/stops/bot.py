"""A bot by the interview, and a talk with it."""

from contextlib import closing

from forge.bots.chat.following import Line, Listener
from forge.bots.chat.models import Message, MessageStatus, Turn
from forge.errors import Internal
from forge.interview.answers import Chosen, Confirmed
from forge.interview.models import Assembled, SessionView
from forge.interview.turns import AskQuestion, ReadyToAssemble, ShowPreview
from forge.llm.dollars import dollars
from forge.terminal.client import Body
from forge.tour.visit import PATIENCE_S, Visit

WISH = "a bot that helps newcomers to find their way around"
QUESTION = "What is real here, and what is not?"
MAX_TURNS = 12


def make_bot(visit: Visit) -> str:
    """Its slug."""
    visit.tell.line("we say", WISH)
    with visit.tell.waiting("Forge thinks"):
        view = _post(visit, "/builder/sessions", {"description": WISH, "speaker": "model"})
    for _ in range(MAX_TURNS):
        if isinstance(view.turn, ReadyToAssemble):
            return _assemble(visit, view)
        view = _answer(visit, view)
    raise Internal(f"The interview was not over after {MAX_TURNS} turns.")


def _answer(visit: Visit, view: SessionView) -> SessionView:
    """The first option of each question, as somebody in a hurry would."""
    match view.turn:
        case AskQuestion(question=question, options=options):
            visit.tell.line("Forge", question)
            visit.tell.line("we say", options[0].label)
            answer = Chosen(index=0)
        case ShowPreview():
            answer = Confirmed(yes=True)
        case turn:
            raise Internal(f"The interview did not go on: {turn}")
    with visit.tell.waiting("Forge thinks"):
        body = {"answer": answer.wire(), "turn": view.revision}
        return _post(visit, f"/builder/sessions/{view.session_id}/answer", body)


def _post(visit: Visit, path: str, body: Body) -> SessionView:
    return visit.client.post(path, SessionView, body, within_s=PATIENCE_S)


def _assemble(visit: Visit, view: SessionView) -> str:
    path = f"/builder/sessions/{view.session_id}/assemble"
    with visit.tell.waiting("The bot is made"):
        assembled = visit.client.post(path, Assembled, within_s=PATIENCE_S)
    if assembled.result is None:
        raise Internal("The interview made no bot.")
    bot = assembled.result.bots[0]
    visit.tell.done(
        f"{bot.bot_name} exists: {len(assembled.result.hashes)} plain files that you could edit by hand."
    )
    visit.note("The interview", f"/forge/{view.session_id}")
    visit.note(f"The bot {bot.bot_name}", f"/bots/{bot.bot_slug}")
    return bot.bot_slug


def talk(visit: Visit, bot: str) -> None:
    visit.tell.line("we say", QUESTION)
    turn = visit.client.post(f"/bots/{bot}/chat", Turn, {"text": QUESTION})
    with closing(Line(visit.client, turn.session.id)) as line, visit.tell.quoting() as quote:
        answer = line.wait_for(turn.answer, Listener(on_text=quote.add))
        quote.complete(answer.text)
    _check(visit, answer)
    visit.note("The conversation", f"/bots/{bot}/chat/{turn.session.id}")


def _check(visit: Visit, answer: Message) -> None:
    problem = answer.error.message if answer.error else answer.status.value
    visit.expect(answer.status is MessageStatus.DONE, f"The bot did not answer: {problem}")
    if facts := answer.answer:
        used = facts.usage
        visit.tell.done(
            f"Streamed in {(facts.duration_ms or 0) / 1000:.1f} s; {used.sent} tokens in, "
            f"{used.output} out, in the books at {dollars(facts.cost_micros)}."
        )
