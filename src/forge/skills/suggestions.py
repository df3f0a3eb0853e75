"""Suggest skills and capabilities that fit a description, with reasons. Deterministic for the same text and library."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from forge.skills.models import (
    Capability,
    Skill,
    SkillOffer,
)

_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)?")
_SHORTEST = 3

_COMMON_WORDS = (
    "a about above after again all also am an and another any are around as at be because been before being below"
    " best better between bit both but by can could did do does doing done down during each easily easy either else"
    " etc even every everything few first for from further get gets getting give gives given go good got great had"
    " has have having he help helper helpful helps her here hers him his how however i if im in into is it its just"
    " keep kind know less let lets like likes little long lot lots made make makes making many may me might mine"
    " more most much must my need needed needs never new nice no not nothing now of off often ok on once one only"
    " or other our ours out over own people person please put quite rather really right same say says see set she"
    " should simple simply so some someone something soon sort such sure take takes tell tells than thank thanks"
    " that thats the their theirs them then there these they thing things this those through time to together too"
    " two under until up upon us use used useful user uses using usually very via want wanted wants was way ways we"
    " well were what whatever when where whether which while who whom whose why will with within without work works"
    " would yes yet you your yours"
    " answer answers ask asked asks anybody certain daily day days everybody given read reads somebody week weekly"
    " write writes writing"
    " agent assistant bot bots ai skill skills"
)
_STOP = frozenset(_COMMON_WORDS.split())


def significant_words(text: str) -> dict[str, str]:
    """Return the significant words by their singular form, each as first written, in text order."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(text.lower().replace("e-mail", "email")):
        word = match[0].replace("\u2019", "'").removesuffix("'s")
        if len(word) >= _SHORTEST and word not in _STOP and not word.isdigit():
            found.setdefault(singular(word), word)
    return found


def singular(word: str) -> str:
    """Return the approximate singular: `stories` becomes `story`, `status` stays."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def quote_words(words: Iterable[str]) -> str:
    """Join words in quotes: “one”, “two” and “three”."""
    each = [f"“{word}”" for word in words]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)


MIN_SUGGESTED = 3
MAX_WORDS = 3
"""Words that a reason quotes."""

_MAX_SPECIFIC_CATEGORIES = 3
"""A skill with more categories than this suits nearly every bot."""

_NAME, _CATEGORY, _DESCRIPTION = 3, 2, 1
_MIN_WEIGHT = 2
"""Minimum weight of a match: one word of a description is too weak, unless there is nothing better."""


@dataclass(frozen=True)
class _Match:
    skill: Skill
    shared: tuple[str, ...]
    """Words of the text that match, as written."""
    weight: int

    @property
    def name(self) -> str:
        return self.skill.manifest.name


def suggest_skills(
    text: str, wanted: Sequence[str], skills: Sequence[Skill], most: int = 5, *, kind: str = ""
) -> list[SkillOffer]:
    """Return `wanted` first, then skills that match the text; at least three if there are enough.

    `kind` says what the wanted skills are usual for, such as "coding".
    """
    words = significant_words(text)
    matches = {skill.manifest.name: _match(words, skill) for skill in skills}
    usual = [matches.pop(name) for name in dict.fromkeys(wanted) if name in matches]
    kinds = {category for one in usual for category in one.skill.manifest.categories}

    def rank(one: _Match) -> tuple[int, int, int, str]:
        categories = set(one.skill.manifest.categories)
        return -one.weight, -len(categories & kinds), -len(categories), one.name

    others = sorted(matches.values(), key=rank)
    fitting = [one for one in others if one.weight >= _MIN_WEIGHT]
    room = max(MIN_SUGGESTED - len(usual) - len(fitting), 0)
    fill = [one for one in others if one.weight < _MIN_WEIGHT][:room]
    offers = [_offer(one, _usual_reason(one, kind)) for one in usual]
    offers += [_offer(one, _reason(one, kinds)) for one in (*fitting, *fill)]
    return offers[:most]


def _match(words: dict[str, str], skill: Skill) -> _Match:
    manifest = skill.manifest
    weights: dict[str, int] = {}
    for source, weight in (
        (manifest.description, _DESCRIPTION),
        (" ".join(manifest.categories).replace("_", " "), _CATEGORY),
        (manifest.name.replace("-", " "), _NAME),
    ):
        weights |= dict.fromkeys(significant_words(source).keys() & words.keys(), weight)
    shared = tuple(words[word] for word in words if word in weights)
    return _Match(skill, shared, sum(weights.values()))


def _usual_reason(match: _Match, kind: str) -> str:
    if match.shared:
        return _mentioned(match)
    return f"Usual for {kind}." if kind else "Usual for a bot of this kind."


def _reason(match: _Match, kinds: set[str]) -> str:
    categories = set(match.skill.manifest.categories)
    if match.shared:
        return _mentioned(match)
    if categories & kinds:
        return "Made for bots of this kind, among others."
    return (
        "Useful for nearly every bot."
        if len(categories) > _MAX_SPECIFIC_CATEGORIES
        else "It is in your library."
    )


def _mentioned(match: _Match) -> str:
    return f"Your description mentions {quote_words(match.shared[:MAX_WORDS])}."


def _offer(match: _Match, reason: str) -> SkillOffer:
    manifest = match.skill.manifest
    return SkillOffer(
        name=manifest.name,
        description=manifest.description,
        kind=manifest.kind,
        source=match.skill.source,
        reason=reason,
    )


_WORDS: Mapping[Capability, str] = {
    Capability.READ_FILE: "file files folder folders directory disk read reads reading load loads loading open opens",
    Capability.WRITE_FILE: "write writes writing save saves saving output outputs store stores export exports",
    Capability.HTTP_GET: (
        "fetch fetches fetching http https web website websites api apis url urls request requests download downloads"
        " scrape scrapes online internet database databases sql query queries"
    ),
    Capability.HTTP_POST: (
        "send sends sending post posts posting submit submits submitting publish publishes publishing upload uploads"
        " webhook webhooks"
    ),
    Capability.EXEC_COMMAND: (
        "execute executes executing command commands shell process processes run runs running program programs"
    ),
    Capability.READ_ENV: "environment env config configuration",
    Capability.RECALL_MEMORY: "remember remembers remembering memory memories recall recalls",
    Capability.GET_SECRET: "secret secrets api-key api-keys token tokens credential credentials password passwords",
    Capability.KV: "counter counters cache caches caching",
    Capability.LOG: "log logs logging",
}


_CAPABILITY_OF: Mapping[str, Capability] = {
    word.replace("-", " "): capability for capability, words in _WORDS.items() for word in words.split()
}


_LONGEST_FIRST = sorted(_CAPABILITY_OF, key=lambda word: (-len(word), word))


_FINDER = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, _LONGEST_FIRST)) + r")(?![\w-])")


def suggest_capabilities(text: str) -> dict[Capability, str]:
    """Return the capabilities that words of the text hint at, each with the reason. Grants nothing."""
    found: dict[Capability, dict[str, None]] = {}
    for match in _FINDER.finditer(" ".join(text.lower().split())):
        found.setdefault(_CAPABILITY_OF[match[0]], {})[match[0]] = None
    return {
        capability: f"The description says {quote_words(list(found[capability])[:MAX_WORDS])}."
        for capability in Capability
        if capability in found
    }
