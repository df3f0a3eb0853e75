"""Looks for secrets in a text: one pass of one pattern finds the lines worth a second look, the rules look at those."""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from forge.audits.secrets.assignments import assignments
from forge.audits.secrets.assignments import lead as assignment_lead
from forge.audits.secrets.entropy import entropy, surprise
from forge.audits.secrets.judging import judge
from forge.audits.secrets.kubernetes import MARK, kubernetes_secrets
from forge.audits.secrets.models import Hit, Rank, Rule
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.placeholders import is_common, is_published, is_sequence, is_stand_in, is_template
from forge.audits.secrets.privatekeys import OPENING, private_keys
from forge.audits.secrets.rules import RULES
from forge.audits.secrets.rules.making import BEFORE

WINDOW = 4096
"""Bytes of a line that are looked at together; longer lines are looked at around each candidate."""
OVERLAP = 1024
BEFORE_IT = 256


def scan(text: bytes, least: Rank = Rank.GENERIC) -> list[Hit]:
    """Secrets in order, no two over the same characters, found by rules of at least this rank.

    `text` is one line or many: keys in PEM armour are the only thing that is looked for across lines.
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
            hit = judge(assignment)
            if hit is not None:
                yield _moved(hit, start)


def _windows(text: bytes, lead: str) -> Iterator[tuple[int, bytes]]:
    """Where to look, and from which offset: lines, or parts of very long ones."""
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
    """Each rule once, in order: a dict remembers the order of its keys."""
    return dict.fromkeys(rule for start, rule in _starts() if start in window)


def _apply(rule: Rule, window: bytes) -> Iterator[Hit]:
    at = 0
    while match := compiled(rule.pattern).search(window, at):
        at = match.end(1)  # what ends one secret may begin the next
        secret = match.group(1) or b""
        is_random = entropy(secret) >= rule.floor and surprise(secret) >= rule.surprise
        if is_random and not _is_typed(rule, secret):
            yield Hit(rule.id, rule.kind, rule.rank, match.start(1), match.end(1))


def _is_typed(rule: Rule, secret: bytes) -> bool:
    """By a person, to show where the secret goes. Of a token whose shape is right little else is doubted."""
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
    """The start is always the same, so it says nothing: some are but a row of `A`."""
    for start in sorted(rule.starts, key=len, reverse=True):
        before, found, after = secret.partition(start.encode())
        if found:
            return before + after
    return secret


def _best(hits: list[Hit]) -> list[Hit]:
    """Of hits that share characters the one of the highest rank, then the longest."""
    kept: list[Hit] = []
    for group in _overlapping(sorted(hits, key=lambda hit: hit.start)):
        kept.extend(_choose(group))
    return kept


def _overlapping(hits: list[Hit]) -> Iterator[list[Hit]]:
    """Neighbours that share characters, together: so that few have to be compared, however many there are."""
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
