"""`forge skill grant`, `revoke` and `trust`: what a skill may do, and how far it is trusted."""

import sys
from collections.abc import Iterable

import click

from forge.errors import Invalid
from forge.skills.command_words import Said, merged, read_grants, skill_path
from forge.skills.models import Capability, GrantWish, Tier
from forge.skills.review import Consent, decide, tell_beyond
from forge.skills.views import AskedView, GrantsWish, SkillDetail
from forge.terminal.asking import be_sure
from forge.terminal.client import connect
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json

_BOLDER = {Tier.UNTRUSTED: 0, Tier.VERIFIED: 1, Tier.LOCAL: 2}
_MEANS = {
    Tier.VERIFIED: "Verified means that you have read it: it may take more memory and time.",
    Tier.LOCAL: "Local means that you trust it like your own: if it is a program, it runs on the server's machine.",
}


@click.command()
@click.argument("name")
@click.argument("capabilities", nargs=-1, metavar="[CAPABILITY[=SCOPE]]...")
@click.option("--yes", is_flag=True, help="Grant all it asks for.")
@json_option
def grant(name: str, capabilities: tuple[str, ...], yes: bool, as_json: bool) -> None:
    """Let a skill do what it asks for.

    Such as kv, http_get=api.example.com, read_file=/srv/data or get_secret=NAME. Without a scope as far as it asks. What was granted before stays, as long as the skill was not changed.
    Without CAPABILITY each is asked about, when there is a terminal.
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
    _print(granted, as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("capability", type=click.Choice([one.value for one in Capability]))
@json_option
def revoke(name: str, capability: str, as_json: bool) -> None:
    """Take a capability from a skill. It counts from its next call on, of running invocations too."""
    with connect() as client:
        left = client.delete(f"{skill_path(name)}/grants/{capability}", SkillDetail)
    _print(left, as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("tier", type=click.Choice([one.value for one in Tier]))
@yes_option
@json_option
def trust(name: str, tier: str, yes: bool, as_json: bool) -> None:
    """Say how far a skill is trusted.

    That is what it may take of memory and time, and whether a program runs at all.
    """
    wanted = Tier(tier)
    with connect() as client:
        found = client.get(skill_path(name), SkillDetail)
        if _BOLDER[wanted] > _BOLDER[found.tier] and not yes:
            click.echo(_MEANS[wanted], err=True)
            be_sure(f"Trust {found.name} as {tier}?")
        changed = client.put(f"{skill_path(name)}/tier", SkillDetail, {"tier": tier})
    _print(changed, as_json=as_json)


def check_asked(said: Said, asks: Iterable[AskedView], whose: str) -> None:
    """A grant that nobody asked for is a mistake worth telling before anything happens."""
    asked = {ask.capability for ask in asks}
    if unasked := [one.value for one in said if one not in asked]:
        told = ", ".join(sorted(asked)) or "nothing"
        raise Invalid(f"{whose} does not ask for {', '.join(unasked)}.", hint=f"It asks for: {told}.")


def counting(found: SkillDetail) -> list[GrantWish]:
    """The grants that count now."""
    return [
        GrantWish(capability=one.capability, scope=one.scope)
        for one in found.grants
        if one.folder_hash == found.folder_hash and one.capability in found.granted
    ]


def _print(found: SkillDetail, *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    from forge.skills.show import skill_page

    console().print(skill_page(found))
