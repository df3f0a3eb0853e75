"""Parse and search the index of a registry."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from forge.errors import Invalid
from forge.kernel.text import NO_NUL
from forge.kernel.validation import first_problem
from forge.skills.models import Address, Sha256, SkillDescription, SkillKind, SkillName
from forge.skills.relations.semver import Requirement, Version, parse_version

FORMAT = 1
MAX_INDEX_BYTES = 16 << 20
MAX_SKILLS = 20_000
NEWEST = "latest"
"""Placeholder for the newest version."""

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
    """Address of a zip with the skill's folder, absolute or relative to the index."""
    sha256: Sha256
    """SHA-256 of the zip."""

    @property
    def order(self) -> tuple[bool, bool, Version, str]:
        """Sort key: invalid versions first, then previews, then releases."""
        found = parse_version(self.version)
        return found is not None, not (found and found.preview), found or Version((0, 0, 0)), self.version


class _IndexFile(BaseModel):
    forge_registry: Literal[1]
    name: Annotated[str, Field(max_length=200), NO_NUL] = ""
    skills: Annotated[list[JsonValue], Field(max_length=MAX_SKILLS)]


@dataclass(frozen=True)
class Index:
    title: str
    """The registry's own name."""
    offers: list[Offer]
    problem: str | None = None
    """A problem with some entries; the others are usable."""


def read_index(data: bytes) -> Index:
    """Parse an index, skipping invalid entries. Raises Invalid if it is not an index."""
    try:
        whole = _IndexFile.model_validate_json(data)
    except ValidationError as error:
        misfit = first_problem(error)
        raise _no_index(str(misfit) if misfit.where else "it is not JSON") from error
    offers, problem = _offers(whole.skills)
    return Index(whole.name, offers, problem)


def write_index(index: Index) -> bytes:
    """Serialize an index for the cache, without its invalid entries."""
    skills = [offer.model_dump(mode="json") for offer in index.offers]
    return json.dumps({"forge_registry": FORMAT, "name": index.title, "skills": skills}).encode()


def search(offers: Iterable[Offer], words: str) -> list[Offer]:
    """Return the newest version of each skill that matches all words: an exact name first, then matches in the name."""
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


def choose_version(offers: Iterable[Offer], name: str, version: str) -> Offer | None:
    named = [offer for offer in offers if offer.name == name]
    if version in ("", NEWEST):
        return max(named, key=lambda offer: offer.order, default=None)
    return next((offer for offer in named if offer.version == version), None)


def choose_required(offers: Sequence[Offer], requirement: Requirement) -> Offer | None:
    """Return the newest version in the required range."""
    suited = [
        offer for offer in offers if offer.name == requirement.name and requirement.accepts(offer.version)
    ]
    return max(suited, key=lambda offer: offer.order, default=None)


def _offers(entries: list[JsonValue]) -> tuple[list[Offer], str | None]:
    found: list[Offer] = []
    problems: list[str] = []
    seen: set[tuple[str, str]] = set()
    for number, entry in enumerate(entries, 1):
        try:
            offer = Offer.model_validate(entry)
        except ValidationError as error:
            misfit = first_problem(error)
            problems.append(f"skill {number}: {misfit.where[:100] or 'it'}: {misfit.message[:200]}")
            continue
        if (offer.name, offer.version) in seen:
            problems.append(f"skill {number}: {offer.name} {offer.version} is listed twice")
            continue
        seen.add((offer.name, offer.version))
        found.append(offer)
    if not problems:
        return found, None
    return found, f"{len(problems):,} of {len(entries):,} entries are invalid; {problems[0]}."


def _haystack(offer: Offer) -> str:
    return " ".join([offer.name, offer.description, *offer.categories]).lower()


def _no_index(reason: str) -> Invalid:
    return Invalid(
        f"The file is not a registry index: {reason}.",
        hint="See docs/reference/registries.md for an example.",
        field="url",
    )
