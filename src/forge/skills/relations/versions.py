"""Versions of skills and ranges of them, as semver has them.

A range is a few stretches of the order of all versions, so whether two ranges have anything in common is computed, not
tried out. A preview (`2.0.0-beta`) is in a range only if the range names a preview of the same version.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import total_ordering

MAX_RANGE = 200
"""Characters."""

_NUMBER = r"[0-9]{1,9}"
_LABELS = r"[0-9A-Za-z-]{1,40}(?:\.[0-9A-Za-z-]{1,40}){0,9}"
_TAIL = rf"(?:-(?P<preview>{_LABELS}))?(?:\+{_LABELS})?"
_VERSION = re.compile(rf"v?(?P<core>{_NUMBER}(?:\.{_NUMBER}){{0,2}}){_TAIL}")
_TERM = re.compile(
    rf"(?P<sign>\^|~|>=|<=|>|<|=)?\s*v?(?P<core>(?:{_NUMBER}|[xX*])(?:\.(?:{_NUMBER}|[xX*])){{0,2}}){_TAIL}"
)
_BETWEEN = re.compile(r"\s*,\s*|(?<![\^~<>=\s])\s+(?=[\^~<>=0-9v*xX])")

Core = tuple[int, int, int]
Label = tuple[int, int, str]


@total_ordering
@dataclass(frozen=True)
class Version:
    core: Core
    preview: tuple[str, ...] = ()
    """What stands behind a hyphen, by its dots. A version with it comes before the one without."""

    def __lt__(self, other: "Version") -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[Core, bool, tuple[Label, ...]]:
        return self.core, not self.preview, tuple(map(_rank, self.preview))

    def __str__(self) -> str:
        preview = f"-{'.'.join(self.preview)}" if self.preview else ""
        return ".".join(map(str, self.core)) + preview


def _rank(label: str) -> Label:
    """Numbers come before words."""
    return (0, int(label), "") if label.isdigit() else (1, 0, label)


def parse_version(text: str) -> Version | None:
    """Missing parts are 0. None when it is no version."""
    found = _VERSION.fullmatch(text.strip())
    if found is None:
        return None
    return Version(_padded([int(part) for part in found["core"].split(".")]), _labels(found["preview"]))


@dataclass(frozen=True)
class Stretch:
    """Of the order of all versions: from `low`, which is in it, up to `high`."""

    low: Version
    high: Version | None = None
    """None: no end."""
    is_closed: bool = False
    """Whether `high` is in it."""
    previews: frozenset[Core] | None = frozenset()
    """The versions whose previews may be in it; None: all."""

    def __contains__(self, version: Version) -> bool:
        return self._spans(version) and self._takes(version)

    @property
    def is_empty(self) -> bool:
        release = Version(self.low.core)
        if self._spans(release):
            return False
        cores = {self.low.core} if self.previews is None else self.previews
        return not any(
            self._spans(first) for core in cores for first in self._first_preview(core) if self._takes(first)
        )

    def joined(self, other: "Stretch") -> "Stretch":
        """Both conditions of one list: what one of them says about previews counts for all."""
        return replace(self._narrowed(other), previews=_either(self.previews, other.previews))

    def common(self, other: "Stretch") -> "Stretch":
        """What is in both."""
        return replace(self._narrowed(other), previews=_both(self.previews, other.previews))

    def _spans(self, version: Version) -> bool:
        if version < self.low:
            return False
        return self.high is None or version < self.high or (self.is_closed and version == self.high)

    def _takes(self, version: Version) -> bool:
        return not version.preview or self.previews is None or version.core in self.previews

    def _first_preview(self, core: Core) -> Iterator[Version]:
        """That is not below `low`, if there is one."""
        if self.low.core < core:
            yield Version(core, ("0",))
        elif self.low.core == core and self.low.preview:
            yield self.low

    def _narrowed(self, other: "Stretch") -> "Stretch":
        low = max(self.low, other.low)
        if self.high is None or (other.high is not None and other.high < self.high):
            return Stretch(low, other.high, other.is_closed)
        if other.high is None or self.high < other.high:
            return Stretch(low, self.high, self.is_closed)
        return Stretch(low, self.high, self.is_closed and other.is_closed)


FIRST = Version((0, 0, 0), ("0",))
"""There is no version before it."""
ALL = Stretch(FIRST, previews=None)


@dataclass(frozen=True)
class Range:
    text: str
    stretches: tuple[Stretch, ...]

    def __contains__(self, version: Version) -> bool:
        return any(version in stretch for stretch in self.stretches)

    @property
    def is_empty(self) -> bool:
        return all(stretch.is_empty for stretch in self.stretches)

    @property
    def is_any(self) -> bool:
        """Even what is no version at all is in it."""
        return ALL in self.stretches

    def common(self, other: "Range") -> "Range":
        """What is in both; it may be empty."""
        pairs = (one.common(two) for one in self.stretches for two in other.stretches)
        found = tuple(stretch for stretch in pairs if not stretch.is_empty)
        return Range(f"{self.text} and {other.text}", found)


ANY = Range("*", (ALL,))


def parse_range(text: str) -> Range | None:
    """None when it cannot be read."""
    if len(text) > MAX_RANGE:
        return None
    found = [_alternative(part.strip()) for part in text.split("||")]
    stretches = tuple(stretch for stretch in found if stretch)
    return Range(text, stretches) if len(stretches) == len(found) else None


def _alternative(text: str) -> Stretch | None:
    """Conditions that all have to hold, with commas or blanks between."""
    whole: Stretch | None = None
    for term in _BETWEEN.split(text):
        stretch = _stretch(term)
        if stretch is None:
            return None
        if whole is None or whole == ALL:
            whole = stretch
        elif stretch != ALL:
            whole = whole.joined(stretch)
    return whole


def _stretch(term: str) -> Stretch | None:
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


def _bounded(sign: str, said: Version, numbers: list[int]) -> Stretch:
    """Of a version that is not said to its end, all that begin like it are meant."""
    after = _before(_next(numbers, len(numbers) - 1))
    is_whole = len(numbers) == 3
    match sign:
        case "^":
            return Stretch(said, _before(_next(numbers, _first_that_counts(numbers))))
        case "~":
            return Stretch(said, _before(_next(numbers, min(1, len(numbers) - 1))))
        case ">=":
            return Stretch(said)
        case ">":
            return Stretch(_behind(said) if is_whole else Version(_next(numbers, len(numbers) - 1)))
        case "<=":
            return Stretch(FIRST, said, is_closed=True) if is_whole else Stretch(FIRST, after)
        case "<":
            return Stretch(FIRST, said if is_whole else _before(said.core))
        case _:
            return Stretch(said, said, is_closed=True) if is_whole else Stretch(said, after)


def _first_that_counts(numbers: list[int]) -> int:
    """The place that may not change: the first that is not 0, or the last that was said."""
    return next((place for place, number in enumerate(numbers) if number), len(numbers) - 1)


def _next(numbers: list[int], place: int) -> Core:
    return _padded([*numbers[:place], numbers[place] + 1])


def _before(core: Core) -> Version:
    """The first of its previews: what ends here has none of them."""
    return Version(core, ("0",))


def _behind(version: Version) -> Version:
    """The very next one in the order of all versions."""
    if version.preview:
        return replace(version, preview=(*version.preview, "0"))
    return _before((version.core[0], version.core[1], version.core[2] + 1))


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
