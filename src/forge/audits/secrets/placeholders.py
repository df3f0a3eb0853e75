"""Recognize values that are not secrets: examples, templates, variable names, repeated characters."""

import hashlib
from itertools import pairwise

from forge.audits.secrets.entropy import surprise
from forge.audits.secrets.patterns import compiled

_STAND_INS = (
    r"(?i)example|placeholder|redacted|change[_-]?me|change[_-]?this|replace[_-]?me|replace[_-]?with|insert[_-]"
    r"|your[_-]|yourapi|yoursecret|yourtoken|yourpass|deadbeef|not[_-]?real|not[_-]a[_-]|sanitized|censored"
    r"|x{6,}|\*{3,}|\.{3,}|0{8,}|1{8,}|a{8,}|-{6,}|_{6,}|#{4,}"
)
_SHORT_STAND_INS = "sample|dummy|foobar|lorem|xxxx"
_LONG = 200
"""In longer texts a short word may occur by chance."""
_WORD = 4.5
_COMMON = (
    r"(?i)(?:my|the|some|super|a|db|new|old|bad|wrong|plain)?[_-]?(?:pass(?:w(?:or)?d)?|pwd?|secret|user(?:name)?|admin|root|guest"
    r"|test(?:er|ing)?|tiger|scott|postgres(?:ql)?|mysql|redis|mongo|rabbit(?:mq)?|foo|bar|baz|none|null|token|key|hunter2|letmein"
    r"|p[a@]ss[wv][o0]rd|s3cr3t|welcome|default|demo|dev|local|abc|auth|login|host|port|value|string)s?[_-]?[0-9!?*.]{0,5}"
)
_TEMPLATE = r"^[$%<{\[(*&@!#]|[$#]\{|\{\{|<%|%\(|\$\(|\{[A-Za-z_][\w.\[\]'\"]*\}|%[sd]$|^%\w+%$|^<.*>$|\.\.\.|\xe2\x80\xa6|(?:sha(?:1|224|256|384|512)|md5|blake2b?)[-=:]|^AAAA[BCE][23]"
_PUBLISHED = frozenset(
    {
        "00cf4c781dc37003",
        "0d299b1eb548708d",
        "13d31e961a1ad8ec",
        "15cef4b629cc2d07",
        "293257ab6495ebb1",
        "4c20e6f5cc11b937",
        "649e1f5c769e718b",
        "6aa14267d94944e6",
        "6c96130f130ab0d6",
        "7f44193a6edea087",
        "9d03b692e941d5ac",
        "a35b81a7d7927b70",
        "b8e148545b13c78b",
        "bb9b1163338b2a51",
        "ca7459e2b26776de",
        "cb87c87e4a138d9a",
        "cf4d418ed3de92d7",
        "d167410a16865cd6",
        "ea9bdfd02c0c412c",
    }
)
"""Hashes of published example secrets, so that scanners do not find them here."""
_SEQUENCE = "(?i)12345678|abcdefg|qwerty"


def is_stand_in(value: bytes) -> bool:
    """Return whether a value is a placeholder, even if its format is right."""
    if len(value) > _LONG:
        return _is_monotonous(value)
    return _has_stand_in(value) or _is_monotonous(value)


def _has_stand_in(value: bytes) -> bool:
    """Return whether a value contains a placeholder word. Short words must be in one case, as they occur by chance."""
    short = compiled(f"{_SHORT_STAND_INS}|{_SHORT_STAND_INS.upper()}")
    return compiled(_STAND_INS).search(value) is not None or short.search(value) is not None


def is_common(password: bytes) -> bool:
    """Return whether a password is a common word."""
    is_word = password.isalpha() and password.islower() and surprise(password) < _WORD
    return is_word or compiled(_COMMON).fullmatch(password) is not None


def is_published(value: bytes) -> bool:
    """Return whether a value is a published example of a standard (OAuth, HTTP, WebSocket)."""
    return hashlib.sha256(value).hexdigest()[:16] in _PUBLISHED


def is_template(value: bytes) -> bool:
    """Return whether a value is a template: `${TOKEN}`, `{{ token }}`, `<token>`, `%(token)s`."""
    return compiled(_TEMPLATE).search(value) is not None


def is_sequence(value: bytes) -> bool:
    """Return whether a value contains a keyboard or alphabet sequence."""
    return compiled(_SEQUENCE).search(value) is not None


def _is_monotonous(value: bytes) -> bool:
    """Return whether a value has few different characters or one repeated more than six times."""
    if len(value) > _LONG:
        return False
    if len(value) >= 12 and len(set(value)) <= 5:
        return True
    run = 1
    for before, after in pairwise(value):
        run = run + 1 if before == after else 1
        if run >= 7:
            return True
    return False
