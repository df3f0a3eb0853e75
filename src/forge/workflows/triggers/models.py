"""What a sender of webhooks is told."""

from typing import Literal

from pydantic import BaseModel


class Ignored(BaseModel):
    """It was taken, and starts nothing."""

    status: Literal["ignored"] = "ignored"
    reason: str
