"""What stands where a secret would: examples, templates, names of variables, the same character again and again."""

from itertools import pairwise

from forge.audits.secrets.patterns import compiled

_STAND_INS = (
    "example|sample|placeholder|redacted|changeme|change[_-]me|change[_-]this|replace[_-]?me|replace[_-]with|insert[_-]"
    "|your[_-]|yourapi|yoursecret|yourtoken|yourpass|dummy|foobar|lorem|deadbeef|todo|fixme|notreal|not[_-]a[_-]|sanitized|censored"
    "|x{4,}|\\*{3,}|\\.{3,}|0{8,}|1{8,}|a{8,}|-{6,}|_{6,}|#{4,}|12345678|abcdefg|qwerty"
)
_TEMPLATE = r"^[$%<{\[(*&@!#]|[$#]\{|\{\{|<%|%\(|\$\(|\{[A-Za-z_][\w.\[\]'\"]*\}|%[sd]$|^%\w+%$|^<.*>$|\.\.\.|\xe2\x80\xa6"
_ALPHABET = "0123456789|abcdefghij|ABCDEFGHIJ"


def is_stand_in(value: bytes) -> bool:
    """Somebody meant it to be replaced, even if the shape is right."""
    return compiled(f"(?i)(?:{_STAND_INS})").search(value) is not None or _is_monotonous(value)


def is_template(value: bytes) -> bool:
    """It is filled in later: `${TOKEN}`, `{{ token }}`, `<token>`, `%(token)s`."""
    return compiled(_TEMPLATE).search(value) is not None


def is_alphabet(value: bytes) -> bool:
    """A list of characters to choose from."""
    return compiled(_ALPHABET).search(value) is not None


def _is_monotonous(value: bytes) -> bool:
    """Less than a handful of different characters, or one of them six times in a row."""
    if len(value) >= 12 and len(set(value)) <= 5:
        return True
    run = 1
    for before, after in pairwise(value):
        run = run + 1 if before == after else 1
        if run >= 7:
            return True
    return False
