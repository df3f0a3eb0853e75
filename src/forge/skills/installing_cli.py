"""`forge skill install` and `update`: what was fetched is looked at, decided on, and let in."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from forge.errors import ForgeError, Invalid
from forge.skills.attaching_cli import attach_to
from forge.skills.command_words import read_grants, skill_path
from forge.skills.granting_cli import check_asked, counting
from forge.skills.installing.views import InstallChoice, Installed, Staged, StagedSkill
from forge.skills.models import SKILL_MD, GrantWish, SkillKind, Tier, first_mistake
from forge.skills.review import Consent, decide, tell_beyond
from forge.skills.sources import FolderSource, GitSource, RegistrySource
from forge.skills.staging_cli import FETCH_S, choose, fetch, send
from forge.skills.views import SkillCard, SkillDetail
from forge.terminal.client import Client, connect
from forge.terminal.entry import show_error
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json, working
from forge.terminal.text import clean

grant_option = click.option(
    "--grant",
    "grants",
    multiple=True,
    metavar="CAPABILITY[=SCOPE],…",
    help="Grant these, if it asks for them, and nothing else. May be given several times.",
)


@dataclass(frozen=True)
class Wish:
    """How skills are let in."""

    consent: Consent
    tier: Tier = Tier.UNTRUSTED
    force: bool = False
    until_now: Sequence[GrantWish] = ()
    shows: bool = False
    """What it is, also when nothing is asked."""


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--skill", "names", multiple=True, metavar="NAME", help="Of several in it, this one. Repeatable."
)
@click.option("--all", "every", is_flag=True, help="All that are in it.")
@grant_option
@click.option("--yes", is_flag=True, help="Grant all they ask for, without a question.")
@click.option("--force", is_flag=True, help="Replace what is in the library under the same name.")
@click.option(
    "--tier",
    type=click.Choice([one.value for one in Tier]),
    default=Tier.UNTRUSTED.value,
    show_default=True,
    help="How far they are trusted.",
)
@click.option(
    "--attach", "bots", multiple=True, metavar="BOT", help="Give them to this bot, too. Repeatable."
)
@json_option
@click.pass_context
def install(
    ctx: click.Context, sources: tuple[str, ...], bots: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Install skills from a folder, zip, repository or registry.

    Such as ./my-skill, pack.zip, https://host/o/r.git@v1#skills/pdf or acme:pdf.

    In a terminal each capability is explained and asked about. Without one nothing is granted but by --grant or --yes.
    """
    consent = _consent(given["grants"], yes=given["yes"], as_json=as_json)
    wish = Wish(consent, Tier(given["tier"]), given["force"])
    done: list[Installed] = []
    failed: list[ForgeError] = []
    meant: set[str] = set()
    with connect() as client:
        for source in sources:
            with _told(failed):
                staged = fetch(client, source, is_there=consent.is_there)
                with _dropped_at_last(client, staged):
                    chosen = choose(staged, given["names"], every=given["every"], is_there=consent.is_there)
                    meant |= {skill.name for skill in chosen}
                    done += _let_in(client, staged.id, chosen, wish)
        for bot in bots:
            for skill in (one for one in done if one.installed and one.name in meant):
                with _told(failed):
                    click.echo(attach_to(client, skill.name, bot).told, err=True)
    _finish(ctx, done, failed, as_json=as_json)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="All that can be fetched again.")
@grant_option
@click.option("--yes", is_flag=True, help="Grant all they ask for, without a question.")
@click.option("--keep", is_flag=True, help="Grant again what is granted now, and nothing else.")
@json_option
@click.pass_context
def update(
    ctx: click.Context,
    names: tuple[str, ...],
    every: bool,
    grants: tuple[str, ...],
    yes: bool,
    keep: bool,
    as_json: bool,
) -> None:
    """Fetch skills again, show what is different, replace them.

    They are fetched from where they came from. What was granted was granted to the old one: it is asked about again. The tier stays.
    """
    if bool(names) == every:
        raise click.UsageError("Say which skills, or --all.")
    if keep and (grants or yes):
        raise click.UsageError("--keep, --grant and --yes exclude each other.")
    consent = _consent(grants, yes=yes, as_json=as_json)
    done: list[Installed] = []
    failed: list[ForgeError] = []
    with connect() as client:
        for name in names or _updatable(client):
            with _told(failed):
                done += _update(client, name, consent, keep=keep, shows=not as_json)
    if not done and not failed:
        click.echo("There is nothing that can be fetched again.", err=True)
    _finish(ctx, done, failed, as_json=as_json)


def _consent(grants: Sequence[str], *, yes: bool, as_json: bool) -> Consent:
    if grants and yes:
        raise click.UsageError("--yes grants all, --grant what it names: they exclude each other.")
    return Consent(read_grants(grants), is_everything=yes, is_there=sys.stdin.isatty() and not as_json)


@contextmanager
def _told(failed: list[ForgeError]) -> Generator[None]:
    """What fails is said at once, and stops nothing else."""
    try:
        yield
    except ForgeError as error:
        show_error(error)
        failed.append(error)


@contextmanager
def _dropped_at_last(client: Client, staged: Staged) -> Generator[None]:
    try:
        yield
    finally:
        with suppress(ForgeError):  # it is forgotten after an hour anyway
            client.drop(f"/skill-stages/{staged.id}")


def _let_in(client: Client, stage: str, chosen: Sequence[StagedSkill], wish: Wish) -> list[Installed]:
    check_asked(wish.consent.said, [ask for skill in chosen for ask in skill.asks], _whose(chosen))
    done: list[Installed] = []
    choices: list[InstallChoice] = []
    force = wish.force
    for skill in chosen:
        if (settled := _settled(skill, wish)) is not None:
            done.append(settled)
            continue
        _show(skill, wish)
        if skill.replaces is not None and not skill.is_same and not wish.force:
            if not click.confirm(f"Replace version {clean(skill.replaces)}?", default=False, err=True):
                done.append(_refused(skill, "It was left as it is."))
                continue
            force = True
        kind = skill.manifest.kind if skill.manifest else SkillKind.PROMPT
        grants = decide(wish.consent, kind, skill.asks, wish.until_now)
        choices.append(InstallChoice(name=skill.name, grants=grants, tier=wish.tier))
    if not choices:
        return done
    body = {"skills": [choice.model_dump(mode="json") for choice in choices], "force": force}
    with working("Installing…"):
        path = f"/skill-stages/{stage}/install"
        installed = client.post(path, list[Installed], body, within_s=FETCH_S)
    asks = {skill.name: skill.asks for skill in chosen}
    for one in installed:
        if one.installed and one.name in asks:
            tell_beyond(one.name, wish.consent.said, asks[one.name])
    return [*done, *installed]


def _settled(skill: StagedSkill, wish: Wish) -> Installed | None:
    """What needs no decision: it cannot be had, or it is there already."""
    if not skill.valid:
        mistake = first_mistake(skill.problems)
        if mistake is None:
            return _refused(skill, "It is no valid skill.")
        return _refused(skill, f"{f'{SKILL_MD}, ' if mistake.line else ''}{mistake.said}", mistake.hint)
    version = skill.manifest.version if skill.manifest else ""
    if skill.is_same and not wish.force and not wish.consent.said and not wish.consent.is_everything:
        return Installed(name=skill.name, installed=True, version=version, path=skill.path)
    if skill.replaces is not None and not skill.is_same and not wish.force and not wish.consent.asks:
        hint = "Replace it with --force, or: forge skill update"
        return _refused(skill, f"There is one in the library, version {skill.replaces}.", hint)
    return None


def _refused(skill: StagedSkill, problem: str, hint: str | None = None) -> Installed:
    return Installed(name=skill.name, installed=False, problem=problem, hint=hint, path=skill.path)


def _show(skill: StagedSkill, wish: Wish) -> None:
    if not (wish.consent.asks or wish.shows):
        return
    from forge.skills.show import staged_page

    out = console(stderr=True)
    out.print()
    out.print(staged_page(skill))


def _whose(chosen: Sequence[StagedSkill]) -> str:
    return chosen[0].name if len(chosen) == 1 else "None of these"


def _update(client: Client, name: str, consent: Consent, *, keep: bool, shows: bool) -> list[Installed]:
    found = client.get(skill_path(name), SkillDetail)
    if isinstance(found.source, FolderSource):
        staged = send(client, Path(found.source.path))
    else:
        with working(f"Fetching {found.name}…"):
            staged = client.post(f"{skill_path(name)}/update", Staged, within_s=FETCH_S)
    with _dropped_at_last(client, staged):
        fetched = [skill for skill in staged.skills if skill.name == found.name]
        if not fetched:
            raise Invalid(f"There is no {found.name} any more where it came from.")
        if fetched[0].is_same:
            return [Installed(name=found.name, installed=True, version=found.version)]
        had = counting(found)
        if keep:
            consent = Consent({one.capability: one.scope for one in had})
            consent = _still_asked(consent, fetched[0])
        wish = Wish(consent, found.tier, force=True, until_now=had, shows=shows)
        return _let_in(client, staged.id, fetched, wish)


def _still_asked(consent: Consent, skill: StagedSkill) -> Consent:
    asked = {ask.capability for ask in skill.asks}
    return Consent({one: scope for one, scope in consent.said.items() if one in asked})


def _updatable(client: Client) -> list[str]:
    """Those that came from somewhere that can be asked again, from here."""
    return [card.name for card in client.get("/skills", list[SkillCard]) if _can_be_fetched(card)]


def _can_be_fetched(card: SkillCard) -> bool:
    if isinstance(card.source, FolderSource):
        return Path(card.source.path).is_dir()
    return isinstance(card.source, GitSource | RegistrySource)


def _finish(
    ctx: click.Context, done: Sequence[Installed], failed: Sequence[ForgeError], *, as_json: bool
) -> None:
    """The exit code of what went wrong, when that was one thing."""
    refused = [one for one in done if not one.installed]
    if as_json:
        print_json(list(done))
    else:
        _print_done(done, refused, failed)
    if failed and not done:
        ctx.exit(failed[0].exit_code if len(failed) == 1 else 1)
    ctx.exit(1 if refused or failed else 0)


def _print_done(
    done: Sequence[Installed], refused: Sequence[Installed], failed: Sequence[ForgeError]
) -> None:
    from forge.skills.show import installed_line

    out = console()
    for one in done:
        out.print(installed_line(one))
    if len(done) + len(failed) > 1:
        same = sum(one.installed and one.state is None for one in done)
        counts = {
            "installed": len(done) - len(refused) - same,
            "unchanged": same,
            "refused": len(refused),
            "failed": len(failed),
        }
        click.echo(f"{', '.join(f'{count} {what}' for what, count in counts.items() if count)}.")
