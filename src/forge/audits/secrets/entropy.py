"""Measure how random a text is: generated keys have unlikely pairs of characters, words and names do not."""

from collections import Counter
from itertools import pairwise
from math import log2

_SYMBOLS = "abcdefghijklmnopqrstuvwxyz0-"
_SURPRISE = (
    "8444985959834395934257887975",
    "3867489943928948765849995953",
    "4979489359449929957359997964",
    "3574277935966857965769997962",
    "5844757989935476733497657973",
    "4978459929659739947659998952",
    "5987196639968549944559998973",
    "3998299939977839956469997973",
    "5644465999945236854396969697",
    "2999299979999938693969799974",
    "6677188949967678964659598972",
    "3854239939849948995448996984",
    "3688299949965533994759994974",
    "4944363859778547993367997983",
    "6554876869644254935556679994",
    "3986397659649934936469995974",
    "9999999999919999996919999974",
    "3965276949865648954467995983",
    "6959288649778855584259796983",
    "4968288439987947945569895972",
    "5565376959934374933389999958",
    "2999198939999969998999999976",
    "3978399529688537944799699973",
    "5948389849997883988299974953",
    "7757578969855473984598799971",
    "4989199749967749987889984375",
    "5555559999996789998899999912",
    "4534546647754554744456699954",
)
"""Rounded surprisal in bits of each symbol (column) after another (row): letters, digits, anything else. Measured on names
and words in code and prose."""


def _rows() -> dict[int, dict[int, int]]:
    by_symbol = {
        first: dict(zip(_SYMBOLS, (int(bits) for bits in row), strict=True))
        for first, row in zip(_SYMBOLS, _SURPRISE, strict=True)
    }
    symbols = {code: _symbol(chr(code)) for code in range(256)}
    return {a: {b: by_symbol[symbols[a]][symbols[b]] for b in range(256)} for a in range(256)}


def _symbol(char: str) -> str:
    if char.isascii() and char.isalpha():
        return char.lower()
    return "0" if char.isascii() and char.isdigit() else "-"


_TABLE = _rows()


def entropy(text: bytes) -> float:
    """Return the Shannon entropy in bits per character."""
    if not text:
        return 0.0
    size = len(text)
    return -sum(count / size * log2(count / size) for count in Counter(text).values())


def surprise(text: bytes) -> float:
    """Return the mean surprisal per character pair: about 3.5 for words, 5 and more for generated text."""
    if len(text) < 2:
        return 0.0
    return sum(_TABLE[a][b] for a, b in pairwise(text)) / (len(text) - 1)
