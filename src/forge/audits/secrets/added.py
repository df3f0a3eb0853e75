"""Secrets in the lines that a change adds, file by file."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from forge.audits.secrets.checksums import has_checksum
from forge.audits.secrets.masking import masked, name_of
from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.scanning import scan
from forge.audits.secrets.surroundings import surroundings
from forge.audits.snapshot import AddedLine

_ALLOWED = r"(?i)forge:\s?allow-secret|gitleaks:\s?allow|pragma:\s?allowlist[ -]secret|trufflehog:\s?ignore"
_SHOWN_WHOLE = 64 << 10
"""Longer lines are not searched once more for other secrets to hide: only the secret itself is shown, masked."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret in an added line. It does not hold the secret."""

    rule: str
    kind: str
    path: str
    line: int
    name: str
    """Tells this secret from others."""
    excerpt: str
    is_certain: bool
    """It carries a checksum, and that is right."""


def leaks(lines: Iterable[AddedLine]) -> Iterator[Leak]:
    """Lines of one file stand together and in order, as a snapshot has them."""
    for path, group in groupby(lines, key=lambda line: line.path):
        yield from _leaks(path, list(group))


def _leaks(path: str, lines: Sequence[AddedLine]) -> Iterator[Leak]:
    text = b"\n".join([line.text for line in lines])
    hits = scan(text, surroundings(path).value)
    if not hits:
        return
    starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0))
    for hit in hits:
        number = bisect_right(starts, hit.start) - 1
        line = lines[number]
        if compiled(_ALLOWED).search(line.text) is None:
            yield _leak(line, text[hit.start : hit.end], _within(hit, starts[number]))


def _within(hit: Hit, start: int) -> Hit:
    return Hit(hit.rule, hit.kind, hit.rank, hit.start - start, hit.end - start)


def _leak(line: AddedLine, secret: bytes, hit: Hit) -> Leak:
    return Leak(
        rule=hit.rule,
        kind=hit.kind,
        path=line.path,
        line=line.line,
        name=name_of(secret),
        excerpt=_excerpt(line.text, hit),
        is_certain=has_checksum(secret),
    )


def _excerpt(text: bytes, hit: Hit) -> str:
    """Every secret of the line is masked, those that do not count here as well."""
    if len(text) > _SHOWN_WHOLE:
        return masked(text[hit.start : hit.end], [_within(hit, hit.start)])
    others = [one for one in scan(text, Rank.GENERIC) if one.end <= hit.start or one.start >= hit.end]
    return masked(text, sorted([hit, *others], key=lambda one: one.start))
