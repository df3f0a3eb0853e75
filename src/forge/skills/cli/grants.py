"""`forge skill grant`, `revoke` and `trust`."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import click

from forge.errors import Invalid
from forge.skills.capabilities import FOLDER_CAPABILITIES, format_scope, grants_as_requested
from forge.skills.cli.arguments import (
    GrantArguments,
    merge_grants,
    read_grants,
    scope_noun,
    scope_of,
    skill_path,
)
from forge.skills.cli.views import skill_page
from forge.skills.models import Capability, GrantWish, Scope, SkillKind, Tier
from forge.skills.views import AskedView, SkillDetail
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.entry import show_error
from forge.terminal.inputs import confirm
from forge.terminal.options import one_of, yes_option
from forge.terminal.text import clean

_TIER_ORDER = {Tier.UNTRUSTED: 0, Tier.VERIFIED: 1, Tier.LOCAL: 2}
_TIER_MEANING = {
    Tier.VERIFIED: "Verified: you have reviewed the skill. It may use more memory and time.",
    Tier.LOCAL: "Local: you trust the skill like your own. If it is a program, it runs on the server.",
}


@click.command()
@click.argument("name")
@click.argument("capabilities", nargs=-1, metavar="[CAPABILITY[=SCOPE]]...")
@click.option("--yes", is_flag=True, help="Grant everything it requests.")
@api_command
def grant(
    client: Client, name: str, capabilities: tuple[str, ...], yes: bool, as_json: bool
) -> Result[SkillDetail]:
    """Grant capabilities to a skill.

    Such as kv, http_get=api.example.com, read_file=/srv/data or get_secret=NAME. Without a value, the capability is granted as requested. Earlier grants are kept unless the skill changed.
    Without CAPABILITY, asks about each one in a terminal.
    """
    requested = read_grants(capabilities)
    if not requested and not yes and (as_json or not sys.stdin.isatty()):
        raise click.UsageError(
            "Name the capabilities to grant, such as kv or http_get=api.example.com, or use --yes."
        )
    found = client.get(skill_path(name), SkillDetail)
    check_requested(requested, found.asks, f"{found.name} does not request")
    consent = Consent(requested, grants_all=yes, is_interactive=not as_json)
    kept = [] if consent.is_asked else active_grants(found)
    grants = merge_grants([*kept, *decide(consent, found.kind, found.asks, found.grants)])
    body = {"grants": [one.model_dump(mode="json") for one in grants], "folder_hash": found.folder_hash}
    granted = client.put(f"{skill_path(name)}/grants", SkillDetail, body)
    report_excess(found.name, requested, found.asks)
    return Result(granted, skill_page)


@click.command()
@click.argument("name")
@click.argument("capability", type=one_of(Capability))
@api_command
def revoke(client: Client, name: str, capability: str) -> Result[SkillDetail]:
    """Revoke a capability of a skill. Takes effect at the next call, also in running invocations."""
    return Result(client.delete(f"{skill_path(name)}/grants/{capability}", SkillDetail), skill_page)


@click.command()
@click.argument("name")
@click.argument("tier", type=one_of(Tier))
@yes_option
@api_command
def trust(client: Client, name: str, tier: str, yes: bool) -> Result[SkillDetail]:
    """Set the trust tier of a skill.

    The tier limits its memory and time, and decides whether programs may run.
    """
    found = client.get(skill_path(name), SkillDetail)
    if _TIER_ORDER[Tier(tier)] > _TIER_ORDER[found.tier] and not yes:
        click.echo(_TIER_MEANING[Tier(tier)], err=True)
        confirm(f"Trust {found.name} as {tier}?", yes=False)
    return Result(client.put(f"{skill_path(name)}/tier", SkillDetail, {"tier": tier}), skill_page)


def check_requested(grants: GrantArguments, asks: Iterable[AskedView], refusal: str) -> None:
    """Raise Invalid for capabilities that are not requested. The message begins with `refusal`."""
    requested = {ask.capability for ask in asks}
    if unexpected := [one.value for one in grants if one not in requested]:
        known = ", ".join(sorted(requested)) or "none"
        raise Invalid(f"{refusal} {', '.join(unexpected)}.", hint=f"Requested capabilities: {known}.")


def active_grants(found: SkillDetail) -> list[GrantWish]:
    """Return the grants that are in effect."""
    return [
        GrantWish(capability=one.capability, scope=one.scope)
        for one in found.grants
        if one.folder_hash == found.folder_hash and one.capability in found.granted
    ]


@dataclass(frozen=True)
class Consent:
    """What the user grants on the command line, before seeing the skill."""

    grants: GrantArguments = field(default_factory=dict[Capability, Scope | None])
    grants_all: bool = False
    is_interactive: bool = False
    """Whether the user can be asked."""

    @property
    def is_asked(self) -> bool:
        """Whether to ask the user: only when nothing was granted on the command line."""
        return self.is_interactive and not self.grants_all and not self.grants


def decide(
    consent: Consent, kind: SkillKind, asks: Sequence[AskedView], previous: Sequence[GrantWish] = ()
) -> list[GrantWish]:
    """Return what to grant of the requested capabilities."""
    before = {grant.capability for grant in previous}
    grants: list[GrantWish] = []
    for ask in asks:
        if consent.is_asked:
            scope = _ask(kind, ask, was_granted=ask.capability in before)
        elif ask.capability in consent.grants:
            scope = consent.grants[ask.capability] or ask.scope
        else:  # with --yes, only what has a scope: the rest would cover nothing
            scope = ask.scope if consent.grants_all and _has_scope(kind, ask) else None
        if scope is not None:
            grants.append(GrantWish(capability=ask.capability, scope=scope))
    return merge_grants(grants)


def report_excess(name: str, grants: GrantArguments, asks: Sequence[AskedView]) -> None:
    """Report grants that exceed the requested scope, so that a typing mistake is noticed."""
    if excess := ", ".join(dict.fromkeys(_excess(grants, asks))):
        click.echo(f"{name} does not request {clean(excess)}; granted anyway.", err=True)


def _excess(grants: GrantArguments, asks: Iterable[AskedView]) -> Iterator[str]:
    """Yield what exceeds the requested scope.

    A skill that requests a capability without hosts or names leaves them to the user; without folders it requests only
    its own.
    """
    scopes = {
        grant.capability: grant.scope
        for grant in merge_grants(GrantWish(capability=one.capability, scope=one.scope) for one in asks)
    }
    for capability, scope in grants.items():
        asked = scopes.get(capability)
        if (
            scope is None
            or asked is None
            or (not format_scope(asked) and capability not in FOLDER_CAPABILITIES)
        ):
            continue
        yield from (host for host in scope.hosts if not any(_has_host(one, host) for one in asked.hosts))
        yield from (root for root in scope.roots if not any(_has_root(one, root) for one in asked.roots))
        yield from (name for name in scope.names if name not in asked.names)


def _has_host(asked: str, host: str) -> bool:
    """Return whether the requested pattern covers a host; `*` covers public hosts, those with a name."""
    if asked == "*":
        return host == asked or re.fullmatch(r"[^:]+\.[a-z][a-z0-9-]*", host) is not None
    return host == asked or (asked.startswith("*.") and host.endswith(asked[1:]))


def _has_root(asked: str, root: str) -> bool:
    return PurePosixPath(root).is_relative_to(asked) and ".." not in PurePosixPath(root).parts


def _has_scope(kind: SkillKind, ask: AskedView) -> bool:
    return bool(grants_as_requested(kind, [ask], [ask.capability]))


def _ask(kind: SkillKind, ask: AskedView, *, was_granted: bool) -> Scope | None:
    _explain(ask, was_granted=was_granted)
    if not click.confirm(f"  Grant {ask.capability.value}?", default=False, err=True):
        return None
    return ask.scope if _has_scope(kind, ask) else _ask_scope(ask.capability)


def _explain(ask: AskedView, *, was_granted: bool) -> None:
    wanted = format_scope(ask.scope)
    lines = [
        f"  {ask.capability.value}: {ask.title}",
        ask.allows,
        f"Requested: {wanted}" if wanted else "",
        f"Inherited from {ask.from_parent}." if ask.from_parent else "",
        "The skill cannot run without it." if ask.is_needed else "",
        "Previously granted." if was_granted else "",
        f"Risk: {ask.risk}",
    ]
    click.echo(clean("\n" + "\n    ".join(filter(None, lines))), err=True)


def _ask_scope(capability: Capability) -> Scope | None:
    """Ask for the scope that the skill leaves to the user."""
    while True:
        question = f"  Which {scope_noun(capability)} (separated by spaces)?"
        values = str(click.prompt(question, default="", show_default=False, err=True)).split()
        if not values:
            click.echo("  Nothing entered: not granted.", err=True)
            return None
        try:
            return scope_of(capability, values)
        except Invalid as error:
            show_error(error)
