"""Names for what is made, from the words somebody described it with."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise

from forge.bots.models import MAX_NAME
from forge.interview.categories import Known, Purpose
from forge.interview.wording import (
    capitalised,
    is_generic,
    is_stop,
    one_line,
    salient,
    says_something,
    shortened,
    wish,
    words,
)
from forge.kernel.hashing import hash_text
from forge.skills.models import MAX_SKILL_NAME
from forge.skills.words import singular

MAX_WORDS = 4

_DOERS = {
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
_AGENTS = {verb: agent for agent, verbs in _DOERS.items() for verb in verbs.split()}
_ALWAYS_MANY = "analytics maths mathematics news notes ops politics returns sales series sports statistics"
_PLURALS = frozenset(_ALWAYS_MANY.split())
_ROLES = {
    Known.SIMPLE_UTILITY: "Helper",
    Known.COMPLEX_ANALYST: "Analyst",
    Known.CREATIVE: "Studio",
    Known.CODING: "Engineer",
    Known.RESEARCH: "Scout",
    Known.CUSTOMER_SERVICE: "Desk",
}
_GIVEN = {
    Known.SIMPLE_UTILITY: ("Pip", "Dot", "Tally", "Nim", "Swift"),
    Known.COMPLEX_ANALYST: ("Prisma", "Ledger", "Vector", "Delta", "Numa"),
    Known.CREATIVE: ("Muse", "Fable", "Iris", "Lyra", "Quill"),
    Known.CODING: ("Rivet", "Anvil", "Hex", "Turing", "Forge Hand"),
    Known.RESEARCH: ("Sage", "Atlas", "Minerva", "Archive", "Lumen"),
    Known.CUSTOMER_SERVICE: ("Mira", "Harbor", "Clara", "Concierge", "Felix"),
}
_ANY_GIVEN = ("Atlas", "Juno", "Robin", "Nova", "Ember")
_CALLED = re.compile(
    r"(?<![\w-])(?:called|named|name it|call it|call her|call him)\s+[\"“'«]?([^\s\"“”'«»,.;:!?]+(?: [A-Z][^\s\"“”'«»,.;:!?]*){0,3})"
)
_FOR = re.compile(r"(?:an?|the|my|our)\s+(\w+)\s+(?:for|of)\s+([^,.;:!?]+)", re.IGNORECASE)
_LEFT_OUT = "ai bot friendly funny good great helpful kind nice patient polite simple warm witty"
_NO_PART = frozenset(_LEFT_OUT.split())
"""Of a name: it would fit anything."""
_ARTICLES = frozenset(("a", "an", "the", "my", "our"))


def name_in(description: str) -> str | None:
    """That somebody gave in passing: `a helper called Atlas`."""
    found = _CALLED.search(one_line(description))
    if found is None or is_stop(found[1].lower()) or not says_something(found[1]):
        return None
    return shortened(found[1], MAX_NAME)


def name_of(description: str, purpose: Purpose) -> str:
    """A name that says what it does, when nobody gave one."""
    return next(_telling(description, purpose))


def names_for(description: str, purpose: Purpose, taken: Sequence[str], most: int = 4) -> list[str]:
    """The most telling first. None is taken."""
    telling = list(dict.fromkeys(_telling(description, purpose)))[: most - 1]
    given = _given(description, purpose)
    free = [name for name in [*telling, *given] if name.casefold() not in _folded(taken)]
    return list(dict.fromkeys(free))[:most] or [untaken(telling[0], taken)]


def untaken(name: str, taken: Sequence[str]) -> str:
    """The name, with a number behind it when somebody has it."""
    others, number, free = _folded(taken), 1, name
    while free.casefold() in others:
        number += 1
        free = f"{name[: MAX_NAME - 5]} {number}"
    return free


def _folded(names: Sequence[str]) -> set[str]:
    return {name.casefold() for name in names}


def _telling(description: str, purpose: Purpose) -> Iterator[str]:
    text = wish(description)
    if phrase := _noun_phrase(text):
        yield _titled(phrase)
    if doer := _doer_for(text):
        yield doer
    if agent := _agent_name(text):
        yield agent
    about = [_singular(word) for word in subjects_of(text)]
    role = _ROLES[purpose] if isinstance(purpose, Known) else "Companion"
    if about:
        thing = _together(text, about)
        yield _titled([*thing, role.lower()])
        yield _titled([*thing, "companion" if role != "Companion" else "helper"])
    else:
        yield role


def _together(text: str, about: list[str]) -> list[str]:
    """The first thing it is about, and the second if it stands right behind it: `release notes`, not `week drink`."""
    every = [_singular(word) for word in words(text)]
    is_pair = any([*pair] == about[:2] for pair in pairwise(every))
    return about[: 2 if is_pair else 1]


def _given(description: str, purpose: Purpose) -> list[str]:
    """Proper names, beginning with another one for another description."""
    names = _GIVEN[purpose] if isinstance(purpose, Known) else _ANY_GIVEN
    first = int(hash_text(one_line(description))[:8], 16) % len(names)
    return [*names[first:], *names[:first]]


def _noun_phrase(text: str) -> list[str]:
    """`a smart home helper that …` is `smart home helper`; nothing for `a bot that …`."""
    head = words(re.split(r"[,.;:!?(]", text, maxsplit=1)[0])
    had_article = bool(head) and head[0] in _ARTICLES
    body = head[1:] if had_article else head
    end = next((place for place, word in enumerate(body) if is_stop(word)), len(body))
    phrase = body[:end]
    if not 2 <= len(phrase) <= MAX_WORDS or all(is_generic(word) for word in phrase):
        return []
    if not had_article and (_base(phrase[0]) in _AGENTS or is_generic(phrase[0])):
        return []
    named = [word for word in phrase if word not in _NO_PART]
    return named if len(named) > 1 else []


def _doer_for(text: str) -> str | None:
    """`a translator for old letters` is `Old Letter Translator`."""
    found = _FOR.match(text)
    about = [_singular(word) for word in salient(found[2])[: MAX_WORDS - 2]] if found else []
    return _titled([*about, found[1].lower()]) if found and about and found[1].lower() != "bot" else None


def _agent_name(text: str) -> str | None:
    """Who does it: `writes release notes from commits` is `Release Notes Writer`."""
    every = words(text)
    for place, word in enumerate(every):
        agent = _AGENTS.get(_base(word))
        if agent is None:
            continue
        object_: list[str] = []
        for after in every[place + 1 :]:
            if (is_stop(after) and object_) or len(object_) == MAX_WORDS - 2:
                break
            if not is_stop(after) and not is_generic(after) and _base(after) not in _AGENTS:
                object_.append(_singular(after))
        if object_:
            return _titled([*object_, agent.lower()])
    return None


def _base(word: str) -> str:
    """The verb that `writes`, `writing` and `analyzes` come from, as far as one is known."""
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
        if word.endswith(ending) and base in _AGENTS:
            return base
    return word


def _singular(word: str) -> str:
    return word if word in _PLURALS or not word.isascii() else singular(word)


def _titled(parts: Sequence[str]) -> str:
    return shortened(" ".join(capitalised(part) for part in parts), 60)


# Skills


def skill_slug(text: str, most_words: int | None = None) -> str | None:
    """The text as the name of a skill; None when nothing of it can be in one."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    parts = re.findall(r"[a-z0-9]+", "".join(one for one in plain if not unicodedata.combining(one)))
    slug = "-".join(parts[:most_words])
    return slug[:MAX_SKILL_NAME].rstrip("-") or None


def skill_names_for(description: str, taken: Sequence[str], most: int = 3) -> list[str]:
    """Verb and object first: `summarize-minutes`."""
    text = wish(description)
    about, objects = salient(text), subjects_of(text)
    guesses = [_verb_and_object(text), about[:3], [*objects[:2], "helper"], objects[:1]]
    slugs = [slug for guess in guesses if (slug := skill_slug(" ".join(guess)))]
    free = [slug for slug in dict.fromkeys(slugs) if slug not in taken]
    return free[:most] or [_free_slug(slugs[0] if slugs else "my-skill", taken)]


def subjects_of(text: str) -> list[str]:
    """What it is about, rather than what is done with it."""
    about = salient(text)
    return [word for word in about if _base(word) not in _AGENTS] or about


def _verb_and_object(text: str) -> list[str]:
    every = words(text)
    place = next((place for place, word in enumerate(every) if _base(word) in _AGENTS), None)
    if place is None:
        return []
    return [_base(every[place]), *salient(" ".join(every[place + 1 :]))[:2]]


def _free_slug(slug: str, taken: Sequence[str]) -> str:
    number, free = 1, slug
    while free in taken:
        number += 1
        free = f"{slug[: MAX_SKILL_NAME - 4]}-{number}"
    return free
