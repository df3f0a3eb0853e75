"""What people write about skills at the command line: a name, where to get one, what it may do."""

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

Said = Mapping[Capability, Scope | None]
"""Capabilities somebody grants; None: as far as the skill asks."""


_SLUG = SKILL_NAME_PATTERN.strip("^$")
_LISTED = re.compile(rf"(?:(?P<registry>{_SLUG}):)?(?P<name>{_SLUG})(?:@(?P<version>[0-9A-Za-z.+-]+))?")
_URL = re.compile(r"(?P<place>(?:https?|ssh|git|file)://[^/]*)(?P<path>/.*)", re.DOTALL)
_SCP = re.compile(r"(?P<place>[\w.-]+@[\w.-]+:)(?P<path>[^/].*)", re.DOTALL)
_PINNED = re.compile(r"(?P<path>.*?[^/])@(?P<ref>[^@]+)", re.DOTALL)
_BOT = re.compile(r"[A-Za-z0-9-]{1,64}")


@dataclass(frozen=True)
class HerePlace:
    """A folder or zip on this machine."""

    path: Path


@dataclass(frozen=True)
class ListedPlace:
    """A skill that a registry should have."""

    name: str
    registry: str | None = None
    version: str | None = None


def skill_path(name: str) -> str:
    """Of the API."""
    if not is_skill_name(name):
        raise NotFound(f"There is no skill {name!r}.", hint="List them: forge skill list")
    return f"/skills/{name}"


def bot_path(bot: str) -> str:
    """Of the API, for the skills of a bot."""
    if not _BOT.fullmatch(bot):
        raise NotFound(f"There is no bot {bot!r}.", hint="List them: forge bots list")
    return f"/bots/{bot}/skills"


def read_source(given: str) -> HerePlace | GitSource | ListedPlace:
    """A path has a slash, begins with a dot or ends in `.zip`; so a bare name is never a folder that happens to be here."""
    if (found := _URL.fullmatch(given) or _SCP.fullmatch(given)) is not None:
        return _repository(given, found["place"], found["path"])
    if "/" in given or given.startswith((".", "~")) or given.lower().endswith(".zip"):
        return HerePlace(at_home(given))
    listed = _LISTED.fullmatch(given)
    if listed is not None and all(len(part or "") <= MAX_SKILL_NAME for part in listed.groups()):
        return ListedPlace(listed["name"], listed["registry"], listed["version"])
    raise Invalid(
        f"{given!r} is no folder, archive, repository or name of a skill.",
        hint="Such as ./my-skill, pack.zip, https://host/owner/repo.git@v1#skills/pdf or acme:pdf.",
    )


def _repository(given: str, place: str, rest: str) -> GitSource:
    path, _, inside = rest.partition("#")
    if place.startswith("http") and path.lower().endswith(".zip"):
        raise Invalid(
            "Archives are not fetched from an address.", hint="Get it first, then install the file."
        )
    pinned = _PINNED.fullmatch(path)
    ref = pinned["ref"] if pinned else None
    try:
        return GitSource(url=place + (pinned["path"] if pinned else path), ref=ref, path=inside.strip("/"))
    except ValidationError as error:
        raise Invalid(f"{given[:200]!r} is not the address of a repository.") from error


def read_grants(given: Iterable[str]) -> Said:
    """Of `kv,http_get=api.example.com,b.example.com` and the like; a part without a capability goes on with the last."""
    values: dict[Capability, list[str]] = {}
    last: Capability | None = None
    for part in (part.strip() for text in given for part in text.split(",") if part.strip()):
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
    return {
        capability: scope_of(capability, named) if named else None for capability, named in values.items()
    }


def read_capabilities(given: str) -> list[Capability]:
    """Of `kv,http_get`; `all` is none in particular."""
    names = [name.strip() for name in given.split(",") if name.strip()]
    if names == ["all"]:
        return []
    if not names:
        raise Invalid("No capability is named.", hint="Name some, such as kv,http_get, or all.")
    if unknown := next((name for name in names if name not in set(Capability)), None):
        raise _unknown(unknown)
    return [Capability(name) for name in dict.fromkeys(names)]


def read_settings(given: Iterable[str]) -> dict[str, str]:
    """Of `region=alpine` and the like."""
    pairs = [text.partition("=") for text in given]
    for key, equals, value in pairs:
        if not (key.strip() and equals):
            raise Invalid(f"{(key + equals + value)[:100]!r} is no setting.", hint="Say it as region=alpine.")
    return {key.strip(): value for key, _, value in pairs}


def at_home(given: str) -> Path:
    """With `~` as the home it means; one that nobody has is a name like any other."""
    try:
        return Path(given).expanduser()
    except RuntimeError:
        return Path(given)


def scope_of(capability: Capability, values: Sequence[str]) -> Scope:
    field = next((name for name, members in _FIELDS.items() if capability in members), None)
    if field is None:
        raise Invalid(f"`{capability.value}` has nothing to choose.", hint=f"Grant it as {capability.value}.")
    try:
        return Scope.model_validate({field: list(dict.fromkeys(values))})
    except ValidationError as error:
        told = ", ".join(values)
        raise Invalid(
            f"`{capability.value}` cannot be granted for {told[:200]}.", hint=_HINTS[field]
        ) from error


_FIELDS: Mapping[str, Sequence[Capability]] = {
    "hosts": HOST_CAPABILITIES,
    "roots": FOLDER_CAPABILITIES,
    "names": NAME_CAPABILITIES,
}
_HINTS = {
    "hosts": "Name hosts: api.example.com, *.example.com, example.com:8443, or * for all public ones.",
    "roots": "Name folders of the server from the root: /srv/data.",
    "names": "Name them as they are called: letters, digits and _ . + -",
}


def what_to_name(capability: Capability) -> str:
    """What a grant of it goes by, in a word."""
    words = {Capability.READ_ENV: "variables", Capability.GET_SECRET: "secrets"}
    words |= dict.fromkeys(HOST_CAPABILITIES, "hosts") | dict.fromkeys(FOLDER_CAPABILITIES, "folders")
    return words.get(capability, "programs")


def scope_words(scope: Scope) -> str:
    return ", ".join((*scope.hosts, *scope.roots, *scope.names))


def merged(wishes: Iterable[GrantWish]) -> list[GrantWish]:
    """One of each capability, as far as all of them together go."""
    scopes: dict[Capability, Scope] = {}
    for wish in wishes:
        scopes[wish.capability] = _joined(scopes.get(wish.capability, Scope()), wish.scope)
    return [
        GrantWish(capability=one, scope=scope) for one in Capability if (scope := scopes.get(one)) is not None
    ]


def _joined(one: Scope, other: Scope) -> Scope:
    return Scope(
        hosts=list(dict.fromkeys([*one.hosts, *other.hosts])),
        roots=list(dict.fromkeys([*one.roots, *other.roots])),
        names=list(dict.fromkeys([*one.names, *other.names])),
    )


def _unknown(name: str) -> Invalid:
    return Invalid(f"There is no capability {name[:100]!r}.", hint=f"There are: {', '.join(Capability)}.")
