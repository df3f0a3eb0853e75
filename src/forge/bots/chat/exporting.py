"""A conversation as a file: Markdown to be read, JSON to be worked with."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel

from forge.bots.chat.footer import footer
from forge.bots.chat.models import Message, Session, SkillUse, Speaker
from forge.bots.models import Bot


class Export(BaseModel):
    """The JSON form: the same shapes as in the API."""

    bot: str
    """Its slug."""
    bot_name: str
    session: Session
    messages: list[Message]


def as_json(bot: Bot, session: Session, messages: Sequence[Message]) -> str:
    name = bot.identity.display_name
    whole = Export(bot=bot.slug, bot_name=name, session=session, messages=list(messages))
    return whole.model_dump_json(indent=2) + "\n"


def as_markdown(bot: Bot, session: Session, messages: Sequence[Message]) -> str:
    name = _one_line(bot.identity.display_name)
    head = [
        f"# {_one_line(session.title)}",
        f"A conversation with {name} (`{bot.slug}`), "
        f"{_time(session.created_at)} to {_time(session.updated_at)}.",
    ]
    parts = [part for message in messages for part in _parts(name, message)]
    return "\n\n".join([*head, *parts]) + "\n"


def _parts(name: str, message: Message) -> list[str]:
    speaker = "You" if message.role is Speaker.USER else name
    parts = [f"## {speaker}, {_time(message.created_at)}"]
    if message.answer and message.answer.skills_used:
        parts.append("\n".join(_use(use) for use in message.answer.skills_used))
    if message.text.strip():
        parts.append(message.text.strip("\n"))
    if message.error:
        parts.append(f"> {_one_line(message.error.message)}")
    if message.answer:
        parts.append(f"*{_one_line(footer(message))}*")
    return parts


def _use(use: SkillUse) -> str:
    what = f"{use.path} of " if use.path else ""
    return _one_line(f"- *{use.how} {what}{use.skill} ({use.state.value})*")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
