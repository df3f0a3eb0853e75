"""A conversation as a file: Markdown to be read, JSON to be worked with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from pydantic import BaseModel

from forge.bots.chat.footer import footer
from forge.bots.chat.models import Message, Session, SkillUse, Speaker
from forge.bots.tables import bots
from forge.store.engine import Tx


@dataclass(frozen=True)
class Whose:
    """The bot of a conversation, as people call it."""

    slug: str
    name: str


class Export(BaseModel):
    """The JSON form: the same shapes as in the API."""

    bot: str
    """Its slug."""
    bot_name: str
    session: Session
    messages: list[Message]


async def find_whose(tx: Tx, bot_id: str) -> Whose:
    found = (await tx.execute(sa.select(bots.c.slug, bots.c.identity).where(bots.c.id == bot_id))).one()
    return Whose(found.slug, found.identity["display_name"])


def as_json(bot: Whose, session: Session, messages: Sequence[Message]) -> str:
    whole = Export(bot=bot.slug, bot_name=bot.name, session=session, messages=list(messages))
    return whole.model_dump_json(indent=2) + "\n"


def as_markdown(bot: Whose, session: Session, messages: Sequence[Message]) -> str:
    head = [
        f"# {_one_line(session.title)}",
        f"A conversation with {_one_line(bot.name)} (`{bot.slug}`), "
        f"{_time(session.created_at)} to {_time(session.updated_at)}.",
    ]
    parts = [part for message in messages for part in _parts(bot, message)]
    return "\n\n".join([*head, *parts]) + "\n"


def _parts(bot: Whose, message: Message) -> list[str]:
    speaker = "You" if message.role is Speaker.USER else _one_line(bot.name)
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
