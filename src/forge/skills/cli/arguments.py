"""Parse the arguments of `forge skill` commands: names, sources, grants and settings."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from forge.errors import Invalid, NotFound
from forge.skills.capabilities import FOLDER_CAPABILITIES, HOST_CAPABILITIES, NAME_CAPABILITIES
from forge.skills.models import (
    MAX_SKILL_NAME,
    SKILL_NAME_PATTERN,
    Capability,
    GitSource,
    GrantWish,
    Scope,
    is_skill_name,
)

GrantArguments = Mapping[Capability, Scope | None]
"""Capabilities granted on the command line. None: with the scope the skill requests."""


_SLUG = SKILL_NAME_PATTERN.strip("^$")
_LISTED = re.compile(rf"(?:(?P<registry>{_SLUG}):)?(?P<name>{_SLUG})(?:@(?P<version>[0-9A-Za-z.+-]+))?")
_URL = re.compile(r"(?P<place>(?:https?|ssh|git|file)://[^/]*)(?P<path>/.*)", re.DOTALL)
_SCP = re.compile(r"(?P<place>[\w.-]+@[\w.-]+:)(?P<path>[^/].*)", re.DOTALL)
_PINNED = re.compile(r"(?P<path>.*?[^/])@(?P<ref>[^@]+)", re.DOTALL)
_BOT = re.compile(r"[A-Za-z0-9-]{1,64}")


@dataclass(frozen=True)
class LocalSource:
    """A folder or zip on this machine."""

    path: Path


@dataclass(frozen=True)
class ListedSkill:
    """A skill to look up in the registries."""

    name: str
    registry: str | None = None
    version: str | None = None


def skill_path(name: str) -> str:
    """Return the API path of a skill. Raises NotFound for an invalid name."""
    if not is_skill_name(name):
        raise NotFound(f"There is no skill {name!r}.", hint="List them: forge skill list")
    return f"/skills/{name}"


def check_name(name: str, what: str) -> None:
    if not is_skill_name(name):
        raise Invalid(
            f"{name!r} is not a valid {what} name.",
            hint="Use lower-case letters, digits and single hyphens, such as `release-notes`.",
        )


def bot_path(bot: str) -> str:
    """Return the API path of the skills of a bot. Raises NotFound for an invalid name."""
    if not _BOT.fullmatch(bot):
        raise NotFound(f"There is no bot {bot!r}.", hint="List them: forge bots list")
    return f"/bots/{bot}/skills"


def read_source(text: str) -> LocalSource | GitSource | ListedSkill:
    """Parse a SOURCE argument.

    A path has a slash, begins with a dot or ends in `.zip`: a bare name always means a registry, even if a folder of
    that name exists.
    """
    if (found := _URL.fullmatch(text) or _SCP.fullmatch(text)) is not None:
        return _repository(text, found["place"], found["path"])
    if "/" in text or text.startswith((".", "~")) or text.lower().endswith(".zip"):
        return LocalSource(expand_home(text))
    listed = _LISTED.fullmatch(text)
    if listed is not None and all(len(part or "") <= MAX_SKILL_NAME for part in listed.groups()):
        return ListedSkill(listed["name"], listed["registry"], listed["version"])
    raise Invalid(
        f"{text!r} is not a valid skill source.",
        hint="Examples: ./my-skill, pack.zip, https://host/owner/repo.git@v1#skills/pdf, acme:pdf.",
    )


def _repository(text: str, place: str, rest: str) -> GitSource:
    path, _, inside = rest.partition("#")
    if place.startswith("http") and path.lower().endswith(".zip"):
        raise Invalid(
            "Archives cannot be installed from a URL.", hint="Download it first, then install the file."
        )
    pinned = _PINNED.fullmatch(path)
    ref = pinned["ref"] if pinned else None
    try:
        return GitSource(url=place + (pinned["path"] if pinned else path), ref=ref, path=inside.strip("/"))
    except ValidationError as error:
        raise Invalid(f"{text[:200]!r} is not a valid repository URL.") from error


def read_grants(texts: Iterable[str]) -> GrantArguments:
    """Parse grants such as `kv,http_get=api.example.com,b.example.com`. A part without a capability extends the previous one."""
    values: dict[Capability, list[str]] = {}
    last: Capability | None = None
    for part in (part.strip() for text in texts for part in text.split(",") if part.strip()):
        name, _, value = part.partition("=")
        if name in set(Capability):
            last = Capability(name)
            values.setdefault(last, [])
        elif last is None or "=" in part or not values[last]:
            raise _unknown(name)
        else:
            value = part
        if value:
            values[last].append(value)
    return {one: scope_of(one, entries) if entries else None for one, entries in values.items()}


def read_capabilities(text: str) -> list[Capability]:
    """Parse a list such as `kv,http_get`. `all` gives an empty list, which means no restriction."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    if names == ["all"]:
        return []
    if not names:
        raise Invalid("No capability was given.", hint="List capabilities, such as kv,http_get, or use all.")
    if unknown := next((name for name in names if name not in set(Capability)), None):
        raise _unknown(unknown)
    return [Capability(name) for name in dict.fromkeys(names)]


def read_settings(texts: Iterable[str]) -> dict[str, str]:
    """Parse settings such as `region=alpine`."""
    pairs = [text.partition("=") for text in texts]
    for key, equals, value in pairs:
        if not (key.strip() and equals):
            text = (key + equals + value)[:100]
            raise Invalid(f"{text!r} is not a setting.", hint="Use KEY=VALUE, such as region=alpine.")
    return {key.strip(): value for key, _, value in pairs}


def expand_home(text: str) -> Path:
    """Expand `~`. The home of an unknown user is left unchanged."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def scope_of(capability: Capability, values: Sequence[str]) -> Scope:
    field = next((name for name, members in _FIELDS.items() if capability in members), None)
    if field is None:
        raise Invalid(f"`{capability.value}` does not take a value.", hint=f"Use {capability.value}.")
    try:
        return Scope.model_validate({field: list(dict.fromkeys(values))})
    except ValidationError as error:
        shown = ", ".join(values)[:200]
        raise Invalid(f"`{capability.value}` cannot be granted for {shown}.", hint=_HINTS[field]) from error


_FIELDS: Mapping[str, Sequence[Capability]] = {
    "hosts": HOST_CAPABILITIES,
    "roots": FOLDER_CAPABILITIES,
    "names": NAME_CAPABILITIES,
}
_HINTS = {
    "hosts": "Use hosts: api.example.com, *.example.com, example.com:8443, or * for all public hosts.",
    "roots": "Use absolute paths on the server: /srv/data.",
    "names": "Names have letters, digits and _ . + -",
}


def scope_noun(capability: Capability) -> str:
    """Return what the scope of the capability lists: hosts, folders, …"""
    nouns = {Capability.READ_ENV: "variables", Capability.GET_SECRET: "secrets"}
    nouns |= dict.fromkeys(HOST_CAPABILITIES, "hosts") | dict.fromkeys(FOLDER_CAPABILITIES, "folders")
    return nouns.get(capability, "programs")


def merge_grants(grants: Iterable[GrantWish]) -> list[GrantWish]:
    """Combine the grants of each capability into one with all their scopes."""
    scopes: dict[Capability, Scope] = {}
    for grant in grants:
        scopes[grant.capability] = _union(scopes.get(grant.capability, Scope()), grant.scope)
    return [GrantWish(capability=one, scope=scopes[one]) for one in Capability if one in scopes]


def _union(one: Scope, other: Scope) -> Scope:
    lists = {field: dict.fromkeys([*getattr(one, field), *getattr(other, field)]) for field in _FIELDS}
    return Scope.model_validate({field: list(values) for field, values in lists.items()})


def _unknown(name: str) -> Invalid:
    return Invalid(f"There is no capability {name[:100]!r}.", hint=f"Capabilities: {', '.join(Capability)}.")
