"""What something is for: a category by the words of its description, and what usually suits one of that kind."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forge.bots.models import Category as BotCategory
from forge.kernel.text import NO_NUL

MOST_OF_CUSTOM = 50


class Known(StrEnum):
    SIMPLE_UTILITY = "simple_utility"
    COMPLEX_ANALYST = "complex_analyst"
    CREATIVE = "creative"
    CODING = "coding"
    RESEARCH = "research"
    CUSTOMER_SERVICE = "customer_service"


class Custom(BaseModel):
    """Something of its own: `{"custom": "garden planner"}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    custom: Annotated[str, Field(max_length=MOST_OF_CUSTOM), NO_NUL]


Purpose = Known | Custom


@dataclass(frozen=True)
class Budget:
    """How many questions an interview of this kind takes."""

    fewest: int
    most: int


@dataclass(frozen=True)
class Defaults:
    """What suits most of a kind."""

    temperature: float
    max_tokens: int
    tone: str
    traits: tuple[str, ...]
    skills: tuple[str, ...]
    bot_category: BotCategory
    budget: Budget


KEYWORDS: Mapping[Known, tuple[str, ...]] = {
    Known.CODING: (
        *(
            "code",
            "codes",
            "coding",
            "coder",
            "debug",
            "debugs",
            "debugging",
            "program",
            "programs",
            "programming",
        ),
        *(
            "programmer",
            "develop",
            "developer",
            "developers",
            "software",
            "refactor",
            "refactoring",
            "pull request",
        ),
        *(
            "pull requests",
            "unit test",
            "unit tests",
            "bug",
            "bugs",
            "python",
            "javascript",
            "typescript",
            "rust",
            "sql",
        ),
    ),
    Known.CUSTOMER_SERVICE: (
        *(
            "support",
            "customer",
            "customers",
            "help desk",
            "helpdesk",
            "ticket",
            "tickets",
            "complaint",
            "complaints",
        ),
        *("refund", "refunds", "client", "clients", "faq"),
    ),
    Known.RESEARCH: (
        *(
            "research",
            "researcher",
            "study",
            "studies",
            "academic",
            "paper",
            "papers",
            "literature",
            "citation",
        ),
        *("citations", "thesis", "scholar", "sources"),
    ),
    Known.COMPLEX_ANALYST: (
        *(
            "analyze",
            "analyse",
            "analyzes",
            "analyses",
            "analysis",
            "analyst",
            "data",
            "report",
            "reports",
            "metrics",
        ),
        *("dashboard", "dashboards", "statistics", "forecast", "forecasts", "spreadsheet", "spreadsheets"),
    ),
    Known.CREATIVE: (
        *(
            "write",
            "writes",
            "writing",
            "writer",
            "story",
            "stories",
            "poem",
            "poems",
            "poetry",
            "creative",
            "art",
        ),
        *("music", "song", "songs", "novel", "fiction", "lyrics", "blog", "slogan", "slogans"),
    ),
    Known.SIMPLE_UTILITY: (
        *("email", "emails", "reminder", "reminders", "remind", "timer", "timers", "calculator", "calculate"),
        *("converter", "convert", "converts", "translate", "translates", "shopping list", "to-do"),
    ),
}
"""From the most particular to the most general: of categories with as many words found, the first is taken."""

_DEFAULTS: Mapping[Known, Defaults] = {
    Known.SIMPLE_UTILITY: Defaults(
        0.3, 2048, "direct", ("efficient", "concise"), ("summarize",), BotCategory.UTILITY, Budget(3, 5)
    ),
    Known.COMPLEX_ANALYST: Defaults(
        *(0.5, 4096, "analytical", ("thorough", "precise", "structured")),
        ("data-analysis", "summarize"),
        BotCategory.ASSISTANT,
        Budget(7, 10),
    ),
    Known.CREATIVE: Defaults(
        *(0.9, 4096, "expressive", ("creative", "imaginative", "playful")),
        ("text-generation", "editing"),
        BotCategory.CREATIVE,
        Budget(4, 7),
    ),
    Known.CODING: Defaults(
        *(0.2, 4096, "technical", ("precise", "methodical", "pragmatic")),
        ("code-review", "code-generation"),
        BotCategory.ASSISTANT,
        Budget(5, 7),
    ),
    Known.RESEARCH: Defaults(
        *(0.5, 4096, "scholarly", ("thorough", "citation-aware", "balanced")),
        ("summarize", "source-notes"),
        BotCategory.RESEARCH,
        Budget(6, 8),
    ),
    Known.CUSTOMER_SERVICE: Defaults(
        *(0.4, 2048, "empathetic", ("patient", "helpful", "clear")),
        ("knowledge-base", "support-replies"),
        BotCategory.ASSISTANT,
        Budget(5, 7),
    ),
}
_CUSTOM = Defaults(0.7, 4096, "adaptive", ("versatile",), (), BotCategory.ASSISTANT, Budget(4, 7))


def classify(description: str) -> Purpose:
    """By whole words; the category with the most different words wins."""
    text = " ".join(re.findall(r"[\w-]+", description.lower()))
    counts = {known: sum(_has(text, word) for word in words) for known, words in KEYWORDS.items()}
    best = max(counts, key=lambda known: counts[known])
    return best if counts[best] else Custom(custom=_short(description))


def _has(text: str, word: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _short(description: str) -> str:
    return " ".join(description.split())[:MOST_OF_CUSTOM]


def defaults_for(purpose: Purpose) -> Defaults:
    return _DEFAULTS[purpose] if isinstance(purpose, Known) else _CUSTOM


def purpose_name(purpose: Purpose) -> str:
    """In words for a person."""
    return purpose.replace("_", " ") if isinstance(purpose, Known) else "something of its own"


def purpose_key(purpose: Purpose) -> str:
    """Under which sessions of one kind are remembered together."""
    return purpose.value if isinstance(purpose, Known) else "custom"
