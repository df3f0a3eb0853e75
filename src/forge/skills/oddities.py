"""What the standard does not mind in the metadata of a skill, and Forge cannot use or will not believe."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from forge.skills.models import Capability, Manifest, SkillKind
from forge.skills.relations.needs import parse_need
from forge.skills.relations.versions import parse_version
from forge.skills.wishes import is_entry_name, is_host, is_root

TIERS = ("forge-tier", "trust-tier", "tier")
_SHOWN = 60


@dataclass(frozen=True)
class Oddity:
    key: str
    """Below `metadata`."""
    message: str
    hint: str


def oddities(manifest: Manifest) -> Iterator[Oddity]:
    yield from _kind(manifest)
    yield from _version(manifest)
    yield from _capabilities(manifest)
    yield from _claims(manifest)
    for key, (is_right, what, hint) in _WORDS.items():
        for word in manifest.metadata.get(key, "").split():
            if not is_right(word):
                yield Oddity(key, f"`{word[:_SHOWN]}` is {what}; it is not asked for.", hint)
    for key in ("forge-dependencies", "forge-conflicts", "forge-parents"):
        yield from _relations(manifest, key)


def _kind(manifest: Manifest) -> Iterator[Oddity]:
    said = manifest.metadata.get("forge-kind")
    if said is not None and said not in set(SkillKind):
        message = "`metadata.forge-kind` is no kind of skill; it counts as instructions."
        yield Oddity("forge-kind", message, f"Write one of {', '.join(SkillKind)}.")


def _version(manifest: Manifest) -> Iterator[Oddity]:
    said = manifest.metadata.get("version")
    if said is not None and parse_version(said) is None:
        message = f"`{said[:_SHOWN]}` is no version; no range will ever hold it."
        yield Oddity("version", message, "Write it as 1.2.0.")


def _capabilities(manifest: Manifest) -> Iterator[Oddity]:
    for word in manifest.metadata.get("forge-capabilities", "").split():
        if word not in set(Capability):
            message = f"There is no capability `{word[:_SHOWN]}`; it is not asked for."
            yield Oddity("forge-capabilities", message, f"There are {', '.join(Capability)}.")


def _claims(manifest: Manifest) -> Iterator[Oddity]:
    for key in TIERS:
        if key in manifest.metadata:
            message = "A skill cannot say how far it is trusted; this is not read."
            yield Oddity(key, message, "Remove it. Whoever installs the skill decides.")


def _relations(manifest: Manifest, key: str) -> Iterator[Oddity]:
    for word in manifest.metadata.get(key, "").split():
        need = parse_need(word)
        if need is None:
            yield Oddity(key, f"`{word[:_SHOWN]}` names no skill; it is not looked at.", _NEED_HINT)
        elif need.range.is_empty:
            yield Oddity(key, f"No version can ever be in `{word[:_SHOWN]}`.", _NEED_HINT)
        elif need.name == manifest.name:
            yield Oddity(key, "The skill names itself.", "Remove it.")


_NEED_HINT = "Write a name, or a name with a range: notes, notes@^1.2, notes@>=1.0,<2."
_WORDS: Mapping[str, tuple[Callable[[str], bool], str, str]] = {
    "forge-hosts": (is_host, "no host", "Write it as api.example.com, *.example.com or example.com:8443."),
    "forge-files": (is_root, "no folder", "Write the whole path, from / on."),
    "forge-env": (is_entry_name, "no name of a variable", "Write it as LANG, with blanks between several."),
    "forge-secrets": (is_entry_name, "no name of a secret", "Write its name in the vault, not its value."),
    "forge-commands": (is_entry_name, "no name of a program", "Write it as git, without a path."),
}
