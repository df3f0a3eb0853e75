"""Semantic versions, version ranges, and requirements such as `name@range`.

A range is a set of intervals in the order of all versions, so that intersections can be computed. A preview (`2.0.0-beta`)
is in a range only if the range names a preview of the same version.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import total_ordering

from forge.skills.models import is_skill_name

MAX_RANGE = 200
"""In characters."""

_NUMBER = r"[0-9]{1,9}"
_LABELS = r"[0-9A-Za-z-]{1,40}(?:\.[0-9A-Za-z-]{1,40}){0,9}"
_TAIL = rf"(?:-(?P<preview>{_LABELS}))?(?:\+{_LABELS})?"
_VERSION = re.compile(rf"v?(?P<core>{_NUMBER}(?:\.{_NUMBER}){{0,2}}){_TAIL}")
_TERM = re.compile(
    rf"(?P<sign>\^|~|>=|<=|>|<|=)?\s*v?(?P<core>(?:{_NUMBER}|[xX*])(?:\.(?:{_NUMBER}|[xX*])){{0,2}}){_TAIL}"
)
_SEPARATOR = re.compile(r"\s*,\s*|(?<![\^~<>=\s])\s+(?=[\^~<>=0-9v*xX])")

Core = tuple[int, int, int]
Label = tuple[int, int, str]


@total_ordering
@dataclass(frozen=True)
class Version:
    core: Core
    preview: tuple[str, ...] = ()
    """The labels after the hyphen. A version with them precedes the one without."""

    def __lt__(self, other: "Version") -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[Core, bool, tuple[Label, ...]]:
        return self.core, not self.preview, tuple(map(_rank, self.preview))

    def __str__(self) -> str:
        preview = f"-{'.'.join(self.preview)}" if self.preview else ""
        return ".".join(map(str, self.core)) + preview


def _rank(label: str) -> Label:
    """Sort numbers before words."""
    return (0, int(label), "") if label.isdigit() else (1, 0, label)


def parse_version(text: str) -> Version | None:
    """Parse a version; missing parts are 0. None if it is invalid."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    return Version(_padded([int(part) for part in found["core"].split(".")]), _labels(found["preview"]))


@dataclass(frozen=True)
class Interval:
    """An interval of versions, from `low` (inclusive) to `high`."""

    low: Version
    high: Version | None = None
    """None for no upper bound."""
    is_closed: bool = False
    """Whether `high` is included."""
    previews: frozenset[Core] | None = frozenset()
    """The versions whose previews are included; None for all."""

    def __contains__(self, version: Version) -> bool:
        return self._spans(version) and self._allows_preview(version)

    @property
    def is_empty(self) -> bool:
        release = Version(self.low.core)
        if self._spans(release):
            return False
        cores = {self.low.core} if self.previews is None else self.previews
        return not any(
            self._spans(first)
            for core in cores
            for first in self._first_preview(core)
            if self._allows_preview(first)
        )

    def combined(self, other: "Interval") -> "Interval":
        """Combine two conditions of one range: previews allowed by either are allowed."""
        return replace(self._narrowed(other), previews=_either(self.previews, other.previews))

    def intersection(self, other: "Interval") -> "Interval":
        """What is in both."""
        return replace(self._narrowed(other), previews=_both(self.previews, other.previews))

    def _spans(self, version: Version) -> bool:
        if version < self.low:
            return False
        return self.high is None or version < self.high or (self.is_closed and version == self.high)

    def _allows_preview(self, version: Version) -> bool:
        return not version.preview or self.previews is None or version.core in self.previews

    def _first_preview(self, core: Core) -> Iterator[Version]:
        """Yield the first preview of the version that is not below `low`, if any."""
        if self.low.core < core:
            yield Version(core, ("0",))
        elif self.low.core == core and self.low.preview:
            yield self.low

    def _narrowed(self, other: "Interval") -> "Interval":
        low = max(self.low, other.low)
        if self.high is None or (other.high is not None and other.high < self.high):
            return Interval(low, other.high, other.is_closed)
        if other.high is None or self.high < other.high:
            return Interval(low, self.high, self.is_closed)
        return Interval(low, self.high, self.is_closed and other.is_closed)


FIRST = Version((0, 0, 0), ("0",))
"""The lowest version."""
ALL = Interval(FIRST, previews=None)


@dataclass(frozen=True)
class Range:
    text: str
    intervals: tuple[Interval, ...]

    def __contains__(self, version: Version) -> bool:
        return any(version in interval for interval in self.intervals)

    @property
    def is_empty(self) -> bool:
        return all(interval.is_empty for interval in self.intervals)

    @property
    def is_any(self) -> bool:
        """Whether everything is in the range, even invalid versions."""
        return ALL in self.intervals

    def intersection(self, other: "Range") -> "Range":
        """Return the intersection, which may be empty."""
        pairs = (one.intersection(two) for one in self.intervals for two in other.intervals)
        found = tuple(interval for interval in pairs if not interval.is_empty)
        return Range(f"{self.text} and {other.text}", found)


ANY = Range("*", (ALL,))


def parse_range(text: str) -> Range | None:
    """Parse a range; None if it is invalid."""
    if len(text) > MAX_RANGE:
        return None
    found = [_alternative(part.strip()) for part in text.split("||")]
    intervals = tuple(interval for interval in found if interval)
    return Range(text, intervals) if len(intervals) == len(found) else None


def _alternative(text: str) -> Interval | None:
    """Parse conditions separated by commas or spaces, which all have to hold."""
    whole: Interval | None = None
    for term in _SEPARATOR.split(text):
        interval = _interval(term)
        if interval is None:
            return None
        if whole is None or whole == ALL:
            whole = interval
        elif interval != ALL:
            whole = whole.combined(interval)
    return whole


def _interval(term: str) -> Interval | None:
    found = _TERM.fullmatch(term)
    if found is None:
        return None
    parts = found["core"].split(".")
    numbers = [int(part) for part in _before_wildcard(parts)]
    preview = _labels(found["preview"])
    if preview and len(numbers) < 3:
        return None
    if not numbers:
        return ALL if found["sign"] not in ("<", ">") else None
    said = Version(_padded(numbers), preview)
    cores = frozenset({said.core}) if preview else frozenset[Core]()
    return replace(_bounded(found["sign"] or "=", said, numbers), previews=cores)


def _before_wildcard(parts: list[str]) -> Iterator[str]:
    for part in parts:
        if not part.isdigit():
            return
        yield part


def _bounded(sign: str, said: Version, numbers: list[int]) -> Interval:
    """Return the interval of a condition. A partial version stands for all versions that begin with it."""
    after = _lowest(_next(numbers, len(numbers) - 1))
    is_whole = len(numbers) == 3
    match sign:
        case "^":
            return Interval(said, _lowest(_next(numbers, _first_significant(numbers))))
        case "~":
            return Interval(said, _lowest(_next(numbers, min(1, len(numbers) - 1))))
        case ">=":
            return Interval(said)
        case ">":
            return Interval(_successor(said) if is_whole else Version(_next(numbers, len(numbers) - 1)))
        case "<=":
            return Interval(FIRST, said, is_closed=True) if is_whole else Interval(FIRST, after)
        case "<":
            return Interval(FIRST, said if is_whole else _lowest(said.core))
        case _:
            return Interval(said, said, is_closed=True) if is_whole else Interval(said, after)


def _first_significant(numbers: list[int]) -> int:
    """Return the index that must not change: the first that is not 0, or the last one given."""
    return next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)


def _next(numbers: list[int], place: int) -> Core:
    return _padded([*numbers[:place], numbers[place] + 1])


def _lowest(core: Core) -> Version:
    """Return the first preview of the version; an interval that ends here includes none."""
    return Version(core, ("0",))


def _successor(version: Version) -> Version:
    """Return the next version in the order of all versions."""
    if version.preview:
        return replace(version, preview=(*version.preview, "0"))
    return _lowest((version.core[0], version.core[1], version.core[2] + 1))


def _padded(numbers: list[int]) -> Core:
    major, minor, patch = [*numbers, 0, 0][:3]
    return major, minor, patch


def _labels(text: str | None) -> tuple[str, ...]:
    labels = text.split(".") if text else []
    return tuple(str(int(label)) if label.isdigit() else label for label in labels)


def _either(one: frozenset[Core] | None, two: frozenset[Core] | None) -> frozenset[Core] | None:
    return None if one is None or two is None else one | two


def _both(one: frozenset[Core] | None, two: frozenset[Core] | None) -> frozenset[Core] | None:
    if one is None:
        return two
    return one if two is None else one & two


@dataclass(frozen=True)
class Requirement:
    name: str
    range: Range = ANY

    def accepts(self, version: str) -> bool:
        found = parse_version(version)
        return self.range.is_any or (found is not None and found in self.range)

    def __str__(self) -> str:
        return self.name if self.range.is_any else f"{self.name}@{self.range.text}"


def parse_requirement(text: str) -> Requirement | None:
    """Parse `name` or `name@range`; None if it is invalid."""
    name, at, wanted = text.partition("@")
    found = parse_range(wanted) if at else ANY
    return Requirement(name, found) if found and is_skill_name(name) else None


def parse_requirements(words: Iterable[str]) -> list[Requirement]:
    """Parse the valid requirements; reading the manifest warns about the others."""
    return [requirement for word in words if (requirement := parse_requirement(word))]
