"""Secrets in the lines that a change adds, file by file."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, islice

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


@dataclass(frozen=True, slots=True)
class Leaks:
    first: tuple[Leak, ...]
    left: int
    """How many there are beyond those."""


def find_leaks(lines: Iterable[AddedLine], most: int) -> Leaks:
    """Lines of one file stand together and in order, as a snapshot has them. Those beyond `most` are only counted."""
    places = (
        place for _, group in groupby(lines, key=lambda line: line.path) for place in _places(list(group))
    )
    first = tuple(place.leak() for place in islice(places, most))
    return Leaks(first, sum(1 for _ in places))


class _Line:
    """What is asked of a line for each of its secrets, and worked out once."""

    def __init__(self, line: AddedLine) -> None:
        self.line = line

    @cached_property
    def is_allowed(self) -> bool:
        return compiled(_ALLOWED).search(self.line.text) is not None

    @cached_property
    def _hits(self) -> dict[Hit, None]:
        """In order, those that do not count here as well."""
        return dict.fromkeys(scan(self.line.text, Rank.GENERIC))

    @cached_property
    def _masked(self) -> str:
        return masked(self.line.text, list(self._hits))

    def excerpt(self, hit: Hit) -> str:
        """Every secret of the line is masked."""
        text = self.line.text
        if len(text) > _SHOWN_WHOLE:
            return masked(text[hit.start : hit.end], [_within(hit, hit.start)])
        if hit in self._hits:
            return self._masked
        others = [one for one in self._hits if one.end <= hit.start or one.start >= hit.end]
        return masked(text, sorted([hit, *others], key=lambda one: one.start))


@dataclass(frozen=True, slots=True)
class _Place:
    line: _Line
    hit: Hit
    """Within the line."""
    secret: bytes

    def leak(self) -> Leak:
        return Leak(
            rule=self.hit.rule,
            kind=self.hit.kind,
            path=self.line.line.path,
            line=self.line.line.line,
            name=name_of(self.secret),
            excerpt=self.line.excerpt(self.hit),
            is_certain=has_checksum(self.secret),
        )


def _places(lines: Sequence[AddedLine]) -> Iterator[_Place]:
    """In the lines of one file."""
    text = b"\n".join([line.text for line in lines])
    hits = scan(text, surroundings(lines[0].path).value)
    starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0)) if hits else []
    for number, group in groupby(hits, key=lambda hit: bisect_right(starts, hit.start) - 1):
        line = _Line(lines[number])
        if not line.is_allowed:
            for hit in group:
                yield _Place(line, _within(hit, starts[number]), text[hit.start : hit.end])


def _within(hit: Hit, start: int) -> Hit:
    return Hit(hit.rule, hit.kind, hit.rank, hit.start - start, hit.end - start)
