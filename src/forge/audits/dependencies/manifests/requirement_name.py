"""Extract the distribution name from a requirement: PEP 508, a URL, a path or a legacy form."""

import re
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

MAX_CHARACTERS = 2000
_NAME = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\]\s*)?(?=$|[\s<>=!~;@(,*^])")
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9][A-Za-z0-9._-]*)")
_ARCHIVES = (".whl", ".tar.gz", ".zip", ".tar.bz2", ".tgz", ".egg")
_VCS = ("git+", "hg+", "svn+", "bzr+")


@lru_cache(maxsize=8192)
def normal(name: str) -> str:
    """Normalize a name (PEP 503): `Foo_Bar.baz` gives `foo-bar-baz`."""
    return canonicalize_name(name)


def requirement_name(text: str) -> str | None:
    """Return the normalized name, or None if there is none (`./here`) or it is not a requirement."""
    text = text.strip()
    if not text or len(text) > MAX_CHARACTERS:
        return None
    if is_location(text):
        return _name_of_location(text)
    try:
        return normal(Requirement(text).name)
    except (InvalidRequirement, RecursionError):
        found = _NAME.match(text)
        return normal(found[1]) if found else None


def is_location(text: str) -> bool:
    """Return whether a requirement is a path or URL."""
    head = text.partition(" @ ")[0] if " @ " in text else text
    head = head.partition(";")[0]
    return "://" in head.partition("@")[0] or head.startswith((".", "/", "~", *_VCS)) or _is_path(head)


def _is_path(text: str) -> bool:
    bare = text.partition("[")[0].strip()
    return "/" in bare or "\\" in bare or bare.lower().endswith(_ARCHIVES)


def _name_of_location(text: str) -> str | None:
    egg = _EGG.search(text)
    if egg:
        return normal(egg[1])
    place = text.partition(" ")[0].partition(";")[0]
    try:
        path = unquote(urlsplit(place).path) if "://" in place else place
    except ValueError:
        return None
    last = path.partition("[")[0].replace("\\", "/").rstrip("/").rpartition("/")[2].partition("@")[0]
    for ending in _ARCHIVES:
        if last.lower().endswith(ending):
            return _named(last[: -len(ending)].partition("-")[0])
    return _named(last.removesuffix(".git"))


def _named(text: str) -> str | None:
    found = _NAME.fullmatch(text)
    return normal(found[1]) if found else None
