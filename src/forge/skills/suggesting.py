"""Which skills suit what somebody describes, and why. The same words and the same library give the same offers."""

from collections.abc import Sequence
from dataclasses import dataclass

from forge.skills.models import Skill, SkillOffer
from forge.skills.words import quoted, telling_words

FEWEST = 3
MOST_WORDS = 3
"""That a reason names."""

_NAME, _CATEGORY, _DESCRIPTION = 3, 2, 1


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
    fitting = sorted((one for one in matches.values() if one.weight), key=lambda one: (-one.weight, one.name))
    chosen = [_offer(one, _usual_reason(one, kind)) for one in usual]
    chosen += [_offer(one, _shared_reason(one)) for one in fitting]
    if len(chosen) < FEWEST:
        rest = [one for one in matches.values() if not one.weight]
        chosen += _fill(rest, usual, FEWEST - len(chosen))
    return chosen[:most]


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


def _fill(rest: list[_Match], usual: list[_Match], count: int) -> list[SkillOffer]:
    """Of the same kind as the usual ones, then those that suit most kinds."""
    kinds = {category for one in usual for category in one.skill.manifest.categories}

    def rank(one: _Match) -> tuple[int, int, str]:
        categories = set(one.skill.manifest.categories)
        return -len(categories & kinds), -len(categories), one.name

    return [_offer(one, _general_reason(one, kinds)) for one in sorted(rest, key=rank)[:count]]


def _usual_reason(match: _Match, kind: str) -> str:
    if match.shared:
        return _shared_reason(match)
    return f"Usual for {kind}." if kind else "Usual for a bot of this kind."


def _shared_reason(match: _Match) -> str:
    return f"Your description mentions {quoted(match.shared[:MOST_WORDS])}."


def _general_reason(match: _Match, kinds: set[str]) -> str:
    categories = set(match.skill.manifest.categories)
    if categories & kinds:
        return "Made for bots of this kind, among others."
    return f"Suits {len(categories)} kinds of bots." if len(categories) > 1 else "It is in your library."


def _offer(match: _Match, reason: str) -> SkillOffer:
    manifest = match.skill.manifest
    return SkillOffer(
        name=manifest.name,
        description=manifest.description,
        kind=manifest.kind,
        source=match.skill.source,
        reason=reason,
    )
