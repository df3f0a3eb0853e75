"""Kinds and inputs of chat runs."""

from pydantic import BaseModel, ConfigDict

from forge.bots.readiness import bot_scope

CHAT = "chat"


class ChatInput(BaseModel):
    model_config = ConfigDict(frozen=True)

    bot_id: str
    session_id: str
    question_id: str
    answer_id: str
    title: str
    said: str = ""
    """Existing text of an answer that is resumed."""
    model: str | None = None
    """Overrides the model of the bot."""

    @property
    def scope(self) -> str:
        return bot_scope(self.bot_id)


REMEMBER = "remember"


class RememberInput(BaseModel):
    """Extract facts from the messages of a branch after `after_id`, up to `upto_id`."""

    model_config = ConfigDict(frozen=True)

    bot_id: str
    session_id: str
    title: str
    after_id: str | None
    upto_id: str

    @property
    def scope(self) -> str:
        return bot_scope(self.bot_id)
