"""Check that a statement is backed by what a person wrote, in any language and without a model.

A quote is compared word by word. A statement may be worded freely, but may not add names or numbers, and thereby
dates. Names are recognized by their capital letters: not at the beginning of a sentence, not in German, which
capitalizes all nouns, and not in scripts without capital letters.
"""

import re
import unicodedata

MIN_COMPARED, MAX_COMPARED = 3, 4
"""Words that begin with the same letters count as the same name, because names are inflected."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n")
_NUMBER = re.compile(r"\d+(?:[.,'\u2019]\d+|\s\d{3}(?!\d))*")
_ITEM_NUMBER = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)
_GERMAN = frozenset("der die das dem ein eine einen einem einer und ist nicht kein keine zum zur".split())  # noqa: SIM905
"""Words by which German is recognized; none of them is frequent in English, French or Spanish."""
_NUMBER_WORDS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf",
        "un deux trois quatre cinq six sept huit neuf dix onze douze",
        "uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for number, word in enumerate(words.split(), start=1)
}
_IDEOGRAPHS = dict(zip("一二两兩三四五六七八九十", "1 2 2 2 3 4 5 6 7 8 9 10".split(), strict=True))  # noqa: SIM905
_NOT_ONLY_NUMBERS = frozenset("one eins un uno ten eleven elf sept neuf onze dos tres once doce".split())  # noqa: SIM905
"""Number words that mean something else in another language, such as `ten` in Polish or `once` in English."""


def contains_quote(text: str, quote: str) -> bool:
    """Check that the words of the quote are in the text, ignoring case, accents, whitespace and punctuation."""
    words = " ".join(_words(quote))
    return bool(words) and f" {words} " in f" {' '.join(_words(text))} "


def mentions(text: str, name: str) -> bool:
    """Check that the text has each word of the name, possibly inflected."""
    return _has_all(frozenset(_words(text)), name)


def added_details(statement: str, source: str) -> list[str]:
    """Return the names and numbers of the statement that are not in the source."""
    return [*_added_names(statement, source), *_added_numbers(statement, source)]


def _added_names(statement: str, source: str) -> list[str]:
    if not _GERMAN.isdisjoint(_words(statement)):
        return []
    sentences = [_split(sentence) for sentence in _SENTENCE_END.split(_plain(statement))]
    capitalized = [word for words in sentences for word in words[1:] if len(word) > 1 and _has_capital(word)]
    known = frozenset(_words(source))
    return [name for name in capitalized if not _has_all(known, name)]


def _has_all(words: frozenset[str], name: str) -> bool:
    return all(any(_is_same(part, word) for word in words) for part in _words(name))


def _is_same(name: str, word: str) -> bool:
    shorter = min(len(name), len(word))
    beginning = min(MAX_COMPARED, shorter - 1)
    return name == word or (beginning >= MIN_COMPARED and name[:beginning] == word[:beginning])


def _added_numbers(statement: str, source: str) -> list[str]:
    known = _numbers(source)
    digits = [
        number
        for number in _NUMBER.findall(_ITEM_NUMBER.sub(" ", _plain(statement)))
        if _joined(number) not in known and not known.issuperset(_groups(number))
    ]
    spelled = [word for word in _words(statement) if word in _NUMBER_WORDS.keys() - _NOT_ONLY_NUMBERS]
    return [*digits, *(word for word in spelled if _NUMBER_WORDS[word] not in known)]


def _numbers(text: str) -> set[str]:
    """Return the numbers of a text: `1,200` as 1200, and as 1 and 200, because the comma may separate two."""
    found = _NUMBER.findall(_plain(text))
    groups = {group for number in found for group in _groups(number)}
    spelled = {_NUMBER_WORDS[word] for word in _words(text) if word in _NUMBER_WORDS}
    ideographs = {_IDEOGRAPHS[c] for c in text if c in _IDEOGRAPHS}
    return {*map(_joined, found), *groups, *spelled, *ideographs}


def _groups(number: str) -> list[str]:
    return [group.lstrip("0") or "0" for group in re.findall(r"\d+", number)]


def _joined(number: str) -> str:
    return re.sub(r"\D", "", number).lstrip("0") or "0"


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _split(_plain(text))]


def _split(plain: str) -> list[str]:
    """Split into words and numbers. Scripts without case may not separate words, so each of their letters is one."""
    return _WORD.findall("".join(f" {c} " if c.isalpha() and c.lower() == c.upper() else c for c in plain))


def _has_capital(word: str) -> bool:
    return any(c != c.lower() for c in word)


def _plain(text: str) -> str:
    """Remove accents, and replace the digits of other scripts and letters of full width."""
    plain = (c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain)
