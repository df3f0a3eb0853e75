"""Whether two facts say the same, or are about the same."""

from dataclasses import dataclass
from functools import cached_property

from forge.bots.memory.significance import beginnings
from forge.store.fulltext import words_of

SAME = 0.9
"""Cosine above which two facts say the same, if they have the same details."""
SAME_SUBJECT = 0.7
"""Cosine above which a correction is about this fact."""
SHARED_WORDS = 2 / 3
"""The same without vectors: how many of the shorter one's words the two have in common."""


@dataclass(frozen=True)
class Wording:
    """A fact as its words."""

    fact: str

    @cached_property
    def words(self) -> list[str]:
        return words_of(self.fact)

    @cached_property
    def subject(self) -> frozenset[str]:
        return frozenset(beginnings(self.fact)) - _ANYBODY

    @cached_property
    def details(self) -> frozenset[str]:
        """Names, numbers and negations: lives in Rome, lives in Oslo and lives not in Rome are close in meaning."""
        rest = self.fact.split()[1:]
        named = {word for token in rest if token[:1].isupper() for word in words_of(token)}
        told = {word for word in self.words if word in _NEGATIONS or any(c.isdigit() for c in word)}
        return frozenset(named | told)


def says_the_same(one: Wording, other: Wording, similarity: float | None) -> bool:
    if one.words == other.words:
        return True
    return similarity is not None and similarity > SAME and one.details == other.details


def is_about(correction: Wording, other: Wording, similarity: float | None) -> bool:
    """Clearly the same subject; when in doubt both facts stay."""
    shared = correction.subject & other.subject
    if similarity is not None:
        return similarity > SAME_SUBJECT and bool(shared)
    fewest = min(len(correction.subject), len(other.subject))
    return len(shared) >= 2 and len(shared) >= SHARED_WORDS * fewest


_NEGATIONS = frozenset(
    "no not never none without t stopped kein keine keinen nicht nie ohne pas jamais sans nunca sin".split()  # noqa: SIM905
)
_ANYBODY = frozenset(beginnings("person user people somebody"))
