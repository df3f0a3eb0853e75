"""`forge skill install` and `update`: fetch skills, ask what to grant, install them."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.cli.arguments import HerePlace, ListedPlace, read_grants, read_source, skill_path
from forge.skills.cli.bots import attach_to
from forge.skills.cli.grants import Consent, check_asked, counting, decide, tell_beyond
from forge.skills.cli.views import installed_line, staged_page, staged_table
from forge.skills.format.zip_archive import MAX_BYTES, pack, read_folder
from forge.skills.installation.registry_index import NEWEST
from forge.skills.installation.views import InstallChoice, Installed, RegistryEntry, Staged, StagedSkill
from forge.skills.models import (
    SKILL_MD,
    FolderSource,
    GitSource,
    GrantWish,
    RegistrySource,
    SkillKind,
    Tier,
    first_error,
)
from forge.skills.views import SkillCard, SkillDetail
from forge.terminal.client import Client, connect
from forge.terminal.entry import show_error
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json, working
from forge.terminal.text import clean

FETCH_S = 300.0
SHOWN = 20


def fetch(client: Client, given: str, *, is_there: bool) -> Staged:
    """Stage the skills of a source. `is_there` says whether the user can be asked which registry is meant."""
    match read_source(given):
        case HerePlace(path):
            return send(client, path)
        case ListedPlace() as place:
            return _post(client, _find_listed(client, place, is_there=is_there))
        case source:
            return _post(client, source)


def send(client: Client, path: Path) -> Staged:
    """Stage a folder or archive of this machine."""
    if path.is_dir():
        return _send_folder(client, path)
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.", hint=_AFTER_MISSING) from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error
    if data is None:
        raise Invalid(f"{path} has more than {MAX_BYTES >> 20} MB.")
    return upload(client, data, {"name": path.name[-255:]})


_AFTER_MISSING = "A repository is named with its whole address: https://host/owner/repo.git"


def choose(staged: Staged, names: Sequence[str], *, every: bool, is_there: bool) -> list[StagedSkill]:
    """Return the skills to install: the named ones, all, the only one, or those the user picks."""
    skills = staged.skills
    if not skills:
        raise NotFound("There is no skill in it.", hint=f"A skill is a folder with a {SKILL_MD}.")
    if names:
        return _named(skills, names)
    if every or len(skills) == 1:
        return skills
    if not is_there:
        raise Invalid(
            f"There are {len(skills)} skills in it.", hint=f"--all, or --skill of: {_listed(skills)}"
        )
    console(stderr=True).print(staged_table(skills))
    told = str(click.prompt("Which, with blanks between, or all?", err=True)).split()
    return skills if told == ["all"] else _named(skills, told)


def _named(skills: Sequence[StagedSkill], names: Sequence[str]) -> list[StagedSkill]:
    by_name = {skill.name: skill for skill in skills}
    if missing := [name for name in names if name not in by_name]:
        raise NotFound(f"There is no skill {missing[0]!r} in it.", hint=f"It has: {_listed(skills)}")
    return [by_name[name] for name in dict.fromkeys(names)]


def _listed(skills: Sequence[StagedSkill]) -> str:
    more = f" and {len(skills) - SHOWN} more" if len(skills) > SHOWN else ""
    return ", ".join(skill.name for skill in skills[:SHOWN]) + more


def _send_folder(client: Client, folder: Path) -> Staged:
    content = read_folder(folder)
    for path in content.left_out:
        click.echo(f"Left out, as it is no file: {clean(path)}", err=True)
    root = folder.resolve()
    return upload(client, pack(content.files), {"name": f"{root.name}.zip"[-255:], "folder": str(root)})


def upload(client: Client, data: bytes, params: dict[str, str] | None = None) -> Staged:
    with working("Sending…"):
        return client.upload("/skill-stages/zip", Staged, data, params, within_s=FETCH_S)


def _post(client: Client, source: GitSource | RegistrySource) -> Staged:
    with working("Fetching…"):
        return client.post("/skill-stages", Staged, {"source": source.model_dump()}, within_s=FETCH_S)


def _find_listed(client: Client, place: ListedPlace, *, is_there: bool) -> RegistrySource:
    """Find the registry that has a skill of exactly this name; similar names are only a hint."""
    version = place.version or NEWEST
    if place.registry is not None:
        return RegistrySource(registry=place.registry, name=place.name, version=version)
    offered = client.get("/skill-registries/search", list[RegistryEntry], {"q": place.name})
    having = list(dict.fromkeys(entry.registry for entry in offered if entry.name == place.name))
    if not having:
        raise _not_listed(place, offered)
    registry = having[0] if len(having) == 1 else _choose_registry(place, having, is_there=is_there)
    return RegistrySource(registry=registry, name=place.name, version=version)


def _choose_registry(place: ListedPlace, registries: list[str], *, is_there: bool) -> str:
    if not is_there:
        told = ", ".join(f"{registry}:{place.name}" for registry in registries)
        raise Invalid(f"{len(registries)} registries have {place.name}.", hint=f"Say which: {told}")
    return click.prompt(f"Which registry's {place.name}?", type=click.Choice(registries), err=True)


def _not_listed(place: ListedPlace, offered: Sequence[RegistryEntry]) -> NotFound:
    hint = "Those there are: forge skill registry list"
    if Path(place.name).is_dir():
        hint = f"For the folder that is here: forge skill install ./{place.name}"
    elif offered:
        hint = f"Did you mean {offered[0].registry}:{offered[0].name}?"
    return NotFound(f"No registry has a skill {place.name!r}.", hint=hint)


grant_option = click.option(
    "--grant",
    "grants",
    multiple=True,
    metavar="CAPABILITY[=SCOPE],…",
    help="Grant only these capabilities, if requested. Repeatable.",
)


@dataclass(frozen=True)
class Wish:
    """How to install skills."""

    consent: Consent
    tier: Tier = Tier.UNTRUSTED
    force: bool = False
    until_now: Sequence[GrantWish] = ()
    shows: bool = False
    """Show each skill even when nothing is asked."""


@click.command()
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "--skill",
    "names",
    multiple=True,
    metavar="NAME",
    help="Install only this skill of the source. Repeatable.",
)
@click.option("--all", "every", is_flag=True, help="Install all skills of the source.")
@grant_option
@click.option("--yes", is_flag=True, help="Grant all requested capabilities without asking.")
@click.option("--force", is_flag=True, help="Replace skills of the same name in the library.")
@click.option(
    "--tier",
    type=click.Choice([one.value for one in Tier]),
    default=Tier.UNTRUSTED.value,
    show_default=True,
    help="Trust tier of the skills.",
)
@click.option(
    "--attach", "bots", multiple=True, metavar="BOT", help="Also attach them to this bot. Repeatable."
)
@json_option
@click.pass_context
def install(
    ctx: click.Context, sources: tuple[str, ...], bots: tuple[str, ...], as_json: bool, **given: Any
) -> None:
    """Install skills from a folder, zip, repository or registry.

    Such as ./my-skill, pack.zip, https://host/o/r.git@v1#skills/pdf or acme:pdf.

    In a terminal, each requested capability is explained and confirmed. Otherwise only --grant and --yes grant capabilities.
    """
    consent = _consent(given["grants"], yes=given["yes"], as_json=as_json)
    wish = Wish(consent, Tier(given["tier"]), given["force"])
    done: list[Installed] = []
    failed: list[ForgeError] = []
    meant: set[str] = set()
    with connect() as client:
        for source in sources:
            with _reported(failed):
                staged = fetch(client, source, is_there=consent.is_there)
                with _dropped_in_the_end(client, staged):
                    chosen = choose(staged, given["names"], every=given["every"], is_there=consent.is_there)
                    meant |= {skill.name for skill in chosen}
                    done += _install(client, staged.id, chosen, wish)
        for bot in bots:
            for skill in (one for one in done if one.installed and one.name in meant):
                with _reported(failed):
                    click.echo(attach_to(client, skill.name, bot).message, err=True)
    _finish(ctx, done, failed, as_json=as_json)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Update all skills that have a source.")
@grant_option
@click.option("--yes", is_flag=True, help="Grant all requested capabilities without asking.")
@click.option("--keep", is_flag=True, help="Grant the current capabilities again, and no others.")
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
    """Update skills from their sources, after showing the changes.

    Grants of the old version do not apply to the new one and are confirmed again. The tier is kept.
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
            with _reported(failed):
                done += _update(client, name, consent, keep=keep, shows=not as_json)
    if not done and not failed:
        click.echo("There is nothing that can be fetched again.", err=True)
    _finish(ctx, done, failed, as_json=as_json)


def _consent(grants: Sequence[str], *, yes: bool, as_json: bool) -> Consent:
    if grants and yes:
        raise click.UsageError("--yes grants all, --grant what it names: they exclude each other.")
    return Consent(read_grants(grants), is_everything=yes, is_there=sys.stdin.isatty() and not as_json)


@contextmanager
def _reported(failed: list[ForgeError]) -> Generator[None]:
    """Report an error at once, and go on with the next skill."""
    try:
        yield
    except ForgeError as error:
        show_error(error)
        failed.append(error)


@contextmanager
def _dropped_in_the_end(client: Client, staged: Staged) -> Generator[None]:
    try:
        yield
    finally:
        with suppress(ForgeError):  # it is forgotten after an hour anyway
            client.drop(f"/skill-stages/{staged.id}")


def _install(client: Client, stage: str, chosen: Sequence[StagedSkill], wish: Wish) -> list[Installed]:
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
    """Return the result for a skill that needs no decision: invalid, or installed already."""
    if not skill.valid:
        mistake = first_error(skill.problems)
        if mistake is None:
            return _refused(skill, "It is no valid skill.")
        return _refused(
            skill, f"{f'{SKILL_MD}, ' if mistake.line else ''}{mistake.located_message}", mistake.hint
        )
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
    with _dropped_in_the_end(client, staged):
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
        return _install(client, staged.id, fetched, wish)


def _still_asked(consent: Consent, skill: StagedSkill) -> Consent:
    asked = {ask.capability for ask in skill.asks}
    return Consent({one: scope for one, scope in consent.said.items() if one in asked})


def _updatable(client: Client) -> list[str]:
    """Return the skills whose source can be fetched again from here."""
    return [card.name for card in client.get("/skills", list[SkillCard]) if _can_be_fetched(card)]


def _can_be_fetched(card: SkillCard) -> bool:
    if isinstance(card.source, FolderSource):
        return Path(card.source.path).is_dir()
    return isinstance(card.source, GitSource | RegistrySource)


def _finish(
    ctx: click.Context, done: Sequence[Installed], failed: Sequence[ForgeError], *, as_json: bool
) -> None:
    """Print the results, and exit with the code of the error when there was exactly one."""
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
