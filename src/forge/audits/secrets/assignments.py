"""Find assignments and decide whether their values are secrets: the name must suggest one, the value look generated."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from forge.audits.secrets.entropy import entropy, surprise
from forge.audits.secrets.models import Hit, Rank, Vendor
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.placeholders import is_published, is_sequence, is_stand_in, is_template
from forge.audits.secrets.rules.vendors import VENDORS
from forge.audits.secrets.shapes import pattern_of

_PROMISING = "passw|passphrase|pwd|[_.-]pass|dbpass|secret|token|key|credential|creds|auth|access|client|api|dsn|login|sid"
_NAME = r"[\w.$\[\]-]*"
_MORE = r"[\w.$\[\] -]*"
"""Further words of the name: `asana token 2 = …`."""
_LINK = (
    r"(?:\\?[\"'`]|[\])])*\s*"
    r"(?::\s*[A-Za-z_][\w.\[\]| ]*=|[Ss]tring\s*=|[:=!~?]{1,3}[=>]?|->|\|\|=?|,|\(|>|value\s*=)\s*"
    r"\(?"
)
_VALUE = (
    r"(?:[bBrRuUfFL@]{0,2}\\?\"([^\"'\s\\]{6,400})\\?\"|[bBrRuUfFL@]{0,2}\\?'([^\"'\s\\]{6,400})\\?'|`([^`\s]{6,400})`"
    r"|[\"'\\]{0,4}([^\s\"'`,;<>(){}\[\]\\|&]{6,400}))"
)
_ANY_VALUE = r"(?:[bBrRuUfFL@]{0,2}[\"'`\\]{1,4})?(?:[^\s\"'`]*[0-9]|[A-Za-z]{14})"
_MOST = 64
"""The maximum of assignments per window; only hostile input has more."""
_QUOTED = 6
"""The regex group of an unquoted value."""


@dataclass(frozen=True, slots=True)
class Assignment:
    name: bytes
    value: bytes
    start: int
    end: int
    """The end of the value."""
    is_quoted: bool


@cache
def lead() -> str:
    """Return a cheap pattern that matches the beginning of every relevant assignment."""
    return f"(?i:{_name_words()}){_MORE}(?:{_LINK}|\\s+){_ANY_VALUE}"


def assignments(line: bytes) -> Iterator[Assignment]:
    yield from _found(f"((?i:{_NAME}?(?:{_name_words()}){_MORE}))({_LINK}){_VALUE}", line)
    if b"--" in line or b" -" in line:
        yield from _found(f"(--?(?i:[\\w-]*(?:{_name_words()})[\\w-]*))(\\s+){_VALUE}", line)


def _found(pattern: str, line: bytes) -> Iterator[Assignment]:
    at = 0
    for _ in range(_MOST):
        found = compiled(pattern).search(line, at)
        if found is None:
            return
        group = next(number for number in (3, 4, 5, 6) if found.group(number) is not None)
        yield Assignment(
            name=found.group(1) or b"",
            value=found.group(group) or b"",
            start=found.start(group),
            end=found.end(group),
            is_quoted=group != _QUOTED,
        )
        at = found.end(1)


@cache
def _name_words() -> str:
    return "|".join([_PROMISING, *sorted({word for vendor in VENDORS for word in vendor.words})])


GENERIC = "generic-secret"

_HUMAN_NAMES = r"(?i)passw(?:or)?d|passphrase|pwd|[_.-]pass(?:$|[_.-])|dbpass"
_STRONG = r"(?i)secret|token|api[_.-]?key|credential|creds|[_.-]pat$|private[_.-]?key|access[_.-]?key|auth[_.-]?key|(?:encryption|signing|master|service|account|shared)[_.-]?key"
_PROMISES = rf"{_HUMAN_NAMES}|{_STRONG}|(?i)auth|key|access"
_OWNED = r"(?i)key|token|secret|pass|pwd|auth|cred|client|api|access|sid|login|dsn"
_HARMLESS = (
    r"(?i)public|hash(?:$|[^i])|checksum|digest|sha-?\d|md5|finger|integrity|etag|commit|revision|version|algorithm|encoding"
    r"|(?:key|token|secret|auth|access|credential)s?[_.-]?(?:id|ids|name|names|url|uri|type|path|file|dir|size|length|count|limit|arn|ref|regex|pattern|prefix|suffix|field|header|label|title|text|class|color)(?:$|[^a-z])"
    r"|author|csrf|xsrf|nonce|salt|primary[_.-]?key|foreign[_.-]?key|sort[_.-]?key|partition|cache[_.-]?key|keyboard|keycode|keyword|keystore|keyspace|keyframe"
    r"|monkey|hotkey|turkey|hockey|jockey|donkey|accessib|accessor|tokeniz|_sha|passthr|session[_.-]?key|idempot|translat|locali|i18n|object[_.-]?key|[_.-]bucket|^bucket|signature|etag|last4|image|filename|storage[_.-]?key"
)
_HEX = r"[0-9A-Fa-f]+"
_UUID = r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_OPAQUE = r"[\w+/=.~%:-]+"
_PRINTABLE = r"[!-~]+"
_OWN_KEY = r"(?i)[a-z0-9][_.-]?key\s*$"


def find_secret(assignment: Assignment) -> Hit | None:
    value = assignment.value
    if is_template(value) or is_stand_in(value) or is_sequence(value):
        return None
    if vendor := _vendor(assignment):
        return Hit(vendor.id, vendor.kind, Rank.VENDOR, assignment.start, assignment.end)
    if _promises(assignment.name) and _is_generated(assignment) and not is_published(value):
        return Hit(GENERIC, _kind(assignment.name), Rank.GENERIC, assignment.start, assignment.end)
    return None


def _vendor(assignment: Assignment) -> Vendor | None:
    name = assignment.name.lower().translate(None, b"_-. $[]'\"")
    if not _has(_any_word(), name) or _has(_HARMLESS, assignment.name) or not _looks_random(assignment.value):
        return None
    for vendor in VENDORS:
        if any(word in name for word in _words(vendor)) and _fits(vendor, assignment.value):
            return vendor if name in _words(vendor) or _has(_OWNED, assignment.name) else None
    return None


@cache
def _any_word() -> str:
    return "|".join(word for vendor in VENDORS for word in vendor.words)


@cache
def _words(vendor: Vendor) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in vendor.words)


def _fits(vendor: Vendor, value: bytes) -> bool:
    return (
        compiled("|".join(f"(?:{pattern_of(shape)})" for shape in vendor.shapes)).fullmatch(value) is not None
    )


def _looks_random(value: bytes) -> bool:
    """Return whether a vendor value looks random. The bar is lower than for generic secrets, as the length matches."""
    if compiled(_HEX).fullmatch(value) or compiled(_UUID).fullmatch(value):
        return entropy(value) >= 2.5
    digits = sum(char in b"0123456789" for char in value)
    return entropy(value) >= 2.8 and surprise(value) >= (2.0 if digits >= 3 else 3.3 if digits else 4.0)


def _promises(name: bytes) -> bool:
    return _has(_PROMISES, name) and not _has(_HARMLESS, name)


def _kind(name: bytes) -> str:
    return "password" if _has(_HUMAN_NAMES, name) else "key or token"


def _is_generated(assignment: Assignment) -> bool:
    value = assignment.value
    if not value.isascii():
        return False
    if _has(_HUMAN_NAMES, assignment.name) and _is_password(value):
        return True
    strong = _has(_HUMAN_NAMES, assignment.name) or _has(_STRONG, assignment.name)
    if compiled(_UUID).fullmatch(value):
        return (strong or _has(_OWN_KEY, assignment.name)) and entropy(value) >= 3
    if compiled(_OPAQUE).fullmatch(value):
        return any(_is_generated_part(part, strong=strong) for part in (value, *_parts(value)))
    is_odd = strong and assignment.is_quoted and compiled(_PRINTABLE).fullmatch(value) is not None
    return is_odd and _is_opaque(value, 24)


def _parts(value: bytes) -> list[bytes]:
    """Split a value such as `id.secret` into parts, each of which may be the secret."""
    parts = value.replace(b":", b".").replace(b"/", b".").split(b".")
    return parts if 1 < len(parts) < 4 else []


def _is_generated_part(value: bytes, *, strong: bool) -> bool:
    if compiled(_HEX).fullmatch(value):
        return _is_hex_key(value, 16 if strong else 32)
    return _is_opaque(value, 16 if strong else 20)


def _is_hex_key(value: bytes, least: int) -> bool:
    return len(value) >= least and not value.isdigit() and not value.isalpha() and entropy(value) >= 2.7


def _is_opaque(value: bytes, least: int) -> bool:
    if len(value) < least or entropy(value) < 3.3:
        return False
    if not any(char in b"0123456789" for char in value):
        return len(value) >= 24 and not value.islower() and surprise(value) >= 5.6
    return surprise(value) >= 5.0


def _is_password(value: bytes) -> bool:
    """Return whether a value is a strong password: three kinds of characters, including a digit, and no words."""
    kinds = (
        any(char in b"0123456789" for char in value),
        any(97 <= char <= 122 for char in value),
        any(65 <= char <= 90 for char in value),
        any(char in b"!@#$%^&*?~+=-_." for char in value),
    )
    return 8 <= len(value) <= 64 and kinds[0] and sum(kinds) >= 3 and surprise(value) >= 5.0


def _has(pattern: str, text: bytes) -> bool:
    return compiled(pattern).search(text) is not None
