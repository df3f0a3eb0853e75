"""Which skills suit what somebody describes, and why. The same words and the same library give the same offers."""

from collections.abc import Sequence
from dataclasses import dataclass

from forge.skills.models import Skill, SkillOffer
from forge.skills.words import quoted, telling_words

MIN_SUGGESTED = 3
MAX_WORDS = 3
"""That a reason names."""

_FEW = 3
"""Kinds of bots that a skill suits without being one for nearly all of them."""

_NAME, _CATEGORY, _DESCRIPTION = 3, 2, 1
_TELLING = 2
"""One word that happens to stand in a description says too little, unless there is nothing better."""


@dataclass(frozen=True)
class _Match:
    skill: Skill
    shared: tuple[str, ...]
    """Words of the description, as they were written."""
    weight: int

    @property
    def name(self) -> str:
        return self.skill.manifest.name


def suggest(
    text: str, wanted: Sequence[str], skills: Sequence[Skill], most: int = 5, *, kind: str = ""
) -> list[SkillOffer]:
    """`wanted` first, then what the description speaks of; at least three, if there are as many.

    `kind`: in words, what the wanted ones are usual for, such as "coding".
    """
    words = telling_words(text)
    matches = {skill.manifest.name: _match(words, skill) for skill in skills}
    usual = [matches.pop(name) for name in dict.fromkeys(wanted) if name in matches]
    kinds = {category for one in usual for category in one.skill.manifest.categories}

    def rank(one: _Match) -> tuple[int, int, int, str]:
        categories = set(one.skill.manifest.categories)
        return -one.weight, -len(categories & kinds), -len(categories), one.name

    others = sorted(matches.values(), key=rank)
    fitting = [one for one in others if one.weight >= _TELLING]
    room = max(MIN_SUGGESTED - len(usual) - len(fitting), 0)
    fill = [one for one in others if one.weight < _TELLING][:room]
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
        weights |= dict.fromkeys(telling_words(source).keys() & words.keys(), weight)
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
    return "Useful for nearly every bot." if len(categories) > _FEW else "It is in your library."


def _mentioned(match: _Match) -> str:
    return f"Your description mentions {quoted(match.shared[:MAX_WORDS])}."


def _offer(match: _Match, reason: str) -> SkillOffer:
    manifest = match.skill.manifest
    return SkillOffer(
        name=manifest.name,
        description=manifest.description,
        kind=manifest.kind,
        source=match.skill.source,
        reason=reason,
    )
