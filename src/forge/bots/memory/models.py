"""Memories of a bot, as people and clients see them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.kernel.text import NO_NUL, NOT_BLANK

MAX_FACT = 1000
MAX_MEMORIES = 5000
"""Of one bot."""
Fact = Annotated[str, Field(min_length=1, max_length=MAX_FACT), NOT_BLANK, NO_NUL]


class MemoryCategory(StrEnum):
    PREFERENCE = "preference"
    FACT = "fact"
    DECISION = "decision"
    CONTEXT = "context"
    CORRECTION = "correction"


class Memory(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    fact: str
    category: MemoryCategory
    importance: int
    """1 to 5."""
    is_pinned: bool
    """Goes along with every question; the others when they fit."""
    author: Literal["chat", "person"]
    session_id: str | None = None
    """The conversation it was taken from, while that exists."""
    recalled: int = 0
    """How often it went along."""
    last_recalled_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


class NewMemory(BaseModel):
    model_config = ConfigDict(extra="forbid")

    fact: Fact
    category: MemoryCategory = MemoryCategory.FACT
    importance: int = Field(default=3, ge=1, le=5)
    is_pinned: bool = False


class MemoryChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    fact: Fact | None = None
    category: MemoryCategory | None = None
    importance: int | None = Field(default=None, ge=1, le=5)
    is_pinned: bool | None = None


FoundBy = Literal["meaning", "words"]


class Match(BaseModel):
    """A memory that fits what was asked."""

    memory: Memory
    score: float
    by: FoundBy


class RecallWay(BaseModel):
    """How memories are found again on this server."""

    by: FoundBy
    model: str | None = None
    hint: str | None = None
    """How to get recall by meaning, where it is not installed."""


class Forgotten(BaseModel):
    memories: int
