"""Capabilities: what each allows, what a skill requests, and the grants a person gives."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from forge.accounts.models import is_owner
from forge.errors import Denied, Invalid
from forge.skills.models import (
    Capability,
    EntryName,
    Grant,
    GrantWish,
    Host,
    Manifest,
    Root,
    Scope,
    SkillKind,
)
from forge.skills.views import AskedView

HOST_CAPABILITIES = (Capability.HTTP_GET, Capability.HTTP_POST)
FOLDER_CAPABILITIES = (Capability.READ_FILE, Capability.WRITE_FILE)
NAME_CAPABILITIES = (Capability.READ_ENV, Capability.GET_SECRET, Capability.EXEC_COMMAND)
"""The kind of scope each capability takes; the others take none."""


@dataclass(frozen=True)
class CapabilityInfo:
    title: str
    """Completes “It asks to …”."""
    allows: str
    risk: str
    """What can go wrong if the skill is not trustworthy."""


CAPABILITY_INFO: Mapping[Capability, CapabilityInfo] = {
    Capability.READ_FILE: CapabilityInfo(
        "read files",
        "It may read files in the folders it is given.",
        "Anything in them can end up in its output.",
    ),
    Capability.WRITE_FILE: CapabilityInfo(
        "write files",
        "It may create and change files in the folders it is given.",
        "It can overwrite what you have there.",
    ),
    Capability.HTTP_GET: CapabilityInfo(
        "fetch from the web",
        "It may fetch pages and data from the internet.",
        "What it fetches is untrusted, and a URL can carry data out.",
    ),
    Capability.HTTP_POST: CapabilityInfo(
        "send to the web",
        "It may send data to servers on the internet.",
        "It can send out everything it sees, and act there in your name.",
    ),
    Capability.EXEC_COMMAND: CapabilityInfo(
        "run programs",
        "It may start other programs in its sandbox.",
        "A program can do everything the sandbox allows, not only what the skill is for.",
    ),
    Capability.READ_ENV: CapabilityInfo(
        "read settings",
        "It may read the environment variables it is given.",
        "Settings often contain passwords and private addresses.",
    ),
    Capability.RECALL_MEMORY: CapabilityInfo(
        "recall memories",
        "It may look up what the bot remembers about you.",
        "Personal things can end up in its output.",
    ),
    Capability.GET_SECRET: CapabilityInfo(
        "use a secret",
        "It may get the secrets you name for it from the vault.",
        "It can use the secret, and pass it on.",
    ),
    Capability.KV: CapabilityInfo(
        "keep notes",
        "It may store small values between runs.",
        "Stored values can change what it does next time.",
    ),
    Capability.LOG: CapabilityInfo(
        "write to the log",
        "It may write lines into the log of its run.",
        "Everyone who can read the log can read what it writes.",
    ),
}


_HOST: TypeAdapter[str] = TypeAdapter(Host)
_ROOT: TypeAdapter[str] = TypeAdapter(Root)
_NAME: TypeAdapter[str] = TypeAdapter(EntryName)
_MAX_HOSTS, _MAX_ROOTS, _MAX_NAMES = 50, 20, 50


def is_host(text: str) -> bool:
    return _fits(_HOST, text.lower())


def is_root(text: str) -> bool:
    return _fits(_ROOT, text)


def is_entry_name(text: str) -> bool:
    return _fits(_NAME, text)


def format_scope(scope: Scope) -> str:
    return ", ".join((*scope.hosts, *scope.roots, *scope.names))


def requested_scope(manifest: Manifest, capability: Capability) -> Scope:
    """Return the scope the manifest requests, ignoring invalid entries."""
    return _SCOPES[capability](manifest) if capability in _SCOPES else Scope()


def requested_capabilities(manifest: Manifest, parents: Sequence[Manifest]) -> list[AskedView]:
    """Return each requested capability once, in a fixed order, with the scopes of the skill and its parents combined.

    `from_parent` names the nearest parent when only parents request it.
    """
    needed = {Capability.EXEC_COMMAND} if manifest.kind is SkillKind.LOCAL else set[Capability]()
    chain = [manifest, *parents]
    views: list[AskedView] = []
    for capability in Capability:
        asking = [one for one in chain if capability in one.capabilities]
        if asking or capability in needed:
            from_parent = asking[0].name if asking and manifest not in asking else None
            views.append(_view(capability, asking, from_parent, is_needed=capability in needed))
    return views


def _view(
    capability: Capability, asking: Iterable[Manifest], from_parent: str | None, *, is_needed: bool
) -> AskedView:
    meaning = CAPABILITY_INFO[capability]
    return AskedView(
        capability=capability,
        scope=_union([requested_scope(one, capability) for one in asking]),
        title=meaning.title,
        allows=meaning.allows,
        risk=meaning.risk,
        from_parent=None if is_needed else from_parent,
        is_needed=is_needed,
    )


def _union(scopes: Sequence[Scope]) -> Scope:
    return Scope(
        hosts=_unique((host for scope in scopes for host in scope.hosts), _MAX_HOSTS),
        roots=_unique((root for scope in scopes for root in scope.roots), _MAX_ROOTS),
        names=_unique((name for scope in scopes for name in scope.names), _MAX_NAMES),
    )


def _hosts(manifest: Manifest) -> Scope:
    return Scope(hosts=_unique((host.lower() for host in manifest.hosts if is_host(host)), _MAX_HOSTS))


def _roots(manifest: Manifest) -> Scope:
    return Scope(roots=_unique(filter(is_root, manifest.files), _MAX_ROOTS))


def _names(names: Iterable[str]) -> Scope:
    return Scope(names=_unique(filter(is_entry_name, names), _MAX_NAMES))


_SCOPES: Mapping[Capability, Callable[[Manifest], Scope]] = {
    Capability.HTTP_GET: _hosts,
    Capability.HTTP_POST: _hosts,
    Capability.READ_FILE: _roots,
    Capability.WRITE_FILE: _roots,
    Capability.READ_ENV: lambda manifest: _names(manifest.env),
    Capability.GET_SECRET: lambda manifest: _names(manifest.secrets),
    Capability.EXEC_COMMAND: lambda manifest: _names(manifest.commands),
}


def _unique(words: Iterable[str], most: int) -> list[str]:
    return list(dict.fromkeys(words))[:most]


def _fits(adapter: TypeAdapter[Any], text: str) -> bool:
    try:
        adapter.validate_python(text)
    except ValidationError:
        return False
    return True


_EXAMPLES = {
    Capability.HTTP_GET: "http_get=api.example.com",
    Capability.HTTP_POST: "http_post=api.example.com",
    Capability.READ_ENV: "read_env=LANG",
    Capability.GET_SECRET: "get_secret=WEATHER_KEY",
    Capability.EXEC_COMMAND: "exec_command=git",
}


def create_grants(
    name: str,
    kind: SkillKind,
    asks: Sequence[AskedView],
    requests: Sequence[GrantWish],
    *,
    folder_hash: str,
    by: str,
    at: datetime,
) -> list[Grant]:
    """Turn the requested grants into grants; without a scope, the scope the skill requests applies. Raises Invalid."""
    wanted = {one.capability: one.scope for one in asks}
    given = [request.capability for request in requests]
    if twice := next((one for one in given if given.count(one) > 1), None):
        raise Invalid(f"{twice.value} is granted twice.", field="grants")
    return [
        Grant(
            capability=request.capability,
            scope=_scope_of(name, kind, request, wanted),
            folder_hash=folder_hash,
            granted_at=at,
            granted_by=by,
        )
        for request in requests
    ]


def check_grants_of(account_id: str, grants: Iterable[Grant]) -> None:
    """Raise Denied if a member grants folders or variables of the server, which are the owner's."""
    for grant in grants:
        if (grant.scope.roots or grant.capability is Capability.READ_ENV) and not is_owner(account_id):
            raise Denied(
                f"Only the owner of this server may grant {grant.capability.value} with access to the server.",
                hint="Grant the other capabilities, or ask the owner to run the skill.",
            )


def _scope_of(name: str, kind: SkillKind, request: GrantWish, wanted: dict[Capability, Scope]) -> Scope:
    capability = request.capability
    if capability not in wanted:
        asked = ", ".join(wanted) or "nothing"
        raise Invalid(
            f"The skill {name} does not ask for {capability.value}.",
            hint=f"It asks for {asked}.",
            field="grants",
        )
    is_said = "scope" in request.model_fields_set
    scope = _checked_scope(capability, request.scope) if is_said else wanted[capability]
    if not _covers_something(kind, capability, scope):
        raise _covers_nothing(name, capability)
    return scope


def _checked_scope(capability: Capability, scope: Scope) -> Scope:
    """Raise Invalid if the scope has entries this capability does not take."""
    fits = Scope(
        hosts=scope.hosts if capability in HOST_CAPABILITIES else [],
        roots=scope.roots if capability in FOLDER_CAPABILITIES else [],
        names=scope.names if capability in NAME_CAPABILITIES else [],
    )
    if fits != scope:
        raise Invalid(
            f"{capability.value} does not take this scope.", hint=_scope_hint(capability), field="grants"
        )
    return scope


def _scope_hint(capability: Capability) -> str:
    if capability in HOST_CAPABILITIES:
        return "It takes hosts."
    if capability in FOLDER_CAPABILITIES:
        return "It takes folders, as absolute paths."
    return "It takes names." if capability in NAME_CAPABILITIES else "It takes no scope."


def _covers_nothing(name: str, capability: Capability) -> Invalid:
    what = "hosts" if capability in HOST_CAPABILITIES else "names"
    return Invalid(
        f"The grant of {capability.value} names no {what}, and neither does the skill.",
        hint=f"Name them: forge skill grant {name} {_EXAMPLES[capability]}",
        field="grants",
    )


def grants_as_requested(
    kind: SkillKind, asks: Sequence[AskedView], allowed: Collection[Capability]
) -> list[GrantWish]:
    """Return the allowed capabilities with the scopes the skill requests, without those whose scope would be empty."""
    return [
        GrantWish(capability=one.capability)
        for one in asks
        if one.capability in allowed and _covers_something(kind, one.capability, one.scope)
    ]


def _covers_something(kind: SkillKind, capability: Capability, scope: Scope) -> bool:
    if capability in HOST_CAPABILITIES:
        return bool(scope.hosts)
    is_program = kind is SkillKind.LOCAL and capability is Capability.EXEC_COMMAND
    return capability not in NAME_CAPABILITIES or is_program or bool(scope.names)
