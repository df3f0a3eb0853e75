"""Facts worth keeping, taken from what was said."""

from pydantic import BaseModel

from forge.bots.chat.models import Speaker
from forge.bots.memory.models import MemoryCategory
from forge.llm.gateway import Gateway
from forge.llm.models import Role
from forge.llm.money import Spender


class ExtractedFact(BaseModel):
    fact: str
    category: MemoryCategory
    importance: int


class PreparedFact(ExtractedFact):
    """A fact with its embedding, ready to be kept."""

    embedder: str | None = None
    embedding: list[float] | None = None


async def extract(
    gateway: Gateway,
    spender: Spender,
    said: list[tuple[Speaker, str]],
    known: list[str],
    *,
    role: Role = Role.UTILITY,
    model: str | None = None,
) -> list[ExtractedFact]:
    raise NotImplementedError
