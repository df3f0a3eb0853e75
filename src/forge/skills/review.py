"""What a skill is granted: said beforehand, or asked of the person at the terminal, one capability at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import click

from forge.errors import Invalid
from forge.skills.command_words import Said, merged, scope_of, scope_words, what_to_name
from forge.skills.models import Capability, GrantWish, Scope
from forge.skills.views import AskedView
from forge.terminal.entry import show_error
from forge.terminal.text import clean


@dataclass(frozen=True)
class Consent:
    """What somebody agrees to before they have seen the skill."""

    said: Said = field(default_factory=dict[Capability, Scope | None])
    is_everything: bool = False
    is_there: bool = False
    """Whether somebody can be asked."""

    @property
    def asks(self) -> bool:
        """What was said is the whole answer; only silence is asked about."""
        return self.is_there and not self.is_everything and not self.said


def decide(
    consent: Consent, asks: Sequence[AskedView], until_now: Sequence[GrantWish] = ()
) -> list[GrantWish]:
    """What of all that a skill asks for it gets."""
    if consent.asks:
        before = {grant.capability for grant in until_now}
        return merged(
            wish for ask in asks if (wish := _ask(ask, had_it=ask.capability in before)) is not None
        )
    return merged(wish for ask in asks if (wish := _said(consent, ask)) is not None)


def _said(consent: Consent, ask: AskedView) -> GrantWish | None:
    if ask.capability in consent.said:
        return GrantWish(capability=ask.capability, scope=consent.said[ask.capability] or ask.scope)
    return GrantWish(capability=ask.capability, scope=ask.scope) if consent.is_everything else None


def _ask(ask: AskedView, *, had_it: bool) -> GrantWish | None:
    wanted = scope_words(ask.scope)
    remarks = [
        f"It comes from its parent {ask.from_parent}." if ask.from_parent else "",
        "Without it the skill cannot run." if ask.is_needed else "",
        "It was granted until now." if had_it else "",
    ]
    click.echo(f"\n  {click.style(ask.capability.value, bold=True)}: {clean(ask.title)}", err=True)
    click.echo(f"    {clean(ask.allows)}", err=True)
    if wanted:
        click.echo(f"    Asked for: {clean(wanted)}", err=True)
    for remark in filter(None, remarks):
        click.echo(f"    {clean(remark)}", err=True)
    click.echo(f"    {click.style('Risk:', fg='yellow')} {clean(ask.risk)}", err=True)
    if not click.confirm(f"  Grant {ask.capability.value}?", default=False, err=True):
        return None
    named = what_to_name(ask.capability)
    if named is None or wanted:
        return GrantWish(capability=ask.capability, scope=ask.scope)
    return GrantWish(capability=ask.capability, scope=_ask_how_far(ask.capability, named))


def _ask_how_far(capability: Capability, named: str) -> Scope:
    while True:
        told = click.prompt(
            f"  Which {named}, with blanks between?", default="", show_default=False, err=True
        )
        values = str(told).split()
        try:
            return scope_of(capability, values) if values else Scope()
        except Invalid as error:
            show_error(error)
