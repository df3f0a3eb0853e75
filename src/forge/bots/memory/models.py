"""API models of the memories of a bot."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.kernel.text import NO_NUL, NOT_BLANK

MAX_FACT = 1000
MAX_MEMORIES = 5000
"""Limit for one bot."""
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
    """Pinned memories are sent with every question, others if they fit."""
    author: Literal["chat", "person"]
    session_id: str | None = None
    """The conversation it was extracted from, while that exists."""
    recalled: int = 0
    """How often it was sent with a question."""
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
    """A memory that fits a text."""

    memory: Memory
    score: float
    by: FoundBy


class RecallWay(BaseModel):
    """How memories are searched on this server."""

    by: FoundBy
    model: str | None = None
    hint: str | None = None
    """How to enable search by meaning if it is not installed."""


class Forgotten(BaseModel):
    memories: int
