"""What kind of file a line stands in decides what counts there: documents and tests are full of made-up secrets."""

from enum import Enum

from forge.audits.secrets.models import Rank
from forge.audits.secrets.patterns import compiled

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


class Surroundings(Enum):
    """The value is the lowest rank of rule that counts there."""

    CODE = Rank.GENERIC
    EXAMPLES = Rank.VENDOR
    """Documents, tests, examples: only what is known by its shape or owner."""
    GENERATED = Rank.TOKEN
    """Lock files, minified code: full of hashes."""


def surroundings(path: str) -> Surroundings:
    name = path.encode("utf-8", "surrogateescape")
    if compiled(_GENERATED).search(name):
        return Surroundings.GENERATED
    return Surroundings.EXAMPLES if compiled(_EXAMPLES).search(name) else Surroundings.CODE
