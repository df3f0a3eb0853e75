"""What a person grants a skill: only what it asks for, and nothing that covers nothing."""

from collections.abc import Collection, Sequence
from datetime import datetime

from forge.errors import Invalid
from forge.skills.capabilities import BY_HOSTS, BY_NAMES, BY_ROOTS
from forge.skills.models import Capability, Grant, GrantWish, Scope, SkillKind
from forge.skills.views import AskedView

_EXAMPLES = {
    Capability.HTTP_GET: "http_get=api.example.com",
    Capability.HTTP_POST: "http_post=api.example.com",
    Capability.READ_ENV: "read_env=LANG",
    Capability.GET_SECRET: "get_secret=WEATHER_KEY",
    Capability.EXEC_COMMAND: "exec_command=git",
}


def grants_of(
    name: str,
    kind: SkillKind,
    asks: Sequence[AskedView],
    wishes: Sequence[GrantWish],
    *,
    folder_hash: str,
    by: str,
    at: datetime,
) -> list[Grant]:
    """A wish that says nothing of how far it goes means as far as the skill asks. Raises Invalid."""
    wanted = {one.capability: one.scope for one in asks}
    given = [wish.capability for wish in wishes]
    if twice := next((one for one in given if given.count(one) > 1), None):
        raise Invalid(f"{twice.value} is granted twice.", field="grants")
    return [
        Grant(
            capability=wish.capability,
            scope=_scope_of(name, kind, wish, wanted),
            folder_hash=folder_hash,
            granted_at=at,
            granted_by=by,
        )
        for wish in wishes
    ]


def _scope_of(name: str, kind: SkillKind, wish: GrantWish, wanted: dict[Capability, Scope]) -> Scope:
    capability = wish.capability
    if capability not in wanted:
        asked = ", ".join(wanted) or "nothing"
        raise Invalid(
            f"The skill {name} does not ask for {capability.value}.",
            hint=f"It asks for {asked}.",
            field="grants",
        )
    is_said = "scope" in wish.model_fields_set
    scope = _only(capability, wish.scope) if is_said else wanted[capability]
    if not _covers_something(kind, capability, scope):
        raise _covers_nothing(name, capability)
    return scope


def _only(capability: Capability, scope: Scope) -> Scope:
    """Raises when it says something that has no meaning for this capability."""
    fits = Scope(
        hosts=scope.hosts if capability in BY_HOSTS else [],
        roots=scope.roots if capability in BY_ROOTS else [],
        names=scope.names if capability in BY_NAMES else [],
    )
    if fits != scope:
        raise Invalid(f"{capability.value} does not go by that.", hint=_meant(capability), field="grants")
    return scope


def _meant(capability: Capability) -> str:
    if capability in BY_HOSTS:
        return "It goes by hosts."
    if capability in BY_ROOTS:
        return "It goes by folders, as absolute paths."
    return "It goes by names." if capability in BY_NAMES else "It is granted as it is."


def _covers_nothing(name: str, capability: Capability) -> Invalid:
    what = "hosts" if capability in BY_HOSTS else "names"
    return Invalid(
        f"This would grant {capability.value} for no {what} at all: the skill names none either.",
        hint=f"Say which: forge skill grant {name} {_EXAMPLES[capability]}",
        field="grants",
    )


def as_asked(kind: SkillKind, asks: Sequence[AskedView], allowed: Collection[Capability]) -> list[GrantWish]:
    """What somebody allowed in a word, as far as the skill says how far: what would cover nothing is left out, and shows
    as something to be looked at."""
    return [
        GrantWish(capability=one.capability)
        for one in asks
        if one.capability in allowed and _covers_something(kind, one.capability, one.scope)
    ]


def _covers_something(kind: SkillKind, capability: Capability, scope: Scope) -> bool:
    if capability in BY_HOSTS:
        return bool(scope.hosts)
    is_program = kind is SkillKind.LOCAL and capability is Capability.EXEC_COMMAND
    return capability not in BY_NAMES or is_program or bool(scope.names)
