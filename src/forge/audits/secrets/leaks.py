"""Find secrets in the added lines of a change, by file."""

import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate, groupby, islice

from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.scanner import mask_secrets, scan, secret_fingerprint
from forge.audits.snapshot import AddedLine

_GENERATED = (
    r"(?i)(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|go\.mod|gradle\.lockfile|deno\.lock"
    r"|composer\.lock|verification-metadata\.xml|\.secrets\.baseline)$"
    r"|\.(?:lock|min\.js|min\.css|min\.mjs|map|svg|po|pot|sum|ipynb|snap|csv|tsv|geojson)$|(?:^|/)(?:node_modules|vendor|dist)/"
)
_EXAMPLES = (
    r"(?i)(?:^|/)(?:docs?|docs[_-]src|documentation|examples?|samples?|tests?|testing|__tests__|spec|specs|fixtures?"
    r"|testdata|e2e|mocks?|__mocks__|stories)/"
    r"|(?:^|/)(?:test_[^/]*|conftest\.py|readme[^/]*|changelog[^/]*|changes[^/]*|history[^/]*|contributing[^/]*)$"
    r"|(?:_test|\.test|\.spec|_spec|\.stories)\.[a-z]{1,4}$|\.(?:md|mdx|rst|adoc|asciidoc|markdown)$"
    r"|\.(?:example|sample|template|tmpl|dist|tpl)$|\.(?:example|sample|template)\.[a-z]{1,5}$"
)


class FileKind(Enum):
    """The kind of a file. The value is the lowest rank of rules that apply."""

    CODE = Rank.GENERIC
    EXAMPLES = Rank.VENDOR
    """Documents, tests and examples: only tokens and vendor secrets count."""
    GENERATED = Rank.TOKEN
    """Lock files and minified code, which are full of hashes."""


def file_kind(path: str) -> FileKind:
    name = path.encode("utf-8", "surrogateescape")
    if compiled(_GENERATED).search(name):
        return FileKind.GENERATED
    return FileKind.EXAMPLES if compiled(_EXAMPLES).search(name) else FileKind.CODE


_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PREFIX, _BODY, _SUM = 4, 30, 6


def has_checksum(token: bytes) -> bool:
    """Verify the checksum of GitHub and npm tokens: a prefix, 30 random characters and their CRC32 in base 62."""
    if len(token) != _PREFIX + _BODY + _SUM:
        return False
    body, given = token[_PREFIX : _PREFIX + _BODY], token[_PREFIX + _BODY :]
    return checksum(body) == given


def checksum(body: bytes) -> bytes:
    number, text = zlib.crc32(body), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
    return text.rjust(_SUM, "0").encode()


_ALLOWED = r"(?i)forge:\s?allow-secret|gitleaks:\s?allow|pragma:\s?allowlist[ -]secret|trufflehog:\s?ignore"
_SHOWN_WHOLE = 64 << 10
"""In longer lines only the masked secret itself is shown, as masking the whole line would be slow."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret in an added line, without the secret itself."""

    rule: str
    kind: str
    path: str
    line: int
    name: str
    """A fingerprint that distinguishes this secret from others."""
    excerpt: str
    is_certain: bool
    """Whether it has a valid checksum."""


@dataclass(frozen=True, slots=True)
class Leaks:
    first: tuple[Leak, ...]
    left: int
    """The number of further leaks."""


def find_leaks(lines: Iterable[AddedLine], most: int) -> Leaks:
    """Find leaks in added lines, grouped by file as in a snapshot. Leaks beyond `most` are only counted."""
    places = (
        place for _, group in groupby(lines, key=lambda line: line.path) for place in _places(list(group))
    )
    first = tuple(place.leak() for place in islice(places, most))
    return Leaks(first, sum(1 for _ in places))


class _Line:
    """Properties of a line, computed once for all its secrets."""

    def __init__(self, line: AddedLine) -> None:
        self.line = line

    @cached_property
    def is_allowed(self) -> bool:
        return compiled(_ALLOWED).search(self.line.text) is not None

    @cached_property
    def _hits(self) -> dict[Hit, None]:
        """All secrets in the line, including those below the rank of the file."""
        return dict.fromkeys(scan(self.line.text, Rank.GENERIC))

    @cached_property
    def _masked(self) -> str:
        return mask_secrets(self.line.text, list(self._hits))

    def excerpt(self, hit: Hit) -> str:
        """Return the line with every secret masked."""
        text = self.line.text
        if len(text) > _SHOWN_WHOLE:
            return mask_secrets(text[hit.start : hit.end], [_within(hit, hit.start)])
        if hit in self._hits:
            return self._masked
        others = [one for one in self._hits if one.end <= hit.start or one.start >= hit.end]
        return mask_secrets(text, sorted([hit, *others], key=lambda one: one.start))


@dataclass(frozen=True, slots=True)
class _Place:
    line: _Line
    hit: Hit
    """The position within the line."""
    secret: bytes

    def leak(self) -> Leak:
        return Leak(
            rule=self.hit.rule,
            kind=self.hit.kind,
            path=self.line.line.path,
            line=self.line.line.line,
            name=secret_fingerprint(self.secret),
            excerpt=self.line.excerpt(self.hit),
            is_certain=has_checksum(self.secret),
        )


def _places(lines: Sequence[AddedLine]) -> Iterator[_Place]:
    """Yield the secrets in the added lines of one file."""
    text = b"\n".join([line.text for line in lines])
    hits = scan(text, file_kind(lines[0].path).value)
    starts = list(accumulate((len(line.text) + 1 for line in lines), initial=0)) if hits else []
    for number, group in groupby(hits, key=lambda hit: bisect_right(starts, hit.start) - 1):
        line = _Line(lines[number])
        if not line.is_allowed:
            for hit in group:
                yield _Place(line, _within(hit, starts[number]), text[hit.start : hit.end])


def _within(hit: Hit, start: int) -> Hit:
    return Hit(hit.rule, hit.kind, hit.rank, hit.start - start, hit.end - start)
