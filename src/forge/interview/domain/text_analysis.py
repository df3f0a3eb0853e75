"""Clean, shorten and analyze the text people write."""

import re

from forge.kernel.text import repair_surrogates

_STOP_WORDS = """
    a able about above after again all also always am an and any anybody anyone anything are as at be because been
    before being between both but by can cannot could did do does doing done each either else etc every everyone
    everything few first for from get gets give gives go going good great had has have having he her here hers him his
    how i if in into is it its itself just keep keeps kind know let lets like likes lot make makes making many may me
    more most much must my myself need needs new nice no not now of off on one only onto or other our ours out over
    own per please put really same she should simple so some somebody someone something sometimes such sure take takes
    than thank thanks that the their them then there these they thing things this those through to together too try
    under until up us use used useful uses using very via want wants was way we well were what when where which while
    who whom whose why will wish with within without would yes yet you your yours right
    aus das dem den der des die ein eine einen el est et für gli ich im la las le les los mein meine mich mir mit para que
    qui un una und une uns von wir zu zum zur
"""
_GENERIC_WORDS = """
    agent ai assistant automation bot bots chatbot create creates build builds companion forge gpt hallo hello
    help helper helpful helping helps hey hi llm model ok okay person question questions skill skills smart test tool
"""
_STOP, _GENERIC = frozenset(_STOP_WORDS.split()), frozenset(_GENERIC_WORDS.split())
_WORD = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")
_LINE_END = re.compile("\r\n?|[\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff"
    "\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)
_REQUEST = re.compile(
    r"^(?:(?:hi|hello|hey)[\s,!.]+)?(?:please[\s,]+)?"
    r"(?:(?:i|we)(?:['\u2019]d| would)?\s+(?:want|need|like|am looking for|are looking for)\s+(?:to\s+(?:have|make|build|create)\s+)?"
    r"|(?:can|could) you (?:please )?(?:make|build|create)\s+(?:me\s+|us\s+)?"
    r"|(?:please )?(?:make|build|create|give)\s+(?:me\s+|us\s+)?(?=an?\s))",
    re.IGNORECASE,
)


def clean_text(text: str) -> str:
    """Remove invisible and text-direction characters; lines and spaces are kept."""
    return _UNSEEN.sub("", _LINE_END.sub("\n", repair_surrogates(text))).strip()


def one_line(text: str) -> str:
    return " ".join(clean_text(text).split())


def shorten(text: str, max_length: int) -> str:
    """Shorten to a length, at a word boundary if possible, ending in an ellipsis."""
    if len(text) <= max_length:
        return text
    cut = text[: max_length - 1]
    gap = cut.rfind(" ")
    return (cut[:gap] if gap > max_length // 2 else cut).rstrip() + "…"


def words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def salient_words(text: str) -> list[str]:
    """Return the words that carry meaning, each once, in order."""
    found = (word for word in words(text) if word not in _STOP and word not in _GENERIC)
    return list(dict.fromkeys(word for word in found if len(word) > 1 and not word.isdigit()))


def is_stop_word(word: str) -> bool:
    return word in _STOP


def is_generic_word(word: str) -> bool:
    """Check for words that fit the description of any bot or skill."""
    return word in _GENERIC


def has_meaning(text: str) -> bool:
    return bool(salient_words(text))


def strip_request(text: str) -> str:
    """Strip the words of the request: `I need a bot that …` becomes `a bot that …`."""
    line = one_line(text)
    return _REQUEST.sub("", line, count=1) or line


def to_sentence(text: str) -> str:
    """Capitalize the first letter and end with a full stop."""
    stripped = text.strip()
    if not stripped:
        return ""
    begun = stripped[0].upper() + stripped[1:]
    return begun if begun[-1] in ".!?…:;)\"'”»。\uff01\uff1f" else f"{begun}."


def join_words(names: list[str]) -> str:
    """Join names: `a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def capitalize_first(text: str) -> str:
    """Capitalize the first letter only, so that `an iOS helper` keeps its `iOS`."""
    return text[:1].upper() + text[1:]
