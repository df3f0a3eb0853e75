"""What stands where a secret would: examples, templates, names of variables, the same character again and again."""

from itertools import pairwise

from forge.audits.secrets.patterns import compiled

_STAND_INS = (
    "example|sample|placeholder|redacted|changeme|change[_-]me|change[_-]this|replace[_-]?me|replace[_-]with|insert[_-]"
    "|your[_-]|yourapi|yoursecret|yourtoken|yourpass|dummy|foobar|lorem|deadbeef|todo|fixme|notreal|not[_-]a[_-]|sanitized|censored"
    "|x{4,}|\\*{3,}|\\.{3,}|0{8,}|1{8,}|a{8,}|-{6,}|_{6,}|#{4,}"
)
_LONG = 200
"""In longer texts a short word may stand by chance."""
_COMMON = (
    r"(?i)(?:my|the|some|super|a|db|new|old|bad|wrong|plain)?[_-]?(?:pass(?:w(?:or)?d)?|pwd?|secret|user(?:name)?|admin|root|guest"
    r"|test(?:er|ing)?|tiger|scott|postgres(?:ql)?|mysql|redis|mongo|rabbit(?:mq)?|foo|bar|baz|none|null|token|key|hunter2|letmein"
    r"|p[a@]ss[wv][o0]rd|s3cr3t|welcome|default|demo|dev|local|abc|auth|login|host|port|value|string)s?[_-]?[0-9!?*.]{0,5}"
)
_TEMPLATE = r"^[$%<{\[(*&@!#]|[$#]\{|\{\{|<%|%\(|\$\(|\{[A-Za-z_][\w.\[\]'\"]*\}|%[sd]$|^%\w+%$|^<.*>$|\.\.\.|\xe2\x80\xa6"
_SEQUENCE = "(?i)12345678|abcdefg|qwerty"


def is_stand_in(value: bytes) -> bool:
    """Somebody meant it to be replaced, even if the shape is right."""
    if len(value) > _LONG:
        return _is_monotonous(value)
    return compiled(f"(?i)(?:{_STAND_INS})").search(value) is not None or _is_monotonous(value)


def is_common(password: bytes) -> bool:
    """Nobody protects anything with it."""
    return compiled(_COMMON).fullmatch(password) is not None


def is_template(value: bytes) -> bool:
    """It is filled in later: `${TOKEN}`, `{{ token }}`, `<token>`, `%(token)s`."""
    return compiled(_TEMPLATE).search(value) is not None


def is_sequence(value: bytes) -> bool:
    """Typed along the keyboard, or a list of characters to choose from."""
    return compiled(_SEQUENCE).search(value) is not None


def _is_monotonous(value: bytes) -> bool:
    """Less than a handful of different characters, or one of them six times in a row."""
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
