"""Create a bot in an interview and chat with it."""

from contextlib import closing

from forge.bots.chat.models import Message, Turn
from forge.bots.chat.terminal.answer_stream import AnswerStream
from forge.bots.models import MessageStatus
from forge.errors import Internal
from forge.interview.domain.dialogue import AskQuestion, Chosen, Confirmed, ReadyToAssemble, ShowPreview
from forge.interview.models import Assembled, SessionView
from forge.llm.models import dollars
from forge.terminal.client import Body
from forge.tour.demo_context import TIMEOUT_S, DemoContext

DESCRIPTION = "a bot that helps newcomers to find their way around"
QUESTION = "What is real here, and what is not?"
MAX_TURNS = 12


def create_bot(context: DemoContext) -> str:
    """Create a bot and return its slug."""
    context.narrator.line("you", DESCRIPTION)
    with context.narrator.waiting("Forge thinks"):
        view = _post(context, "/builder/sessions", {"description": DESCRIPTION, "speaker": "model"})
    for _ in range(MAX_TURNS):
        if isinstance(view.turn, ReadyToAssemble):
            return _assemble(context, view)
        view = _answer(context, view)
    raise Internal(f"The interview did not end after {MAX_TURNS} turns.")


def _answer(context: DemoContext, view: SessionView) -> SessionView:
    """Answer with the first option of each question."""
    match view.turn:
        case AskQuestion(question=question, options=options):
            context.narrator.line("Forge", question)
            context.narrator.line("you", options[0].label)
            answer = Chosen(index=0)
        case ShowPreview():
            answer = Confirmed(yes=True)
        case turn:
            raise Internal(f"The interview did not continue: {turn}")
    with context.narrator.waiting("Forge thinks"):
        body = {"answer": answer.wire(), "turn": view.revision}
        return _post(context, f"/builder/sessions/{view.session_id}/answer", body)


def _post(context: DemoContext, path: str, body: Body) -> SessionView:
    return context.client.post(path, SessionView, body, within_s=TIMEOUT_S)


def _assemble(context: DemoContext, view: SessionView) -> str:
    path = f"/builder/sessions/{view.session_id}/assemble"
    with context.narrator.waiting("Creating the bot"):
        assembled = context.client.post(path, Assembled, within_s=TIMEOUT_S)
    if assembled.result is None:
        raise Internal("The interview created no bot.")
    bot = assembled.result.bots[0]
    context.narrator.done(
        f"Created {bot.bot_name}: {len(assembled.result.hashes)} plain files that you can edit by hand."
    )
    context.add_link("The interview", f"/forge/{view.session_id}")
    context.add_link(f"The bot {bot.bot_name}", f"/bots/{bot.bot_slug}")
    return bot.bot_slug


def chat(context: DemoContext, bot: str) -> None:
    context.narrator.line("you", QUESTION)
    turn = context.client.post(f"/bots/{bot}/chat", Turn, {"text": QUESTION})
    with (
        closing(AnswerStream(context.client, turn.session.id)) as stream,
        context.narrator.quoting() as quote,
    ):
        answer = stream.wait_for(turn.answer, quote)
        quote.write(answer.text)
    _check(context, answer)
    context.add_link("The conversation", f"/bots/{bot}/chat/{turn.session.id}")


def _check(context: DemoContext, answer: Message) -> None:
    problem = answer.error.message if answer.error else answer.status.value
    context.expect(answer.status is MessageStatus.DONE, f"The bot did not answer: {problem}")
    if facts := answer.answer:
        used = facts.usage
        context.narrator.done(
            f"Streamed in {(facts.duration_ms or 0) / 1000:.1f} s; {used.sent} tokens in, "
            f"{used.output} out, cost {dollars(facts.cost_micros)}."
        )
