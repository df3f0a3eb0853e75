"""The line below an answer: model, tokens, cost and time. Used by the terminal and by exports."""

from datetime import timedelta

from forge.bots.chat.models import AnswerFacts, Message
from forge.bots.models import MessageStatus
from forge.llm.models import dollars
from forge.terminal.text import duration


def footer(message: Message) -> str:
    """Return `model · temperature · tokens · cost · time`, after the status of an answer that is not complete."""
    if message.answer is None:
        return ""
    ended = [] if message.status is MessageStatus.DONE else [message.status.value]
    return " · ".join([*ended, *_facts(message.answer)])


def _facts(facts: AnswerFacts) -> list[str]:
    said = [facts.model] if facts.model else []
    if facts.temperature is not None:
        said.append(f"temperature {facts.temperature:g}")
    if facts.usage.sent or facts.usage.output:
        cached = f" ({facts.usage.cache_read:,} cached)" if facts.usage.cache_read else ""
        said.append(f"{facts.usage.sent:,} tokens in{cached}, {facts.usage.output:,} out")
    said.append(dollars(facts.cost_micros))
    if facts.duration_ms is not None:
        said.append(duration(timedelta(milliseconds=facts.duration_ms)))
    return said
