"""The index of a registry: what a file says that somebody publishes, read entry by entry."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from forge.errors import Invalid
from forge.kernel.misfit import first_misfit
from forge.kernel.text import NO_NUL
from forge.skills.models import SkillDescription, SkillKind, SkillName
from forge.skills.relations.needs import Need
from forge.skills.relations.versions import Version, parse_version
from forge.skills.sources import Address, Sha256

FORMAT = 1
MAX_INDEX_BYTES = 16 << 20
MAX_SKILLS = 20_000
NEWEST = "latest"
"""What stands for a version when any will do."""

_Word = Annotated[str, Field(max_length=200), NO_NUL]
_Words = Annotated[list[_Word], Field(max_length=50)]


class Offer(BaseModel):
    """A skill in an index, in one version."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: SkillName
    version: Annotated[str, Field(min_length=1, max_length=64), NO_NUL]
    description: SkillDescription
    kind: SkillKind = SkillKind.PROMPT
    capabilities: _Words = []
    categories: _Words = []
    dependencies: _Words = []
    url: Address
    """Of a zip with the skill's folder; relative to the index, or whole."""
    sha256: Sha256
    """Of that zip."""

    @property
    def order(self) -> tuple[bool, bool, Version, str]:
        """What is no version comes first, then previews: the newest is one that is finished, if there is one."""
        found = parse_version(self.version)
        return found is not None, not (found and found.preview), found or Version((0, 0, 0)), self.version


class _Whole(BaseModel):
    forge_registry: Literal[1]
    name: Annotated[str, Field(max_length=200), NO_NUL] = ""
    skills: Annotated[list[JsonValue], Field(max_length=MAX_SKILLS)]


@dataclass(frozen=True)
class Index:
    title: str
    """What it calls itself."""
    offers: list[Offer]
    problem: str | None = None
    """With entries that cannot be used; the others can."""


def read_index(data: bytes) -> Index:
    """Raises Invalid for what is no index at all."""
    try:
        whole = _Whole.model_validate_json(data)
    except ValidationError as error:
        misfit = first_misfit(error)
        raise _no_index(str(misfit) if misfit.where else "it is not JSON") from error
    offers, problem = _offers(whole.skills)
    return Index(whole.name, offers, problem)


def write_index(index: Index) -> bytes:
    """As it is cached: what cannot be used is not in it any more."""
    skills = [offer.model_dump(mode="json") for offer in index.offers]
    return json.dumps({"forge_registry": FORMAT, "name": index.title, "skills": skills}).encode()


def search(offers: Iterable[Offer], words: str) -> list[Offer]:
    """The newest of each that has all the words; one of exactly this name first, then those that have them in it."""
    sought = words.lower().split()
    found = [offer for offer in newest(offers) if all(word in _haystack(offer) for word in sought)]
    exact = "-".join(sought)

    def rank(offer: Offer) -> tuple[bool, bool, str]:
        in_name = all(word in offer.name for word in sought)
        return offer.name != exact, not in_name, offer.name

    return sorted(found, key=rank)


def newest(offers: Iterable[Offer]) -> list[Offer]:
    found: dict[str, Offer] = {}
    for offer in offers:
        other = found.get(offer.name)
        if other is None or other.order < offer.order:
            found[offer.name] = offer
    return list(found.values())


def choose(offers: Iterable[Offer], name: str, version: str) -> Offer | None:
    named = [offer for offer in offers if offer.name == name]
    if version in ("", NEWEST):
        return max(named, key=lambda offer: offer.order, default=None)
    return next((offer for offer in named if offer.version == version), None)


def choose_needed(offers: Sequence[Offer], need: Need) -> Offer | None:
    """The newest that is in the range."""
    suited = [offer for offer in offers if offer.name == need.name and need.takes(offer.version)]
    return max(suited, key=lambda offer: offer.order, default=None)


def _offers(entries: list[JsonValue]) -> tuple[list[Offer], str | None]:
    found: list[Offer] = []
    problems: list[str] = []
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(entries, 1):
        try:
            offer = Offer.model_validate(entry)
        except ValidationError as error:
            misfit = first_misfit(error)
            problems.append(f"skill {number}: {misfit.where[:100] or 'it'}: {misfit.message[:200]}")
            continue
        if (offer.name, offer.version) in seen:
            problems.append(f"skill {number}: {offer.name} {offer.version} is listed twice")
            continue
        seen.add((offer.name, offer.version))
        found.append(offer)
    if not problems:
        return found, None
    return found, f"{len(problems):,} of {len(entries):,} entries cannot be used; {problems[0]}."


def _haystack(offer: Offer) -> str:
    return " ".join([offer.name, offer.description, *offer.categories]).lower()


def _no_index(reason: str) -> Invalid:
    return Invalid(
        f"That is no index of a registry: {reason}.",
        hint="docs/reference/registries.md shows one.",
        field="url",
    )
