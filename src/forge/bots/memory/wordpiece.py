"""Takes a text apart into the pieces a BERT model knows: words, and where it has no such word, the longest parts."""

import unicodedata
from collections.abc import Iterator, Mapping

LONGEST_WORD = 100
UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
_CJK = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


def pieces(text: str, vocabulary: Mapping[str, int], *, most: int) -> list[int]:
    """Numbers of the pieces, between those of a start and an end; what does not fit is left off."""
    found: list[int] = []
    for word in _words(text):
        found += _cut(word, vocabulary)
        if len(found) >= most - 2:
            break
    return [vocabulary[START], *found[: most - 2], vocabulary[END]]


def _words(text: str) -> Iterator[str]:
    """Lower case, without accents; every sign and every Chinese character is a word of its own."""
    spaced = "".join(f" {c} " if _stands_alone(c) else _kept(c) for c in text)
    plain = unicodedata.normalize("NFD", spaced.lower())
    bare = "".join(c for c in plain if unicodedata.category(c) != "Mn")
    return iter(bare.split())


def _cut(word: str, vocabulary: Mapping[str, int]) -> list[int]:
    """The longest known piece from the left, again and again; a word that cannot be cut so is unknown as a whole."""
    if len(word) > LONGEST_WORD:
        return [vocabulary[UNKNOWN]]
    found: list[int] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = vocabulary.get(prefix + word[start:end])
            if number is not None:
                found.append(number)
                start = end
                break
        else:
            return [vocabulary[UNKNOWN]]
    return found


def _stands_alone(character: str) -> bool:
    code = ord(character)
    if code < 128:
        return character.isprintable() and not character.isalnum() and character != " "
    is_sign = unicodedata.category(character).startswith("P")
    return is_sign or any(first <= code <= last for first, last in _CJK)


def _kept(character: str) -> str:
    if character in "\t\n\r":
        return " "
    is_invisible = unicodedata.category(character) in ("Cc", "Cf", "Co") or character == "\ufffd"
    return "" if is_invisible else character
