"""What a run of kind `message` is started with."""

from pydantic import BaseModel, ConfigDict

KIND = "message"


class DeliveryInput(BaseModel):
    model_config = ConfigDict(frozen=True)

    message_id: str
    bot_id: str
    title: str
