"""What a skill is granted: said beforehand, or asked of the person at the terminal, one capability at a time."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

import click

from forge.errors import Invalid
from forge.skills.capabilities import BY_ROOTS
from forge.skills.command_words import Said, merged, scope_of, scope_words, what_to_name
from forge.skills.granting import as_asked
from forge.skills.models import Capability, GrantWish, Scope, SkillKind
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
    consent: Consent, kind: SkillKind, asks: Sequence[AskedView], until_now: Sequence[GrantWish] = ()
) -> list[GrantWish]:
    """What of all that a skill asks for it gets."""
    if not consent.asks:
        return merged(wish for ask in asks if (wish := _said(consent, kind, ask)) is not None)
    before = {grant.capability for grant in until_now}
    answers = (_ask(kind, ask, had_it=ask.capability in before) for ask in asks)
    return merged(wish for wish in answers if wish is not None)


def tell_beyond(name: str, said: Said, asks: Sequence[AskedView]) -> None:
    """A person may grant more than a skill asks for, but not by a slip of the hand and unnoticed."""
    if beyond := ", ".join(dict.fromkeys(_beyond(said, asks))):
        click.echo(f"{name}: It does not ask for {clean(beyond)}; granted because you said so.", err=True)


def _beyond(said: Said, asks: Iterable[AskedView]) -> Iterator[str]:
    """A skill that names no hosts or names at all leaves it to the person; without folders it means its own."""
    scopes = {
        wish.capability: wish.scope
        for wish in merged(GrantWish(capability=one.capability, scope=one.scope) for one in asks)
    }
    for capability, scope in said.items():
        asked = scopes.get(capability)
        if scope is None or asked is None or (not scope_words(asked) and capability not in BY_ROOTS):
            continue
        yield from (host for host in scope.hosts if not any(_has_host(one, host) for one in asked.hosts))
        yield from (root for root in scope.roots if not any(_has_root(one, root) for one in asked.roots))
        yield from (name for name in scope.names if name not in asked.names)


def _has_host(asked: str, host: str) -> bool:
    """`*` means the public ones, which are those with a name."""
    if asked == "*":
        return host == asked or re.fullmatch(r"[^:]+\.[a-z][a-z0-9-]*", host) is not None
    return host == asked or (asked.startswith("*.") and host.endswith(asked[1:]))


def _has_root(asked: str, root: str) -> bool:
    return PurePosixPath(root).is_relative_to(asked) and ".." not in PurePosixPath(root).parts


def _said(consent: Consent, kind: SkillKind, ask: AskedView) -> GrantWish | None:
    """All it asks for is all that says how far: the rest would cover nothing, and is left to be looked at."""
    if ask.capability in consent.said:
        return GrantWish(capability=ask.capability, scope=consent.said[ask.capability] or ask.scope)
    if consent.is_everything and _says_how_far(kind, ask):
        return GrantWish(capability=ask.capability, scope=ask.scope)
    return None


def _says_how_far(kind: SkillKind, ask: AskedView) -> bool:
    return bool(as_asked(kind, [ask], [ask.capability]))


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
    """The skill names nothing, so the person has to."""
    while True:
        question = f"  Which {what_to_name(capability)}, with blanks between?"
        values = str(click.prompt(question, default="", show_default=False, err=True)).split()
        if not values:
            click.echo("  Nothing is named, so it is not granted.", err=True)
            return None
        try:
            return scope_of(capability, values)
        except Invalid as error:
            show_error(error)
