"""Suggest names for bots and skills from their descriptions."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from forge.bots.models import MAX_NAME
from forge.interview.domain.categories import KnownPurpose, Purpose
from forge.interview.domain.text_analysis import (
    capitalize_first,
    has_meaning,
    is_generic_word,
    is_stop_word,
    one_line,
    salient_words,
    shorten,
    strip_request,
    words,
)
from forge.kernel.hashing import hash_text
from forge.skills.models import MAX_SKILL_NAME
from forge.skills.suggestions import singular

MAX_WORDS = 4

_VERBS_BY_ROLE = {
    "Writer": "write draft compose",
    "Editor": "edit rewrite",
    "Proofreader": "proofread correct",
    "Reviewer": "review",
    "Checker": "check verify",
    "Summarizer": "summarize",
    "Summariser": "summarise",
    "Translator": "translate",
    "Converter": "convert transform turn",
    "Calculator": "calculate",
    "Planner": "plan",
    "Organizer": "organize",
    "Organiser": "organise",
    "Scheduler": "schedule",
    "Reminder": "remind",
    "Tracker": "track",
    "Watcher": "watch monitor",
    "Analyst": "analyze analyse",
    "Researcher": "research",
    "Finder": "find search",
    "Fetcher": "fetch download",
    "Collector": "collect gather",
    "Explainer": "explain",
    "Teacher": "teach",
    "Tutor": "tutor learn",
    "Coach": "coach",
    "Responder": "answer reply respond",
    "Desk": "handle",
    "Debugger": "debug",
    "Generator": "generate",
    "Designer": "design",
    "Inventor": "invent brainstorm",
    "Guide": "choose recommend suggest",
    "Sorter": "sort",
    "Formatter": "format",
    "Tester": "test",
    "Documenter": "document",
    "Extractor": "extract",
    "Reporter": "report",
    "Reader": "read",
}
_ROLE_BY_VERB = {verb: agent for agent, verbs in _VERBS_BY_ROLE.items() for verb in verbs.split()}
_ALWAYS_MANY = "analytics maths mathematics news notes ops politics returns sales series sports statistics"
_PLURALS = frozenset(_ALWAYS_MANY.split())
_DEFAULT_ROLES = {
    KnownPurpose.SIMPLE_UTILITY: "Helper",
    KnownPurpose.COMPLEX_ANALYST: "Analyst",
    KnownPurpose.CREATIVE: "Studio",
    KnownPurpose.CODING: "Engineer",
    KnownPurpose.RESEARCH: "Scout",
    KnownPurpose.CUSTOMER_SERVICE: "Desk",
}
_PROPER_NAMES = {
    KnownPurpose.SIMPLE_UTILITY: ("Pip", "Dot", "Tally", "Nim", "Swift"),
    KnownPurpose.COMPLEX_ANALYST: ("Prisma", "Ledger", "Vector", "Delta", "Numa"),
    KnownPurpose.CREATIVE: ("Muse", "Fable", "Iris", "Lyra", "Quill"),
    KnownPurpose.CODING: ("Rivet", "Anvil", "Hex", "Turing", "Forge Hand"),
    KnownPurpose.RESEARCH: ("Sage", "Atlas", "Minerva", "Archive", "Lumen"),
    KnownPurpose.CUSTOMER_SERVICE: ("Mira", "Harbor", "Clara", "Concierge", "Felix"),
}
_DEFAULT_PROPER_NAMES = ("Atlas", "Juno", "Robin", "Nova", "Ember")
_CALLED = re.compile(
    r"(?<![\w-])(?:called|named|name it|call it|call her|call him)\s+[\"“'«]?([^\s\"“”'«»,.;:!?]+(?: [A-Z][^\s\"“”'«»,.;:!?]*){0,3})"
)
_FOR = re.compile(r"(?:an?|the|my|our)\s+(\w+)\s+(?:for|of)\s+([^,.;:!?]+)", re.IGNORECASE)
_LEFT_OUT = "ai bot friendly funny good great helpful kind nice patient polite simple warm witty"
_FILLERS = frozenset(_LEFT_OUT.split())
"""Words left out of a name because they fit anything."""
_ARTICLES = frozenset(("a", "an", "the", "my", "our"))


def find_name(description: str) -> str | None:
    """Find a name given in passing: `a helper called Atlas`."""
    found = _CALLED.search(one_line(description))
    if found is None or is_stop_word(found[1].lower()) or not has_meaning(found[1]):
        return None
    return shorten(found[1], MAX_NAME)


def suggest_name(description: str, purpose: Purpose) -> str:
    """Return the most descriptive name."""
    return next(_descriptive_names(description, purpose))


def suggest_names(description: str, purpose: Purpose, taken: Sequence[str], limit: int = 4) -> list[str]:
    """Suggest names that are not taken, the most descriptive first."""
    descriptive = list(dict.fromkeys(_descriptive_names(description, purpose)))[: limit - 1]
    proper = _proper_names(description, purpose)
    free = [name for name in [*descriptive, *proper] if name.casefold() not in _folded(taken)]
    return list(dict.fromkeys(free))[:limit] or [make_unique(descriptive[0], taken)]


def make_unique(name: str, taken: Sequence[str]) -> str:
    """Append a number to the name if it is taken."""
    others, number, free = _folded(taken), 1, name
    while free.casefold() in others:
        number += 1
        free = f"{name[: MAX_NAME - 5]} {number}"
    return free


def _folded(names: Sequence[str]) -> set[str]:
    return {name.casefold() for name in names}


def _descriptive_names(description: str, purpose: Purpose) -> Iterator[str]:
    text = strip_request(description)
    if phrase := _noun_phrase(text):
        yield _title(phrase)
    if doer := _role_name(text):
        yield doer
    if agent := _verb_name(text):
        yield agent
    about = [_singular(word) for word in find_subjects(text)]
    role = _DEFAULT_ROLES[purpose] if isinstance(purpose, KnownPurpose) else "Companion"
    if about:
        thing = _adjacent_subjects(text, about)
        yield _title([*thing, role.lower()])
        yield _title([*thing, "companion" if role != "Companion" else "helper"])
    else:
        yield role


def _adjacent_subjects(text: str, about: list[str]) -> list[str]:
    """Return the first subject, and the second one if the two are adjacent: `release notes`, not `week
    drink`."""
    every = [_singular(word) for word in words(text)]
    is_pair = any([*pair] == about[:2] for pair in pairwise(every))
    return about[: 2 if is_pair else 1]


def _proper_names(description: str, purpose: Purpose) -> list[str]:
    """Return proper names, rotated by the hash of the description."""
    names = _PROPER_NAMES[purpose] if isinstance(purpose, KnownPurpose) else _DEFAULT_PROPER_NAMES
    first = int(hash_text(one_line(description))[:8], 16) % len(names)
    return [*names[first:], *names[:first]]


def _noun_phrase(text: str) -> list[str]:
    """Return the leading noun phrase: `smart home helper` for `a smart home helper that …`, nothing for `a
    bot that …`."""
    head = words(re.split(r"[,.;:!?(]", text, maxsplit=1)[0])
    had_article = bool(head) and head[0] in _ARTICLES
    body = head[1:] if had_article else head
    end = next((index for index, word in enumerate(body) if is_stop_word(word)), len(body))
    phrase = body[:end]
    if not 2 <= len(phrase) <= MAX_WORDS or all(is_generic_word(word) for word in phrase):
        return []
    if not had_article and (_verb_stem(phrase[0]) in _ROLE_BY_VERB or is_generic_word(phrase[0])):
        return []
    named = [word for word in phrase if word not in _FILLERS]
    return named if len(named) > 1 else []


def _role_name(text: str) -> str | None:
    """Name by role and subject: `Old Letter Translator` for `a translator for old letters`."""
    found = _FOR.match(text)
    about = [_singular(word) for word in salient_words(found[2])[: MAX_WORDS - 2]] if found else []
    return _title([*about, found[1].lower()]) if found and about and found[1].lower() != "bot" else None


def _verb_name(text: str) -> str | None:
    """Name by verb and object: `Release Notes Writer` for `writes release notes from commits`."""
    every = words(text)
    for index, word in enumerate(every):
        agent = _ROLE_BY_VERB.get(_verb_stem(word))
        if agent is None:
            continue
        object_: list[str] = []
        for after in every[index + 1 :]:
            if (is_stop_word(after) and object_) or len(object_) == MAX_WORDS - 2:
                break
            if (
                not is_stop_word(after)
                and not is_generic_word(after)
                and _verb_stem(after) not in _ROLE_BY_VERB
            ):
                object_.append(_singular(after))
        if object_:
            return _title([*object_, agent.lower()])
    return None


def _verb_stem(word: str) -> str:
    """Reduce `writes`, `writing` or `analyzes` to a known verb; return other words unchanged."""
    for ending, instead in (
        ("", ""),
        ("s", ""),
        ("es", ""),
        ("es", "e"),
        ("ing", ""),
        ("ing", "e"),
        ("ies", "y"),
    ):
        base = word.removesuffix(ending) + instead
        if word.endswith(ending) and base in _ROLE_BY_VERB:
            return base
    return word


def _singular(word: str) -> str:
    return word if word in _PLURALS or not word.isascii() else singular(word)


def _title(parts: Sequence[str]) -> str:
    return shorten(" ".join(capitalize_first(part) for part in parts), 60)


# Skills


def to_skill_name(text: str, most_words: int | None = None) -> str | None:
    """Convert text to a skill name; None when no character of it is allowed in one."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    parts = re.findall(r"[a-z0-9]+", "".join(one for one in plain if not unicodedata.combining(one)))
    slug = "-".join(parts[:most_words])
    return slug[:MAX_SKILL_NAME].rstrip("-") or None


def suggest_skill_names(description: str, taken: Sequence[str], limit: int = 3) -> list[str]:
    """Suggest free names, verb and object first: `summarize-minutes`."""
    text = strip_request(description)
    about, objects = salient_words(text), find_subjects(text)
    guesses = [_verb_and_object(text), about[:3], [*objects[:2], "helper"], objects[:1]]
    slugs = [slug for guess in guesses if (slug := to_skill_name(" ".join(guess)))]
    free = [slug for slug in dict.fromkeys(slugs) if slug not in taken]
    return free[:limit] or [make_unique_skill_name(slugs[0] if slugs else "my-skill", taken)]


def find_subjects(text: str) -> list[str]:
    """Return the salient words without the verbs."""
    about = salient_words(text)
    return [word for word in about if _verb_stem(word) not in _ROLE_BY_VERB] or about


def _verb_and_object(text: str) -> list[str]:
    every = words(text)
    index = next((index for index, word in enumerate(every) if _verb_stem(word) in _ROLE_BY_VERB), None)
    if index is None:
        return []
    return [_verb_stem(every[index]), *salient_words(" ".join(every[index + 1 :]))[:2]]


def make_unique_skill_name(slug: str, taken: Sequence[str]) -> str:
    number, free = 1, slug
    while free in taken:
        number += 1
        free = f"{slug[: MAX_SKILL_NAME - 4]}-{number}"
    return free
