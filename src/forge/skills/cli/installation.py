"""`forge skill install` and `update`: fetch skills, ask what to grant, install them."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.cli.arguments import (
    ListedSkill,
    LocalSource,
    bot_path,
    read_grants,
    read_source,
    skill_path,
)
from forge.skills.cli.grants import Consent, active_grants, check_requested, decide, report_excess
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
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.entry import show_error
from forge.terminal.options import one_of, together
from forge.terminal.output import console, working
from forge.terminal.text import clean

Entry = dict[str, Any]
"""A skill of a bot, as the API returns it."""
FETCH_S = 300.0
SHOWN = 20


def fetch(client: Client, source_text: str, *, is_interactive: bool) -> Staged:
    """Stage the skills of a source, asking which registry is meant if `is_interactive`."""
    source = read_source(source_text)
    if isinstance(source, LocalSource):
        return send(client, source.path)
    if isinstance(source, ListedSkill):
        source = _find_listed(client, source, is_interactive=is_interactive)
    with working("Fetching…"):
        return client.post("/skill-stages", Staged, {"source": source.model_dump()}, within_s=FETCH_S)


def send(client: Client, path: Path) -> Staged:
    """Stage a folder or archive on this machine."""
    if path.is_dir():
        content, root = read_folder(path), path.resolve()
        for left_out in content.left_out:
            click.echo(f"Skipped, not a regular file: {clean(left_out)}", err=True)
        return upload(client, pack(content.files), {"name": f"{root.name}.zip"[-255:], "folder": str(root)})
    try:
        data = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except FileNotFoundError as error:
        hint = "For a repository, use its full URL: https://host/owner/repo.git"
        raise NotFound(f"{path} does not exist.", hint=hint) from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error
    if data is None:
        raise Invalid(f"{path} is larger than {MAX_BYTES >> 20} MB.")
    return upload(client, data, {"name": path.name[-255:]})


def choose(staged: Staged, names: Sequence[str], *, every: bool, is_interactive: bool) -> list[StagedSkill]:
    """Return the skills to install: the named ones, all, the only one, or those the user picks."""
    skills = staged.skills
    if not skills:
        raise NotFound("The source contains no skill.", hint=f"A skill is a folder with a {SKILL_MD}.")
    if names:
        return _named(skills, names)
    if every or len(skills) == 1:
        return skills
    if not is_interactive:
        raise Invalid(
            f"The source contains {len(skills)} skills.",
            hint=f"Use --all, or --skill with one of: {_names(skills)}",
        )
    console(stderr=True).print(staged_table(skills))
    answer = str(click.prompt("Which skills (separated by spaces), or all?", err=True)).split()
    return skills if answer == ["all"] else _named(skills, answer)


def _named(skills: Sequence[StagedSkill], names: Sequence[str]) -> list[StagedSkill]:
    by_name = {skill.name: skill for skill in skills}
    if missing := [name for name in names if name not in by_name]:
        raise NotFound(f"The source contains no skill {missing[0]!r}.", hint=f"It contains: {_names(skills)}")
    return [by_name[name] for name in dict.fromkeys(names)]


def _names(skills: Sequence[StagedSkill]) -> str:
    more = f" and {len(skills) - SHOWN} more" if len(skills) > SHOWN else ""
    return ", ".join(skill.name for skill in skills[:SHOWN]) + more


def upload(client: Client, data: bytes, params: dict[str, str] | None = None) -> Staged:
    with working("Sending…"):
        return client.upload("/skill-stages/zip", Staged, data, params, within_s=FETCH_S)


def _find_listed(client: Client, skill: ListedSkill, *, is_interactive: bool) -> RegistrySource:
    """Find the registry that has a skill of exactly this name; similar names are only a hint."""
    registry = skill.registry
    if registry is None:
        found = client.get("/skill-registries/search", list[RegistryEntry], {"q": skill.name})
        registries = list(dict.fromkeys(entry.registry for entry in found if entry.name == skill.name))
        if not registries:
            raise _not_listed(skill, found)
        registry = registries[0]
        if len(registries) > 1 and not is_interactive:
            names = ", ".join(f"{one}:{skill.name}" for one in registries)
            raise Invalid(f"{len(registries)} registries have {skill.name}.", hint=f"Choose one: {names}")
        if len(registries) > 1:
            question = f"Install {skill.name} from which registry?"
            registry = click.prompt(question, type=click.Choice(registries), err=True)
    return RegistrySource(registry=registry, name=skill.name, version=skill.version or NEWEST)


def _not_listed(skill: ListedSkill, found: Sequence[RegistryEntry]) -> NotFound:
    hint = "List the registries: forge skill registry list"
    if Path(skill.name).is_dir():
        hint = f"To install the local folder: forge skill install ./{skill.name}"
    elif found:
        hint = f"Did you mean {found[0].registry}:{found[0].name}?"
    return NotFound(f"No registry has a skill {skill.name!r}.", hint=hint)


_grant_options = together(
    click.option(
        "--grant",
        "grants",
        multiple=True,
        metavar="CAPABILITY[=SCOPE],…",
        help="Grant only these capabilities, if requested. Repeatable.",
    ),
    click.option("--yes", is_flag=True, help="Grant all requested capabilities without asking."),
)


@dataclass(frozen=True)
class InstallOptions:
    """How to install skills."""

    consent: Consent
    tier: Tier = Tier.UNTRUSTED
    force: bool = False
    previous_grants: Sequence[GrantWish] = ()
    shows_details: bool = False
    """Show each skill even when the user is not asked."""


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
@_grant_options
@click.option("--force", is_flag=True, help="Replace skills of the same name in the library.")
@click.option(
    "--tier",
    type=one_of(Tier),
    default=Tier.UNTRUSTED.value,
    show_default=True,
    help="Trust tier of the skills.",
)
@click.option(
    "--attach", "bots", multiple=True, metavar="BOT", help="Also attach them to this bot. Repeatable."
)
@api_command
def install(
    client: Client,
    sources: tuple[str, ...],
    names: tuple[str, ...],
    every: bool,
    bots: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> Result[list[Installed]]:
    """Install skills from a folder, zip, repository or registry.

    Such as ./my-skill, pack.zip, https://host/o/r.git@v1#skills/pdf or acme:pdf.

    In a terminal, each requested capability is explained and confirmed. Otherwise only --grant and --yes grant capabilities.
    """
    consent = _consent(options["grants"], yes=options["yes"], as_json=as_json)
    how, asks = InstallOptions(consent, Tier(options["tier"]), options["force"]), consent.is_interactive
    done: list[Installed] = []
    failed: list[ForgeError] = []
    requested: set[str] = set()
    for source in sources:
        with _report_error(failed):
            staged = fetch(client, source, is_interactive=asks)
            with _drop_afterwards(client, staged):
                chosen = choose(staged, names, every=every, is_interactive=asks)
                requested |= {skill.name for skill in chosen}
                done += _install(client, staged.id, chosen, how)
    for bot in bots:
        for skill in (one for one in done if one.installed and one.name in requested):
            with _report_error(failed):
                click.echo(clean(attach_to(client, skill.name, bot)[1]), err=True)
    return _report(done, failed)


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="Update all skills that have a source.")
@_grant_options
@click.option("--keep", is_flag=True, help="Grant the current capabilities again, and no others.")
@api_command
def update(
    client: Client,
    names: tuple[str, ...],
    every: bool,
    grants: tuple[str, ...],
    yes: bool,
    keep: bool,
    as_json: bool,
) -> Result[list[Installed]]:
    """Update skills from their sources, after showing the changes.

    Grants of the old version do not apply to the new one and are confirmed again. The tier is kept.
    """
    if bool(names) == every:
        raise click.UsageError("Name the skills to update, or use --all.")
    if keep and (grants or yes):
        raise click.UsageError("--keep, --grant and --yes are mutually exclusive.")
    consent = _consent(grants, yes=yes, as_json=as_json)
    done: list[Installed] = []
    failed: list[ForgeError] = []
    for name in names or _updatable(client):
        with _report_error(failed):
            done += _update(client, name, consent, keep=keep, shows_details=not as_json)
    if not done and not failed:
        click.echo("No skills to update.", err=True)
    return _report(done, failed)


def _consent(grants: Sequence[str], *, yes: bool, as_json: bool) -> Consent:
    if grants and yes:
        raise click.UsageError("--yes and --grant are mutually exclusive.")
    return Consent(read_grants(grants), grants_all=yes, is_interactive=sys.stdin.isatty() and not as_json)


@contextmanager
def _report_error(failed: list[ForgeError]) -> Generator[None]:
    """Report an error immediately and continue, so that it does not stop the other skills."""
    try:
        yield
    except ForgeError as error:
        show_error(error)
        failed.append(error)


@contextmanager
def _drop_afterwards(client: Client, staged: Staged) -> Generator[None]:
    try:
        yield
    finally:
        with suppress(ForgeError):  # stages expire after an hour anyway
            client.drop(f"/skill-stages/{staged.id}")


def _install(
    client: Client, stage: str, chosen: Sequence[StagedSkill], options: InstallOptions
) -> list[Installed]:
    refusal = f"{chosen[0].name} does not request" if len(chosen) == 1 else "None of these skills requests"
    consent = options.consent
    check_requested(consent.grants, [ask for skill in chosen for ask in skill.asks], refusal)
    done: list[Installed] = []
    choices: list[dict[str, Any]] = []
    force = options.force
    for skill in chosen:
        if (result := _skip(skill, options)) is not None:
            done.append(result)
            continue
        if consent.is_asked or options.shows_details:
            console(stderr=True).print(Text(), staged_page(skill), sep="\n")
        if skill.replaces is not None and not skill.is_same and not options.force:
            if not click.confirm(f"Replace version {clean(skill.replaces)}?", default=False, err=True):
                done.append(_refused(skill, "Not replaced."))
                continue
            force = True
        kind = skill.manifest.kind if skill.manifest else SkillKind.PROMPT
        grants = decide(consent, kind, skill.asks, options.previous_grants)
        choice = InstallChoice(name=skill.name, grants=grants, tier=options.tier)
        choices.append(choice.model_dump(mode="json"))
    if not choices:
        return done
    body = {"skills": choices, "force": force}
    with working("Installing…"):
        installed = client.post(f"/skill-stages/{stage}/install", list[Installed], body, within_s=FETCH_S)
    asks = {skill.name: skill.asks for skill in chosen}
    for one in installed:
        if one.installed and one.name in asks:
            report_excess(one.name, consent.grants, asks[one.name])
    return [*done, *installed]


def _skip(skill: StagedSkill, options: InstallOptions) -> Installed | None:
    """Return the result for a skill that is not to be installed: invalid, unchanged or not to be replaced. None: install it."""
    if not skill.valid:
        mistake = first_error(skill.problems)
        if mistake is None:
            return _refused(skill, "It is not a valid skill.")
        file = f"{SKILL_MD}, " if mistake.line else ""
        return _refused(skill, f"{file}{mistake.located_message}", mistake.hint)
    if options.force:
        return None
    consent = options.consent
    if skill.is_same and not consent.grants and not consent.grants_all:
        version = skill.manifest.version if skill.manifest else ""
        return Installed(name=skill.name, installed=True, version=version, path=skill.path)
    if skill.replaces is not None and not skill.is_same and not consent.is_asked:
        hint = "Replace it with --force, or run `forge skill update`."
        return _refused(skill, f"Version {skill.replaces} is already installed.", hint)
    return None


def _refused(skill: StagedSkill, problem: str, hint: str | None = None) -> Installed:
    return Installed(name=skill.name, installed=False, problem=problem, hint=hint, path=skill.path)


def _update(
    client: Client, name: str, consent: Consent, *, keep: bool, shows_details: bool
) -> list[Installed]:
    found = client.get(skill_path(name), SkillDetail)
    if isinstance(found.source, FolderSource):
        staged = send(client, Path(found.source.path))
    else:
        with working(f"Fetching {found.name}…"):
            staged = client.post(f"{skill_path(name)}/update", Staged, within_s=FETCH_S)
    with _drop_afterwards(client, staged):
        fetched = [skill for skill in staged.skills if skill.name == found.name]
        if not fetched:
            raise Invalid(f"Its source no longer contains {found.name}.")
        if fetched[0].is_same:
            return [Installed(name=found.name, installed=True, version=found.version)]
        previous = active_grants(found)
        if keep:
            requested = {ask.capability for ask in fetched[0].asks}
            consent = Consent({one.capability: one.scope for one in previous if one.capability in requested})
        options = InstallOptions(
            consent, found.tier, force=True, previous_grants=previous, shows_details=shows_details
        )
        return _install(client, staged.id, fetched, options)


def _updatable(client: Client) -> list[str]:
    """Return the skills whose source can be fetched again from this machine."""

    def can_be_fetched(card: SkillCard) -> bool:
        if isinstance(card.source, FolderSource):
            return Path(card.source.path).is_dir()
        return isinstance(card.source, GitSource | RegistrySource)

    return [card.name for card in client.get("/skills", list[SkillCard]) if can_be_fetched(card)]


def _report(done: list[Installed], failed: Sequence[ForgeError]) -> Result[list[Installed]]:
    """Return the results, with the exit code of the error when there was exactly one."""
    lines = [installed_line(one) for one in done]
    refused = sum(not one.installed for one in done)
    if len(done) + len(failed) > 1:
        same = sum(one.installed and one.state is None for one in done)
        counts = {
            "installed": len(done) - refused - same,
            "unchanged": same,
            "refused": refused,
            "failed": len(failed),
        }
        lines.append(Text(f"{', '.join(f'{count} {what}' for what, count in counts.items() if count)}."))
    code = failed[0].exit_code if len(failed) == 1 and not done else 1 if refused or failed else 0
    return Result(done, lambda _: Text("\n").join(lines), exit_code=code)


def attach_to(client: Client, name: str, bot: str, body: Entry | None = None) -> tuple[Entry, str]:
    """Attach a skill to a bot, or change how the bot has it, and describe what was done.

    Settings are merged with the current ones; an empty value removes one.
    """
    path, body = entry_path(name, bot), body or {}
    current = next((one for one in client.get(bot_path(bot), list[Entry]) if one["name"] == name), None)
    if "overrides" in body:
        before: dict[str, str] = current["overrides"] if current else {}
        merged = {**before, **body["overrides"]}
        body |= {"overrides": {key: value for key, value in merged.items() if value}}
    if current is None:
        added = client.post(bot_path(bot), Entry, {"skill_name": name, **body})
        return added, f"Attached {name} to {bot}."
    if not body:
        return current, f"{name} is already attached to {bot}."
    return client.patch(path, Entry, body), f"Updated {name} for {bot}."


def entry_path(name: str, bot: str) -> str:
    """Return the API path of a skill of a bot."""
    return f"{bot_path(bot)}{skill_path(name).removeprefix('/skills')}"
