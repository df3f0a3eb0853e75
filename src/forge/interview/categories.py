"""What something is for: a category by the words of its description, and what usually suits one of that kind."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forge.bots.models import Category as BotCategory
from forge.kernel.text import NO_NUL

MAX_CUSTOM = 50


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

    custom: Annotated[str, Field(max_length=MAX_CUSTOM), NO_NUL]


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


_WORDS: Mapping[Known, str] = {
    Known.CODING: """
        backend bug bugs code codes coder coding commit commits compiler database databases debug debugger debugging
        debugs develop developer developers devops docker frontend git github javascript kubernetes postgres program
        programmer programming programs python refactor refactoring refactors rust software sql typescript
    """,
    Known.CUSTOMER_SERVICE: """
        client clients complaint complaints customer customers enquiries enquiry faq faqs helpdesk inquiries inquiry
        refund refunds returns shipping support ticket tickets warranty
    """,
    Known.RESEARCH: """
        academic bibliography citation citations evidence fact-check fact-checking journal journals literature paper
        papers research researcher researches researching scholar scholarly sources studies study thesis
    """,
    Known.COMPLEX_ANALYST: """
        analyse analyser analyses analysing analysis analyst analytics analyze analyzer analyzes analyzing csv dashboard
        dashboards data forecast forecasting forecasts kpi kpis metrics report reporting reports spreadsheet
        spreadsheets statistics trends
    """,
    Known.CREATIVE: """
        art artist blog brainstorm brainstorming brainstorms copywriter copywriting creative fiction lyrics music
        newsletter novel novels poem poems poet poetry screenplay slogan slogans song songs stories story storyteller
        storytelling write writer writes writing
    """,
    Known.SIMPLE_UTILITY: """
        alarm alarms calculate calculates calculator checklist convert converter converts currency email emails remind
        reminder reminders reminds timer timers to-do todo translate translates translation translations translator
        weather
    """,
}
"""From the most particular to the most general: of categories with as many words found, the first is taken."""
_PHRASES: Mapping[Known, tuple[str, ...]] = {
    Known.CODING: ("pull request", "pull requests", "release notes", "unit test", "unit tests"),
    Known.CUSTOMER_SERVICE: ("call center", "call centre", "help desk"),
    Known.CREATIVE: ("fairy tale", "fairy tales"),
    Known.SIMPLE_UTILITY: ("packing list", "shopping list"),
}
_KEYWORDS = {known: frozenset(words.split()) for known, words in _WORDS.items()}

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
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", description.lower())
    text, every = f" {' '.join(words)} ", set(words)
    counts = {
        known: len(every & keywords) + sum(f" {phrase} " in text for phrase in _PHRASES.get(known, ()))
        for known, keywords in _KEYWORDS.items()
    }
    best = max(counts, key=lambda known: counts[known])
    return best if counts[best] else Custom(custom=_short(description))


def _short(description: str) -> str:
    return " ".join(description.split())[:MAX_CUSTOM]


def defaults_for(purpose: Purpose) -> Defaults:
    return _DEFAULTS[purpose] if isinstance(purpose, Known) else _CUSTOM


def purpose_name(purpose: Purpose) -> str:
    """In words for a person."""
    return purpose.replace("_", " ") if isinstance(purpose, Known) else "something of its own"


def purpose_key(purpose: Purpose) -> str:
    """Under which sessions of one kind are remembered together."""
    return purpose.value if isinstance(purpose, Known) else "custom"
