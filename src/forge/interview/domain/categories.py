"""Classify descriptions into purposes, and the default settings of each purpose."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from forge.bots.models import Category as BotCategory
from forge.kernel.text import NO_NUL

MAX_CUSTOM_PURPOSE = 50


class KnownPurpose(StrEnum):
    SIMPLE_UTILITY = "simple_utility"
    COMPLEX_ANALYST = "complex_analyst"
    CREATIVE = "creative"
    CODING = "coding"
    RESEARCH = "research"
    CUSTOMER_SERVICE = "customer_service"


class CustomPurpose(BaseModel):
    """A purpose outside the known ones, such as `{"custom": "garden planner"}`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    custom: Annotated[str, Field(max_length=MAX_CUSTOM_PURPOSE), NO_NUL]


Purpose = KnownPurpose | CustomPurpose


@dataclass(frozen=True)
class QuestionBudget:
    """The least and the most questions of an interview."""

    minimum: int
    maximum: int


@dataclass(frozen=True)
class PurposeDefaults:
    """The default settings for a purpose."""

    temperature: float
    max_tokens: int
    tone: str
    traits: tuple[str, ...]
    skills: tuple[str, ...]
    bot_category: BotCategory
    budget: QuestionBudget


_WORDS: Mapping[KnownPurpose, str] = {
    KnownPurpose.CODING: """
        backend bug bugs code codes coder coding commit commits compiler database databases debug debugger debugging
        debugs develop developer developers devops docker frontend git github javascript kubernetes postgres program
        programmer programming programs python refactor refactoring refactors rust software sql typescript
    """,
    KnownPurpose.CUSTOMER_SERVICE: """
        client clients complaint complaints customer customers enquiries enquiry faq faqs helpdesk inquiries inquiry
        refund refunds returns shipping support ticket tickets warranty
    """,
    KnownPurpose.RESEARCH: """
        academic bibliography citation citations evidence fact-check fact-checking journal journals literature paper
        papers research researcher researches researching scholar scholarly sources studies study thesis
    """,
    KnownPurpose.COMPLEX_ANALYST: """
        analyse analyser analyses analysing analysis analyst analytics analyze analyzer analyzes analyzing csv dashboard
        dashboards data forecast forecasting forecasts kpi kpis metrics report reporting reports spreadsheet
        spreadsheets statistics trends
    """,
    KnownPurpose.CREATIVE: """
        art artist blog brainstorm brainstorming brainstorms copywriter copywriting creative fiction lyrics music
        newsletter novel novels poem poems poet poetry screenplay slogan slogans song songs stories story storyteller
        storytelling write writer writes writing
    """,
    KnownPurpose.SIMPLE_UTILITY: """
        alarm alarms calculate calculates calculator checklist convert converter converts currency email emails remind
        reminder reminders reminds timer timers to-do todo translate translates translation translations translator
        weather
    """,
}
"""Ordered from specific to general: on a tie, the first one wins."""
_PHRASES: Mapping[KnownPurpose, tuple[str, ...]] = {
    KnownPurpose.CODING: ("pull request", "pull requests", "release notes", "unit test", "unit tests"),
    KnownPurpose.CUSTOMER_SERVICE: ("call center", "call centre", "help desk"),
    KnownPurpose.CREATIVE: ("fairy tale", "fairy tales"),
    KnownPurpose.SIMPLE_UTILITY: ("packing list", "shopping list"),
}
_KEYWORDS = {known: frozenset(words.split()) for known, words in _WORDS.items()}

_DEFAULTS: Mapping[KnownPurpose, PurposeDefaults] = {
    KnownPurpose.SIMPLE_UTILITY: PurposeDefaults(
        0.3,
        2048,
        "direct",
        ("efficient", "concise"),
        ("summarize",),
        BotCategory.UTILITY,
        QuestionBudget(3, 5),
    ),
    KnownPurpose.COMPLEX_ANALYST: PurposeDefaults(
        *(0.5, 4096, "analytical", ("thorough", "precise", "structured")),
        ("data-analysis", "summarize"),
        BotCategory.ASSISTANT,
        QuestionBudget(7, 10),
    ),
    KnownPurpose.CREATIVE: PurposeDefaults(
        *(0.9, 4096, "expressive", ("creative", "imaginative", "playful")),
        ("text-generation", "editing"),
        BotCategory.CREATIVE,
        QuestionBudget(4, 7),
    ),
    KnownPurpose.CODING: PurposeDefaults(
        *(0.2, 4096, "technical", ("precise", "methodical", "pragmatic")),
        ("code-review", "code-generation"),
        BotCategory.ASSISTANT,
        QuestionBudget(5, 7),
    ),
    KnownPurpose.RESEARCH: PurposeDefaults(
        *(0.5, 4096, "scholarly", ("thorough", "citation-aware", "balanced")),
        ("summarize", "source-notes"),
        BotCategory.RESEARCH,
        QuestionBudget(6, 8),
    ),
    KnownPurpose.CUSTOMER_SERVICE: PurposeDefaults(
        *(0.4, 2048, "empathetic", ("patient", "helpful", "clear")),
        ("knowledge-base", "support-replies"),
        BotCategory.ASSISTANT,
        QuestionBudget(5, 7),
    ),
}
_CUSTOM = PurposeDefaults(
    0.7, 4096, "adaptive", ("versatile",), (), BotCategory.ASSISTANT, QuestionBudget(4, 7)
)


def classify(description: str) -> Purpose:
    """Match whole words; the purpose with the most distinct matches wins."""
    words = re.findall(r"[^\W_]+(?:-[^\W_]+)*", description.lower())
    text, every = f" {' '.join(words)} ", set(words)
    counts = {
        known: len(every & keywords) + sum(f" {phrase} " in text for phrase in _PHRASES.get(known, ()))
        for known, keywords in _KEYWORDS.items()
    }
    best = max(counts, key=lambda known: counts[known])
    return best if counts[best] else CustomPurpose(custom=_excerpt(description))


def _excerpt(description: str) -> str:
    return " ".join(description.split())[:MAX_CUSTOM_PURPOSE]


def defaults_for(purpose: Purpose) -> PurposeDefaults:
    return _DEFAULTS[purpose] if isinstance(purpose, KnownPurpose) else _CUSTOM


def purpose_name(purpose: Purpose) -> str:
    """Return a human-readable name."""
    return purpose.replace("_", " ") if isinstance(purpose, KnownPurpose) else "a special purpose"


def purpose_key(purpose: Purpose) -> str:
    """Return the key that groups remembered interviews of the same purpose."""
    return purpose.value if isinstance(purpose, KnownPurpose) else "custom"
