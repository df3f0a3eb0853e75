"""What a run of kind `chat` is started with."""

from pydantic import BaseModel, ConfigDict

from forge.bots.readiness import bot_scope


class ChatInput(BaseModel):
    model_config = ConfigDict(frozen=True)

    bot_id: str
    session_id: str
    question_id: str
    answer_id: str
    title: str
    said: str = ""
    """What there is of the answer already, when it is resumed."""
    model: str | None = None
    """Instead of the one the bot has."""

    @property
    def scope(self) -> str:
        return bot_scope(self.bot_id)
