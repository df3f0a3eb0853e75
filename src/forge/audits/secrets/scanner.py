"""Find and mask secrets in text. One combined pattern selects candidate lines; the rules examine only those."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from forge.audits.secrets.assignments import assignments, find_secret
from forge.audits.secrets.assignments import lead as assignment_lead
from forge.audits.secrets.entropy import entropy, surprise
from forge.audits.secrets.models import Hit, Rank, Rule
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.placeholders import is_common, is_published, is_sequence, is_stand_in, is_template
from forge.audits.secrets.rules import RULES
from forge.audits.secrets.rules.token_rule import BEFORE
from forge.kernel.text import truncate

MAX_SHOWN = 200
_KEEP = 4
_LONG = 16
"""The first characters of secrets of at least this length are shown, so that the owner can identify them."""
_ARMOR = r"^-----BEGIN[ A-Z0-9_-]{0,70}-----"
_REST = r"[0-9A-Za-z+/=_.~%-]+"


def mask_secrets(line: bytes, hits: Sequence[Hit]) -> str:
    """Return the line with all hits and their direct continuations masked, truncated around the first one."""
    shown, at, first = b"", 0, None
    for hit in hits:
        if hit.start < at:
            continue
        shown += line[at : hit.start]
        first = len(shown) if first is None else first
        shown += _mask(line[hit.start : hit.end])
        at = _end_of_secret(line, hit.end)
    return _around((shown + line[at:]).decode("utf-8", "replace"), first or 0)


def secret_fingerprint(secret: bytes) -> str:
    """Return a short hash that identifies a secret."""
    return hashlib.sha256(secret).hexdigest()[:12]


def _mask(secret: bytes) -> bytes:
    armor = compiled(_ARMOR).search(secret)
    kept = (armor.end() if armor else _KEEP) if len(secret) >= _LONG else 0
    return secret[:kept] + "…".encode()


def _end_of_secret(line: bytes, at: int) -> int:
    rest = compiled(_REST).search(line, at)
    return rest.end() if rest is not None and rest.start() == at else at


def _around(text: str, at: int) -> str:
    return truncate(text[max(0, at - MAX_SHOWN // 2) :].strip(), MAX_SHOWN)


PRIVATE_KEY = "private-key"
OPENING = b"PRIVATE KEY"
_BEGIN = r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
_CLOSING = r"-----END[ A-Z0-9_-]{0,60}-----"
_MATERIAL = r"[0-9A-Za-z+/]{32}"
_PLAIN = 8
"""Key material has more different characters than this; `AAAA…` is a placeholder."""
_LONGEST = 20_000
_REACH = 1200
"""Key material starts within this many bytes after the opening line, as headers may come between."""


def private_keys(text: bytes) -> Iterator[Hit]:
    """Yield one hit per PEM private key, from its opening to its end. `text` has all added lines of a file."""
    begin, material = compiled(_BEGIN), compiled(_MATERIAL)
    at = 0
    while opening := begin.search(text, at):
        at = opening.end()
        found = material.search(text[at : at + _REACH].split(b"-----", 1)[0])
        if found is not None and len(set(found.group() or b"")) > _PLAIN:
            yield Hit(
                PRIVATE_KEY, "private key", Rank.TOKEN, opening.start(), _block_end(text, at + found.end())
            )


def _block_end(text: bytes, at: int) -> int:
    """Return the end of the block, or of the line if it is not closed."""
    closing = compiled(_CLOSING).search(text[at : at + _LONGEST])
    if closing is not None:
        return at + closing.end()
    line_end = text.find(b"\n", at)
    return len(text) if line_end < 0 else line_end


KUBERNETES = "kubernetes-secret"
MARK = b"kind"
_KUBERNETES_KIND = r"(?im)^\s*[\"']?kind[\"']?\s*:\s*[\"']?secret[\"']?\s*,?\s*(?:#.*)?$"
_KUBERNETES_DATA = r"(?m)^([ \t]*)[\"']?(?:data|stringData)[\"']?[ \t]*:[ \t]*(?:\{[ \t]*)?$"
_KUBERNETES_ENTRY = r"^[ \t]+[\"']?[\w.-]+[\"']?[ \t]*:[ \t]*[\"']?([0-9A-Za-z+/]{10,}={0,2})[\"']?,?[ \t]*$"
_LEAST_BITS = 2.8


def kubernetes_secrets(text: bytes) -> Iterator[Hit]:
    """Yield the values in `data` blocks of Kubernetes `Secret` manifests."""
    if compiled(_KUBERNETES_KIND).search(text) is None:
        return
    for block in compiled(_KUBERNETES_DATA).finditer(text):
        at = block.end() + 1
        while entry := compiled(_KUBERNETES_ENTRY).search(text[at : _line_end(text, at)]):
            if _is_value(entry.group(1) or b""):
                start, end = at + entry.start(1), at + entry.end(1)
                yield Hit(KUBERNETES, "value of a Kubernetes secret", Rank.STRUCTURE, start, end)
            at = _line_end(text, at) + 1


def _line_end(text: bytes, at: int) -> int:
    end = text.find(b"\n", at)
    return len(text) if end < 0 else end


def _is_value(value: bytes) -> bool:
    return entropy(value) >= _LEAST_BITS and not is_stand_in(value) and not is_template(value)


WINDOW = 4096
"""The maximum of bytes examined together; longer lines are examined around each candidate."""
OVERLAP = 1024
BEFORE_IT = 256


def scan(text: bytes, least: Rank = Rank.GENERIC) -> list[Hit]:
    """Return non-overlapping secrets in order, found by rules of at least this rank.

    `text` may have several lines; only PEM private keys and Kubernetes manifests are matched across lines.
    """
    hits = list(private_keys(text)) if OPENING in text else []
    if MARK in text:
        hits.extend(kubernetes_secrets(text))
    for start, window in _windows(text, _lead()):
        hits.extend(_moved(hit, start) for rule in _candidates(window) for hit in _apply(rule, window))
    if least < Rank.TOKEN:
        hits.extend(_assigned(text))
    return [hit for hit in _best(hits) if hit.rank >= least]


def _assigned(text: bytes) -> Iterator[Hit]:
    for start, window in _windows(text, assignment_lead()):
        for assignment in assignments(window):
            hit = find_secret(assignment)
            if hit is not None:
                yield _moved(hit, start)


def _windows(text: bytes, lead: str) -> Iterator[tuple[int, bytes]]:
    """Yield the candidate lines with their offsets, or parts of very long lines."""
    search = compiled(lead).search
    at = 0
    while found := search(text, at):
        first = found.start()
        earliest = max(0, first - BEFORE_IT)
        start = max(text.rfind(b"\n", earliest, first + 1) + 1, earliest)
        latest = min(len(text), start + WINDOW)
        line_end = text.find(b"\n", max(first + 1, start), latest)
        end = latest if line_end < 0 else line_end
        yield start, text[start:end]
        at = end if line_end >= 0 or end == len(text) else max(end - OVERLAP, first + 1)


def _moved(hit: Hit, by: int) -> Hit:
    return Hit(hit.rule, hit.kind, hit.rank, hit.start + by, hit.end + by)


def _candidates(window: bytes) -> Iterable[Rule]:
    """Return the rules that may match, each once and in order."""
    return dict.fromkeys(rule for start, rule in _starts() if start in window)


def _apply(rule: Rule, window: bytes) -> Iterator[Hit]:
    at = 0
    while match := compiled(rule.pattern).search(window, at):
        at = match.end(1)  # the end of one secret may be the beginning of the next
        secret = match.group(1) or b""
        is_random = entropy(secret) >= rule.floor and surprise(secret) >= rule.surprise
        if is_random and not _is_typed(rule, secret):
            yield Hit(rule.id, rule.kind, rule.rank, match.start(1), match.end(1))


def _is_typed(rule: Rule, secret: bytes) -> bool:
    """Return whether a match is a placeholder. Tokens with a specific format are only tested for stand-ins."""
    if rule.rank is Rank.TOKEN:
        return is_stand_in(_without_start(rule, secret))
    return (
        is_stand_in(secret)
        or is_template(secret)
        or is_sequence(secret)
        or is_common(secret)
        or is_published(secret)
    )


def _without_start(rule: Rule, secret: bytes) -> bytes:
    """Remove the fixed start of a token, which would distort the placeholder test."""
    for start in sorted(rule.starts, key=len, reverse=True):
        before, found, after = secret.partition(start.encode())
        if found:
            return before + after
    return secret


def _best(hits: list[Hit]) -> list[Hit]:
    """Keep the hit with the highest rank, then the longest, of overlapping hits."""
    kept: list[Hit] = []
    for group in _overlapping(sorted(hits, key=lambda hit: hit.start)):
        kept.extend(_choose(group))
    return kept


def _overlapping(hits: list[Hit]) -> Iterator[list[Hit]]:
    """Yield groups of overlapping hits, so that only few have to be compared."""
    group: list[Hit] = []
    end = 0
    for hit in hits:
        if group and hit.start >= end:
            yield group
            group = []
        group.append(hit)
        end = max(end, hit.end)
    if group:
        yield group


def _choose(group: list[Hit]) -> list[Hit]:
    chosen: list[Hit] = []
    for hit in sorted(group, key=lambda one: (-one.rank, one.start - one.end, one.start)):
        if all(hit.end <= other.start or hit.start >= other.end for other in chosen):
            chosen.append(hit)
    return sorted(chosen, key=lambda one: one.start)


@cache
def _lead() -> str:
    bounded = "|".join(rule.lead for rule in RULES if rule.is_bounded)
    return "|".join([f"{BEFORE}(?:{bounded})", *map(_loose, (rule for rule in RULES if not rule.is_bounded))])


def _loose(rule: Rule) -> str:
    return rule.lead or "|".join(re.escape(start) for start in rule.starts)


@cache
def _starts() -> tuple[tuple[bytes, Rule], ...]:
    return tuple((start.encode(), rule) for rule in RULES for start in rule.starts)
