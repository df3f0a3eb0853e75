"""The words of a text that say something, in a form in which one and many are the same."""

import re
from collections.abc import Iterable

_WORD = re.compile("[^\\W_]+(?:['\u2019][^\\W_]+)?")
_SHORTEST = 3

_LITTLE_WORDS = (
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
_STOP = frozenset(_LITTLE_WORDS.split())


def telling_words(text: str) -> dict[str, str]:
    """By their plain form, each as it was first written; in the order of the text."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(text.lower().replace("e-mail", "email")):
        word = match[0].replace("\u2019", "'").removesuffix("'s")
        if len(word) >= _SHORTEST and word not in _STOP and not word.isdigit():
            found.setdefault(singular(word), word)
    return found


def singular(word: str) -> str:
    """Good enough to compare with: `stories` and `story` are one, `status` stays what it is."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def quoted(words: Iterable[str]) -> str:
    """“one”, “two” and “three”."""
    each = [f"“{word}”" for word in words]
    return " and ".join([", ".join(each[:-1]), each[-1]] if len(each) > 1 else each)
