"""Recognises facts that give a secret away. The model is told not to write them down; this is for when it does."""

import math
import re
from collections import Counter

_NAMED = re.compile(
    r"\b(pass(word|code|phrase|wort)|pin( code)?|api[ _-]?key|secret key|client secret|(access|auth|bearer) token|"
    r"mot de passe|contrase\u00f1a|senha|\u043f\u0430\u0440\u043e\u043b\u044c)\b"
    r"(\s+(for|of|to|on|f\u00fcr|de|pour|para)\b[^.:=\n]{0,60}?)?"
    r"\s*(\b(is|was|are|ist|war|lautet|est|es|\u00e9)\b|[:=\u2014])\s*(?!(a|an|the|not|stored|kept|saved|in|on)\b)\S",
    re.IGNORECASE,
)
_KNOWN_SHAPE = re.compile(
    r"\b(sk|pk|rk|gh[opsu]|glpat|xox[abps]|AKIA|ASIA|AIza|eyJ)[-_A-Za-z0-9]{12,}|-----BEGIN "
)
_LONG = re.compile(r"[A-Za-z0-9+=]{20,}")
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)")
ENTROPY = 3.5
"""Bits a character: words and names stay below, random letters and digits do not."""


def gives_away(text: str) -> bool:
    return bool(
        _NAMED.search(text)
        or _KNOWN_SHAPE.search(text)
        or any(_is_random(token) for token in _LONG.findall(text))
        or any(_is_card(number) for number in _CARD.findall(text))
    )


def _is_random(token: str) -> bool:
    has_both = any(c.isdigit() for c in token) and any(c.isalpha() for c in token)
    shares = [count / len(token) for count in Counter(token).values()]
    return has_both and -sum(share * math.log2(share) for share in shares) > ENTROPY


def _is_card(number: str) -> bool:
    """By its check digit, as Luhn has it."""
    digits = [int(c) for c in reversed(number) if c.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[1::2]]
    return len(set(digits)) > 1 and (sum(digits[::2]) + sum(doubled)) % 10 == 0
