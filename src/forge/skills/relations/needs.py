"""Another skill that a manifest names: `name`, or `name@range`."""

from collections.abc import Iterable
from dataclasses import dataclass

from forge.skills.models import is_skill_name
from forge.skills.relations.versions import ANY, Range, parse_range, parse_version


@dataclass(frozen=True)
class Need:
    name: str
    range: Range = ANY

    def takes(self, version: str) -> bool:
        found = parse_version(version)
        return self.range.is_any or (found is not None and found in self.range)

    def __str__(self) -> str:
        return self.name if self.range.is_any else f"{self.name}@{self.range.text}"


def parse_need(text: str) -> Need | None:
    """None when the name or the range cannot be read."""
    name, at, wanted = text.partition("@")
    found = parse_range(wanted) if at else ANY
    return Need(name, found) if found and is_skill_name(name) else None


def needs_of(words: Iterable[str]) -> list[Need]:
    """Those that can be read; the others are warned of where the manifest is read."""
    return [need for word in words if (need := parse_need(word))]
