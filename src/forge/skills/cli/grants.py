"""`forge skill grant`, `revoke` and `trust`: what a skill may do, and how far it is trusted."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import click

from forge.errors import Invalid
from forge.skills.capabilities import FOLDER_CAPABILITIES, grants_as_requested
from forge.skills.cli.arguments import (
    Said,
    merged,
    read_grants,
    scope_of,
    scope_words,
    skill_path,
    what_to_name,
)
from forge.skills.cli.views import skill_page
from forge.skills.models import Capability, GrantWish, Scope, SkillKind, Tier
from forge.skills.views import AskedView, GrantsWish, SkillDetail
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.entry import show_error
from forge.terminal.inputs import confirm
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import print_result
from forge.terminal.text import clean

_TRUST = {Tier.UNTRUSTED: 0, Tier.VERIFIED: 1, Tier.LOCAL: 2}
_MEANS = {
    Tier.VERIFIED: "Verified means that you have read it: it may take more memory and time.",
    Tier.LOCAL: "Local means that you trust it like your own: if it is a program, it runs on the server's machine.",
}


@click.command()
@click.argument("name")
@click.argument("capabilities", nargs=-1, metavar="[CAPABILITY[=SCOPE]]...")
@click.option("--yes", is_flag=True, help="Grant everything it requests.")
@json_option
def grant(name: str, capabilities: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Grant capabilities to a skill.

    Such as kv, http_get=api.example.com, read_file=/srv/data or get_secret=NAME. Without a value, the capability is granted as requested. Earlier grants are kept unless the skill changed.
    Without CAPABILITY, asks about each one in a terminal.
    """
    said = read_grants(capabilities)
    if not said and not yes and (as_json or not sys.stdin.isatty()):
        raise click.UsageError("Say what to grant, such as kv or http_get=api.example.com, or --yes.")
    with connect() as client:
        found = client.get(skill_path(name), SkillDetail)
        check_asked(said, found.asks, found.name)
        consent = Consent(said, is_everything=yes, is_there=not as_json)
        standing = [] if consent.asks else counting(found)
        wishes = merged([*standing, *decide(consent, found.kind, found.asks, found.grants)])
        wish = GrantsWish(grants=wishes, folder_hash=found.folder_hash)
        granted = client.put(f"{skill_path(name)}/grants", SkillDetail, wish.model_dump(mode="json"))
    tell_beyond(found.name, said, found.asks)
    print_result(granted, skill_page, as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("capability", type=click.Choice([one.value for one in Capability]))
@api_command
def revoke(client: Client, name: str, capability: str) -> Result[SkillDetail]:
    """Revoke a capability of a skill. Takes effect at the next call, also in running invocations."""
    return Result(client.delete(f"{skill_path(name)}/grants/{capability}", SkillDetail), skill_page)


@click.command()
@click.argument("name")
@click.argument("tier", type=click.Choice([one.value for one in Tier]))
@yes_option
@api_command
def trust(client: Client, name: str, tier: str, yes: bool) -> Result[SkillDetail]:
    """Set the trust tier of a skill.

    The tier limits its memory and time, and decides whether programs may run.
    """
    wanted = Tier(tier)
    found = client.get(skill_path(name), SkillDetail)
    if _TRUST[wanted] > _TRUST[found.tier] and not yes:
        click.echo(_MEANS[wanted], err=True)
        confirm(f"Trust {found.name} as {tier}?", yes=False)
    return Result(client.put(f"{skill_path(name)}/tier", SkillDetail, {"tier": tier}), skill_page)


def check_asked(said: Said, asks: Iterable[AskedView], name: str) -> None:
    """Reject grants for capabilities that the skill does not ask for."""
    asked = {ask.capability for ask in asks}
    if unasked := [one.value for one in said if one not in asked]:
        known = ", ".join(sorted(asked)) or "nothing"
        raise Invalid(f"{name} does not ask for {', '.join(unasked)}.", hint=f"It asks for: {known}.")


def counting(found: SkillDetail) -> list[GrantWish]:
    """Return the grants that are in force."""
    return [
        GrantWish(capability=one.capability, scope=one.scope)
        for one in found.grants
        if one.folder_hash == found.folder_hash and one.capability in found.granted
    ]


@dataclass(frozen=True)
class Consent:
    """What the user grants on the command line, before seeing the skill."""

    said: Said = field(default_factory=dict[Capability, Scope | None])
    is_everything: bool = False
    is_there: bool = False
    """Whether the user can be asked."""

    @property
    def asks(self) -> bool:
        """Ask only when nothing was granted on the command line."""
        return self.is_there and not self.is_everything and not self.said


def decide(
    consent: Consent, kind: SkillKind, asks: Sequence[AskedView], until_now: Sequence[GrantWish] = ()
) -> list[GrantWish]:
    """Return what to grant of everything a skill asks for."""
    if not consent.asks:
        return merged(wish for ask in asks if (wish := _said(consent, kind, ask)) is not None)
    before = {grant.capability for grant in until_now}
    answers = (_ask(kind, ask, had_it=ask.capability in before) for ask in asks)
    return merged(wish for wish in answers if wish is not None)


def tell_beyond(name: str, said: Said, asks: Sequence[AskedView]) -> None:
    """Report grants that go further than the skill asks, so that a typing mistake is noticed."""
    if beyond := ", ".join(dict.fromkeys(_beyond(said, asks))):
        click.echo(f"{name}: It does not ask for {clean(beyond)}; granted as you said.", err=True)


def _beyond(said: Said, asks: Iterable[AskedView]) -> Iterator[str]:
    """Yield what exceeds the requested scope.

    A skill that names no hosts or names leaves them to the user; without folders it means its own.
    """
    scopes = {
        wish.capability: wish.scope
        for wish in merged(GrantWish(capability=one.capability, scope=one.scope) for one in asks)
    }
    for capability, scope in said.items():
        asked = scopes.get(capability)
        if (
            scope is None
            or asked is None
            or (not scope_words(asked) and capability not in FOLDER_CAPABILITIES)
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


def _said(consent: Consent, kind: SkillKind, ask: AskedView) -> GrantWish | None:
    """Return the grant from the command line. With --yes, only what has a scope: the rest would cover nothing."""
    if ask.capability in consent.said:
        return GrantWish(capability=ask.capability, scope=consent.said[ask.capability] or ask.scope)
    if consent.is_everything and _says_how_far(kind, ask):
        return GrantWish(capability=ask.capability, scope=ask.scope)
    return None


def _says_how_far(kind: SkillKind, ask: AskedView) -> bool:
    return bool(grants_as_requested(kind, [ask], [ask.capability]))


def _ask(kind: SkillKind, ask: AskedView, *, had_it: bool) -> GrantWish | None:
    _explain(ask, had_it=had_it)
    if not click.confirm(f"  Grant {ask.capability.value}?", default=False, err=True):
        return None
    if _says_how_far(kind, ask):
        return GrantWish(capability=ask.capability, scope=ask.scope)
    scope = _ask_how_far(ask.capability)
    return None if scope is None else GrantWish(capability=ask.capability, scope=scope)


def _explain(ask: AskedView, *, had_it: bool) -> None:
    wanted = scope_words(ask.scope)
    lines = [
        ask.allows,
        f"Asked for: {wanted}" if wanted else "",
        f"It comes from its parent {ask.from_parent}." if ask.from_parent else "",
        "Without it the skill cannot run." if ask.is_needed else "",
        "It was granted until now." if had_it else "",
    ]
    click.echo(f"\n  {click.style(ask.capability.value, bold=True)}: {clean(ask.title)}", err=True)
    for line in filter(None, lines):
        click.echo(f"    {clean(line)}", err=True)
    click.echo(f"    {click.style('Risk:', fg='yellow')} {clean(ask.risk)}", err=True)


def _ask_how_far(capability: Capability) -> Scope | None:
    """Ask for the scope that the skill leaves to the user."""
    while True:
        question = f"  Which {what_to_name(capability)}, with blanks between?"
        values = str(click.prompt(question, default="", show_default=False, err=True)).split()
        if not values:
            click.echo("  Nothing is named: not granted.", err=True)
            return None
        try:
            return scope_of(capability, values)
        except Invalid as error:
            show_error(error)
