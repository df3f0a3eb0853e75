"""Compare facts by words and by embeddings."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from forge.store.fulltext import words_of

_STOP_WORDS = frozenset(
    """a about after again all also am an and any anything are as at be because been before being both but by can cannot
    could did do does doing don done down each else even ever every few for from get give go got had has have having he
    hello her here hers hey hi him his how i if in into is it its just know let like ll look make many may maybe me might
    mine more most much must my need no nor not now of off ok okay on once one only or other our ours out over own please
    put re really s same say see shall she should so some something still such suggest sure t take tell than thank thanks
    that the their theirs them then there these they thing things this those though through to too until up us use ve very
    want was way we well were what when where which while who whom whose why will with without would yes yet you your yours
    aber als am an auch auf aus bei bin bist da dann das dass dein den der des dich die dir doch du ein eine einen einer er
    es für hat hast ich ihr im in ist ja kann kein man mein mich mir mit nach nicht noch nur oder sein sich sie sind so und
    uns vom von vor war was wenn wer wie wir wird wo zu zum zur au aux avec ce ces cette dans de des du elle en est et eux
    il je la le les leur lui ma mais me mes moi mon ne nos notre nous on ou par pas pour qu que qui sa se ses son sur ta te
    tes toi ton tu un une vos votre vous al como con cual de del donde el ella en es ese eso esta este la las lo los mas me
    mi muy no nos o para pero por que quien se si sin son su sus te tu un una uno y yo""".split()  # noqa: SIM905
)


def word_stems(text: str) -> list[str]:
    """Return the stems of the significant words: `allerg` for allergic."""
    return [_stem(word) for word in dict.fromkeys(words_of(text)) if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    """Truncate a word by its length only, as the language is unknown."""
    if len(word) < 5:
        return word
    return word[:-1] if len(word) < 7 else word[:-2]


MIN_SAME_SIMILARITY = 0.9
"""Cosine above which facts with the same details are equal."""
MIN_SUBJECT_SIMILARITY = 0.7
"""Cosine above which a correction refers to a fact."""
MIN_SHARED_WORDS = 2 / 3
"""Share of the shorter fact's words both must have, without embeddings."""


@dataclass(frozen=True)
class Wording:
    """The words of a fact."""

    fact: str

    @cached_property
    def words(self) -> list[str]:
        return words_of(self.fact)

    @cached_property
    def subject(self) -> frozenset[str]:
        return frozenset(word_stems(self.fact)) - _GENERIC_SUBJECTS

    @cached_property
    def details(self) -> frozenset[str]:
        """Return names, numbers and negations. Embeddings of "lives in Rome", "lives in Oslo" and "lives not in Rome" are close."""
        rest = self.fact.split()[1:]
        named = {word for token in rest if token[:1].isupper() for word in words_of(token)}
        marked = {word for word in self.words if word in _NEGATIONS or any(c.isdigit() for c in word)}
        return frozenset(named | marked)


def says_the_same(one: Wording, other: Wording, similarity: float | None) -> bool:
    if one.words == other.words:
        return True
    return similarity is not None and similarity > MIN_SAME_SIMILARITY and one.details == other.details


def is_about(correction: Wording, other: Wording, similarity: float | None) -> bool:
    """Return whether two facts clearly have the same subject. If in doubt, both are kept."""
    shared = correction.subject & other.subject
    if similarity is not None:
        return similarity > MIN_SUBJECT_SIMILARITY and bool(shared)
    fewest = min(len(correction.subject), len(other.subject))
    return len(shared) >= 2 and len(shared) >= MIN_SHARED_WORDS * fewest


_NEGATIONS = frozenset(
    "no not never none without t stopped kein keine keinen nicht nie ohne pas jamais sans nunca sin".split()  # noqa: SIM905
)
_GENERIC_SUBJECTS = frozenset(word_stems("person user people somebody"))


def pack(vector: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(vector)}f", *vector)


def similarities(vector: Sequence[float], packed: Sequence[bytes]) -> list[float]:
    """Return the cosine similarity to each vector: 1 for the same meaning, about 0 for unrelated texts."""
    if not packed:
        return []
    import numpy as np

    matrix = np.frombuffer(b"".join(packed), dtype="<f4").reshape(len(packed), -1)
    return (matrix @ np.asarray(vector, dtype="<f4")).tolist()
